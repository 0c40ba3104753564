// SPDX-License-Identifier: Apache-2.0
#include "format/model/call_kinds.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "d3d12gen/interfaces.h"
#include "d3d12gen/structs.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

struct NamedKind {
  std::string_view name;
  CallKind kind;
};

constexpr NamedKind kKinds[] = {
    {"ID3D12Object::SetName", CallKind::kSetting},
    {"ID3D12Object::SetPrivateData", CallKind::kPrivateData},
    {"ID3D12StateObjectProperties::SetPipelineStackSize", CallKind::kSetting},
    {"ID3D12StateObjectProperties::GetShaderIdentifier", CallKind::kIdentifier},
    {"ID3D12Device::CreateConstantBufferView", CallKind::kView},
    {"ID3D12Device::CreateShaderResourceView", CallKind::kView},
    {"ID3D12Device::CreateUnorderedAccessView", CallKind::kView},
    {"ID3D12Device::CreateRenderTargetView", CallKind::kView},
    {"ID3D12Device::CreateDepthStencilView", CallKind::kView},
    {"ID3D12Device::CreateSampler", CallKind::kView},
    {"ID3D12Device11::CreateSampler2", CallKind::kView},
    {"ID3D12Device8::CreateSamplerFeedbackUnorderedAccessView", CallKind::kView},
    {"ID3D12Device::CopyDescriptors", CallKind::kCopyViews},
    {"ID3D12Device::CopyDescriptorsSimple", CallKind::kCopyViewsSimple},
    {"ID3D12CommandQueue::Signal", CallKind::kQueueSignal},
    {"ID3D12Fence::Signal", CallKind::kFenceSignal},
    {"ID3D12CommandQueue::UpdateTileMappings", CallKind::kTileMapping},
    {"ID3D12CommandQueue::CopyTileMappings", CallKind::kTileMapping},
    {"ID3D12Resource::Map", CallKind::kMap},
    {"ID3D12Resource::Unmap", CallKind::kUnmap},
};

// WKPDID_D3DDebugObjectName and WKPDID_D3DDebugObjectNameW.
constexpr InterfaceGuid kNarrowName = {
    0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
constexpr InterfaceGuid kWideName = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

CallKind KindOfName(std::string_view name) {
  for (const NamedKind& named : kKinds) {
    if (named.name == name) return named.kind;
  }
  // ID3D12GraphicsCommandList, ...1 to ...8, and those for video.
  const size_t interface_end = name.find("::");
  const std::string_view interface = name.substr(0, interface_end);
  if (interface.find("CommandList") == std::string_view::npos || interface == "ID3D12CommandList" ||
      interface.starts_with("ID3D12Debug") || interface_end == std::string_view::npos) {
    return CallKind::kOther;
  }
  const std::string_view method = name.substr(interface_end + 2);
  if (method == "Reset") return CallKind::kListReset;
  if (method == "Close") return CallKind::kListClose;
  return CallKind::kListWork;
}

bool HasCpuDescriptor(const ValueInfo& value) {
  if (value.kind == ValueKind::kCpuDescriptor) return true;
  if (value.kind != ValueKind::kStruct || value.type_index == kNoType) return false;
  const std::span<const FieldInfo> fields = Structs()[value.type_index].fields;
  return std::any_of(fields.begin(), fields.end(), [](const FieldInfo& field) {
    return !field.is_list && HasCpuDescriptor(field);
  });
}

std::array<bool, kMethodCount> TableOfReaders() {
  std::array<bool, kMethodCount> table{};
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const std::span<const ParameterInfo> parameters = Describe(static_cast<Method>(i)).parameters;
    table[i] = CallKindOf(static_cast<uint16_t>(i)) == CallKind::kListWork &&
               std::any_of(parameters.begin(), parameters.end(), HasCpuDescriptor);
  }
  return table;
}

std::array<CallKind, kMethodCount> MakeTable() {
  std::array<CallKind, kMethodCount> table{};
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    table[i] = KindOfName(Describe(static_cast<Method>(i)).name);
  }
  return table;
}

}  // namespace

CallKind CallKindOf(uint16_t method) {
  static const std::array<CallKind, kMethodCount> table = MakeTable();
  return method < kMethodCount ? table[method] : CallKind::kOther;
}

bool ReadsDescriptors(uint16_t method) {
  static const std::array<bool, kMethodCount> table = TableOfReaders();
  return method < kMethodCount && table[method];
}

bool GpuReadsAddresses(Method method) {
  const std::string_view name = Describe(method).name;
  return name.ends_with("::ExecuteIndirect") || name.ends_with("::DispatchRays") ||
         name.ends_with("::BuildRaytracingAccelerationStructure");
}

bool ViewsAddresses(Method method, const DecodedCall& call) {
  constexpr uint32_t kAccelerationStructure = 11;  // D3D12_SRV_DIMENSION
  if (method != Method::ID3D12Device_CreateShaderResourceView) return false;
  const auto* const desc = Array<uint32_t>(call, 1);  // format, dimension, ...
  return desc != nullptr && desc[1] == kAccelerationStructure;
}

NameKind NameInPrivateData(std::span<const std::byte> arguments) {
  InterfaceGuid guid{};
  if (arguments.size() < sizeof(guid)) return NameKind::kNone;
  std::memcpy(&guid, arguments.data(), sizeof(guid));
  if (guid == kNarrowName) return NameKind::kNarrow;
  return guid == kWideName ? NameKind::kWide : NameKind::kNone;
}

}  // namespace cairn
