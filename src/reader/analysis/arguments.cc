// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/arguments.h"

#include "format/block/indirect_values.h"
#include "reader/analysis/bind_uses.h"

namespace cairn {
namespace {

uint64_t Times(uint64_t a, uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

// Returns the object bound to a slot for the command that begins with this event, and for no other;
// kNone if no object is known.
uint32_t UsedObject(const Snapshot& snapshot, uint32_t event, BindPoint point, uint32_t slot) {
  for (uint32_t i = event; i-- > 0;) {
    const Event& before = snapshot.events[i];
    if (before.kind != EventKind::kBind) break;
    if (!IsBind(snapshot, before) || before.type != static_cast<uint16_t>(point)) continue;
    const Bind& bind = snapshot.binds[before.detail];
    if (bind.slot != slot || bind.is_address || bind.value >= snapshot.objects.size()) continue;
    return static_cast<uint32_t>(bind.value);
  }
  return kNone;
}

}  // namespace

KnownArguments ArgumentsOf(const Snapshot& snapshot, uint32_t event) {
  KnownArguments found;
  for (size_t i = size_t{event} + 1; i < snapshot.events.size(); ++i) {
    const Event& next = snapshot.events[i];
    if (next.kind != EventKind::kBind) break;
    if (!IsArguments(next.type) || next.detail >= snapshot.binds.size()) continue;
    const Bind& bind = snapshot.binds[next.detail];
    const ArgumentNumbers numbers = {static_cast<ArgumentsPoint>(next.type), bind.slot, bind.value};
    if (numbers.point == kIndirectHostAddress) continue;
    if (numbers.point == kIndirectValues) {
      found.values = numbers;
      continue;
    }
    if (next.type >= static_cast<uint16_t>(ArgumentsPoint::kFirst)) {
      if (found.main.point != ArgumentsPoint::kNone) found.more = numbers;
      continue;
    }
    if (found.main.point != ArgumentsPoint::kNone) return {};
    found.main = numbers;
  }
  return found;
}

uint64_t SizeOfWork(const KnownArguments& arguments) {
  const ArgumentNumbers& main = arguments.main;
  switch (main.point) {
    case ArgumentsPoint::kDraw:
    case ArgumentsPoint::kIndexedDraw: return Times(main.first, main.second());
    case ArgumentsPoint::kGroups: return Times(Times(main.first, main.second()), main.third());
    // Vertices and instances, or groups: one of each factor at least.
    case ArgumentsPoint::kIndirect: return Times(arguments.values.first, arguments.values.second());
    default: return 0;
  }
}

IndirectBuffers IndirectBuffersOf(const Snapshot& snapshot, uint32_t event) {
  return {UsedObject(snapshot, event, BindPoint::kIndirectArguments, 0),
          UsedObject(snapshot, event, BindPoint::kIndirectArguments, 1)};
}

}  // namespace cairn
