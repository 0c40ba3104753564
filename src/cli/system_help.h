// SPDX-License-Identifier: Apache-2.0
//
// Texts of --help that differ between systems.
#ifndef CAIRN_CLI_SYSTEM_HELP_H_
#define CAIRN_CLI_SYSTEM_HELP_H_

namespace cairn::cli {

extern const char kCairnExamples[];

// Texts of `cairn run`.
extern const char kRunExamples[];  // and the exit codes
extern const char kNoLayerHelp[];
extern const char kTriggerHelp[];

}  // namespace cairn::cli

#endif  // CAIRN_CLI_SYSTEM_HELP_H_
