// SPDX-License-Identifier: Apache-2.0
//
// Parameters of meta commands: bytes whose meaning the command alone knows. The device that plays says where in
// them addresses and descriptors lie.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// The meta commands of known implementations have about ten parameters.
constexpr UINT kMostParameters = 4096;

struct ParameterLayout {
  UINT bytes = 0;  // of all
  std::vector<D3D12_META_COMMAND_PARAMETER_DESC> parameters;
};

Result<ParameterLayout> LayoutOf(ID3D12Device5* device, const GUID& command,
                                 D3D12_META_COMMAND_PARAMETER_STAGE stage) {
  ParameterLayout layout;
  UINT count = 0;
  HRESULT result =
      device->EnumerateMetaCommandParameters(command, stage, &layout.bytes, &count, nullptr);
  if (SUCCEEDED(result) && count != 0 && count <= kMostParameters) {
    layout.parameters.resize(count);
    result = device->EnumerateMetaCommandParameters(command, stage, &layout.bytes, &count,
                                                    layout.parameters.data());
  }
  if (SUCCEEDED(result) && count == layout.parameters.size()) return layout;
  return Status(StatusCode::kUnsupported, "this device does not say what its parameters are");
}

}  // namespace

Status PlayerImpl::TranslateMetaParameter(const D3D12_META_COMMAND_PARAMETER_DESC& parameter) {
  uint64_t value = 0;
  if (parameter.StructureOffset > meta_parameters_.size() ||
      sizeof(value) > meta_parameters_.size() - parameter.StructureOffset) {
    // The others are smaller than a pointer, and are left as they are.
    const bool means_something = parameter.Type > D3D12_META_COMMAND_PARAMETER_TYPE_UINT64;
    return means_something ? Status(StatusCode::kCorrupt, "its parameters are too short")
                           : Status();
  }
  std::byte* const place = meta_parameters_.data() + parameter.StructureOffset;
  std::memcpy(&value, place, sizeof(value));
  if (value == 0) return Status();
  switch (parameter.Type) {
    case D3D12_META_COMMAND_PARAMETER_TYPE_FLOAT:
    case D3D12_META_COMMAND_PARAMETER_TYPE_UINT64: return Status();
    case D3D12_META_COMMAND_PARAMETER_TYPE_GPU_VIRTUAL_ADDRESS:
      CAIRN_RETURN_IF_ERROR(values_.GpuAddress(&value));
      break;
    case D3D12_META_COMMAND_PARAMETER_TYPE_CPU_DESCRIPTOR_HANDLE_HEAP_TYPE_CBV_SRV_UAV:
      CAIRN_RETURN_IF_ERROR(values_.CpuDescriptor(&value));
      break;
    case D3D12_META_COMMAND_PARAMETER_TYPE_GPU_DESCRIPTOR_HANDLE_HEAP_TYPE_CBV_SRV_UAV:
      CAIRN_RETURN_IF_ERROR(values_.GpuDescriptor(&value));
      break;
    default:
      return Status(StatusCode::kUnsupported, fmt::format("a parameter of type {} is not known",
                                                          static_cast<int>(parameter.Type)));
  }
  std::memcpy(place, &value, sizeof(value));
  return Status();
}

Status PlayerImpl::TranslateMetaParameters(CallInProgress* call) {
  const bool executes = call->method == Method::ID3D12GraphicsCommandList4_ExecuteMetaCommand;
  if (!executes && call->method != Method::ID3D12GraphicsCommandList4_InitializeMetaCommand) {
    return call->Needless(CallPart::kMetaParameters);
  }
  const auto* const bytes = static_cast<const std::byte*>(call->At<const void*>(1));
  if (bytes == nullptr) return Status();
  const ReplayObject* const command = call->ObjectAt(0);
  const ReplayObject* const device = objects_.Find(call->object->device);
  const auto device5 =
      device == nullptr ? ComPtr<ID3D12Device5>() : device->pointer.As<ID3D12Device5>();
  if (command == nullptr || !command->created.meta_command || !device5) {
    return Status(StatusCode::kUnsupported, "which meta command it is, is not known");
  }
  Result<ParameterLayout> layout =
      LayoutOf(device5.get(), *command->created.meta_command,
               executes ? D3D12_META_COMMAND_PARAMETER_STAGE_EXECUTION
                        : D3D12_META_COMMAND_PARAMETER_STAGE_INITIALIZATION);
  if (!layout.ok()) return layout.status();
  const uint64_t size = std::min<uint64_t>(call->At<SIZE_T>(2), call->arguments.counts[1]);
  if (size < layout->bytes) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("its parameters are {} bytes, and this device has {}", size, layout->bytes));
  }
  meta_parameters_.assign(bytes, bytes + size);
  for (const D3D12_META_COMMAND_PARAMETER_DESC& parameter : layout->parameters) {
    CAIRN_RETURN_IF_ERROR(TranslateMetaParameter(parameter));
  }
  call->At<const void*>(1) = meta_parameters_.data();
  call->At<SIZE_T>(2) = static_cast<SIZE_T>(size);
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
