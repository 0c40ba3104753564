// SPDX-License-Identifier: Apache-2.0
//
// Stands for AMD's amd_ags_x64.dll, which no machine without their driver can run: the functions that Cairn calls of it, on any
// Direct3D 11. CAIRN_FAKE_AMD says what it is like:
//
//   works      top markers arrive at once, bottom markers behind the work before them
//   lies       so do bottom markers: it says that it can, and cannot
//   cannot     it makes a device, without breadcrumbMarkers
//   stranger   no driver of AMD's is installed
#include <d3d11_4.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cairn/compat/amd_ags.h"

struct AGSContext {
  ID3D11Device* device = nullptr;
  ID3D11DeviceContext* immediate = nullptr;
  std::vector<uint64_t> slots;
  std::mutex mutex;
  std::deque<std::pair<ID3D11Query*, AGSBreadcrumbMarker>> waiting;
  std::atomic<bool> ends{false};
  std::thread reader;
};

namespace {

int asked = 0;

bool Is(const char* kind) {
  const char* const set = std::getenv("CAIRN_FAKE_AMD");
  return std::string(set == nullptr ? "" : set) == kind;
}

void Store(AGSContext& context, const AGSBreadcrumbMarker& marker) {
  std::atomic_ref<uint64_t>(context.slots[marker.index]).store(marker.markerData);
}

void ReadQueries(AGSContext& context) {
  while (!context.ends) {
    {
      const std::lock_guard lock(context.mutex);
      while (!context.waiting.empty() &&
             context.immediate->GetData(context.waiting.front().first, nullptr, 0,
                                        D3D11_ASYNC_GETDATA_DONOTFLUSH) == S_OK) {
        Store(context, context.waiting.front().second);
        context.waiting.front().first->Release();
        context.waiting.pop_front();
      }
    }
    std::this_thread::yield();
  }
}

}  // namespace

// Returns how often a context was requested.
extern "C" __declspec(dllexport) int FakeAmdContexts() {
  return asked;
}

int agsGetVersionNumber(void) {
  return AGS_CURRENT_VERSION;
}

AGSReturnCode agsInitialize(int version, const AGSConfiguration*, AGSContext** context,
                            AGSGPUInfo*) {
  ++asked;
  if (version != AGS_CURRENT_VERSION) return AGS_INVALID_ARGS;
  if (Is("stranger")) return AGS_NO_AMD_DRIVER_INSTALLED;
  *context = new AGSContext;
  return AGS_SUCCESS;
}

AGSReturnCode agsDeInitialize(AGSContext* context) {
  delete context;
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX11_CreateDevice(AGSContext* context,
                                                   const AGSDX11DeviceCreationParams* creation,
                                                   const AGSDX11ExtensionParams* extensions,
                                                   AGSDX11ReturnedParams* returned) {
  if (FAILED(D3D11CreateDevice(creation->pAdapter, creation->DriverType, nullptr, creation->Flags,
                               creation->pFeatureLevels, creation->FeatureLevels,
                               creation->SDKVersion, &returned->pDevice, &returned->featureLevel,
                               &returned->pImmediateContext))) {
    return AGS_DX_FAILURE;
  }
  context->device = returned->pDevice;
  context->immediate = returned->pImmediateContext;
  if (Is("cannot")) return AGS_SUCCESS;
  ID3D11Multithread* protection = nullptr;
  if (FAILED(context->immediate->QueryInterface(__uuidof(ID3D11Multithread),
                                                reinterpret_cast<void**>(&protection)))) {
    return AGS_FAILURE;
  }
  protection->SetMultithreadProtected(TRUE);
  protection->Release();
  context->slots.assign(extensions->numBreadcrumbMarkers, CAIRN_MARKER_UNWRITTEN);
  context->reader = std::thread([context] { ReadQueries(*context); });
  returned->extensionsSupported.breadcrumbMarkers = 1;
  returned->breadcrumbBuffer = context->slots.data();
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX11_DestroyDevice(AGSContext* context, ID3D11Device* device,
                                                    unsigned int* device_references,
                                                    ID3D11DeviceContext* immediate,
                                                    unsigned int* immediate_references) {
  context->ends = true;
  if (context->reader.joinable()) context->reader.join();
  for (const auto& [query, marker] : context->waiting) query->Release();
  context->waiting.clear();
  const unsigned int left = immediate == nullptr ? 0 : immediate->Release();
  if (immediate_references != nullptr) *immediate_references = left;
  const unsigned int device_left = device == nullptr ? 0 : device->Release();
  if (device_references != nullptr) *device_references = device_left;
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX11_WriteBreadcrumb(AGSContext* context,
                                                      const AGSBreadcrumbMarker* marker) {
  if (marker->index >= context->slots.size()) return AGS_INVALID_ARGS;
  if (marker->type == AGSBreadcrumbMarker::TopOfPipe || Is("lies")) {
    Store(*context, *marker);
    return AGS_SUCCESS;
  }
  const D3D11_QUERY_DESC desc = {D3D11_QUERY_EVENT, 0};
  ID3D11Query* query = nullptr;
  if (FAILED(context->device->CreateQuery(&desc, &query))) return AGS_FAILURE;
  context->immediate->End(query);
  const std::lock_guard lock(context->mutex);
  context->waiting.emplace_back(query, *marker);
  return AGS_SUCCESS;
}
