// SPDX-License-Identifier: Apache-2.0
//
// cairn run: starts a program under the watcher.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/layer.h"
#include "cli/numbers.h"
#include "cli/system_help.h"
#include "cli/unwritten_report.h"
#include "cli/verb.h"
#include "cli/witnesses.h"
#include "watcher/output_path.h"
#include "watcher/watch_loop.h"

namespace cairn::cli {
namespace {

// On Windows stderr has a buffer, which nobody would see before the program ends, and nobody at all where cairn is killed.
void SayNow(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

struct RunOptions {
  std::string output_path;
  std::string hang_timeout = "10";
  bool kill_on_hang = false;
  bool dump_on_exit = false;
  bool quiet = false;
  bool no_layer = false;
  bool no_witnesses = false;
  std::string breadcrumbs;
  std::string events;
  bool capture = false;
  std::string frames;
  std::string trigger;
  bool hash_frames = false;
  bool hash_resources = false;
};

int ExitCodeFor(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNotFound: return kExitNotFound;
    case StatusCode::kUnsupported: return kExitCannotExecute;
    default: return kExitCairnFailed;
  }
}

Status CheckCaptureOptions(const RunOptions& options) {
  const char* without = nullptr;
  if (!options.frames.empty()) without = "--frames";
  if (!options.trigger.empty()) without = "--trigger";
  if (options.hash_frames) without = "--hash-frames";
  if (options.hash_resources) without = "--hash-resources";
  if (!options.capture && without != nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} means nothing without --capture", without));
  }
  if (options.capture && options.no_layer) {
    return Status(StatusCode::kInvalidArgument, "--capture needs the layer: leave out --no-layer");
  }
  if (!options.frames.empty() && !options.trigger.empty()) {
    return Status(StatusCode::kInvalidArgument, "give either --frames or --trigger");
  }
  return ParseFramesOf("--frames", options.frames).status();
}

// app/settings/layer_settings.h, CAIRN_CAPTURE.
std::string CaptureVariable(const RunOptions& options) {
  std::string value = "CAIRN_CAPTURE=on";
  if (!options.trigger.empty()) value += ",armed";
  if (!options.frames.empty()) {
    const FrameRange frames = *ParseFramesOf("--frames", options.frames);
    value += fmt::format(",frames={}-", frames.first);
    if (frames.end != kNoFrame) value += std::to_string(frames.end - 1);
  }
  if (options.hash_frames) value += ",hash";
  if (options.hash_resources) value += ",hash-resources";
  return value;
}

// What the program's layers are told; empty if nobody says.
std::string BreadcrumbMode(const RunOptions& options) {
  if (!options.breadcrumbs.empty()) return options.breadcrumbs;
  const char* const set = std::getenv("CAIRN_BREADCRUMBS");
  return set == nullptr ? "" : set;
}

// What barriers testify: in modes in which words do not tell of every end, unless the user says it himself.
void AddWitnesses(const RunOptions& options, const std::function<void(const std::string&)>& say,
                  std::vector<std::string>* environment) {
  if (options.no_witnesses) {
    environment->push_back(fmt::format("{}=off", kWitnessVariable));
    return;
  }
  const std::string mode = BreadcrumbMode(options);
  if (options.no_layer || mode == "off" || mode == "full" || mode == "exact" ||
      std::getenv(kWitnessVariable) != nullptr) {
    return;
  }
  environment->push_back(
      fmt::format("{}={}", kWitnessVariable, FormatWitnessSet(FindWitnesses(say))));
}

// What makes the program's Direct3D 12 and Vulkan calls come to the layers; `library`: the one that they are in.
std::vector<std::string> LayerEnvironment(const RunOptions& options, std::string* library) {
  std::vector<std::string> environment;
  if (options.capture) environment.push_back(CaptureVariable(options));
  if (!options.breadcrumbs.empty())
    environment.push_back("CAIRN_BREADCRUMBS=" + options.breadcrumbs);
  // Who says `cairn run` wants to read names; who set the variable knows better.
  if (!options.events.empty()) {
    environment.push_back("CAIRN_EVENTS=" + options.events);
  } else if (std::getenv("CAIRN_EVENTS") == nullptr) {
    environment.push_back("CAIRN_EVENTS=all");
  }
  if (options.no_layer) return environment;
  const Result<std::string> preload = PreloadedLayer();
  const Result<std::vector<std::string>> vulkan =
      VulkanLayerVariables(BreadcrumbMode(options) != "off");
  if (preload.ok()) {
    *library = *preload;
    const std::vector<std::string> windows = WindowsLayerVariables();
    environment.insert(environment.end(), windows.begin(), windows.end());
  } else {
    // Without the library there is nothing for Vulkan either, for the same reason.
    PrintWarning("run", fmt::format("{} calls are not followed: {}",
                                    vulkan.ok() ? "Direct3D 12" : "Direct3D 12 and Vulkan",
                                    preload.status().message()));
  }
  if (vulkan.ok()) {
    environment.insert(environment.end(), vulkan->begin(), vulkan->end());
  } else if (preload.ok()) {
    PrintWarning("run",
                 fmt::format("Vulkan calls are not followed: {}", vulkan.status().message()));
  }
  return environment;
}

int Run(const RunOptions& options, const std::vector<std::string>& program) {
  if (program.empty()) {
    PrintError("run", "no program is given; say cairn run -- PROGRAM ARGUMENTS");
    return kExitCairnFailed;
  }
  const Result<uint64_t> hang_timeout_ns = ParseSecondsOf("--hang-timeout", options.hang_timeout);
  if (!hang_timeout_ns.ok()) {
    PrintError("run", hang_timeout_ns.status().message());
    return kExitCairnFailed;
  }
  if (const Status checked = CheckCaptureOptions(options); !checked.ok()) {
    PrintError("run", checked.message());
    return kExitCairnFailed;
  }
  if (options.kill_on_hang && BreadcrumbMode(options) == "off") {
    PrintWarning("run",
                 "with breadcrumbs off the GPU writes no words, and no hang of a program that only "
                 "the layers follow is noticed: --kill-on-hang has no effect on it");
  }
  WatchSettings settings;
  settings.capture = options.capture || EnvironmentAsksForCapture();
  settings.capture_trigger_signal = options.trigger == "signal";
  if (!settings.capture_trigger_signal) settings.capture_trigger_path = options.trigger;
  settings.policy = {.hang_timeout_ns = *hang_timeout_ns,
                     .kill_on_hang = options.kill_on_hang,
                     .dump_on_exit = options.dump_on_exit};
  // Without one it is named after the program with GPU work, which is not known yet.
  settings.output_path = options.output_path;
  // IsSameFile: a report replaces what is there.
  if (!settings.output_path.empty() &&
      IsSameFile(settings.output_path, FileOfProgram(program.front()))) {
    PrintError("run", fmt::format("{} is the program, which the report would replace; give another "
                                  "file with -o",
                                  settings.output_path));
    return kExitCairnFailed;
  }
  settings.environment = LayerEnvironment(options, &settings.preloaded);
  settings.say = [quiet = options.quiet](const std::string& line) {
    if (!quiet) SayNow(line);
  };
  settings.warn = SayNow;
  settings.tell_unwritten = TellUnwritten;
  AddWitnesses(options, settings.say, &settings.environment);
  const Result<int> exit_code = RunWatched(settings, program);
  if (exit_code.ok()) return *exit_code;
  PrintError("run", exit_code.status().message());
  return ExitCodeFor(exit_code.status());
}

}  // namespace

