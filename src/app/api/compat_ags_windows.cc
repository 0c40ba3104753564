// SPDX-License-Identifier: Apache-2.0
//
// The functions of cairn/compat/amd_ags.h that make devices of Direct3D 11 and 12, and the markers of the latter.
#include <d3d11_4.h>
#include <dxgi.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/api/compat_ags.h"
#include "app/api/compat_ags_amd.h"
#include "app/breadcrumbs/d3d11_labels.h"
#include "app/breadcrumbs/d3d11_markers.h"
#include "app/breadcrumbs/layer_identity.h"
#include "d3d12abi/com_ptr.h"
#include "os/library.h"

namespace cairn {
namespace {

// A context has room for 1,048,576, of which the self-test has some (kD3D11OwnSlots).
constexpr unsigned int kMostMarkers = 1'048'573;
// Metadata by which PIX and Direct3D's tools recognise text of 8 bits; 0 is UTF-16.
constexpr UINT kPixAnsi = 1;

// Returns the function that the program's own look-up would find.
template <typename Function>
Result<Function> FindFunction(const char* library_name, const char* name) {
  const Result<Library> library = Library::Load(library_name);
  if (!library.ok()) return library.status();
  void* const found = library->Find<void*>(name);
  if (found == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("{} has no {}", library_name, name));
  }
  return reinterpret_cast<Function>(AsTheProgramFindsIt(found, name));
}

// ---- Direct3D 11 -------------------------------------------------------------------------------

class DeviceOfDirect3D11 final : public AgsDevice {
 public:
  DeviceOfDirect3D11(ID3D11Device* device, unsigned int marker_count)
      : device_(device), marker_count_(marker_count) {}

  AGSReturnCode Write(const AGSBreadcrumbMarker& marker) override {
    return GuardedAgs([&] {
      if (markers == nullptr) return FailAgs(AGS_EXTENSION_NOT_SUPPORTED, why_no_markers);
      if (marker.index >= marker_count_ || (marker.type != AGSBreadcrumbMarker::TopOfPipe &&
                                            marker.type != AGSBreadcrumbMarker::BottomOfPipe)) {
        return FailAgs(AGS_INVALID_ARGS,
                       fmt::format("index {} is not below {}, or type {} is neither top nor bottom",
                                   marker.index, marker_count_, static_cast<int>(marker.type)));
      }
      const Status status =
          markers->Write(marker.type == AGSBreadcrumbMarker::TopOfPipe ? PipeLocation::kTop
                                                                       : PipeLocation::kBottom,
                         marker.index, marker.markerData);
      return status.ok() ? AGS_SUCCESS : FailAgs(status);
    });
  }

  CairnAgsBreadcrumbs Describe() const override {
    CairnAgsBreadcrumbs described = {};
    if (markers == nullptr) return described;
    const D3D11Markers::Facts& facts = markers->facts();
    described.way = facts.method == WriteMethod::kAmdAgs        ? CAIRN_AGS_AMD_LIBRARY
                    : facts.method == WriteMethod::kD3D11Labels ? CAIRN_AGS_VULKAN_LAYER
                                                                : CAIRN_AGS_COMPLETION;
    described.topOfPipe = facts.tells_top;
    described.topSeenEarly = facts.top_seen_early;
    return described;
  }

  bool Is(const ID3D11Device* device) const { return device == device_; }

  AmdAgs amd;  // has made the device, if it is there
  std::unique_ptr<D3D11Markers> markers;
  std::string why_no_markers;

