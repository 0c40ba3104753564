// SPDX-License-Identifier: Apache-2.0
//
// Shared by the verbs of the `cairn` command: one file a verb, one function a verb.
#ifndef CAIRN_CLI_VERB_H_
#define CAIRN_CLI_VERB_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
}

namespace cairn::cli {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
// The exit code of verbs that play: played to the end, except for skipped calls.
inline constexpr int kExitLeftOut = 3;
// The GPU hung, the device was lost, or the process of the playback died: what failed then may fail again.
inline constexpr int kExitPlaybackFailed = 4;

// All of them, as the help has them; docs/reference/exit-codes.md says the same.
inline constexpr char kExitCodes[] =
    "Exit codes:\n"
    "  0    success; verify, diff, pix and selftest found nothing wrong\n"
    "  1    failure, or a problem was found; diff found differences\n"
    "  2    the command line is wrong; diff could compare nothing\n"
    "  3    replay, images and trim are done, but skipped some calls; replay --check: would skip\n"
    "  4    in replay, images or trim the GPU hung, the device was lost, or the playback died\n\n"
    "Exit codes of cairn run:\n"
    "  N        the program ended by itself, with N\n"
    "  128 + N  signal N ended the program\n"
    "  124      the program hung, and --kill-on-hang killed it\n"
    "  125      cairn failed, or its command line is wrong\n"
    "  126      the program cannot be executed\n"
    "  127      the program was not found\n";

// A verb that can be run; the function that declares it fills this.
struct Verb {
  CLI::App* app = nullptr;
  // Runs after parsing; returns the exit code.
  std::function<int()> run;
  // The exit code when the command line is wrong.
  int usage_exit_code = kExitUsage;
  // For verbs that start a program: where its words go, which are those after "--" or from the first
  // one on that is no option. They are not parsed.
  std::shared_ptr<std::vector<std::string>> program = nullptr;
  // The program is what follows "--": the first word that is no option is something else.
  bool program_needs_dashes = false;
  // The output may be long: on a terminal a pager shows it.
  bool pages = false;
  // Returns true if no pager is wanted for the options that were given: it would keep ^C from the verb.
  std::function<bool()> without_pager = nullptr;
};

Verb AddExportVerb(CLI::App& root);
Verb AddHelpVerb(CLI::App& root);
Verb AddRunVerb(CLI::App& root);
Verb AddReportVerb(CLI::App& root);
Verb AddViewVerb(CLI::App& root);
Verb AddInfoVerb(CLI::App& root);
Verb AddVerifyVerb(CLI::App& root);
Verb AddObjectsVerb(CLI::App& root);
Verb AddRepackVerb(CLI::App& root);
Verb AddCallsVerb(CLI::App& root);
Verb AddStateVerb(CLI::App& root);
Verb AddReplayVerb(CLI::App& root);
Verb AddBisectVerb(CLI::App& root);
Verb AddWhyVerb(CLI::App& root);
Verb AddSelftestVerb(CLI::App& root);
Verb AddPixVerb(CLI::App& root);
Verb AddTopVerb(CLI::App& root);
Verb AddImagesVerb(CLI::App& root);
Verb AddDiffVerb(CLI::App& root);
Verb AddTrimVerb(CLI::App& root);
Verb AddTriageVerb(CLI::App& root);
Verb AddMcpVerb(CLI::App& root);
Verb AddListVerb(CLI::App& root);  // Linux only, as the next
Verb AddWatchdVerb(CLI::App& root);
Verb AddWatchVerb(CLI::App& root);  // not in the help: cairnStartWatcher starts it
Verb AddPicturesVerb(CLI::App& root);
Verb AddProbeVerb(CLI::App& root);         // not in the help: cairn bisect starts it
Verb AddTrialVerb(CLI::App& root);         // the same, for a program that runs itself
Verb AddWitnessProbeVerb(CLI::App& root);  // not in the help: cairn run starts it
Verb AddGpuCheckVerb(CLI::App& root);      // not in the help: cairn bisect starts it

// "cairn VERB: message" as one line on stderr; control characters in the message are made visible.
void PrintError(std::string_view verb, std::string_view message);
void PrintWarning(std::string_view verb, std::string_view message);

// Writes to stderr, and flushes: on Windows it has a buffer, which would appear only when the program
// ends, and never if cairn is killed.
void PrintOnError(std::string_view text);

// Text for people has marks that are no ASCII, which locales without UTF-8 do not show: PrintOutput and
// the functions above write others there. After this, PrintOutput writes bytes as they are, as JSON is.
void PrintOutputUnchanged();

// Writes to stdout. False if that failed, with the reason printed, unless the reader just went away.
bool PrintOutput(std::string_view verb, std::string_view text);

// The entry of `known` that `word` is most likely meant to be, "" if none is close.
std::string ClosestWord(const std::string& word, const std::vector<std::string>& known);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_VERB_H_
