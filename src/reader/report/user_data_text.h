// SPDX-License-Identifier: Apache-2.0
//
// User data (cairn/user_data.h) in reports: short values are shown, others are written by `cairn report --extract`.
#ifndef CAIRN_READER_REPORT_USER_DATA_TEXT_H_
#define CAIRN_READER_REPORT_USER_DATA_TEXT_H_

#include <cstddef>
#include <string>

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Longer values are not in the JSON.
inline constexpr size_t kMostJsonUserDataBytes = 4096;

// `level, 4 bytes: e1m1`; the value of short texts of one line alone.
void AppendUserData(const Snapshot& snapshot, const UserData& data, std::string& out);

// Writes the keys "text" and "bytes" into the object that is open.
void WriteUserDataValue(const Snapshot& snapshot, const UserData& data, JsonWriter* json);

// `user-data-07-save.bin`: the name of a file for the entry with this index. Letters, digits, '.', '-' and '_' of the
// key stay, others become '_'.
std::string UserDataFileName(const Snapshot& snapshot, size_t index);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_USER_DATA_TEXT_H_
