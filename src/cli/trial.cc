// SPDX-License-Identifier: Apache-2.0
//
// cairn trial: one run of a program for cairn bisect and cairn why, under a watcher that tells what happened in memory.
// Not for people.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/verb.h"
#include "os/child_status.h"
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
  ToldReports(TrialStatus* status, bool writes) : status_(*status), writes_(writes) {}

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
      case IncidentKind::kHang: status_.Fails(FailureKind::kHang, 0); break;
      case IncidentKind::kDeviceLost: status_.Fails(FailureKind::kLost, 0); break;
      case IncidentKind::kSignal:
        status_.Fails(FailureKind::kDied, static_cast<int>(incident.value));
        break;
      case IncidentKind::kNone:
      case IncidentKind::kRequested:
      case IncidentKind::kExited: break;
    }
  }

  TrialStatus& status_;
  const bool writes_;
  FileOutput files_;
};

int Run(const TrialOptions& options, const std::vector<std::string>& program) {
  Result<ChildStatus<TrialStatus>> status = ChildStatus<TrialStatus>::OfThisProcess();
  const Result<uint64_t> hang_timeout_ns = ParseSecondsOf("--hang-timeout", options.hang_timeout);
  if (!status.ok() || !hang_timeout_ns.ok()) {
    PrintError("trial", "cairn bisect starts it; say cairn bisect -- PROGRAM");
    return kExitUsage;
  }
  ToldReports reports(&**status, !options.output.empty());
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
    (*status)->exit_code = *exit_code;
    (*status)->program.Set(TrialStatus::Program::kEnded);
  } else {
    (*status)->why.Set(exit_code.status().message());
    (*status)->program.Set(TrialStatus::Program::kNotRun);
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
  // Set in the program only: the layers are not for this process.
  command.Option("--set", &options->environment, "NAME=VALUE", "A variable of the program");
  command.Option("--preload", &options->preloaded, "FILE", "A library that is to be in it");
  command.Hide();
  auto program = std::make_shared<std::vector<std::string>>();
  return {command.app(), [options, program] { return Run(*options, *program); }, kExitUsage,
          program};
}

}  // namespace cairn::cli
