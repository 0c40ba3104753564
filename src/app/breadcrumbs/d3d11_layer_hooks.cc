// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_layer_hooks.h"

#include <atomic>

namespace cairn {
namespace {

std::atomic<void (*)(void*, uint32_t, const RawMarker&)> g_note_raw_marker{nullptr};
std::atomic<void (*)(void*, bool)> g_own_calls{nullptr};

}  // namespace

void SetD3D11LayerHooks(const D3D11LayerHooks& hooks) {
  g_own_calls.store(hooks.own_calls, std::memory_order_release);
  g_note_raw_marker.store(hooks.note_raw_marker, std::memory_order_release);
}

void NoteD3D11RawMarker(void* context, uint32_t slots, const RawMarker& marker) {
  const auto note = g_note_raw_marker.load(std::memory_order_acquire);
  if (note != nullptr) note(context, slots, marker);
}

D3D11OwnCalls::D3D11OwnCalls(void* context)
    : context_(context), hook_(g_own_calls.load(std::memory_order_acquire)) {
  if (hook_ != nullptr) hook_(context_, true);
}

D3D11OwnCalls::~D3D11OwnCalls() {
  if (hook_ != nullptr) hook_(context_, false);
}

}  // namespace cairn