 private:
  const ID3D11Device* const device_;  // the application's
  const unsigned int marker_count_;
};

Status CreateD3D11(const AGSDX11DeviceCreationParams& in, AGSDX11ReturnedParams* out,
                   HRESULT* result) {
  const auto software = static_cast<HMODULE>(in.Software);
  if (in.pSwapChainDesc != nullptr) {
    const auto create = FindFunction<decltype(&D3D11CreateDeviceAndSwapChain)>(
        "d3d11.dll", "D3D11CreateDeviceAndSwapChain");
    if (!create.ok()) return create.status();
    *result = (*create)(in.pAdapter, in.DriverType, software, in.Flags, in.pFeatureLevels,
                        in.FeatureLevels, in.SDKVersion, in.pSwapChainDesc, &out->pSwapChain,
                        &out->pDevice, &out->featureLevel, &out->pImmediateContext);
    return StatusOf("D3D11CreateDeviceAndSwapChain", *result);
  }
  const auto create = FindFunction<decltype(&D3D11CreateDevice)>("d3d11.dll", "D3D11CreateDevice");
  if (!create.ok()) return create.status();
  *result =
      (*create)(in.pAdapter, in.DriverType, software, in.Flags, in.pFeatureLevels, in.FeatureLevels,
                in.SDKVersion, &out->pDevice, &out->featureLevel, &out->pImmediateContext);
  return StatusOf("D3D11CreateDevice", *result);
}

D3D11Objects ObjectsOf(const AGSDX11ReturnedParams& returned) {
  return {RealObject(returned.pDevice), RealObject(returned.pImmediateContext)};
}

// Opens the best method that works; if none does, the device reports why.
void OpenMarkers(unsigned int count, const RawMarkerScope& below, DeviceOfDirect3D11* device,
                 AGSDX11ReturnedParams* returned) {
  const D3D11Objects objects = ObjectsOf(*returned);
  std::vector<SourceFinding> findings;
  if (device->amd.has_markers()) {
    auto markers =
        OpenAmdMarkers(objects, count, device->amd.slots(), device->amd.writer(), &findings);
    if (markers.ok()) device->markers = std::move(*markers);
  } else {
    findings.push_back(device->amd.finding());
  }
  if (device->markers == nullptr) {
    auto markers = OpenD3D11Markers(objects, count, below, std::move(findings));
    if (markers.ok()) {
      device->markers = std::move(*markers);
    } else {
      device->why_no_markers = markers.status().message();
      Fail(markers.status());
      return;
    }
  }
  returned->extensionsSupported.breadcrumbMarkers = 1;
  returned->breadcrumbBuffer = const_cast<uint64_t*>(device->markers->facts().slots);
}

AGSReturnCode CreateDevice(AGSContext& context, const AGSDX11DeviceCreationParams& creation,
                           unsigned int marker_count, AGSDX11ReturnedParams* returned) {
  AmdAgs amd;
  std::optional<RawMarkerScope> below;
  if (marker_count != 0) {
    amd = AmdAgs::Create(creation, marker_count + kD3D11OwnSlots, returned);
    AskDxvkForLabels();
    below.emplace(marker_count, kD3D11OwnSlots);
  }
  if (returned->pDevice == nullptr) {
    HRESULT result = S_OK;
    const Status status = CreateD3D11(creation, returned, &result);
    if (!status.ok()) {
      *returned = {};
      return FailAgs(FAILED(result) ? AGS_DX_FAILURE : AGS_MISSING_D3D_DLL, status.message());
    }
  }
  returned->crossfireGPUCount = 1;
  auto device = std::make_unique<DeviceOfDirect3D11>(returned->pDevice, marker_count);
  device->amd = std::move(amd);
  device->why_no_markers = "AGSDX11ExtensionParams::numBreadcrumbMarkers was 0";
  if (below) OpenMarkers(marker_count, *below, device.get(), returned);
  context.device = std::move(device);
  return AGS_SUCCESS;
}

template <typename Interface>
void Release(Interface* object, unsigned int* references) {
  const unsigned int left = object == nullptr ? 0 : object->Release();
  if (references != nullptr) *references = left;
}

}  // namespace
}  // namespace cairn

AGSReturnCode agsDriverExtensionsDX11_CreateDevice(
    AGSContext* context, const AGSDX11DeviceCreationParams* creationParams,
    const AGSDX11ExtensionParams* extensionParams, AGSDX11ReturnedParams* returnedParams) {
  if (returnedParams != nullptr) *returnedParams = {};
  const unsigned int count = extensionParams == nullptr ? 0 : extensionParams->numBreadcrumbMarkers;
  if (context == nullptr || creationParams == nullptr || returnedParams == nullptr ||
      count > cairn::kMostMarkers || context->device != nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS,
                          fmt::format("the context or its parameters are NULL, it has a device, or "
                                      "{} markers are more than {}",
                                      count, cairn::kMostMarkers));
  }
  return cairn::GuardedAgs(
      [&] { return cairn::CreateDevice(*context, *creationParams, count, returnedParams); });
}