Verb AddRunVerb(CLI::App& root) {
  auto options = std::make_shared<RunOptions>();
  Command command(
      root, "run",
      "Runs a program; writes a .cairn file if it crashes, hangs or loses its GPU device.",
      "cairn run [OPTIONS] -- PROGRAM [ARGUMENTS]", kRunExamples);
  command.Option("-o,--output", &options->output_path, "FILE",
                 "File to write; PROGRAM.cairn in the working directory if not given");
  command
      .Option("--hang-timeout", &options->hang_timeout, "SECONDS",
              "Report a hang when submitted GPU work makes no progress for so long; "
              "fractions allowed, 0: never")
      .WithDefault();
  command.Flag("--kill-on-hang", &options->kill_on_hang, "Kill the program after reporting a hang");
  command.Flag("--dump-on-exit", &options->dump_on_exit,
               "Write the file also when the program exits normally");
  command
      .Option("--breadcrumbs", &options->breadcrumbs, "MODE",
              "How much the GPU writes for a Direct3D 12 or Vulkan program: off, top (where work "
              "begins; the default), pass (and where passes end), full (and where all work ends) "
              "or exact "
              "(full, and one command at a time: for a crash that comes again)")
      .OneOf({"off", "top", "pass", "full", "exact"});
  command
      .Option("--events", &options->events, "WHOSE",
              "Whose Direct3D 12 events and markers give their names to breadcrumbs: all (the "
              "default) or retail (only of objects in annotation mode DRIVER_RETAIL; of others "
              "nothing that they carry is kept anywhere)")
      .OneOf({"all", "retail"});
  command.Flag("--no-layer", &options->no_layer, kNoLayerHelp);
  command.Flag("--no-witnesses", &options->no_witnesses,
               "Do not measure which barriers the GPU waits at, once for a driver, and conclude "
               "nothing from them");
  command.Flag("--capture", &options->capture,
               "Record all Direct3D 12 calls into the file, for cairn replay, calls and bisect");
  command.Frames(&options->frames, "With --capture: these frames only");
  command.Option("--trigger", &options->trigger, "signal|FILE", kTriggerHelp);
  command.Flag("--hash-frames", &options->hash_frames,
               "With --capture: keep a hash of each frame's image, for cairn replay --validate");
  command.Flag(
      "--hash-resources", &options->hash_resources,
      "With --capture: keep hashes of what buffers and textures hold when they end, for cairn "
      "replay --validate=all");
  command.Flag("--quiet", &options->quiet,
               "Do not say on stderr that a file was written; what is missing is still said");

  auto program = std::make_shared<std::vector<std::string>>();
  return {command.app(), [options, program] { return Run(*options, *program); }, kExitCairnFailed,
          program};
}

}  // namespace cairn::cli
