// SPDX-License-Identifier: Apache-2.0
//
// All verbs, and what they need of the process that they run in.
#ifndef CAIRN_CLI_VERB_LIST_H_
#define CAIRN_CLI_VERB_LIST_H_

#include <string>
#include <vector>

#include "cli/verb.h"

namespace cairn::cli {

// Returns the verbs in the order of the list in --help.
std::vector<Verb> AddVerbs(CLI::App& root);

// Prepares this process for the verb, once the verb is known and parsed and before it runs.
// `words`: the words of the command line; `argv`: that of main. Does not return if the process must
// be started again.
void PrepareFor(const Verb& verb, const std::vector<std::string>& words, char** argv);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_VERB_LIST_H_
