// SPDX-License-Identifier: Apache-2.0
//
// The shapes of values of the tables: encoder, decoder and printer must agree about them. No memory
// of its own, no errors, any thread.
#ifndef CAIRN_FORMAT_CALLS_VALUE_SHAPE_H_
#define CAIRN_FORMAT_CALLS_VALUE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "d3d12gen/methods.h"
#include "d3d12gen/structs.h"

namespace cairn {

enum class Shape : uint8_t {
  kInline,  // its bytes
  kString,  // the pointer is part of it
  kWideString,
  kArray,        // a pointer to `count` elements, which are inline or strings
  kPointers,     // a pointer to `count` pointers to one element each
  kBytes,        // a pointer to `count` bytes of which nothing else is known
  kAddress,      // a pointer that is only a number to us
  kObjectCell,   // a pointer to the place that receives an object
  kAddressCell,  // a pointer to the place that receives an address
};

inline constexpr uint32_t kPointerBytes = 8;

template <typename T>
T Load(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}
template <typename T>
void Store(void* place, T value) {
  std::memcpy(place, &value, sizeof(value));
}

// Null for structs of the operating system, which are flat.
inline const StructInfo* StructOf(const ValueInfo& value) {
  if (value.kind != ValueKind::kStruct || value.type_index == kNoType) return nullptr;
  return &Structs()[value.type_index];
}

// Returns the shape of a field, of a result, or of the value behind its pointer.
Shape ShapeOf(const ValueInfo& value);
// Returns the shape of parameter `index`.
Shape ShapeOf(const MethodInfo& method, size_t index);

// A pointer whose target is recorded.
inline bool IsFollowed(Shape shape) {
  return shape != Shape::kInline && shape != Shape::kAddress;
}

// The size of one element behind a pointer of this shape.
inline uint32_t ElementBytes(Shape shape, const ValueInfo& value) {
  switch (shape) {
    case Shape::kBytes: return 1;
    case Shape::kString:
    case Shape::kWideString:
    case Shape::kPointers:
    case Shape::kAddress:
    case Shape::kObjectCell:
    case Shape::kAddressCell: return kPointerBytes;
    case Shape::kArray:
      if (value.kind == ValueKind::kString || value.kind == ValueKind::kWideString ||
          value.kind == ValueKind::kObject) {
        return kPointerBytes;
      }
      return value.size_bytes;
    case Shape::kInline: return value.size_bytes;
  }
  return value.size_bytes;
}

// An unsigned number of 1, 2, 4 or 8 bytes.
uint64_t LoadUnsigned(const void* place, uint32_t size_bytes);

// Returns the number of elements that parameter `index` points to. `arguments[i]` points to
// parameter i.
// `after`: the method has returned, so that counts it returned are used. `caller_count`: the count
// where only the caller knows it. Saturates at 2^63.
uint64_t CountOf(const MethodInfo& method, size_t index, const void* const* arguments, bool after,
                 uint64_t caller_count);
// The same for a field of the struct at `place`.
uint64_t CountOf(const StructInfo& type, const FieldInfo& field, const std::byte* place);
bool IsCallerCount(const ValueInfo& value);

// The field is meant: it is in no union, or the union's rule says so.
bool IsMeant(const StructInfo& type, const FieldInfo& field, const std::byte* place);
// Returns true if no member of the struct's union is selected: its pointers must not be followed.
bool NoneIsMeant(const StructInfo& type, const std::byte* place);

// Returns true if the field is, or holds, a value that is not written unchanged. Other fields need
// no work, if their struct is universal or not visited.
bool NeedsWork(const FieldInfo& field);

// A pointer field whose target is recorded: lists and untyped pointers are not.
inline bool IsFollowed(const FieldInfo& field, Shape shape) {
  return IsFollowed(shape) && !field.is_list;
}

// The struct that CheckFeatureSupport is passed as bytes, if it holds pointers; null for all others.
const StructInfo* FeatureStruct(const MethodInfo& method, size_t index,
                                const void* const* arguments);

// A result of the kind HRESULT that says failure: outputs then mean nothing.
bool IsFailure(const MethodInfo& method, const void* result);
// Structs of the operating system that hold pointers; written as null.
bool IsOpaque(const ValueInfo& value);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_SHAPE_H_
