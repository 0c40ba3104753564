// SPDX-License-Identifier: Apache-2.0
#include "format/calls/value_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "format/calls/value_decoder_internal.h"

namespace cairn {
namespace {

constexpr size_t kArenaPieceBytes = 64 << 10;
// A record may claim more than it has, and a large piece then stays mostly unwritten: writing zeros
// would make the pages resident.
constexpr size_t kKeptPieceBytes = 1 << 20;

Status Corrupt(std::string what) {
  return Status(StatusCode::kCorrupt, std::move(what));
}

}  // namespace

// ---- Arena ----

bool Arena::AddPiece(uint64_t bytes) {
  Piece piece;
  piece.size_bytes = std::max<size_t>(bytes, kArenaPieceBytes);
  // Zeroed pages of the system cost nothing until they are written.
  piece.bytes.reset(static_cast<std::byte*>(std::calloc(piece.size_bytes, 1)));
  if (piece.bytes == nullptr) return false;
  pieces_.push_back(std::move(piece));
  piece_used_ = 0;
  return true;
}

void Arena::Reset() {
  used_bytes_ = 0;
  if (pieces_.size() == 1 && pieces_.front().size_bytes <= kKeptPieceBytes) {
    std::memset(pieces_.front().bytes.get(), 0, piece_used_);
    piece_used_ = 0;
    return;
  }
  Piece* kept = nullptr;  // the largest that is not too large
  for (Piece& piece : pieces_) {
    const bool larger = kept == nullptr || piece.size_bytes > kept->size_bytes;
    if (larger && piece.size_bytes <= kKeptPieceBytes) kept = &piece;
  }
  if (kept == nullptr) {
    pieces_.clear();
  } else {
    std::memset(kept->bytes.get(), 0, kept == &pieces_.back() ? piece_used_ : kept->size_bytes);
    std::swap(*kept, pieces_.front());
    pieces_.resize(1);
  }
  piece_used_ = 0;
}

void Arena::Rewind(const Mark& mark) {
  if (pieces_.size() != mark.piece_count) {
    pieces_.resize(mark.piece_count);
  } else if (!pieces_.empty()) {
    std::memset(pieces_.back().bytes.get() + mark.piece_used, 0, piece_used_ - mark.piece_used);
  }
  piece_used_ = mark.piece_used;
  used_bytes_ = mark.used_bytes;
}

// ---- Visitors ----

Status ValueVisitor::Object(Chain, uint64_t*) {
  return {};
}
Status ValueVisitor::GpuAddress(uint64_t*) {
  return {};
}
Status ValueVisitor::CpuDescriptor(uint64_t*) {
  return {};
}
Status ValueVisitor::GpuDescriptor(uint64_t*) {
  return {};
}
Status ValueVisitor::Handle(HandleKind, uint64_t*) {
  return {};
}
Status ValueVisitor::Callback(uint64_t*) {
  return {};
}

// ---- Bytes ----

Result<std::span<const std::byte>> DecodeBytes(std::span<const std::byte>* rest, BlobSource* blobs,
                                               Arena* arena) {
  Result<uint32_t> size = DecodeBody<uint32_t>(rest);
  if (!size.ok()) return size.status();
  if (*size == kNullBytes) return std::span<const std::byte>();
  if (*size != kBytesInBlobs) {
    if (*size > rest->size()) return Corrupt("the record is too short");
    // Returns a non-null pointer for zero bytes, too: null means that the pointer was null.
    const auto bytes = rest->first(*size);
    *rest = rest->subspan(*size);
    static constexpr std::byte kNothing{};
    return bytes.empty() ? std::span<const std::byte>(&kNothing, 0) : bytes;
  }
  Result<uint64_t> total = DecodeBody<uint64_t>(rest);
  Result<uint32_t> parts = DecodeBody<uint32_t>(rest);
  if (!total.ok() || !parts.ok()) return Corrupt("the record is too short");
  if (*parts > rest->size() / sizeof(uint64_t)) return Corrupt("the record is too short");
  // All parts but the last are full: otherwise a few bytes could name millions of blobs, each in another
  // chunk.
  if (*parts != *total / kMaxBlobBytes + (*total % kMaxBlobBytes == 0 ? 0 : 1)) {
    return Corrupt("so many bytes do not stand in so many parts");
  }
  if (blobs == nullptr) return Status(StatusCode::kUnsupported, "its bytes lie in other records");
  auto* const memory = static_cast<std::byte*>(arena->Allocate(*total));
  if (memory == nullptr) return Corrupt(std::to_string(*total) + " bytes are too many");
  uint64_t done = 0;
  for (uint32_t i = 0; i < *parts; ++i) {
    const auto number = Load<uint64_t>(rest->data() + i * sizeof(uint64_t));
    Result<std::span<const std::byte>> blob = blobs->Blob(number);
    if (!blob.ok()) return blob.status();
    if (blob->size() > *total - done) return Corrupt("there are more bytes than were said");
    if (!blob->empty()) std::memcpy(memory + done, blob->data(), blob->size());
    done += blob->size();
  }
  if (done != *total) return Corrupt("there are fewer bytes than were said");
  *rest = rest->subspan(*parts * sizeof(uint64_t));
  return std::span<const std::byte>(memory, *total);
}

// ---- Values ----

bool ValueDecoder::Fail(Status error) {
  error_ = std::move(error);
  return false;
}

bool ValueDecoder::FailIn(const char* name) {
  return Fail(error_.WithContext(name));
}

bool ValueDecoder::TooShort() {
  return Fail(Corrupt("the record is too short"));
}

bool ValueDecoder::Allocate(uint64_t bytes, std::byte** memory) {
  *memory = static_cast<std::byte*>(arena_->Allocate(bytes));
  if (*memory == nullptr) return Fail(Corrupt(std::to_string(bytes) + " bytes are too many"));
  return true;
}

bool ValueDecoder::Visit(const ValueInfo& value, HandleKind handle, std::byte* place) {
  ValueVisitor* const visitor = options_.visitor;
  if (visitor == nullptr) return true;
  uint64_t number = 0;
  const auto replaced = [&](Status status) {
    if (!status.ok()) return Fail(std::move(status));
    Store(place, number);
    return true;
  };
  switch (value.kind) {
    case ValueKind::kObject:
      number = Load<uint64_t>(place);
      return replaced(visitor->Object(value.chain, &number));
    case ValueKind::kGpuAddress:
      number = Load<uint64_t>(place);
      return replaced(visitor->GpuAddress(&number));
    case ValueKind::kCpuDescriptor:
      number = Load<uint64_t>(place);
      return replaced(visitor->CpuDescriptor(&number));
    case ValueKind::kGpuDescriptor:
      number = Load<uint64_t>(place);
      return replaced(visitor->GpuDescriptor(&number));
    case ValueKind::kHandle:
      number = Load<uint64_t>(place);
      return replaced(visitor->Handle(handle, &number));
    case ValueKind::kCallback:
      number = Load<uint64_t>(place);
      return replaced(visitor->Callback(&number));
    default: return true;
  }
}

bool ValueDecoder::Inline(const ValueInfo& value, HandleKind handle, std::byte* place) {
  return Elements(value, handle, place, 1);
}

bool ValueDecoder::Bytes(std::byte* place, uint64_t* count) {
  const uint32_t size = rest_.size() < sizeof(uint32_t) ? kNullBytes : Load<uint32_t>(rest_.data());
  std::span<const std::byte> recorded;
  if (size != kNullBytes && size != kBytesInBlobs && size <= rest_.size() - sizeof(size)) {
    recorded = rest_.subspan(sizeof(size), size);
    rest_ = rest_.subspan(sizeof(size) + size);
  } else {
    const Result<std::span<const std::byte>> bytes = DecodeBytes(&rest_, options_.blobs, arena_);
    if (!bytes.ok()) return Fail(bytes.status());
    *count = bytes->data() == nullptr ? kNoCount : bytes->size();
    if (bytes->data() == nullptr) return true;
    recorded = *bytes;
  }
  *count = recorded.size();
  std::byte* memory = nullptr;
  if (!Allocate(recorded.size(), &memory)) return false;
  if (!recorded.empty()) std::memcpy(memory, recorded.data(), recorded.size());
  Store(place, memory);
  return true;
}

bool ValueDecoder::PassBytes(uint64_t* count) {
  uint32_t size = 0;
  if (!Read(&size)) return false;
  *count = size == kNullBytes ? kNoCount : size;
  if (size == kNullBytes) return true;
  uint64_t following = size;
  if (size == kBytesInBlobs) {
    uint32_t parts = 0;
    if (!Read(count)) return false;
    if (!Read(&parts)) return false;
    following = parts * uint64_t{sizeof(uint64_t)};
  }
  if (following > rest_.size()) return TooShort();
  rest_ = rest_.subspan(following);
  return true;
}

void ValueDecoder::Tell(const ValueInfo* value, Shape shape, std::span<const std::byte> before) {
  if (places_ == nullptr) return;
  places_->push_back({.value = value,
                      .shape = shape,
                      .offset = body_.size() - before.size(),
                      .size_bytes = before.size() - rest_.size()});
}

bool ValueDecoder::String(const ValueInfo* value, std::byte* place) {
  const std::span<const std::byte> before = rest_;
  uint32_t size = 0;
  if (!Read(&size)) return false;
  if (size == kNullBytes) return true;
  if (size > rest_.size()) return TooShort();
  std::byte* text = nullptr;
  if (!Allocate(uint64_t{size} + 1, &text)) return false;
  if (size != 0) std::memcpy(text, rest_.data(), size);
  rest_ = rest_.subspan(size);
  Tell(value, Shape::kString, before);
  Store(place, text);
  return true;
}

bool ValueDecoder::WideString(const ValueInfo* value, std::byte* place) {
  const std::span<const std::byte> before = rest_;
  uint32_t size = 0;
  if (!Read(&size)) return false;
  if (size == kNullBytes) return true;
  if (size > rest_.size()) return TooShort();
  if (size % sizeof(uint16_t) != 0) return Fail(Corrupt("half a character"));
  const uint32_t units = size / sizeof(uint16_t);
  std::byte* text = nullptr;
  if (!Allocate((uint64_t{units} + 1) * options_.wchar_bytes, &text)) return false;
  std::byte* next = text;
  for (uint32_t i = 0; i < units; ++i) {
    const auto unit = [&](uint32_t at) {
      return Load<uint16_t>(rest_.data() + size_t{at} * sizeof(uint16_t));
    };
    if (options_.wchar_bytes == 2) {
      Store(next, unit(i));
      next += sizeof(uint16_t);
      continue;
    }
    uint32_t character = unit(i);
    if ((character & 0xFC00) == 0xD800 && i + 1 < units && (unit(i + 1) & 0xFC00) == 0xDC00) {
      ++i;
      character = 0x10000 + ((character & 0x3FF) << 10) + (unit(i) & 0x3FFu);
    }
    Store(next, character);
    next += sizeof(uint32_t);
  }
  rest_ = rest_.subspan(size);
  Tell(value, Shape::kWideString, before);
  Store(place, text);
  return true;
}

bool ValueDecoder::Elements(const ValueInfo& value, HandleKind handle, std::byte* elements,
                            uint64_t count) {
  const uint64_t bytes = count * ElementBytes(Shape::kArray, value);
  std::span<const std::byte> recorded;
  if (bytes > kMaxInlineBytes) {
    Result<std::span<const std::byte>> blobs = DecodeBytes(&rest_, options_.blobs, arena_);
    if (!blobs.ok()) return Fail(blobs.status());
    if (blobs->size() != bytes) return Fail(Corrupt("elements and their bytes do not agree"));
    recorded = *blobs;
  } else {
    if (bytes > rest_.size()) return TooShort();
    recorded = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
  }
  if (bytes != 0) std::memcpy(elements, recorded.data(), bytes);
  return FillElements(value, handle, elements, count);
}

bool ValueDecoder::FillElements(const ValueInfo& value, HandleKind handle, std::byte* elements,
                                uint64_t count) {
  const StructInfo* const type = StructOf(value);
  if (type != nullptr && (options_.visitor == nullptr ? type->is_flat : type->is_universal))
    return true;
  if (type == nullptr && (options_.visitor == nullptr || !IsVisited(value.kind))) return true;
  for (uint64_t i = 0; i < count; ++i) {
    std::byte* const element = elements + i * ElementBytes(Shape::kArray, value);
    if (!(type != nullptr ? FillStruct(*type, element) : Visit(value, handle, element)))
      return false;
  }
  return true;
}

bool ValueDecoder::Target(const ValueInfo& value, Shape shape, HandleKind handle, std::byte* place,
                          uint64_t* count) {
  *count = kNoCount;
  if (shape == Shape::kString) return String(&value, place);
  if (shape == Shape::kWideString) return WideString(&value, place);
  if (shape == Shape::kBytes) {
    if (places_ == nullptr) return Bytes(place, count);
    const std::span<const std::byte> before = rest_;
    if (!PassBytes(count)) return false;
    Tell(&value, shape, before);
    return true;
  }
  uint32_t recorded = 0;
  if (!Read(&recorded)) return false;
  if (recorded == kNullBytes) return true;
  if (IsOpaque(value)) return Fail(Corrupt("it cannot be recorded"));
  *count = recorded;
  const bool is_text = value.kind == ValueKind::kString || value.kind == ValueKind::kWideString;
  const uint64_t element_bytes = ElementBytes(shape, value);
  // The record holds at least the count of each element that is encoded by itself.
  if (is_text || shape == Shape::kPointers) {
    if (recorded > rest_.size() / sizeof(uint32_t)) return TooShort();
  } else if (recorded * element_bytes <= kMaxInlineBytes &&
             recorded * element_bytes > rest_.size()) {
    return TooShort();
  }
  std::byte* elements = nullptr;
  if (!Allocate(recorded * element_bytes, &elements)) return false;
  Store(place, elements);
  if (!is_text && shape != Shape::kPointers) return Elements(value, handle, elements, recorded);
  for (uint32_t i = 0; i < recorded; ++i) {
    std::byte* const element = elements + size_t{i} * kPointerBytes;
    uint64_t one = 0;
    if (value.kind == ValueKind::kString) {
      if (!String(&value, element)) return false;
    } else if (value.kind == ValueKind::kWideString) {
      if (!WideString(&value, element)) return false;
    } else {
      if (!Target(value, Shape::kArray, handle, element, &one)) return false;
      if (one != 1 && one != kNoCount)
        return Fail(Corrupt("a pointer to one element has another count"));
    }
  }
  return true;
}

// ---- Structs ----

bool ValueDecoder::FillPointer(const StructInfo& type, const FieldInfo& field, Shape shape,
                               std::byte* struct_place, std::byte* place) {
  const auto written = Load<uint64_t>(place);
  Store(place, uint64_t{0});
  if (written == 0) return true;
  if (written != 1) return Fail(Corrupt("a pointer is neither null nor not"));
  uint64_t count = 0;
  if (!Target(field, shape, HandleKind::kNone, place, &count)) return false;
  if (shape == Shape::kString || shape == Shape::kWideString) return true;
  if (count != CountOf(type, field, struct_place)) return Fail(Corrupt("its count is another"));
  return true;
}

bool ValueDecoder::FillField(const StructInfo& type, const FieldInfo& field, std::byte* place) {
  const Shape shape = ShapeOf(field);
  const StructInfo* const inner = shape == Shape::kInline ? StructOf(field) : nullptr;
  const uint32_t stride = shape == Shape::kInline && field.kind != ValueKind::kObject
                              ? field.size_bytes
                              : kPointerBytes;
  if (!IsMeant(type, field, place)) {
    if (NeedsWork(field) && NoneIsMeant(type, place)) {
      std::memset(place + field.offset_bytes, 0, size_t{stride} * field.array_length);
    }
    return true;
  }
  for (uint32_t i = 0; i < field.array_length; ++i) {
    std::byte* const element = place + field.offset_bytes + size_t{i} * stride;
    if (inner != nullptr) {
      if (!FillStruct(*inner, element)) return false;
    } else if (shape == Shape::kInline) {
      if (!Visit(field, HandleKind::kNone, element)) return false;
    } else if (IsFollowed(field, shape)) {
      if (!FillPointer(type, field, shape, place, element)) return false;
    } else {
      Store(element, uint64_t{0});
    }
  }
  return true;
}

bool ValueDecoder::FillStruct(const StructInfo& type, std::byte* place) {
  if (type.special == SpecialStruct::kPipelineStream) return FillPipelineStream(place);
  if (type.special == SpecialStruct::kStateObject) return FillStateObject(place);
  for (const FieldInfo& field : type.fields) {
    if (!FillField(type, field, place)) return FailIn(field.name);
  }
  if (type.special == SpecialStruct::kCachedPipeline && options_.drop_cached_pipelines) {
    std::memset(place, 0, type.size_bytes);
  }
  return true;
}

// ---- Calls ----

bool ValueDecoder::OutParameter(const MethodInfo& method, size_t index, std::byte* place) {
  const Shape shape = ShapeOf(method, index);
  if (shape == Shape::kAddress) return Read(reinterpret_cast<uint64_t*>(place));
  uint32_t count = 0;
  if (!Read(&count)) return false;
  if (count == kNullBytes) return true;
  counts_[index] = count;
  std::byte* memory = nullptr;
  if (!Allocate(count * uint64_t{ElementBytes(shape, method.parameters[index])}, &memory))
    return false;
  Store(place, memory);
  return true;
}

bool ValueDecoder::Argument(const MethodInfo& method, size_t index,
                            const std::vector<void*>& arguments) {
  auto* const place = static_cast<std::byte*>(arguments[index]);
  const ParameterInfo& parameter = method.parameters[index];
  const Shape shape = ShapeOf(method, index);
  if (shape == Shape::kInline) return Inline(parameter, parameter.handle, place);
  if (parameter.direction == Direction::kOut) return OutParameter(method, index, place);
  if (shape == Shape::kBytes && parameter.direction == Direction::kInOut) {
    const StructInfo* const feature = FeatureStruct(method, index, arguments.data());
    if (feature != nullptr) return Feature(*feature, place, &counts_[index]);
  }
  if (shape != Shape::kAddress) {
    return Target(parameter, shape, parameter.handle, place, &counts_[index]);
  }
  uint64_t address = 0;
  if (!Read(&address)) return false;
  if (options_.visitor != nullptr) {
    Status status = options_.visitor->Callback(&address);
    if (!status.ok()) return Fail(std::move(status));
  }
  Store(place, address);
  return true;
}

bool ValueDecoder::CheckCounts(const MethodInfo& method, DecodedCall* call) {
  call->counts.resize(method.parameters.size());
  for (size_t i = 0; i < method.parameters.size(); ++i) {
    call->counts[i] = counts_[i] == kNoCount ? 0 : counts_[i];
    if (counts_[i] == kNoCount) continue;
    const ParameterInfo& parameter = method.parameters[i];
    const Shape shape = ShapeOf(method, i);
    if (shape == Shape::kInline || shape == Shape::kString || shape == Shape::kWideString) continue;
    if (IsCallerCount(parameter)) continue;
    if (counts_[i] != CountOf(method, i, call->arguments.data(), false, 0)) {
      return Fail(Corrupt(std::string(parameter.name) + ": the other arguments say another count"));
    }
  }
  return true;
}

Status ValueDecoder::VisitArguments(const MethodInfo& method, const ArgumentPlan& plan,
                                    DecodedCall* call) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ArgumentStep& step = plan.steps[i];
    if (!step.is_visited) continue;
    const ParameterInfo& parameter = method.parameters[i];
    auto* const place = static_cast<std::byte*>(call->arguments[i]);
    const bool filled =
        step.kind == ArgumentStep::Kind::kCopy
            ? FillElements(parameter, parameter.handle, place, 1)
            : FillElements(parameter, parameter.handle, Load<std::byte*>(place), call->counts[i]);
    if (!filled) return error_.WithContext(parameter.name);
  }
  return Status();
}

