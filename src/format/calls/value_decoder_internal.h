// SPDX-License-Identifier: Apache-2.0
//
// Shared by value_decoder.cc and special_decoder.cc.
#ifndef CAIRN_FORMAT_CALLS_VALUE_DECODER_INTERNAL_H_
#define CAIRN_FORMAT_CALLS_VALUE_DECODER_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "d3d12gen/subobjects.h"
#include "format/calls/argument_plan.h"
#include "format/calls/encoded_values.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_shape.h"

namespace cairn {

// A kind that ValueDecoder::Visit shows to the visitor.
inline bool IsVisited(ValueKind kind) {
  switch (kind) {
    case ValueKind::kObject:
    case ValueKind::kGpuAddress:
    case ValueKind::kCpuDescriptor:
    case ValueKind::kGpuDescriptor:
    case ValueKind::kHandle:
    case ValueKind::kCallback: return true;
    default: return false;
  }
}

class ValueDecoder {
 public:
  ValueDecoder(std::span<const std::byte> body, const DecodeOptions& options, Arena* arena)
      : body_(body), rest_(body), options_(options), arena_(arena) {}

  // Adds the places of texts and byte values from now on.
  void TellPlaces(std::vector<EncodedValue>* places) { places_ = places; }

  Status Arguments(const MethodInfo& method, DecodedCall* call);
  Status Results(const MethodInfo& method, DecodedCall* call);
  // Shows the visitor arguments that CopyArguments() has copied.
  Status VisitArguments(const MethodInfo& method, const ArgumentPlan& plan, DecodedCall* call);

 private:
  // Errors are kept aside, in error_: a call has dozens of values, and hardly any fails. All that follow return
  // false if they failed.
  bool ReadArguments(const MethodInfo& method, DecodedCall* call);
  bool ReadResults(const MethodInfo& method, DecodedCall* call);
  template <typename T>
  bool Read(T* value) {
    if (rest_.size() < sizeof(*value)) return TooShort();
    *value = Load<T>(rest_.data());
    rest_ = rest_.subspan(sizeof(*value));
    return true;
  }
  // Notes why it failed; false.
  bool Fail(Status error);
  // Says in which value it failed; false.
  bool FailIn(const char* name);
  bool TooShort();
  bool Allocate(uint64_t bytes, std::byte** memory);

  // Into what `arguments[index]` points to; those before it are read.
  bool Argument(const MethodInfo& method, size_t index, const std::vector<void*>& arguments);
  bool OutParameter(const MethodInfo& method, size_t index, std::byte* place);
  bool Output(const MethodInfo& method, size_t index, std::byte* place);
  // Keeps the counts in `call`.
  bool CheckCounts(const MethodInfo& method, DecodedCall* call);
  void KeepCounts(DecodedCall* call) const;

  // Each reads a value into `place`.
  bool Inline(const ValueInfo& value, HandleKind handle, std::byte* place);
  // Decodes a pointer and its target; stores the count that was read in `*count`.
  bool Target(const ValueInfo& value, Shape shape, HandleKind handle, std::byte* place,
              uint64_t* count);
  bool Bytes(std::byte* place, uint64_t* count);
  bool PassBytes(uint64_t* count);  // reads no blob
  // `value`: what is declared there; null in the parts of a state object that no table describes.
  bool String(const ValueInfo* value, std::byte* place);
  bool WideString(const ValueInfo* value, std::byte* place);
  // Tells the place of a value that began at `before` and ended at rest_.
  void Tell(const ValueInfo* value, Shape shape, std::span<const std::byte> before);
  bool Elements(const ValueInfo& value, HandleKind handle, std::byte* elements, uint64_t count);
  bool FillElements(const ValueInfo& value, HandleKind handle, std::byte* elements, uint64_t count);

  // Decodes the data behind a struct that was copied from the record unchanged.
  bool FillStruct(const StructInfo& type, std::byte* place);
  bool FillField(const StructInfo& type, const FieldInfo& field, std::byte* place);
  bool FillPointer(const StructInfo& type, const FieldInfo& field, Shape shape,
                   std::byte* struct_place, std::byte* place);
  bool Feature(const StructInfo& type, std::byte* place, uint64_t* count);
  bool FillPipelineStream(std::byte* desc);
  bool FillStateObject(std::byte* desc);
  // The sub-objects of a state object, which parts name by their indices.
  struct StateParts {
    std::byte* subobjects;
    uint32_t count;
  };
  bool StateSubobjectInto(const StateParts& parts, uint32_t index);
  bool Described(const StateParts& parts, const SubobjectInfo& known, std::byte* desc);
  bool SubobjectAt(const StateParts& parts, const std::byte** subobject);
  bool Exports(const void* const** exports, uint32_t* count);
  bool Association(const StateParts& parts, std::byte* place);
  bool Program(const StateParts& parts, std::byte* place);
  bool Visit(const ValueInfo& value, HandleKind handle, std::byte* place);

  static constexpr size_t kMaxParameters = 32;
  static constexpr uint64_t kNoCount = ~uint64_t{0};

  const std::span<const std::byte> body_;
  std::span<const std::byte> rest_;
  const DecodeOptions& options_;
  Arena* const arena_;
  Status error_;
  uint64_t counts_[kMaxParameters];  // of the parameters that were read
  std::vector<EncodedValue>* places_ = nullptr;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_VALUE_DECODER_INTERNAL_H_
