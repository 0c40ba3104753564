// SPDX-License-Identifier: Apache-2.0
//
// The marks of texts that Cairn prints, for terminals and locales that have no others than ASCII's.
#ifndef CAIRN_BASE_ASCII_MARKS_H_
#define CAIRN_BASE_ASCII_MARKS_H_

#include <string>
#include <string_view>

namespace cairn {

// Returns the text with "`-", "...", ">" and the like in place of └─, …, › and such. All other letters stay as
// they are: names are bytes of somebody else, which may be searched for. A long line that ends with "…" was
// cut to a width, and does not become longer.
std::string AsciiMarks(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_BASE_ASCII_MARKS_H_
