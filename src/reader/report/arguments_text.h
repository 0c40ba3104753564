// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a command, in words and in JSON.
#ifndef CAIRN_READER_REPORT_ARGUMENTS_TEXT_H_
#define CAIRN_READER_REPORT_ARGUMENTS_TEXT_H_

#include <cstdint>
#include <string>

#include "format/snapshot/snapshot.h"

namespace cairn {

class JsonWriter;

// `(300, 1, 1)`, `(4294967295 vertices, 1 instance)`, `(2 commands of buffer "Arguments" + 0x40)` of the command that
// begins with this event; nothing where none are known of it.
void AppendArguments(const Snapshot& snapshot, uint32_t event, std::string& out);

// The same as a member "arguments" of an object; none where none are known. docs/formats/report.schema.json.
void WriteArguments(const Snapshot& snapshot, uint32_t event, std::string& scratch,
                    JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_ARGUMENTS_TEXT_H_
