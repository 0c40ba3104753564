// SPDX-License-Identifier: Apache-2.0
//
// All verbs, and what they need of the process that they run in.
#ifndef CAIRN_CLI_VERB_LIST_H_
#define CAIRN_CLI_VERB_LIST_H_

#include <string>
#include <vector>

#include "cli/verb.h"

namespace cairn::cli {

// In the order in which they are listed.
std::vector<Verb> AddVerbs(CLI::App& root);

// Once a verb is known and parsed, before it runs: sees to what it needs of this process. `words` are those of the
// command line, `argv` that of main. Does not return where the process has to be started again for that.
void PrepareFor(const Verb& verb, const std::vector<std::string>& words, char** argv);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_VERB_LIST_H_
