// SPDX-License-Identifier: Apache-2.0
//
// Finds the binds that a command uses, by its type, and the lifetime of a bind. docs/internals/analysis.md,
// "What a candidate used", has the rules.
#ifndef CAIRN_READER_ANALYSIS_BIND_USES_H_
#define CAIRN_READER_ANALYSIS_BIND_USES_H_

#include <cstdint>

#include "format/snapshot/snapshot.h"

namespace cairn {

// The parts of a list's state that a command uses.
struct Uses {
  bool draws = false;
  bool indices = false;
  bool compute = false;
  bool rays = false;  // in Direct3D they use what dispatches use
};

// Returns the parts that commands of this CairnMarkerType use; accepts values that this version
// does not know.
Uses UsesOf(uint32_t type);

// The limit of slots: binds are distinguished by point, pipe and slot; further slots are ignored.
inline constexpr uint32_t kSlotsSeen = 64;  // D3D12 has no more of anything.
inline constexpr uint32_t kBindPoints = 16;
inline constexpr uint32_t kPipes = 3;  // of draws, of dispatches, of rays

// A kBind event whose point and index are in range: of a file any event may call itself one.
inline bool IsBind(const Snapshot& snapshot, const Event& event) {
  return event.kind == EventKind::kBind && event.type < kBindPoints &&
         event.detail < snapshot.binds.size();
}
inline bool IsNothing(const Bind& bind) {
  return bind.is_address ? bind.value == 0 : bind.value == kNone;
}
// The pipe, and the slot in it, from Bind::slot.
inline uint32_t PipeOf(uint32_t slot) {
  return (slot & kBindSlotOfCompute) != 0 ? 1 : (slot & kBindSlotOfRays) != 0 ? 2 : 0;
}
inline uint32_t NumberOf(uint32_t slot) {
  return slot & ~(kBindSlotOfCompute | kBindSlotOfRays);
}

// Returns true for bindings of the one command that follows directly, with only binds in between:
// they are no state.
inline bool IsOfOneCommand(BindPoint point) {
  return point == BindPoint::kSource || point == BindPoint::kDestination ||
         point == BindPoint::kIndirectArguments;
}

bool IsUsed(const Uses& uses, BindPoint point, uint32_t pipe);

// Returns true if no state survives the event: nothing is bound at the begin of a secondary command
// buffer, and its state is lost at its end. `first_event`: of its recording.
bool EndsState(const Snapshot& snapshot, uint32_t first_event, const Event& event);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_BIND_USES_H_
