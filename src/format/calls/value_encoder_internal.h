// SPDX-License-Identifier: Apache-2.0
//
// Shared by value_encoder.cc and special_encoder.cc.
#ifndef CAIRN_FORMAT_CALLS_VALUE_ENCODER_INTERNAL_H_
#define CAIRN_FORMAT_CALLS_VALUE_ENCODER_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "format/calls/value_encoder.h"
#include "format/calls/value_shape.h"

namespace cairn {

// An array that is larger is not recorded.
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 31;

// All functions are false if the sink ran out of memory.
class ValueEncoder {
 public:
  ValueEncoder(const EncodeContext& context, EncodeSink* sink) : context_(context), sink_(sink) {}

  bool Argument(const MethodInfo& method, size_t index, const void* const* arguments);
  bool Output(const MethodInfo& method, size_t index, const void* const* arguments, bool failed);
  bool MethodResult(const MethodInfo& method, const void* result);

 private:
  template <typename T>
  bool Put(T value) {
    std::byte* const room = sink_->Extend(sizeof(value));
    if (room == nullptr) return false;
    Store(room, value);
    return true;
  }
  uint64_t NumberOf(const void* object, Chain chain) const {
    return object == nullptr ? kNoObject : context_.object_number(object, chain);
  }

  bool PutInline(const ValueInfo& value, const std::byte* place);
  bool PutBytes(const void* bytes, uint64_t size_bytes);
  bool PutString(const char* text);
  bool PutWideString(const void* text);
  bool PutStrings(const ValueInfo& value, const std::byte* elements, uint64_t count);
  // Encodes the count and the elements that a pointer of this shape points to.
  bool PutTarget(const ValueInfo& value, Shape shape, const void* pointer, uint64_t count);
  bool PutElements(const ValueInfo& value, const std::byte* elements, uint64_t count);
  // Encodes the targets of a struct's pointers.
  bool PutTails(const StructInfo& type, const std::byte* place);
  // A struct in place of bytes. As a result its pointers are null.
  bool PutFeature(const StructInfo& type, const void* data, uint64_t size_bytes, bool is_result);
  bool PutPipelineStream(const std::byte* desc);
  bool PutStateObject(const std::byte* desc);
  bool PutAssociation(const std::byte* desc, const std::byte* subobjects, uint32_t count);
  bool PutProgram(const std::byte* desc, const std::byte* subobjects, uint32_t count);
  bool PutExports(const void* const* exports, uint32_t count);

  // Replaces the fields in `copy`, a copy of the struct at `source`, that are not written
  // unchanged. `none_is_meant`: NoneIsMeant of the struct, once it was computed.
  void RewriteField(const StructInfo& type, const FieldInfo& field, const std::byte* source,
                    std::byte* copy, std::optional<bool>* none_is_meant) const;
  void RewriteStruct(const StructInfo& type, const std::byte* source, std::byte* copy) const;
  // Copies elements, rewritten. `type`: null if they are no structs or flat ones.
  void Rewrite(const ValueInfo& value, const StructInfo* type, const std::byte* elements,
               uint64_t count, std::byte* copy) const;

  const EncodeContext& context_;
  EncodeSink* const sink_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_ENCODER_INTERNAL_H_
