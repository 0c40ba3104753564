// SPDX-License-Identifier: Apache-2.0
//
// A recorded call on its way to the real object: what the parts of the player hand each other.
#ifndef CAIRN_READER_REPLAY_CALL_IN_PROGRESS_H_
#define CAIRN_READER_REPLAY_CALL_IN_PROGRESS_H_

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Parts of the player that have work with calls of a few methods only.
enum class CallPart : uint8_t {
  kPointerChecks,
  kDescriptorChecks,
  kCopyChecks,
  kTileChecks,
  kRangeChecks,
  kViewChecks,
  kViewNotes,
  kWorkChecks,
  kBindingNotes,
  kCreationChecks,
  kPrograms,
  kMetaParameters,
  kStates,
  kAddresses,
  kAdjustments,
  kNulls,
  kSignals,
};

// Owns nothing; lives as long as the call is played. One thread.
struct CallInProgress {
  const Record& record;
  Method method;
  const MethodInfo& info;
  ReplayObject* object;  // on which it is called
  DecodedCall& arguments;
  ReplayObjects& objects;
  // A bit for each CallPart that has nothing to do for calls of this method, as far as that was found out.
  uint32_t needless = 0;

  bool Needs(CallPart part) const { return (needless >> static_cast<unsigned>(part) & 1) == 0; }
  // Returns true if one of them is needed.
  template <typename... Parts>
  bool NeedsAny(Parts... parts) const {
    return (~needless & (... | (uint32_t{1} << static_cast<unsigned>(parts)))) != 0;
  }
  // Called by a part that does nothing for this method, whatever the arguments are.
  Status Needless(CallPart part) {
    needless |= uint32_t{1} << static_cast<unsigned>(part);
    return Status();
  }

  // Returns the argument. `T`: the type of the parameter, as the method declares it.
  template <typename T>
  T& At(size_t index) {
    return *static_cast<T*>(arguments.arguments[index]);
  }
  // Returns the replay's object for an argument that is an interface's pointer; null if there is none.
  ReplayObject* ObjectAt(size_t index) { return objects.FindReal(At<void*>(index)); }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_CALL_IN_PROGRESS_H_
