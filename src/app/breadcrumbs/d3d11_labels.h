// SPDX-License-Identifier: Apache-2.0
//
// Raw markers of Direct3D 11 through DXVK: labels in the immediate context, which DXVK puts into its Vulkan command buffers at
// their place, and Cairn's Vulkan layer there writes the markers (raw_marker_text.h).
//
// A write that may not stand inside of a Vulkan render pass (vkCmdFillBuffer) has clears of a small buffer before it, for
// which DXVK ends the pass.
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_LABELS_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_LABELS_H_

#include <d3d11_1.h>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d11_api.h"

namespace cairn {

// Sets the variable that makes DXVK pass labels down. Call it before DXVK is loaded. Keeps the
// user's value.
void AskDxvkForLabels();

// Threads: that of the immediate context.
class D3D11Labels {
 public:
  // `method`: RawMarkerScope::method. kUnsupported: the context takes no labels.
  static Result<D3D11Labels> Open(const D3D11Objects& objects, WriteMethod method);

  void Write(PipeLocation where, uint32_t index, uint64_t value);

 private:
  ComPtr<ID3D11DeviceContext> context_;
  ComPtr<ID3DUserDefinedAnnotation> annotation_;
  ComPtr<ID3D11UnorderedAccessView> cleared_;  // empty: not needed
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_LABELS_H_
