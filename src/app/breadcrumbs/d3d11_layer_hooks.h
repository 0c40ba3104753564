// SPDX-License-Identifier: Apache-2.0
//
// Hooks by which libcairn calls the Direct3D 11 layer of the same copy of Cairn. The program's objects are the
// implementation's own and cannot be asked for the layer (compare layer_identity.h).
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_LAYER_HOOKS_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_LAYER_HOOKS_H_

#include <cstdint>

#include "app/breadcrumbs/raw_marker_text.h"

namespace cairn {

struct D3D11LayerHooks {
  // Notes a raw marker at its place among the work of an ID3D11DeviceContext. Its slot is one of the context with the
  // index `slots` in the block; that one's slots belong to the lists of the layer from then on. Nothing happens where
  // the layer does not know the ID3D11DeviceContext, or its work is in the lists of the Vulkan layer. Threads: that of
  // the ID3D11DeviceContext. Throws nothing.
  void (*note_raw_marker)(void* context, uint32_t slots, const RawMarker& marker) = nullptr;
  // Marks the calls that this thread makes of the ID3D11DeviceContext as libcairn's own, no work of the program's: from
  // a call with `begin` to one without. Throws nothing.
  void (*own_calls)(void* context, bool begin) = nullptr;
};

// The hooks stay for the rest of the process: the layer is never unloaded. Threads: any.
void SetD3D11LayerHooks(const D3D11LayerHooks& hooks);

// Calls the hook; does nothing without one.
void NoteD3D11RawMarker(void* context, uint32_t slots, const RawMarker& marker);

// Calls the hook around libcairn's own calls of an ID3D11DeviceContext, which lives at least as long.
class D3D11OwnCalls {
 public:
  explicit D3D11OwnCalls(void* context);
  ~D3D11OwnCalls();
  D3D11OwnCalls(const D3D11OwnCalls&) = delete;
  D3D11OwnCalls& operator=(const D3D11OwnCalls&) = delete;

 private:
  void* const context_;
  void (*const hook_)(void* context, bool begin);
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_LAYER_HOOKS_H_
