// SPDX-License-Identifier: Apache-2.0
//
// A libvkd3d of our own, on the fake device, for functions that the installed one does not have. As the
// real one it insists on its own objects. With CAIRN_NEWER it has a function that nobody knows yet.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "d3d12abi/testing/fake_device.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int32_t vkd3d_create_device(const void* info, const GUID& iid, void** device);
EXPORTED int32_t vkd3d_queue_signal_on_cpu(void* queue, void* fence, uint64_t value);
EXPORTED int32_t vkd3d_frobnicate(void* device);

namespace {

const char* FileOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fname : "";
}

// Not exported, so that no library can replace it.
const char own_place = 0;

void InsistOnOwn(const void* object) {
  const void* const vtable = *static_cast<const void* const*>(object);
  if (FileOf(vtable) == FileOf(&own_place)) return;
  std::fputs("a foreign object was passed\n", stderr);
  std::abort();
}

}  // namespace

EXPORTED int32_t vkd3d_create_device(const void*, const GUID& iid, void** device) {
  ID3D12Device* const made = cairn::CreateFakeDevice();
  const HRESULT result = made->QueryInterface(iid, device);
  made->Release();
  return result;
}

EXPORTED int32_t vkd3d_queue_signal_on_cpu(void* queue, void* fence, uint64_t value) {
  InsistOnOwn(queue);
  InsistOnOwn(fence);
  return static_cast<ID3D12Fence*>(fence)->Signal(value);
}

#if defined(CAIRN_NEWER)
EXPORTED int32_t vkd3d_frobnicate(void* device) {
  InsistOnOwn(device);
  return 7;
}
#endif