Status ValueDecoder::Arguments(const MethodInfo& method, DecodedCall* call) {
  return ReadArguments(method, call) ? Status() : std::move(error_);
}

bool ValueDecoder::ReadArguments(const MethodInfo& method, DecodedCall* call) {
  const size_t count = method.parameters.size();
  if (count > kMaxParameters)
    return Fail(Status(StatusCode::kInternal, "a method with so many parameters"));
  call->result = nullptr;
  call->arguments.assign(count, nullptr);
  // The memory of all parameters is one piece.
  uint64_t bytes = 0;
  for (const ParameterInfo& parameter : method.parameters) bytes += ArgumentBytes(parameter);
  std::byte* next = nullptr;
  if (!Allocate(bytes, &next)) return false;
  for (size_t i = 0; i < count; ++i) {
    counts_[i] = kNoCount;
    call->arguments[i] = next;
    next += ArgumentBytes(method.parameters[i]);
    if (!Argument(method, i, call->arguments)) return FailIn(method.parameters[i].name);
  }
  if (!rest_.empty()) return Fail(Corrupt("the record is too long"));
  return CheckCounts(method, call);
}

bool ValueDecoder::Output(const MethodInfo& method, size_t index, std::byte* place) {
  const ParameterInfo& parameter = method.parameters[index];
  const Shape shape = ShapeOf(method, index);
  if (shape == Shape::kInline) return Inline(parameter, parameter.handle, place);
  if (shape == Shape::kAddress) return Read(reinterpret_cast<uint64_t*>(place));
  if (shape != Shape::kObjectCell || parameter.kind == ValueKind::kObject) {
    return Target(parameter, shape, parameter.handle, place, &counts_[index]);
  }
  ValueInfo object = parameter;
  object.kind = ValueKind::kObject;
  if (method.object_parameter == static_cast<int>(index)) object.chain = method.object_chain;
  return Target(object, shape, HandleKind::kNone, place, &counts_[index]);
}

