// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_shape.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "d3d12gen/enums.h"

namespace cairn {
namespace {

constexpr uint64_t kHugeCount = uint64_t{1} << 63;

uint64_t Multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > kHugeCount) return kHugeCount;
  return product;
}

// The fields of D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS that say what its union means.
struct RaytracingInputs {
  uint32_t type;  // 0: top level
  uint32_t flags;
  uint32_t desc_count;
  uint32_t layout;  // 0: array, 1: array of pointers
};

bool IsMeantRaytracingInput(const FieldInfo& field, const std::byte* place) {
  const auto inputs = Load<RaytracingInputs>(place);
  if (inputs.type == 0) return field.pointers == 0;
  return inputs.type == 1 && field.pointers == inputs.layout + 1;
}

// Picks the first of several members of that size; they are alike.
bool IsMeantBySize(const StructInfo& type, const FieldInfo& field, const std::byte* place) {
  const FieldInfo& size = type.fields[static_cast<size_t>(type.tag_field)];
  const uint64_t bytes = LoadUnsigned(place + size.offset_bytes, size.size_bytes);
  for (const FieldInfo& member : type.fields) {
    if (member.in_union && member.size_bytes == bytes) return &member == &field;
  }
  return false;
}

}  // namespace

Shape ShapeOf(const ValueInfo& value) {
  if (value.pointers == 0) {
    if (value.kind == ValueKind::kString) return Shape::kString;
    if (value.kind == ValueKind::kWideString) return Shape::kWideString;
    return Shape::kInline;
  }
  if (value.kind == ValueKind::kObject) {
    if (value.pointers == 1) return Shape::kInline;
    return value.count.factor_count != 0 ? Shape::kArray : Shape::kObjectCell;
  }
  if (value.kind == ValueKind::kBytes) {
    if (value.pointers > 1) return Shape::kAddressCell;
    return value.count.factor_count != 0 ? Shape::kBytes : Shape::kAddress;
  }
  if (value.count.in_bytes) return Shape::kBytes;
  return value.pointers > 1 ? Shape::kPointers : Shape::kArray;
}

Shape ShapeOf(const MethodInfo& method, size_t index) {
  const ParameterInfo& parameter = method.parameters[index];
  // An array as a parameter is a pointer.
  if (parameter.pointers == 0 && parameter.array_length > 1) return Shape::kArray;
  const Shape shape = ShapeOf(static_cast<const ValueInfo&>(parameter));
  if (shape == Shape::kAddressCell && index > 0 &&
      method.parameters[index - 1].kind == ValueKind::kGuid) {
    return Shape::kObjectCell;
  }
  return shape;
}

uint64_t LoadUnsigned(const void* place, uint32_t size_bytes) {
  switch (size_bytes) {
    case 1: return Load<uint8_t>(place);
    case 2: return Load<uint16_t>(place);
    case 4: return Load<uint32_t>(place);
    case 8: return Load<uint64_t>(place);
    default: return 0;
  }
}

uint64_t CountOf(const MethodInfo& method, size_t index, const void* const* arguments, bool after,
                 uint64_t caller_count) {
  const ParameterInfo& parameter = method.parameters[index];
  if (parameter.pointers == 0) return parameter.array_length;
  uint64_t count = 1;
  for (size_t i = 0; i < parameter.count.factor_count; ++i) {
    const CountFactor& factor = parameter.count.factors[i];
    switch (factor.kind) {
      case CountFactor::Kind::kConstant: count = Multiply(count, factor.value); break;
      case CountFactor::Kind::kSibling:
        count = Multiply(count, LoadUnsigned(arguments[factor.value],
                                             method.parameters[factor.value].size_bytes));
        break;
      case CountFactor::Kind::kSiblingBehind: {
        const ParameterInfo& sibling = method.parameters[factor.value];
        const void* const behind = Load<const void*>(arguments[factor.value]);
        const bool is_set = behind != nullptr && (after || sibling.direction != Direction::kOut);
        count = is_set ? Multiply(count, LoadUnsigned(behind, sibling.size_bytes)) : 0;
        break;
      }
      case CountFactor::Kind::kAtMostOneIf:
        if (LoadUnsigned(arguments[factor.value], method.parameters[factor.value].size_bytes) !=
            0) {
          count = std::min<uint64_t>(count, 1);
        }
        break;
      case CountFactor::Kind::kCaller: count = Multiply(count, caller_count); break;
    }
  }
  return count;
}

