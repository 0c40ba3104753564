// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "format/calls/special_values.h"
#include "format/calls/value_decoder_internal.h"

namespace cairn {
namespace {

Status UnknownPart(const char* what) {
  return Status(
      StatusCode::kUnsupported,
      std::string(what) + " has a part of a type that this version of Cairn does not know");
}

}  // namespace

Status ValueDecoder::Feature(const StructInfo& type, std::byte* place, uint64_t* count) {
  CAIRN_RETURN_IF_ERROR(Bytes(place, count));
  auto* const data = Load<std::byte*>(place);
  if (data == nullptr) return {};
  if (*count == type.size_bytes) return FillStruct(type, data);
  std::memset(data, 0, static_cast<size_t>(*count));
  return {};
}

Status ValueDecoder::FillPipelineStream(std::byte* desc) {
  auto stream = Load<PipelineStreamDesc>(desc);
  const bool is_null = stream.stream == nullptr;
  stream.stream = nullptr;
  Store(desc, stream);
  if (is_null) return {};
  uint32_t size = 0;
  uint32_t known = 0;
  CAIRN_RETURN_IF_ERROR(Read(&size));
  CAIRN_RETURN_IF_ERROR(Read(&known));
  if (size > rest_.size()) return TooShort();
  if (size != stream.size_bytes || known > size) {
    return Status(StatusCode::kCorrupt, "the size of the stream is another");
  }
  std::byte* copy = nullptr;
  CAIRN_RETURN_IF_ERROR(Allocate(size, &copy));
  if (size != 0) std::memcpy(copy, rest_.data(), size);
  rest_ = rest_.subspan(size);
  if (known != size && options_.refuse_unknown_parts)
    return UnknownPart("the pipeline state stream");
  Status status;
  const size_t walked = ForEachPipelinePart(copy, known, [&](const SubobjectInfo& part, size_t at) {
    status = FillElements(part.value, HandleKind::kNone, copy + at, 1);
    return status.ok();
  });
  CAIRN_RETURN_IF_ERROR(status);
  // The recording build knew a part that this build does not know.
  if (walked != known) return UnknownPart("the pipeline state stream");
  // This build knows a part that the recording build did not: its pointers are those of another
  // process.
  if (ForEachPipelinePart(copy, size, [](const SubobjectInfo&, size_t) { return true; }) != known) {
    return Status(StatusCode::kUnsupported,
                  "the pipeline state stream has a part that the recording version did not know");
  }
  stream.stream = copy;
  Store(desc, stream);
  return {};
}

Status ValueDecoder::SubobjectAt(const StateParts& parts, const std::byte** subobject) {
  uint32_t index = 0;
  CAIRN_RETURN_IF_ERROR(Read(&index));
  *subobject = nullptr;
  if (index == kNoSubobject) return {};
  if (index >= parts.count) {
    return Status(StatusCode::kCorrupt, "a part that names sub-object " + std::to_string(index) +
                                            " of " + std::to_string(parts.count));
  }
  *subobject = parts.subobjects + size_t{index} * sizeof(StateSubobject);
  return {};
}

Status ValueDecoder::Exports(const void* const** exports, uint32_t* count) {
  uint32_t recorded = 0;
  CAIRN_RETURN_IF_ERROR(Read(&recorded));
  *exports = nullptr;
  *count = 0;
  if (recorded == kNullBytes) return {};
  if (recorded > rest_.size() / sizeof(uint32_t)) return TooShort();
  std::byte* names = nullptr;
  CAIRN_RETURN_IF_ERROR(Allocate(uint64_t{recorded} * kPointerBytes, &names));
  for (uint32_t i = 0; i < recorded; ++i) {
    CAIRN_RETURN_IF_ERROR(WideString(nullptr, names + size_t{i} * kPointerBytes));
  }
  *count = recorded;
  *exports = reinterpret_cast<const void* const*>(names);
  return {};
}

Status ValueDecoder::Association(const StateParts& parts, std::byte* place) {
  StateAssociation association = {};
  CAIRN_RETURN_IF_ERROR(SubobjectAt(parts, &association.subobject));
  CAIRN_RETURN_IF_ERROR(Exports(&association.exports, &association.export_count));
  Store(place, association);
  return {};
}

Status ValueDecoder::Program(const StateParts& parts, std::byte* place) {
  StateProgram program = {};
  CAIRN_RETURN_IF_ERROR(WideString(nullptr, reinterpret_cast<std::byte*>(&program.name)));
  CAIRN_RETURN_IF_ERROR(Exports(&program.exports, &program.export_count));
  uint32_t count = 0;
  CAIRN_RETURN_IF_ERROR(Read(&count));
  if (count != kNullBytes) {
    if (count > rest_.size() / sizeof(uint32_t)) return TooShort();
    std::byte* memory = nullptr;
    CAIRN_RETURN_IF_ERROR(Allocate(uint64_t{count} * kPointerBytes, &memory));
    for (uint32_t i = 0; i < count; ++i) {
      const std::byte* subobject = nullptr;
      CAIRN_RETURN_IF_ERROR(SubobjectAt(parts, &subobject));
      Store(memory + size_t{i} * kPointerBytes, subobject);
    }
    program.subobject_count = count;
    program.subobjects = reinterpret_cast<const std::byte* const*>(memory);
  }
  Store(place, program);
  return {};
}

Status ValueDecoder::Described(const StateParts& parts, const SubobjectInfo& known,
                               std::byte* desc) {
  switch (known.type) {
    case kAssociationType: return Association(parts, desc);
    case kProgramType: return Program(parts, desc);
    default: return Elements(known.value, HandleKind::kNone, desc, 1);
  }
}

Status ValueDecoder::StateSubobjectInto(const StateParts& parts, uint32_t index) {
  StateSubobject part = {};
  SubobjectForm form = SubobjectForm::kNull;
  CAIRN_RETURN_IF_ERROR(Read(&part.type));
  CAIRN_RETURN_IF_ERROR(Read(&form));
  const SubobjectInfo* const known = FindStateSubobject(part.type);
  if (form == SubobjectForm::kDescribed) {
    if (known == nullptr) return UnknownPart("the state object");
    std::byte* desc = nullptr;
    CAIRN_RETURN_IF_ERROR(Allocate(known->value.size_bytes, &desc));
    CAIRN_RETURN_IF_ERROR(Described(parts, *known, desc));
    part.desc = desc;
  } else if (form == SubobjectForm::kUnknown) {
    if (options_.refuse_unknown_parts) return UnknownPart("the state object");
  } else if (form != SubobjectForm::kNull) {
    return Status(StatusCode::kCorrupt, "a sub-object of an unknown form");
  }
  Store(parts.subobjects + size_t{index} * sizeof(StateSubobject), part);
  return {};
}

Status ValueDecoder::FillStateObject(std::byte* desc) {
  auto object = Load<StateObjectDesc>(desc);
  const bool is_null = object.subobjects == nullptr;
  object.subobjects = nullptr;
  Store(desc, object);
  if (is_null) return {};
  uint32_t count = 0;
  CAIRN_RETURN_IF_ERROR(Read(&count));
  if (count != object.subobject_count) {
    return Status(StatusCode::kCorrupt, "the number of sub-objects is another");
  }
  if (count > rest_.size() / (2 * sizeof(uint32_t))) return TooShort();
  std::byte* subobjects = nullptr;
  CAIRN_RETURN_IF_ERROR(Allocate(uint64_t{count} * sizeof(StateSubobject), &subobjects));
  for (uint32_t i = 0; i < count; ++i) {
    CAIRN_RETURN_IF_ERROR(StateSubobjectInto({subobjects, count}, i));
  }
  object.subobjects = subobjects;
  Store(desc, object);
  return {};
}

}  // namespace cairn