Status ValueDecoder::Results(const MethodInfo& method, DecodedCall* call) {
  return ReadResults(method, call) ? Status() : std::move(error_);
}

bool ValueDecoder::ReadResults(const MethodInfo& method, DecodedCall* call) {
  const size_t count = method.parameters.size();
  if (count > kMaxParameters)
    return Fail(Status(StatusCode::kInternal, "a method with so many parameters"));
  call->result = nullptr;
  call->arguments.assign(count, nullptr);
  if (method.result.size_bytes != 0) {
    std::byte* place = nullptr;
    if (!Allocate(std::max<uint64_t>(method.result.size_bytes, kPointerBytes), &place))
      return false;
    uint64_t bytes = 0;
    const Shape shape = ShapeOf(method.result);
    bool decoded = false;
    switch (shape) {
      case Shape::kBytes: decoded = Bytes(place, &bytes); break;
      case Shape::kString: decoded = String(&method.result, place); break;
      case Shape::kWideString: decoded = WideString(&method.result, place); break;
      default: decoded = Inline(method.result, HandleKind::kNone, place); break;
    }
    if (!decoded) return FailIn("result");
    if (shape == Shape::kBytes && bytes != kNoCount &&
        bytes != method.result.count.factors[0].value) {
      return Fail(Corrupt("result: its count is another"));
    }
    call->result = place;
  }
  for (size_t i = 0; i < count; ++i) {
    counts_[i] = kNoCount;
    if (method.parameters[i].direction == Direction::kIn) continue;
    std::byte* place = nullptr;
    if (!Allocate(std::max<uint64_t>(method.parameters[i].size_bytes, kPointerBytes), &place))
      return false;
    call->arguments[i] = place;
    if (!Output(method, i, place)) return FailIn(method.parameters[i].name);
  }
  if (!rest_.empty()) return Fail(Corrupt("the record is too long"));
  KeepCounts(call);
  return true;
}

