// SPDX-License-Identifier: Apache-2.0
//
// Where sentences are wrapped: help, reports and the answers of searches. Lists, rows of trees and JSON are not: in a
// file or a pipe each of their lines stays whole.
#ifndef CAIRN_CLI_TEXT_COLUMNS_H_
#define CAIRN_CLI_TEXT_COLUMNS_H_

#include <cstdint>

namespace cairn::cli {

// Returns the columns of the terminal; where stdout is none, those of the variable COLUMNS, or else 100. 0: no limit.
uint32_t TextColumns();
// The same of a terminal's columns (0: none) and a variable's value (null: not set). A value that is no number counts
// as none, one below 40 as 40.
uint32_t TextColumnsOf(uint32_t terminal, const char* variable);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TEXT_COLUMNS_H_
