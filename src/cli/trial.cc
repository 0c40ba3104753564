// SPDX-License-Identifier: Apache-2.0
//
// cairn trial: one run of a program for cairn bisect, under a watcher that tells what happened in memory. Not for
// people.
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/verb.h"
#include "os/child.h"
#include "os/shared_memory.h"
#include "reader/bisect/program_trial.h"
#include "watcher/session_output.h"
#include "watcher/watch_loop.h"

namespace cairn::cli {
namespace {

constexpr char kTrialExamples[] =
    "Examples:\n"
    "  cairn bisect -- ./game   starts it, again and again";

struct TrialOptions {
  std::string hang_timeout = "10";
  std::string output;
  std::vector<std::string> environment;
  std::string preloaded;
};

// Tells what reports would tell; writes none unless it is asked to.
class ToldReports final : public SessionOutput {
 public:
  ToldReports(TrialTelling* telling, bool writes) : telling_(*telling), writes_(writes) {}

  Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                     const std::function<std::string()>& other_name, Place* place) override {
    for (const NoticedIncident& incident : subject.incidents) Tell(incident);
    return writes_ ? files_.WriteReport(subject, block, other_name, place) : Status();
  }
  std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                               CaptureDrainSettings settings) override {
    return files_.StartCapture(std::move(region), std::move(settings));
  }
  void RefuseCapture(SharedMemory region) override { files_.RefuseCapture(std::move(region)); }

 private:
  void Tell(const NoticedIncident& incident) {
    switch (incident.kind) {
      case IncidentKind::kHang: telling_.Fails(FailureKind::kHang, 0); break;
      case IncidentKind::kDeviceLost: telling_.Fails(FailureKind::kLost, 0); break;
      case IncidentKind::kSignal:
        telling_.Fails(FailureKind::kDied, static_cast<int>(incident.value));
        break;
      case IncidentKind::kNone:
      case IncidentKind::kRequested:
      case IncidentKind::kExited: break;
    }
  }

  TrialTelling& telling_;
  const bool writes_;
  FileOutput files_;
};

int Run(const TrialOptions& options, const std::vector<std::string>& program) {
  Result<SharedMemory> memory = TakeMemoryOfParent();
  const Result<uint64_t> hang_timeout_ns = ParseSecondsOf("--hang-timeout", options.hang_timeout);
  if (!memory.ok() || memory->size_bytes() < sizeof(TrialTelling) || !hang_timeout_ns.ok()) {
    PrintError("trial", "cairn bisect starts it; say cairn bisect -- PROGRAM");
    return kExitUsage;
  }
  auto* const telling = std::launder(reinterpret_cast<TrialTelling*>(memory->data()));
  ToldReports reports(telling, !options.output.empty());
  WatchSettings settings;
  settings.stays_for_descendants = false;  // a run of many, which ends with its program
  settings.policy = {.hang_timeout_ns = *hang_timeout_ns, .kill_on_hang = true};
  settings.output_path = options.output.empty() ? "unwritten.cairn" : options.output;
  settings.output = &reports;
  settings.environment = options.environment;
  settings.preloaded = options.preloaded;
  settings.say = settings.warn = [](const std::string&) {};
  const Result<int> exit_code = RunWatched(settings, program);
  if (exit_code.ok()) {
    telling->Ends(*exit_code);
  } else {
    telling->CannotRun(exit_code.status().message());
  }
  return 0;
}

}  // namespace

Verb AddTrialVerb(CLI::App& root) {
  auto options = std::make_shared<TrialOptions>();
  Command command(root, "trial", "Runs a program for cairn bisect.",
                  "cairn trial [OPTIONS] -- PROGRAM [ARGUMENTS]", kTrialExamples);
  command.Option("--hang-timeout", &options->hang_timeout, "SECONDS", "As of cairn run");
  command.Option("-o,--output", &options->output, "FILE", "Write the report of a failure");
  // Not of this process: the layers are for the program.
  command.Option("--set", &options->environment, "NAME=VALUE", "A variable of the program");
  command.Option("--preload", &options->preloaded, "FILE", "A library that is to be in it");
  command.Hide();
  auto program = std::make_shared<std::vector<std::string>>();
  return {command.app(), [options, program] { return Run(*options, *program); }, kExitUsage,
          program};
}

}  // namespace cairn::cli