void ValueDecoder::KeepCounts(DecodedCall* call) const {
  call->counts.resize(call->arguments.size());
  for (size_t i = 0; i < call->counts.size(); ++i) {
    call->counts[i] = counts_[i] == kNoCount ? 0 : counts_[i];
  }
}

Status DecodeArguments(const MethodInfo& method, std::span<const std::byte> body,
                       const DecodeOptions& options, Arena* arena, DecodedCall* call) {
  const ArgumentPlan* const plan = FindArgumentPlan(method);
  if (plan != nullptr && plan->is_copied) {
    const Arena::Mark mark = arena->Here();
    if (CopyArguments(*plan, body, arena, call)) {
      if (options.visitor == nullptr || !plan->is_visited) return Status();
      return ValueDecoder({}, options, arena).VisitArguments(method, *plan, call);
    }
    arena->Rewind(mark);
  }
  return ValueDecoder(body, options, arena).Arguments(method, call);
}

Status DecodeResults(const MethodInfo& method, std::span<const std::byte> body,
                     const DecodeOptions& options, Arena* arena, DecodedCall* call) {
  return ValueDecoder(body, options, arena).Results(method, call);
}

Status FindEncodedValues(const MethodInfo& method, std::span<const std::byte> body, CallBody what,
                         const DecodeOptions& options, Arena* arena,
                         std::vector<EncodedValue>* places) {
  ValueDecoder decoder(body, options, arena);
  decoder.TellPlaces(places);
  DecodedCall call;
  return what == CallBody::kArguments ? decoder.Arguments(method, &call)
                                      : decoder.Results(method, &call);
}

}  // namespace cairn
