// SPDX-License-Identifier: Apache-2.0
//
// What `cairn state` prints: the pipeline and everything that is bound where a command list records a call.
#ifndef CAIRN_READER_VIEW_BOUND_STATE_H_
#define CAIRN_READER_VIEW_BOUND_STATE_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.h"
#include "format/trace/trace_reader.h"

namespace cairn::cli {

// Of a table at most so many descriptors are shown, from its beginning to the first that nobody wrote.
inline constexpr uint32_t kShownDescriptors = 16;

// Whether a method, "ID3D12GraphicsCommandList::Close", is one of a command list.
bool IsOfCommandList(std::string_view method);

// The state with which the call with this number is recorded, by docs/state.schema.json. Goes through the
// trace up to the call, and looks up what made the pipeline and the descriptors.
// Memory: 64 bytes for each descriptor of a living heap that was written.
// Errors: kInvalidArgument: there is no such call, or it is none of a command list; kCorrupt: the call
// itself cannot be read.
Result<nlohmann::ordered_json> ListStateAt(TraceReader& trace, uint64_t call);

// The same for people; values of more than a line are cut.
std::string ListStateInWords(const nlohmann::ordered_json& state);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_BOUND_STATE_H_
