// SPDX-License-Identifier: Apache-2.0
#include "format/calls/special_values.h"
#include "format/calls/value_encoder_internal.h"

namespace cairn {

bool ValueEncoder::PutFeature(const StructInfo& type, const void* data, uint64_t size_bytes,
                              bool is_result) {
  std::byte copy[kMaxFeatureBytes] = {};
  if (data == nullptr || size_bytes > sizeof(copy)) return Put(kNullBytes);
  // The method refuses another size, whose contents are undefined.
  if (size_bytes != type.size_bytes) return PutBytes(copy, size_bytes);
  const auto* const place = static_cast<const std::byte*>(data);
  std::memcpy(copy, place, size_bytes);
  RewriteStruct(type, place, copy);
  for (const FieldInfo& field : type.fields) {
    const bool has_pointers = is_result && NeedsWork(field);
    const uint32_t bytes = field.pointers != 0 ? kPointerBytes : field.size_bytes;
    if (has_pointers) std::memset(copy + field.offset_bytes, 0, size_t{bytes} * field.array_length);
  }
  return PutBytes(copy, size_bytes) && (is_result || PutTails(type, place));
}

bool ValueEncoder::PutPipelineStream(const std::byte* desc) {
  const auto stream = Load<PipelineStreamDesc>(desc);
  if (stream.stream == nullptr) return true;
  if (stream.size_bytes > kMaxPipelineStreamBytes) return false;
  const auto size = static_cast<size_t>(stream.size_bytes);
  const size_t known =
      ForEachPipelinePart(stream.stream, size, [](const SubobjectInfo&, size_t) { return true; });
  std::byte* const room = sink_->Extend(2 * sizeof(uint32_t) + size);
  if (room == nullptr) return false;
  Store(room, static_cast<uint32_t>(size));
  Store(room + sizeof(uint32_t), static_cast<uint32_t>(known));
  std::byte* const copy = room + 2 * sizeof(uint32_t);
  if (size != 0) std::memcpy(copy, stream.stream, size);
  ForEachPipelinePart(stream.stream, size, [&](const SubobjectInfo& part, size_t offset) {
    Rewrite(part.value, StructOf(part.value), stream.stream + offset, 1, copy + offset);
    return true;
  });
  bool put = true;
  ForEachPipelinePart(stream.stream, size, [&](const SubobjectInfo& part, size_t offset) {
    const StructInfo* const type = StructOf(part.value);
    if (type != nullptr) put = PutTails(*type, stream.stream + offset);
    return put;
  });
  return put;
}

namespace {

// The index of the sub-object at `subobject`, or kNoSubobject if it is none of these.
uint32_t IndexOf(const std::byte* subobject, const std::byte* subobjects, uint32_t count) {
  const auto distance =
      reinterpret_cast<uintptr_t>(subobject) - reinterpret_cast<uintptr_t>(subobjects);
  if (subobject < subobjects || distance / sizeof(StateSubobject) >= count) return kNoSubobject;
  return static_cast<uint32_t>(distance / sizeof(StateSubobject));
}

}  // namespace

bool ValueEncoder::PutExports(const void* const* exports, uint32_t count) {
  if (exports == nullptr) return Put(kNullBytes);
  if (!Put(count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!PutWideString(exports[i])) return false;
  }
  return true;
}

bool ValueEncoder::PutAssociation(const std::byte* desc, const std::byte* subobjects,
                                  uint32_t count) {
  const auto association = Load<StateAssociation>(desc);
  return Put(IndexOf(association.subobject, subobjects, count)) &&
         PutExports(association.exports, association.export_count);
}

bool ValueEncoder::PutProgram(const std::byte* desc, const std::byte* subobjects, uint32_t count) {
  const auto program = Load<StateProgram>(desc);
  if (!PutWideString(program.name) || !PutExports(program.exports, program.export_count)) {
    return false;
  }
  if (program.subobjects == nullptr) return Put(kNullBytes);
  if (!Put(program.subobject_count)) return false;
  for (uint32_t i = 0; i < program.subobject_count; ++i) {
    if (!Put(IndexOf(program.subobjects[i], subobjects, count))) return false;
  }
  return true;
}

bool ValueEncoder::PutStateObject(const std::byte* desc) {
  const auto object = Load<StateObjectDesc>(desc);
  if (object.subobjects == nullptr) return true;
  if (!Put(object.subobject_count)) return false;
  for (uint32_t i = 0; i < object.subobject_count; ++i) {
    const auto part = Load<StateSubobject>(object.subobjects + i * sizeof(StateSubobject));
    const SubobjectInfo* const known = FindStateSubobject(part.type);
    SubobjectForm form = SubobjectForm::kDescribed;
    if (known == nullptr) form = SubobjectForm::kUnknown;
    if (part.desc == nullptr) form = SubobjectForm::kNull;
    if (!Put(part.type) || !Put(form)) return false;
    if (form != SubobjectForm::kDescribed) continue;
    const auto put = [&] {
      switch (part.type) {
        case kAssociationType:
          return PutAssociation(part.desc, object.subobjects, object.subobject_count);
        case kProgramType: return PutProgram(part.desc, object.subobjects, object.subobject_count);
        default: return PutElements(known->value, part.desc, 1);
      }
    };
    if (!put()) return false;
  }
  return true;
}

}  // namespace cairn
