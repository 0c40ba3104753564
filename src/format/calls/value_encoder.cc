// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_encoder.h"

#include <cstring>
#include <memory>
#include <new>

#include "format/calls/special_values.h"
#include "format/calls/value_encoder_internal.h"
#include "format/calls/value_shape.h"

namespace cairn {

bool ValueEncoder::PutBytes(const void* bytes, uint64_t size_bytes) {
  if (size_bytes > kMaxInlineBytes) return sink_->PutBlob(bytes, size_bytes);
  std::byte* const room = sink_->Extend(sizeof(uint32_t) + size_bytes);
  if (room == nullptr) return false;
  Store(room, static_cast<uint32_t>(size_bytes));
  if (size_bytes != 0) std::memcpy(room + sizeof(uint32_t), bytes, size_bytes);
  return true;
}

bool ValueEncoder::PutString(const char* text) {
  if (text == nullptr) return Put(kNullBytes);
  const size_t length = std::strlen(text);
  if (length >= kBytesInBlobs || !Put(static_cast<uint32_t>(length))) return false;
  std::byte* const room = sink_->Extend(length);
  if (room == nullptr) return false;
  std::memcpy(room, text, length);
  return true;
}

namespace {

// UTF-16 units of one character of a program with 32-bit wide characters.
uint32_t ToUtf16(uint32_t character, uint16_t units[2]) {
  if (character > 0x10FFFF) character = 0xFFFD;
  if (character < 0x10000) {
    units[0] = static_cast<uint16_t>(character);
    return 1;
  }
  units[0] = static_cast<uint16_t>(0xD800 + ((character - 0x10000) >> 10));
  units[1] = static_cast<uint16_t>(0xDC00 + ((character - 0x10000) & 0x3FF));
  return 2;
}

// Calls `use` with every UTF-16 unit of a zero-terminated string.
template <typename Use>
void ForEachUnit(const std::byte* text, uint32_t wchar_bytes, Use use) {
  for (;; text += wchar_bytes) {
    const auto character = static_cast<uint32_t>(LoadUnsigned(text, wchar_bytes));
    if (character == 0) return;
    uint16_t units[2] = {static_cast<uint16_t>(character), 0};
    const uint32_t count = wchar_bytes == 2 ? 1 : ToUtf16(character, units);
    for (uint32_t i = 0; i < count; ++i) use(units[i]);
  }
}

}  // namespace

bool ValueEncoder::PutWideString(const void* text) {
  if (text == nullptr) return Put(kNullBytes);
  const auto* const characters = static_cast<const std::byte*>(text);
  size_t units = 0;
  ForEachUnit(characters, context_.wchar_bytes, [&](uint16_t) { ++units; });
  const size_t bytes = units * sizeof(uint16_t);
  if (bytes >= kBytesInBlobs || !Put(static_cast<uint32_t>(bytes))) return false;
  std::byte* room = sink_->Extend(bytes);
  if (room == nullptr) return false;
  ForEachUnit(characters, context_.wchar_bytes, [&](uint16_t unit) {
    Store(room, unit);
    room += sizeof(unit);
  });
  return true;
}

void ValueEncoder::RewriteField(const StructInfo& type, const FieldInfo& field,
                                const std::byte* source, std::byte* copy,
                                std::optional<bool>* none_is_meant) const {
  const Shape shape = ShapeOf(field);
  const StructInfo* const inner = shape == Shape::kInline ? StructOf(field) : nullptr;
  const uint32_t stride = inner != nullptr ? field.size_bytes : kPointerBytes;
  if (!IsMeant(type, field, source)) {
    // Zeroes pointers whose meaning is unknown, so that no reader follows them.
    if (!none_is_meant->has_value()) *none_is_meant = NoneIsMeant(type, source);
    if (**none_is_meant) {
      std::memset(copy + field.offset_bytes, 0, size_t{stride} * field.array_length);
    }
    return;
  }
  for (uint32_t i = 0; i < field.array_length; ++i) {
    const size_t offset = field.offset_bytes + size_t{i} * stride;
    if (inner != nullptr) {
      RewriteStruct(*inner, source + offset, copy + offset);
      continue;
    }
    const auto* const pointer = Load<const void*>(source + offset);
    uint64_t written = 0;
    if (field.kind == ValueKind::kObject && shape == Shape::kInline) {
      written = NumberOf(pointer, field.chain);
    } else if (field.kind == ValueKind::kCallback) {
      written = reinterpret_cast<uintptr_t>(pointer);
    } else if (IsFollowed(field, shape)) {
      written = pointer != nullptr ? 1 : 0;
    }
    Store(copy + offset, written);
  }
}

void ValueEncoder::RewriteStruct(const StructInfo& type, const std::byte* source,
                                 std::byte* copy) const {
  std::optional<bool> none_is_meant;
  for (const FieldInfo& field : type.fields) {
    if (NeedsWork(field)) RewriteField(type, field, source, copy, &none_is_meant);
  }
  if (type.special == SpecialStruct::kPipelineStream) {
    const auto desc = Load<PipelineStreamDesc>(source);
    Store(copy + offsetof(PipelineStreamDesc, stream), uint64_t{desc.stream != nullptr});
  }
}

bool ValueEncoder::PutTarget(const ValueInfo& value, Shape shape, const void* pointer,
                             uint64_t count) {
  switch (shape) {
    case Shape::kString: return PutString(static_cast<const char*>(pointer));
    case Shape::kWideString: return PutWideString(pointer);
    case Shape::kInline:
    case Shape::kAddress: return true;
    default: break;
  }
  if (pointer == nullptr || IsOpaque(value)) return Put(kNullBytes);
  if (shape == Shape::kBytes) return PutBytes(pointer, count);
  const uint32_t element_bytes = ElementBytes(shape, value);
  if (count > kMaxArrayBytes / element_bytes) return false;
  if (!Put(static_cast<uint32_t>(count))) return false;
  const auto* const elements = static_cast<const std::byte*>(pointer);
  switch (shape) {
    case Shape::kPointers:
      for (uint64_t i = 0; i < count; ++i) {
        const auto* const element = Load<const void*>(elements + i * kPointerBytes);
        if (!PutTarget(value, Shape::kArray, element, 1)) return false;
      }
      return true;
    case Shape::kObjectCell:
      for (uint64_t i = 0; i < count; ++i) {
        const auto* const object = Load<const void*>(elements + i * kPointerBytes);
        if (!Put(NumberOf(object, value.chain))) return false;
      }
      return true;
    case Shape::kAddressCell: return Put(Load<uint64_t>(elements));
    default: return PutElements(value, elements, count);
  }
}

bool ValueEncoder::PutTails(const StructInfo& type, const std::byte* place) {
  if (type.special == SpecialStruct::kPipelineStream) return PutPipelineStream(place);
  if (type.special == SpecialStruct::kStateObject) return PutStateObject(place);
  for (const FieldInfo& field : type.fields) {
    if (!NeedsWork(field) || !IsMeant(type, field, place)) continue;
    const Shape shape = ShapeOf(field);
    if (shape == Shape::kInline) {
      const StructInfo* const inner = field.pointers == 0 ? StructOf(field) : nullptr;
      for (uint32_t i = 0; inner != nullptr && i < field.array_length; ++i) {
        const std::byte* const element = place + field.offset_bytes + size_t{i} * field.size_bytes;
        if (!PutTails(*inner, element)) return false;
      }
      continue;
    }
    if (!IsFollowed(field, shape)) continue;
    const uint64_t count = CountOf(type, field, place);
    for (uint32_t i = 0; i < field.array_length; ++i) {
      const auto* const pointer =
          Load<const void*>(place + field.offset_bytes + size_t{i} * kPointerBytes);
      if (pointer != nullptr && !PutTarget(field, shape, pointer, count)) return false;
    }
  }
  return true;
}

bool ValueEncoder::PutStrings(const ValueInfo& value, const std::byte* elements, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto* const text = Load<const void*>(elements + i * kPointerBytes);
    const bool put = value.kind == ValueKind::kString ? PutString(static_cast<const char*>(text))
                                                      : PutWideString(text);
    if (!put) return false;
  }
  return true;
}

