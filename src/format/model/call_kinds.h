// SPDX-License-Identifier: Apache-2.0
//
// Tells, beside the roles, what calls leave behind that a capture which starts later must restore.
#ifndef CAIRN_FORMAT_MODEL_CALL_KINDS_H_
#define CAIRN_FORMAT_MODEL_CALL_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "d3d12gen/methods.h"
#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

// Returns the role of a method by its number in this build; for an unknown number that of a question, which
// leaves nothing.
inline const CallRole& RoleOfNumber(uint16_t method) {
  return RoleOf(method < kMethodCount ? static_cast<Method>(method)
                                      : Method::ID3D12Object_GetPrivateData);
}

// Returns true for a command of a list: a call that is recorded, and neither Reset nor Close.
inline bool IsCommand(const CallRole& role) {
  return role.timeline == Timeline::kList && role.role != Role::kListReset &&
         role.role != Role::kListClose;
}
inline bool CopiesDescriptors(const CallRole& role) {
  return role.role == Role::kCopyViews || role.role == Role::kCopyViewRanges;
}

// Calls of lists that read descriptors by their CPU handles: when they are recorded, not when the list is
// executed.
bool ReadsDescriptors(uint16_t method);

// Returns true if the call writes a view of an acceleration structure: a shader that traces rays
// through it follows addresses to others.
bool ViewsAddresses(Method method, const DecodedCall& call);

// The encoding of a name in the data of SetPrivateData; kNone: they hold no name.
enum class NameKind : uint8_t { kNone, kNarrow, kWide };
NameKind NameInPrivateData(std::span<const std::byte> arguments);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_CALL_KINDS_H_
