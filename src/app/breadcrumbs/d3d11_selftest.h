// SPDX-License-Identifier: Apache-2.0
//
// Tests by values if a way of writing raw markers on a Direct3D 11 device works, with a draw in
// between that takes a while:
//
//   T (slot 0)   draw   T (slot 1)   B (slot 2)
//
// All three values have to arrive, the bottom one late; and what arrives in slot 1 before slot 2 does shows that top is
// not bottom.
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_SELFTEST_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_SELFTEST_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d11_api.h"
#include "base/status.h"

namespace cairn {

inline constexpr uint32_t kD3D11TestSlots = 3;

// The tested way to write markers. Slots are numbered from 0; no other code uses them meanwhile.
struct D3D11MarkerWay {
  std::string name;
  std::function<Status(PipeLocation where, uint32_t slot, uint64_t value)> write;
  // Returns the current value of a slot.
  std::function<uint64_t(uint32_t slot)> read;
};

struct D3D11MarkerFinding {
  bool works = false;
  bool top_seen_early = false;  // while the draw before it was running
  SourceFinding source;
};

// Leaves the immediate context in its default state, and what it wrote in the slots. Takes some tens of milliseconds; 2 s where
// nothing arrives.
D3D11MarkerFinding TestD3D11Markers(const D3D11Objects& objects, const D3D11MarkerWay& way);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_SELFTEST_H_