void ValueEncoder::Rewrite(const ValueInfo& value, const StructInfo* type,
                           const std::byte* elements, uint64_t count, std::byte* copy) const {
  const uint32_t stride = ElementBytes(Shape::kArray, value);
  std::memcpy(copy, elements, count * stride);
  for (uint64_t i = 0; i < count; ++i, elements += stride, copy += stride) {
    if (type != nullptr) {
      RewriteStruct(*type, elements, copy);
    } else if (value.kind == ValueKind::kObject) {
      Store(copy, NumberOf(Load<const void*>(elements), value.chain));
    } else {
      return;
    }
  }
}

bool ValueEncoder::PutElements(const ValueInfo& value, const std::byte* elements, uint64_t count) {
  if (value.kind == ValueKind::kString || value.kind == ValueKind::kWideString) {
    return PutStrings(value, elements, count);
  }
  const StructInfo* type = StructOf(value);
  if (type != nullptr && type->is_flat) type = nullptr;
  const bool is_flat = type == nullptr && value.kind != ValueKind::kObject;
  const uint64_t bytes = count * ElementBytes(Shape::kArray, value);
  if (bytes > kMaxInlineBytes) {
    if (is_flat) return sink_->PutBlob(elements, bytes);
    const std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
    if (copy == nullptr) return false;
    Rewrite(value, type, elements, count, copy.get());
    if (!sink_->PutBlob(copy.get(), bytes)) return false;
  } else {
    std::byte* const room = sink_->Extend(bytes);
    if (room == nullptr) return false;
    Rewrite(value, type, elements, count, room);
  }
  for (uint64_t i = 0; type != nullptr && i < count; ++i) {
    if (!PutTails(*type, elements + i * value.size_bytes)) return false;
  }
  return true;
}

