// SPDX-License-Identifier: Apache-2.0
//
// The last bound of what a file may cost a verb that reads it: memory and processor time of the whole process, by the
// file's size (format/file/file_cost.h). Other budgets leave out what is too much and go on; this one ends the verb, so
// that no file costs more, whatever it does. docs/reference/bounds.md says what each verb may take.
#ifndef CAIRN_CLI_READING_LIMITS_H_
#define CAIRN_CLI_READING_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::cli {

// The bound of processor time: by the size of the file, or none, because copying a whole trace may take long.
enum class TimeLimit { kBySize, kNone };

// Bounds the memory and the processor time of this process by the size of the file at `path`. Call it for each file
// before it is read: the budget of a second file comes on top. CAIRN_NO_LIMITS=1 in the environment lifts the bound.
// Only on Linux.
void LimitReading(std::string_view verb, const std::string& path,
                  TimeLimit time = TimeLimit::kBySize);

// Returns why there was no memory, for main(): the bound above if there is one.
std::string WhyNoMemory();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_READING_LIMITS_H_
