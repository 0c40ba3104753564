// SPDX-License-Identifier: Apache-2.0
//
// The command lines of `cairn` and `d3dconfig` as plain data: --help, the manual pages and the
// completions of shells print the same.
#ifndef CAIRN_CLI_DESCRIPTION_H_
#define CAIRN_CLI_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::cli {

struct OptionDescription {
  std::vector<std::string> names;     // "-o", "--output"; none: a word that is no option
  std::string type;                   // "FILE", "signal|FILE"; empty: a flag
  std::vector<std::string> values;    // all that it may have, where these are few
  std::vector<std::string> words;     // the same of a flag that may be given a word
  std::vector<std::string> excludes;  // names of options that it may not stand beside
  std::string default_value;
  bool value_optional = false;
  std::string help;
};

struct VerbDescription {
  std::string name;   // empty: of the program itself
  std::string group;  // the heading that it stands under in the list of all
  std::string purpose;
  std::string usage;
  std::string footer;  // examples, and what else follows the options
  std::vector<OptionDescription> options;

  bool takes_program = false;  // what follows "--" is a command line of somebody else
  bool offers_dumps = false;   // of files that are words, .cairn files alone
};

// Describes a program or a verb. `usage`: without "Usage: ".
VerbDescription Describe(const CLI::App& app, const std::string& usage);
// The program itself first, then the verbs that its help lists, in their order.
std::vector<VerbDescription> DescribeVerbs(const CLI::App& root);

// Returns what --help prints of `verb`, which is one of `verbs` or hidden, wrapped at `columns` (0: no limit). No line
// is longer, unless a word is. Fewer columns than 40 are taken for 40.
std::string HelpText(const VerbDescription& verb, const std::vector<VerbDescription>& verbs,
                     uint32_t columns);

// Returns roff, for man(1): cairn.1, and cairn-VERB.1 for each verb.
std::string ManualPage(const std::vector<VerbDescription>& verbs, const VerbDescription& verb);
// Returns the page of a program without verbs.
std::string ManualPage(const std::string& program, const VerbDescription& described);

// The script that completes the command line in a shell: "bash", "zsh" or "fish".
std::string CompletionScript(const std::vector<VerbDescription>& verbs, const std::string& shell);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_DESCRIPTION_H_