uint64_t CountOf(const StructInfo& type, const FieldInfo& field, const std::byte* place) {
  uint64_t count = 1;
  for (size_t i = 0; i < field.count.factor_count; ++i) {
    const CountFactor& factor = field.count.factors[i];
    if (factor.kind == CountFactor::Kind::kConstant) {
      count = Multiply(count, factor.value);
    } else if (factor.kind == CountFactor::Kind::kSibling) {
      const FieldInfo& sibling = type.fields[factor.value];
      count = Multiply(count, LoadUnsigned(place + sibling.offset_bytes, sibling.size_bytes));
    } else {
      return 0;
    }
  }
  return count;
}

bool IsCallerCount(const ValueInfo& value) {
  for (size_t i = 0; i < value.count.factor_count; ++i) {
    if (value.count.factors[i].kind == CountFactor::Kind::kCaller) return true;
  }
  return false;
}

bool IsMeant(const StructInfo& type, const FieldInfo& field, const std::byte* place) {
  if (!field.in_union) return !type.is_union;
  switch (type.union_rule) {
    case UnionRule::kTag: {
      const FieldInfo& tag = type.fields[static_cast<size_t>(type.tag_field)];
      const auto value = Load<uint32_t>(place + tag.offset_bytes);
      return std::find(field.tag_values.begin(), field.tag_values.end(), value) !=
             field.tag_values.end();
    }
    case UnionRule::kByteSize: return IsMeantBySize(type, field, place);
    case UnionRule::kRaytracingInputs: return IsMeantRaytracingInput(field, place);
    case UnionRule::kNone: return false;
  }
  return false;
}

bool NoneIsMeant(const StructInfo& type, const std::byte* place) {
  return std::none_of(type.fields.begin(), type.fields.end(), [&](const FieldInfo& field) {
    return (field.in_union || type.is_union) && IsMeant(type, field, place);
  });
}

bool NeedsWork(const FieldInfo& field) {
  if (field.pointers != 0) return true;
  switch (field.kind) {
    case ValueKind::kObject:
    case ValueKind::kString:
    case ValueKind::kWideString:
    case ValueKind::kCallback: return true;
    case ValueKind::kStruct: {
      const StructInfo* const type = StructOf(field);
      return type != nullptr && !type->is_flat;
    }
    default: return false;
  }
}

const StructInfo* FeatureStruct(const MethodInfo& method, size_t index,
                                const void* const* arguments) {
  const bool asks = &method == &Describe(Method::ID3D12Device_CheckFeatureSupport) ||
                    &method == &Describe(Method::ID3D12VideoDevice_CheckFeatureSupport);
  if (!asks || index != 1) return nullptr;
  const char* const feature =
      EnumeratorName(Enums()[method.parameters[0].type_index], Load<uint32_t>(arguments[0]));
  constexpr std::string_view kPrefix = "D3D12_FEATURE_";
  if (feature == nullptr || !std::string_view(feature).starts_with(kPrefix)) return nullptr;
  // D3D12_FEATURE_FEATURE_LEVELS is about D3D12_FEATURE_DATA_FEATURE_LEVELS.
  const StructInfo* const data =
      FindStruct("D3D12_FEATURE_DATA_" + std::string(feature + kPrefix.size()));
  return data == nullptr || data->is_flat ? nullptr : data;
}

bool IsFailure(const MethodInfo& method, const void* result) {
  return result != nullptr && method.result.kind == ValueKind::kSigned &&
         method.result.type[0] == 'H' && std::string_view(method.result.type) == "HRESULT" &&
         Load<int32_t>(result) < 0;
}

bool IsOpaque(const ValueInfo& value) {
  return value.kind == ValueKind::kStruct && value.type_index == kNoType &&
         std::string_view(value.type).find("SECURITY_ATTRIBUTES") != std::string_view::npos;
}

}  // namespace cairn
