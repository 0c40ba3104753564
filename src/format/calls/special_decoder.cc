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

bool ValueDecoder::Feature(const StructInfo& type, std::byte* place, uint64_t* count) {
  if (!Bytes(place, count)) return false;
  auto* const data = Load<std::byte*>(place);
  if (data == nullptr) return true;
  if (*count == type.size_bytes) return FillStruct(type, data);
  std::memset(data, 0, static_cast<size_t>(*count));
  return true;
}

bool ValueDecoder::FillPipelineStream(std::byte* desc) {
  auto stream = Load<PipelineStreamDesc>(desc);
  const bool is_null = stream.stream == nullptr;
  stream.stream = nullptr;
  Store(desc, stream);
  if (is_null) return true;
  uint32_t size = 0;
  uint32_t known = 0;
  if (!Read(&size)) return false;
  if (!Read(&known)) return false;
  if (size > rest_.size()) return TooShort();
  if (size != stream.size_bytes || known > size) {
    return Fail(Status(StatusCode::kCorrupt, "the size of the stream is another"));
  }
  std::byte* copy = nullptr;
  if (!Allocate(size, &copy)) return false;
  if (size != 0) std::memcpy(copy, rest_.data(), size);
  rest_ = rest_.subspan(size);
  if (known != size && options_.refuse_unknown_parts)
    return Fail(UnknownPart("the pipeline state stream"));
  bool filled = true;
  const size_t walked = ForEachPipelinePart(copy, known, [&](const SubobjectInfo& part, size_t at) {
    filled = FillElements(part.value, HandleKind::kNone, copy + at, 1);
    return filled;
  });
  if (!filled) return false;
  // The recording build knew a part that this build does not know.
  if (walked != known) return Fail(UnknownPart("the pipeline state stream"));
  // This build knows a part that the recording build did not: its pointers are those of another
  // process.
  if (ForEachPipelinePart(copy, size, [](const SubobjectInfo&, size_t) { return true; }) != known) {
    return Fail(
        Status(StatusCode::kUnsupported,
               "the pipeline state stream has a part that the recording version did not know"));
  }
  stream.stream = copy;
  Store(desc, stream);
  return true;
}

bool ValueDecoder::SubobjectAt(const StateParts& parts, const std::byte** subobject) {
  uint32_t index = 0;
  if (!Read(&index)) return false;
  *subobject = nullptr;
  if (index == kNoSubobject) return true;
  if (index >= parts.count) {
    return Fail(Status(StatusCode::kCorrupt, "a part that names sub-object " +
                                                 std::to_string(index) + " of " +
                                                 std::to_string(parts.count)));
  }
  *subobject = parts.subobjects + size_t{index} * sizeof(StateSubobject);
  return true;
}

bool ValueDecoder::Exports(const void* const** exports, uint32_t* count) {
  uint32_t recorded = 0;
  if (!Read(&recorded)) return false;
  *exports = nullptr;
  *count = 0;
  if (recorded == kNullBytes) return true;
  if (recorded > rest_.size() / sizeof(uint32_t)) return TooShort();
  std::byte* names = nullptr;
  if (!Allocate(uint64_t{recorded} * kPointerBytes, &names)) return false;
  for (uint32_t i = 0; i < recorded; ++i) {
    if (!WideString(nullptr, names + size_t{i} * kPointerBytes)) return false;
  }
  *count = recorded;
  *exports = reinterpret_cast<const void* const*>(names);
  return true;
}

bool ValueDecoder::Association(const StateParts& parts, std::byte* place) {
  StateAssociation association = {};
  if (!SubobjectAt(parts, &association.subobject)) return false;
  if (!Exports(&association.exports, &association.export_count)) return false;
  Store(place, association);
  return true;
}

bool ValueDecoder::Program(const StateParts& parts, std::byte* place) {
  StateProgram program = {};
  if (!WideString(nullptr, reinterpret_cast<std::byte*>(&program.name))) return false;
  if (!Exports(&program.exports, &program.export_count)) return false;
  uint32_t count = 0;
  if (!Read(&count)) return false;
  if (count != kNullBytes) {
    if (count > rest_.size() / sizeof(uint32_t)) return TooShort();
    std::byte* memory = nullptr;
    if (!Allocate(uint64_t{count} * kPointerBytes, &memory)) return false;
    for (uint32_t i = 0; i < count; ++i) {
      const std::byte* subobject = nullptr;
      if (!SubobjectAt(parts, &subobject)) return false;
      Store(memory + size_t{i} * kPointerBytes, subobject);
    }
    program.subobject_count = count;
    program.subobjects = reinterpret_cast<const std::byte* const*>(memory);
  }
  Store(place, program);
  return true;
}

bool ValueDecoder::Described(const StateParts& parts, const SubobjectInfo& known, std::byte* desc) {
  switch (known.type) {
    case kAssociationType: return Association(parts, desc);
    case kProgramType: return Program(parts, desc);
    default: return Elements(known.value, HandleKind::kNone, desc, 1);
  }
}

bool ValueDecoder::StateSubobjectInto(const StateParts& parts, uint32_t index) {
  StateSubobject part = {};
  SubobjectForm form = SubobjectForm::kNull;
  if (!Read(&part.type)) return false;
  if (!Read(&form)) return false;
  const SubobjectInfo* const known = FindStateSubobject(part.type);
  if (form == SubobjectForm::kDescribed) {
    if (known == nullptr) return Fail(UnknownPart("the state object"));
    std::byte* desc = nullptr;
    if (!Allocate(known->value.size_bytes, &desc)) return false;
    if (!Described(parts, *known, desc)) return false;
    part.desc = desc;
  } else if (form == SubobjectForm::kUnknown) {
    if (options_.refuse_unknown_parts) return Fail(UnknownPart("the state object"));
  } else if (form != SubobjectForm::kNull) {
    return Fail(Status(StatusCode::kCorrupt, "a sub-object of an unknown form"));
  }
  Store(parts.subobjects + size_t{index} * sizeof(StateSubobject), part);
  return true;
}

bool ValueDecoder::FillStateObject(std::byte* desc) {
  auto object = Load<StateObjectDesc>(desc);
  const bool is_null = object.subobjects == nullptr;
  object.subobjects = nullptr;
  Store(desc, object);
  if (is_null) return true;
  uint32_t count = 0;
  if (!Read(&count)) return false;
  if (count != object.subobject_count) {
    return Fail(Status(StatusCode::kCorrupt, "the number of sub-objects is another"));
  }
  if (count > rest_.size() / (2 * sizeof(uint32_t))) return TooShort();
  std::byte* subobjects = nullptr;
  if (!Allocate(uint64_t{count} * sizeof(StateSubobject), &subobjects)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!StateSubobjectInto({subobjects, count}, i)) return false;
  }
  object.subobjects = subobjects;
  Store(desc, object);
  return true;
}

}  // namespace cairn
