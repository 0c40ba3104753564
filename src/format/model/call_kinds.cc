// SPDX-License-Identifier: Apache-2.0
#include "format/model/call_kinds.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "d3d12gen/interfaces.h"
#include "d3d12gen/structs.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

// WKPDID_D3DDebugObjectName and WKPDID_D3DDebugObjectNameW.
constexpr InterfaceGuid kNarrowName = {
    0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
constexpr InterfaceGuid kWideName = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

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
    table[i] = IsCommand(RoleOf(static_cast<Method>(i))) &&
               std::any_of(parameters.begin(), parameters.end(), HasCpuDescriptor);
  }
  return table;
}

}  // namespace

bool ReadsDescriptors(uint16_t method) {
  static const std::array<bool, kMethodCount> table = TableOfReaders();
  return method < kMethodCount && table[method];
}

bool ViewsAddresses(Method method, const DecodedCall& call) {
  constexpr uint32_t kAccelerationStructure = 11;  // D3D12_SRV_DIMENSION
  if (RoleOf(method).view != ViewKind::kShaderResource) return false;
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
