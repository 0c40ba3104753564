// SPDX-License-Identifier: Apache-2.0
//
// The raw markers of a Direct3D 11 device, written in the best way that works on it (docs/reference/ags.md):
//
//   OpenAmdMarkers     by AMD's own library, which has made the device
//   OpenD3D11Markers   by the Vulkan layer below it, or else by what the API can order
//
// Each way is believed only once values came back through it. The report has a device of Direct3D 11 whose sources say
// what was tried.
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_MARKERS_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_MARKERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d11_api.h"
#include "app/breadcrumbs/driver_half.h"

namespace cairn {

// Holds references of the device and its immediate context. Threads: that of the immediate context.
class D3D11Markers {
 public:
  struct Facts {
    WriteMethod method = WriteMethod::kNone;
    // The requested number of slots, initially CAIRN_MARKER_UNWRITTEN. They stay readable while
    // this object lives.
    volatile uint64_t* slots = nullptr;
    bool tells_top = false;  // Backend::TellsTopOfPipe
    bool top_seen_early = false;
  };

  virtual ~D3D11Markers() = default;
  // `index` is below the number of slots.
  virtual Status Write(PipeLocation where, uint32_t index, uint64_t value) = 0;
  const Facts& facts() const { return facts_; }

 protected:
  Facts facts_;
};

// Slots of the self-test, behind the application's.
inline constexpr uint32_t kD3D11OwnSlots = 3;

// `below` was around the device's creation, with so many markers and kD3D11OwnSlots. `findings`: of what was tried before.
// kUnsupported: no way works; the message says why of the last.
Result<std::unique_ptr<D3D11Markers>> OpenD3D11Markers(const D3D11Objects& objects,
                                                       uint32_t marker_count,
                                                       const RawMarkerScope& below,
                                                       std::vector<SourceFinding> findings);

// `write` is the library's, `slots` its buffer with room for kD3D11OwnSlots more, which lives as long as the device.
// If it does not work, what was found is in `findings`.
Result<std::unique_ptr<D3D11Markers>> OpenAmdMarkers(
    const D3D11Objects& objects, uint32_t marker_count, volatile uint64_t* slots,
    std::function<Status(PipeLocation where, uint32_t index, uint64_t value)> write,
    std::vector<SourceFinding>* findings);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_MARKERS_H_
