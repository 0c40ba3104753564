// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_abi.h"

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_variants.h"
#include "os/library.h"

// For another copy of Cairn in this program, which cannot know this one's wrappers: 1 if methods of
// objects with this table have the Windows convention, 2 for the platform's own, 0 if the table is no
// wrapper's of this copy. Not for applications.
extern "C" CAIRN_API int cairnLayerAbi(const void* vtable);

namespace cairn {
namespace {

// The few classes of device wrappers.
constexpr size_t kMaxVtables = 16;
struct LayerVtable {
  std::atomic<const void*> vtable{nullptr};
  std::atomic<D3D12Abi> abi{};
};
std::array<LayerVtable, kMaxVtables> layer_vtables;

const LayerVtable* FindLayerVtable(const void* vtable) {
  for (const LayerVtable& known : layer_vtables) {
    if (known.vtable.load(std::memory_order_acquire) == vtable) return &known;
  }
  return nullptr;
}

const void* VtableOf(const void* object) {
  return *static_cast<const void* const*>(object);
}

D3D12Abi AbiOfModule(const void* vtable) {
  const void* const method = *static_cast<const void* const*>(vtable);
  const std::string name = LibraryNameOf(method);
  if (name.starts_with("libvkd3d.so")) return D3D12Abi::kMicrosoft;
  if (!name.starts_with("libcairn-d3d12.so")) return D3D12Abi::kSystemV;
  // Another copy's wrapper.
  const Library library = Library::FindLoaded(LibraryPathOf(method));
  const auto ask = library.Find<int (*)(const void*)>("cairnLayerAbi");
  return ask != nullptr && ask(vtable) == 1 ? D3D12Abi::kMicrosoft : D3D12Abi::kSystemV;
}

template <void* (*kAsk)(void*, const InterfaceId&)>
const LayerList* FindList(void* list) {
  const auto* const found = static_cast<const LayerList*>(kAsk(list, kLayerListId));
  return found != nullptr && found->token == LayerToken() ? found : nullptr;
}

}  // namespace

D3D12Abi AbiOfDevice(void* object) {
  const void* const vtable = VtableOf(object);
  const LayerVtable* const layers = FindLayerVtable(vtable);
  return layers != nullptr ? layers->abi.load(std::memory_order_relaxed) : AbiOfModule(vtable);
}

void NoteLayerVtable(const void* vtable, D3D12Abi abi) {
  static std::mutex mutex;
  if (FindLayerVtable(vtable) != nullptr) return;
  std::lock_guard lock(mutex);
  if (FindLayerVtable(vtable) != nullptr) return;
  for (LayerVtable& entry : layer_vtables) {
    if (entry.vtable.load(std::memory_order_relaxed) != nullptr) continue;
    entry.abi.store(abi, std::memory_order_relaxed);
    entry.vtable.store(vtable, std::memory_order_release);
    return;
  }
}

const LayerDevice* FindLayerDevice(void* device) {
  const LayerVtable* const layers = FindLayerVtable(VtableOf(device));
  if (layers == nullptr) return nullptr;
  void* const answer = layers->abi.load(std::memory_order_relaxed) == D3D12Abi::kMicrosoft
                           ? d3d12_ms::AskLayer(device, kLayerDeviceId)
                           : d3d12_sysv::AskLayer(device, kLayerDeviceId);
  const auto* const found = static_cast<const LayerDevice*>(answer);
  return found != nullptr && found->token == LayerToken() ? found : nullptr;
}

LayerListFinder FinderOfLists(D3D12Abi abi) {
  return abi == D3D12Abi::kMicrosoft ? &FindList<d3d12_ms::AskLayer>
                                     : &FindList<d3d12_sysv::AskLayer>;
}

Context::Hold HoldDevice(void* device) {
  if (AbiOfDevice(device) == D3D12Abi::kMicrosoft) {
    d3d12_ms::AddReference(device);
    return {device, d3d12_ms::ReleaseReference};
  }
  d3d12_sysv::AddReference(device);
  return {device, d3d12_sysv::ReleaseReference};
}

std::unique_ptr<Backend> CreateD3D12Backend(void* device) {
  return AbiOfDevice(device) == D3D12Abi::kMicrosoft ? d3d12_ms::CreateBackend(device)
                                                     : d3d12_sysv::CreateBackend(device);
}

}  // namespace cairn

int cairnLayerAbi(const void* vtable) {
  const cairn::LayerVtable* const layers = cairn::FindLayerVtable(vtable);
  if (layers == nullptr) return 0;
  return layers->abi.load(std::memory_order_relaxed) == cairn::D3D12Abi::kMicrosoft ? 1 : 2;
}