AGSReturnCode agsDriverExtensionsDX11_DestroyDevice(AGSContext* context, ID3D11Device* device,
                                                    unsigned int* deviceReferences,
                                                    ID3D11DeviceContext* immediateContext,
                                                    unsigned int* immediateContextReferences) {
  if (context == nullptr) return cairn::FailAgs(AGS_INVALID_ARGS, "the context is NULL");
  auto* const made = static_cast<cairn::DeviceOfDirect3D11*>(context->device.get());
  if (made == nullptr || (device != nullptr && !made->Is(device))) {
    return cairn::FailAgs(AGS_D3DDEVICE_NOT_CREATED, "the context has not made this device");
  }
  return cairn::GuardedAgs([&] {
    // Release these before the device: they hold references to it.
    made->markers.reset();
    if (made->amd.made_device()) {
      made->amd.Destroy(device, deviceReferences, immediateContext, immediateContextReferences);
    } else {
      cairn::Release(immediateContext, immediateContextReferences);
      cairn::Release(device, deviceReferences);
    }
    context->device.reset();
    return AGS_SUCCESS;
  });
}

// ---- Direct3D 12 ---------------------------------------------------------------------------------

AGSReturnCode agsDriverExtensionsDX12_CreateDevice(
    AGSContext* context, const AGSDX12DeviceCreationParams* creationParams,
    const AGSDX12ExtensionParams*, AGSDX12ReturnedParams* returnedParams) {
  if (returnedParams != nullptr) *returnedParams = {};
  if (context == nullptr || creationParams == nullptr || returnedParams == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context or its parameters are NULL");
  }
  return cairn::GuardedAgs([&] {
    const auto create =
        cairn::FindFunction<PFN_D3D12_CREATE_DEVICE>("d3d12.dll", "D3D12CreateDevice");
    if (!create.ok()) return cairn::FailAgs(AGS_MISSING_D3D_DLL, create.status().message());
    void* device = nullptr;
    const HRESULT result = (*create)(creationParams->pAdapter, creationParams->FeatureLevel,
                                     creationParams->iid, &device);
    if (FAILED(result)) {
      return cairn::FailAgs(AGS_DX_FAILURE, cairn::StatusOf("D3D12CreateDevice", result).message());
    }
    returnedParams->pDevice = static_cast<ID3D12Device*>(device);
    returnedParams->extensionsSupported.userMarkers = 1;
    return AGS_SUCCESS;
  });
}

AGSReturnCode agsDriverExtensionsDX12_DestroyDevice(AGSContext* context, ID3D12Device* device,
                                                    unsigned int* deviceReferences) {
  if (context == nullptr || device == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context or the device is NULL");
  }
  cairn::Release(device, deviceReferences);
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX12_PushMarker(AGSContext* context,
                                                 ID3D12GraphicsCommandList* commandList,
                                                 const char* data) {
  if (context == nullptr || commandList == nullptr || data == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context, the list or the text is NULL");
  }
  commandList->BeginEvent(cairn::kPixAnsi, data, static_cast<UINT>(std::strlen(data) + 1));
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX12_PopMarker(AGSContext* context,
                                                ID3D12GraphicsCommandList* commandList) {
  if (context == nullptr || commandList == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context or the list is NULL");
  }
  commandList->EndEvent();
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX12_SetMarker(AGSContext* context,
                                                ID3D12GraphicsCommandList* commandList,
                                                const char* data) {
  if (context == nullptr || commandList == nullptr || data == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context, the list or the text is NULL");
  }
  commandList->SetMarker(cairn::kPixAnsi, data, static_cast<UINT>(std::strlen(data) + 1));
  return AGS_SUCCESS;
}