bool ValueEncoder::PutInline(const ValueInfo& value, const std::byte* place) {
  static constexpr std::byte kNoIdentifier[16] = {};
  if (place == nullptr) place = kNoIdentifier;
  if (value.kind == ValueKind::kObject) {
    return Put(NumberOf(Load<const void*>(place), value.chain));
  }
  if (value.size_bytes == 4) return Put(Load<uint32_t>(place));
  if (value.size_bytes == 8) return Put(Load<uint64_t>(place));
  return PutElements(value, place, 1);
}

bool ValueEncoder::Argument(const MethodInfo& method, size_t index, const void* const* arguments) {
  const ParameterInfo& parameter = method.parameters[index];
  const Shape shape = ShapeOf(method, index);
  const auto* const place = static_cast<const std::byte*>(arguments[index]);
  if (shape == Shape::kInline) return PutInline(parameter, place);
  const auto* const pointer = Load<const void*>(place);
  if (shape == Shape::kAddress) return Put(uint64_t{reinterpret_cast<uintptr_t>(pointer)});
  const uint64_t count = CountOf(method, index, arguments, false, context_.caller_bytes);
  if (parameter.direction == Direction::kOut) {
    if (pointer == nullptr) return Put(kNullBytes);
    return count < kBytesInBlobs && Put(static_cast<uint32_t>(count));
  }
  if (shape == Shape::kBytes && parameter.direction == Direction::kInOut) {
    const StructInfo* const feature = FeatureStruct(method, index, arguments);
    if (feature != nullptr) return PutFeature(*feature, pointer, count, false);
  }
  return PutTarget(parameter, shape, pointer, count);
}

bool ValueEncoder::Output(const MethodInfo& method, size_t index, const void* const* arguments,
                          bool failed) {
  const ParameterInfo& parameter = method.parameters[index];
  const Shape shape = ShapeOf(method, index);
  const auto* const place = static_cast<const std::byte*>(arguments[index]);
  if (shape == Shape::kInline) return PutInline(parameter, place);
  const auto* const pointer = Load<const void*>(place);
  if (shape == Shape::kAddress) return Put(uint64_t{reinterpret_cast<uintptr_t>(pointer)});
  // Memory whose size only the caller knows was written by the GPU: its contents are no result.
  if (failed || pointer == nullptr || IsCallerCount(parameter)) return Put(kNullBytes);
  if (shape == Shape::kObjectCell && method.object_parameter == static_cast<int>(index)) {
    return Put(uint32_t{1}) && Put(NumberOf(Load<const void*>(pointer), method.object_chain));
  }
  const uint64_t count = CountOf(method, index, arguments, true, 0);
  if (const StructInfo* const feature = FeatureStruct(method, index, arguments)) {
    return PutFeature(*feature, pointer, count, true);
  }
  return PutTarget(parameter, shape, pointer, count);
}

bool ValueEncoder::MethodResult(const MethodInfo& method, const void* result) {
  if (method.result.size_bytes == 0 || result == nullptr) return true;
  const Shape shape = ShapeOf(method.result);
  if (shape == Shape::kInline) {
    return PutInline(method.result, static_cast<const std::byte*>(result));
  }
  const uint64_t count = shape == Shape::kBytes ? method.result.count.factors[0].value : 1;
  return PutTarget(method.result, shape, Load<const void*>(result), count);
}

namespace {

// A parameter that is its bytes, 4 or 8 of them.
bool IsNumber(const ParameterInfo& parameter) {
  const ValueKind kind = parameter.kind;
  return (kind <= ValueKind::kFlags || (kind >= ValueKind::kHandle && kind < ValueKind::kBytes)) &&
         parameter.pointers == 0 && parameter.array_length == 1 &&
         (parameter.size_bytes == 4 || parameter.size_bytes == 8);
}

}  // namespace

bool EncodeArguments(const MethodInfo& method, const void* const* arguments,
                     const EncodeContext& context, EncodeSink* sink) {
  ValueEncoder encoder(context, sink);
  for (size_t i = 0; i < method.parameters.size(); ++i) {
    const ParameterInfo& parameter = method.parameters[i];
    // Most of what draws and root arguments are given: no further look at the tables.
    if (IsNumber(parameter)) [[likely]] {
      std::byte* const room = sink->Extend(parameter.size_bytes);
      if (room == nullptr) return false;
      if (parameter.size_bytes == 4) {
        Store(room, Load<uint32_t>(arguments[i]));
      } else {
        Store(room, Load<uint64_t>(arguments[i]));
      }
    } else if (!encoder.Argument(method, i, arguments)) {
      return false;
    }
  }
  return true;
}

bool EncodeResults(const MethodInfo& method, const void* const* arguments, const void* result,
                   const EncodeContext& context, EncodeSink* sink) {
  ValueEncoder encoder(context, sink);
  if (!encoder.MethodResult(method, result)) return false;
  const bool failed = IsFailure(method, result);
  for (size_t i = 0; i < method.parameters.size(); ++i) {
    if (method.parameters[i].direction == Direction::kIn) continue;
    if (!encoder.Output(method, i, arguments, failed)) return false;
  }
  return true;
}

bool HasResults(const MethodInfo& method) {
  return method.has_results;
}

}  // namespace cairn
