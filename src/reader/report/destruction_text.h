// SPDX-License-Identifier: Apache-2.0
//
// Describes destructions with their time and thread, for reports.
#ifndef CAIRN_READER_REPORT_DESTRUCTION_TEXT_H_
#define CAIRN_READER_REPORT_DESTRUCTION_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

// Returns the time from the destruction to the first incident: negative if the destruction came
// later. nullopt if no time is known, or if the only incident is a request.
std::optional<int64_t> BeforeIncidentNs(const Snapshot& snapshot, const Destruction& destruction);

// The submission that was the last one by then; kNone if it is not known.
uint32_t SubmissionBefore(const Snapshot& snapshot, const Destruction& destruction);

// `, destroyed`, `, freed`, or `, whose device memory "Heap A" was freed`, of an object of this kind;
// `destruction` may be kNone.
void AppendHowItEnded(const Snapshot& snapshot, uint32_t kind, uint32_t destruction,
                      std::string& out);

// `, by thread "streaming" (4711), 3.1 ms before the loss, in frame 211, after submission 640 of queue 0`; nothing for
// kNone. `with_time`: false where the sentence has told a time already.
void AppendDestroyedBy(const Snapshot& snapshot, uint32_t destruction, bool with_time,
                       std::string& out);

// `descriptor set 1 binding 2: buffer "Particles", destroyed 3.2 ms after the submission, by thread ...`
void AppendDescriptorBinding(const Snapshot& snapshot, const Binding& binding, std::string& out);

// An object under `key`, or null.
void WriteDestruction(const Snapshot& snapshot, std::string_view key, uint32_t destruction,
                      JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_DESTRUCTION_TEXT_H_
