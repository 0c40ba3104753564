// SPDX-License-Identifier: Apache-2.0
//
// cairn probe: one play of a trace for cairn bisect, which is asked and answers through memory; with --play for cairn why,
// which runs it as a program. Not for people.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/verb.h"
#include "reader/bisect/trace_probe.h"

namespace cairn::cli {
namespace {

constexpr char kProbeExamples[] =
    "Examples:\n"
    "  cairn bisect game.cairn   starts it, again and again";

struct ProbeOptions {
  std::string play;
  PlayOn on;
  std::string timeout = "10";
};

int Answer(const ProbeOptions& options) {
  const Result<uint64_t> timeout_ns = ParseSecondsOf("--timeout", options.timeout);
  if (!options.play.empty() && timeout_ns.ok()) {
    PlayAsProgram(options.play, options.on, *timeout_ns);
  }
  // Without a question on its input this verb only prints an error.
  (void)AnswerTraceProbe();
  PrintError("probe", "cairn bisect starts it; say cairn bisect FILE");
  return kExitUsage;
}

}  // namespace

Verb AddProbeVerb(CLI::App& root) {
  auto options = std::make_shared<ProbeOptions>();
  Command command(root, "probe", "Plays a trace for cairn bisect.", "cairn probe", kProbeExamples);
  command.Option("--play", &options->play, "FILE",
                 "Play it, and say in the exit code how it ended");
  command.Option("--timeout", &options->timeout, "SECONDS", "GPU work that takes longer is a hang");
  command.Library(&options->on.library);
  command.Adapter(&options->on.adapter);
  command.Hide();
  return {command.app(), [options] { return Answer(*options); }};
}

}  // namespace cairn::cli
