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

// ` by thread "streaming" (4711) in frame 211, after submission 640 of queue 0, 3.1 ms before the loss`. `moment` stands
// in the place of the last part; where it is empty, the time of the first incident is it, if both are known. Without a
// known destruction only ` moment`.
void AppendDestroyedBy(const Snapshot& snapshot, uint32_t destruction, std::string_view moment,
                       std::string& out);

// `3.1 ms before the fault was noticed`; "after" for positive times.
std::string MomentInWords(int64_t after_ns, std::string_view what);

// `3.2 ms after the submission`; empty if it is not known.
std::string MomentOfBinding(const Binding& binding);

// `descriptor set 1 binding 2: buffer "Particles", destroyed by thread "streaming" (23) in frame 3, 3.2 ms after the submission`
void AppendDescriptorBinding(const Snapshot& snapshot, const Binding& binding, std::string& out);

// An object under `key`, or null.
void WriteDestruction(const Snapshot& snapshot, std::string_view key, uint32_t destruction,
                      JsonWriter* json);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_DESTRUCTION_TEXT_H_
