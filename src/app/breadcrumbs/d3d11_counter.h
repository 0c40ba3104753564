// SPDX-License-Identifier: Apache-2.0
//
// Counts the GPU's progress in an immediate context of Direct3D 11 by means of the API itself. A
// number never gets past running work: it is done when all work before it is.
//
//   ID3D11Fence         Windows 10 1703 and later, DXVK. Each signal submits what was recorded before it
//   D3D11_QUERY_EVENT   every device; asked for by another thread, for which the device is made multithread-protected
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_COUNTER_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_COUNTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d11_api.h"
#include "base/status.h"

namespace cairn {

// Threads: Signal on that of the immediate context, Done on any, one at a time.
class D3D11Counter {
 public:
  virtual ~D3D11Counter() = default;
  virtual WriteMethod method() const = 0;
  // `number` is one more than that of the last call that succeeded.
  virtual Status Signal(uint64_t number) = 0;
  // Returns the highest completed number; 0 for none. Ignores the value of a lost device.
  virtual uint64_t Done() = 0;
};

// The first of the two that the device has; each that it has not is a finding. kUnsupported: neither.
Result<std::unique_ptr<D3D11Counter>> MakeD3D11Counter(const D3D11Objects& objects,
                                                       std::vector<SourceFinding>* findings);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_COUNTER_H_
