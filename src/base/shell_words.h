// SPDX-License-Identifier: Apache-2.0
//
// A program and its arguments as one line of a shell, and back.
#ifndef CAIRN_BASE_SHELL_WORDS_H_
#define CAIRN_BASE_SHELL_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// The words with blanks between them, each as ShellQuoted (base/text.h) returns it.
std::string ShellQuotedLine(const std::vector<std::string>& words);

// Returns the arguments of a process that lie one behind the other, each ended by a zero but perhaps the last.
std::vector<std::string> WordsOfArguments(std::string_view arguments);

// Returns the words of a line that ShellQuotedLine or a person made: apostrophes hold a word together. Any text has an
// answer: an apostrophe without its end stands for itself.
std::vector<std::string> WordsOfShellLine(std::string_view line);

}  // namespace cairn

#endif  // CAIRN_BASE_SHELL_WORDS_H_
