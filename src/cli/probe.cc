// SPDX-License-Identifier: Apache-2.0
//
// cairn probe: one play of a trace for cairn bisect, which is asked and answers through memory. Not for people.
#include "cli/command.h"
#include "cli/verb.h"
#include "reader/bisect/trace_probe.h"

namespace cairn::cli {
namespace {

constexpr char kProbeExamples[] =
    "Examples:\n"
    "  cairn bisect game.cairn   starts it, again and again";

int Answer() {
  // Without a question on its input this verb only prints an error.
  (void)AnswerTraceProbe();
  PrintError("probe", "cairn bisect starts it; say cairn bisect FILE");
  return kExitUsage;
}

}  // namespace

Verb AddProbeVerb(CLI::App& root) {
  Command command(root, "probe", "Plays a trace for cairn bisect.", "cairn probe", kProbeExamples);
  command.Hide();
  return {command.app(), Answer};
}

}  // namespace cairn::cli
