// SPDX-License-Identifier: Apache-2.0
//
// cairn run: starts a program under the watcher.
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/layer.h"
#include "cli/mistaken_word.h"
#include "cli/numbers.h"
#include "cli/report_program.h"
#include "cli/stderr_verdict.h"
#include "cli/system_help.h"
#include "cli/verb.h"
#include "cli/witnesses.h"
#include "format/settings/layer_settings.h"
#include "watcher/output_path.h"
#include "watcher/watch_loop.h"

namespace cairn::cli {
namespace {

void SayNow(const std::string& line) {
  PrintOnError(line + "\n");
}

struct RunOptions {
  std::string output_path;
  std::string hang_timeout = "10";
  bool kill_on_hang = false;
  bool dump_on_exit = false;
  std::string on_report;
  bool quiet = false;
  bool no_layer = false;
  bool no_witnesses = false;
  std::map<std::string, std::string> layer;  // texts of the options of kSettingRows, by variable
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
    return Status(StatusCode::kInvalidArgument, "--capture needs the layer: remove --no-layer");
  }
  if (!options.frames.empty() && !options.trigger.empty()) {
    return Status(StatusCode::kInvalidArgument, "give either --frames or --trigger");
  }
  return ParseFramesOf("--frames", options.frames).status();
}

CaptureSettings CaptureOf(const RunOptions& options) {
  const FrameRange frames = *ParseFramesOf("--frames", options.frames);
  return {.on = true,
          .armed = !options.trigger.empty(),
          .start_frame = frames.first,
          .stop_frame = frames.end,
          .hash_frames = options.hash_frames,
          .hash_resources = options.hash_resources};
}

// Returns the settings that the options give, and those of `otherwise` where no option is given.
LayerSettings SettingsOf(const RunOptions& options, const GetVariable& otherwise) {
  return ParseLayerSettings([&](const char* variable) {
    const auto said = options.layer.find(variable);
    const bool is_said = said != options.layer.end() && !said->second.empty();
    return is_said ? said->second.c_str() : otherwise(variable);
  });
}

// Returns why there is no layer, and what else the user can do.
std::string WhyNoLayer(const Status& status) {
  const bool missing = status.code() == StatusCode::kNotFound;
  return status.message() + (missing ? ", or say --no-layer" : "");
}

// Returns the variables that make loaders load the layers. Adds the path of the Windows layer to
// `told`, and sets `library` to the file of the Direct3D 12 layer.
std::vector<std::string> LayerEnvironment(bool has_breadcrumbs, std::string* library,
                                          LayerSettings* told) {
  const Result<std::string> preload = PreloadedLayer();
  const Result<std::vector<std::string>> vulkan = VulkanLayerVariables(has_breadcrumbs);
  if (preload.ok()) {
    *library = *preload;
    if (std::string path = FindWindowsLayer(); !path.empty()) told->windows_path = std::move(path);
  } else {
    // Without the library there is nothing for Vulkan either, for the same reason.
    PrintWarning("run", fmt::format("{} calls are not followed: {}",
                                    vulkan.ok() ? "Direct3D 12" : "Direct3D 12 and Vulkan",
                                    WhyNoLayer(preload.status())));
  }
  if (vulkan.ok()) return *vulkan;
  if (preload.ok()) {
    PrintWarning("run", "Vulkan calls are not followed: " + WhyNoLayer(vulkan.status()));
  }
  return {};
}

// Returns the variables of the program. `known`: the settings that it has by options and its environment.
std::vector<std::string> ProgramEnvironment(const RunOptions& options, const LayerSettings& known,
                                            const std::function<void(const std::string&)>& say,
                                            std::string* library) {
  LayerSettings told = SettingsOf(options, [](const char*) -> const char* { return nullptr; });
  if (options.capture) told.capture = CaptureOf(options);
  // Names in reports are the reason to use `cairn run`, unless the user has set the variable.
  if (!known.all_events.is_set()) told.all_events = true;
  const MarkerMode mode = *known.breadcrumbs;
  std::vector<std::string> environment;
  if (!options.no_layer) environment = LayerEnvironment(mode != MarkerMode::kOff, library, &told);
  // Measures which barriers prove that earlier work has finished: needed where the GPU does not
  // write the end of all work, and not where the user has set the result.
  if (options.no_witnesses) {
    told.witnesses = FormatWitnessSet({.off = true});
  } else if (!options.no_layer && mode != MarkerMode::kOff && !WritesAllEnds(mode) &&
             !known.witnesses.is_set()) {
    told.witnesses = FormatWitnessSet(FindWitnesses(say));
  }
  for (std::string& setting : FormatLayerSettings(told)) environment.push_back(std::move(setting));
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
  ReportProgram on_report(options.on_report);
  if (const Status checked = on_report.Check(); !checked.ok()) {
    PrintError("run", checked.message());
    return kExitCairnFailed;
  }
  const LayerSettings known = SettingsOf(options, std::getenv);
  if (options.kill_on_hang && *known.breadcrumbs == MarkerMode::kOff) {
    PrintWarning(
        "run",
        "with breadcrumbs off the GPU does not write how far it is, so a hang is not noticed "
        "unless the program calls libcairn itself: --kill-on-hang has no effect");
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
  // IsSameFile: a report replaces an existing file.
  if (!settings.output_path.empty() &&
      IsSameFile(settings.output_path, FileOfProgram(program.front()))) {
    PrintError("run", fmt::format("{} is the program, which the report would replace; give another "
                                  "file with -o",
                                  settings.output_path));
    return kExitCairnFailed;
  }
  settings.say = [quiet = options.quiet](const std::string& line) {
    if (!quiet) SayNow(line);
  };
  settings.warn = SayNow;
  settings.tell_unwritten = TellUnwritten;
  settings.environment = ProgramEnvironment(options, known, settings.say, &settings.preloaded);
  std::vector<std::string> written;
  settings.groups_of_own_children = [&on_report] { return on_report.groups(); };
  settings.look_at_own_children = [&on_report] { return on_report.Look(); };
  settings.report_written = [&](const std::string& path) {
    written.push_back(path);
    on_report.Add(path);
  };
  const Result<int> exit_code = RunWatched(settings, program);
  if (!options.quiet) {
    try {
      TellWritten(written);
    } catch (const std::exception&) {
      // No memory: the program's exit code counts more than an answer that its file has.
    }
  }
  on_report.Finish(settings.say);
  if (exit_code.ok()) return *exit_code;
  const std::string mistaken =
      MistakenForProgram("run", program.front(), exit_code.status().code());
  PrintError("run", mistaken.empty() ? exit_code.status().message() : mistaken);
  return ExitCodeFor(exit_code.status());
}

// The options of kSettingRows.
void AddLayerOptions(Command* command, RunOptions* options) {
  for (const SettingRow& row : kSettingRows) {
    if (row.option.name == nullptr) continue;
    CommandOption option = command->Option(row.option.name, &options->layer[row.variable],
                                           row.option.type, row.option.help);
    std::vector<std::string> words;
    for (const SettingWord& word : row.words) {
      if (!word.text.empty()) words.emplace_back(word.text);
    }
    if (!words.empty()) option.OneOf(words);
  }
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
              "Report a hang when submitted GPU work makes no progress for this long; "
              "fractions allowed, 0: never")
      .WithDefault();
  command.Flag("--kill-on-hang", &options->kill_on_hang, "Kill the program after reporting a hang");
  command.Flag("--dump-on-exit", &options->dump_on_exit,
               "Write the file also when the program exits normally");
  command.Option("--on-report", &options->on_report, "COMMAND", kOnReportHelp);
  AddLayerOptions(&command, options.get());
  command.Flag("--no-layer", &options->no_layer, kNoLayerHelp);
  command.Flag("--no-witnesses", &options->no_witnesses,
               "Do not measure at which barriers the GPU waits (done once for each driver), and "
               "conclude nothing from barriers");
  command.Flag("--capture", &options->capture,
               "Record all Direct3D 12 calls into the file, for cairn replay, calls and bisect");
  command.Frames(&options->frames, "With --capture: these frames only");
  command.Option("--trigger", &options->trigger, "signal|FILE", kTriggerHelp);
  command.Flag("--hash-frames", &options->hash_frames,
               "With --capture: keep a hash of each frame's image, for cairn replay --validate");
  command.Flag(
      "--hash-resources", &options->hash_resources,
      "With --capture: keep hashes of what buffers and textures hold when they are destroyed, for "
      "cairn replay --validate=all");
  command.Flag("--quiet", &options->quiet,
               "Do not say on stderr that a file was written; problems are still reported");

  auto program = std::make_shared<std::vector<std::string>>();
  return {command.app(), [options, program] { return Run(*options, *program); }, kExitCairnFailed,
          program};
}

}  // namespace cairn::cli
