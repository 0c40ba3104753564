// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "format/calls/created_object.h"
#include "format/calls/name_guids.h"
#include "format/calls/object_text.h"
#include "format/file/file_cost.h"

namespace cairn {
namespace {

constexpr size_t kMaxNameBytes = 1024;

// Up to a zero, and not without end.
std::string Utf8FromUtf16(std::span<const std::byte> bytes) {
  char text[kMaxNameBytes];
  return std::string(WriteUtf8({bytes.data(), 2, bytes.size() / 2}, text).text);
}

Status Contradiction(const char* what) {
  return Status(StatusCode::kCorrupt, what);
}

bool IsObject(uint64_t number) {
  return number != kNoObject && number != kForeignObject;
}

}  // namespace

TraceState::TraceState(const TraceReader& trace)
    : trace_(trace),
      most_objects_(FileBudget(trace.file().size_bytes(), kTracedObjects)),
      name_budget_(FileBudget(trace.file().size_bytes(), kTextBytes)) {}

Status TraceState::Apply(const Record& record) {
  switch (record.kind) {
    case RecordKind::kObject: return Create(record);
    case RecordKind::kObjectEnd: return End(record);
    case RecordKind::kFrame: ++frame_; return Status();
    case RecordKind::kCall: {
      const std::optional<Method> method = trace_.MethodOf(record);
      if (method == Method::ID3D12Object_SetName || method == Method::ID3D12Object_SetPrivateData) {
        Rename(record, *method);
      }
      return Status();
    }
    default: return Status();
  }
}

Status TraceState::Create(const Record& record) {
  const Result<CreatedObject> made = DecodeObject(record);
  if (!made.ok()) return made.status();
  if (!IsObject(record.object)) return Contradiction("an object without a number");
  if (objects_.contains(record.object)) {
    return Contradiction("an object with a number that another one has had");
  }
  if (objects_.size() >= most_objects_) {
    return Contradiction("an object more than a file of this size may have");
  }
  TracedObject object;
  object.number = record.object;
  object.chain = trace_.ChainOf(made->body.chain);
  object.device = made->body.device;
  object.creator = made->body.creator;
  object.created = record.number;
  object.created_frame = frame_;
  object.resource = made->resource;
  object.heap = made->heap;
  if (const auto& facts = object.resource) {
    gpu_addresses_.Add(facts->gpu_address, facts->size_bytes, object.number);
  }
  if (const auto& facts = object.heap) {
    cpu_descriptors_.Add(facts->cpu_start, HeapBytes(*facts), object.number);
    gpu_descriptors_.Add(facts->gpu_start, HeapBytes(*facts), object.number);
  }
  objects_.emplace(record.object, std::move(object));
  ++alive_count_;
  return Status();
}

Status TraceState::End(const Record& record) {
  const auto found = objects_.find(record.object);
  if (found == objects_.end()) return Contradiction("the end of an object that was never made");
  if (found->second.ended != 0) return Contradiction("the second end of an object");
  found->second.ended = record.number;
  found->second.ended_frame = frame_;
  gpu_addresses_.Remove(record.object);
  cpu_descriptors_.Remove(record.object);
  gpu_descriptors_.Remove(record.object);
  --alive_count_;
  return Status();
}

// A name that cannot be read is none: what the program passed is not this class's to judge.
void TraceState::Rename(const Record& record, Method method) {
  const auto found = objects_.find(record.object);
  if (found == objects_.end()) return;
  TracedObject* const object = &found->second;
  if (method == Method::ID3D12Object_SetName) {
    // One string: its size in bytes, and UTF-16.
    std::span<const std::byte> rest = record.body;
    const Result<uint32_t> size = DecodeBody<uint32_t>(&rest);
    if (size.ok() && *size <= rest.size()) SetName(object, Utf8FromUtf16(rest.first(*size)));
    return;
  }
  // GUID, size, and the data as a byte value. Data large enough for a blob are no name.
  struct __attribute__((packed)) Arguments {
    InterfaceGuid guid;
    uint32_t data_size;
    uint32_t size;
  };
  std::span<const std::byte> rest = record.body;
  const Result<Arguments> arguments = DecodeBody<Arguments>(&rest);
  if (!arguments.ok()) return;
  const InterfaceGuid guid = arguments->guid;
  if (guid != kNameGuid && guid != kWideNameGuid) return;
  if (arguments->size == kNullBytes) {
    SetName(object, "");
  } else if (arguments->size <= rest.size() && guid == kWideNameGuid) {
    SetName(object, Utf8FromUtf16(rest.first(arguments->size)));
  } else if (arguments->size <= rest.size()) {
    const auto* const text = reinterpret_cast<const char*>(rest.data());
    SetName(object,
            std::string(text, strnlen(text, std::min<size_t>(arguments->size, kMaxNameBytes))));
  }
}

void TraceState::SetName(TracedObject* object, std::string name) {
  name_budget_ += object->name.size();
  if (name.size() > name_budget_) name.clear();
  name_budget_ -= name.size();
  object->name = std::move(name);
  object->name.shrink_to_fit();
}

const TracedObject* TraceState::Find(uint64_t number) const {
  const auto found = objects_.find(number);
  return found == objects_.end() ? nullptr : &found->second;
}

std::optional<TraceState::Descriptor> TraceState::DescriptorIn(const AddressMap& map,
                                                               uint64_t handle) const {
  const std::optional<AddressMap::Place> place = map.Find(handle);
  if (!place.has_value()) return std::nullopt;
  const TracedObject* heap = Find(place->object);
  // A range that is not empty has an increment.
  return Descriptor{place->object,
                    static_cast<uint32_t>(place->offset_bytes / heap->heap->increment_bytes)};
}

std::optional<TraceState::Descriptor> TraceState::CpuDescriptorAt(uint64_t handle) const {
  return DescriptorIn(cpu_descriptors_, handle);
}
std::optional<TraceState::Descriptor> TraceState::GpuDescriptorAt(uint64_t handle) const {
  return DescriptorIn(gpu_descriptors_, handle);
}

std::string TraceState::Object(uint64_t number) const {
  if (number == kNoObject) return "null";
  if (number == kForeignObject) return "an object that is not recorded";
  const TracedObject* object = Find(number);
  if (object == nullptr) return ObjectText(Chain::kNone, number);
  return ObjectText(object->chain, number, object->name);
}

std::string TraceState::GpuAddress(uint64_t address) const {
  if (address == 0) return "null";
  const std::optional<AddressMap::Place> place = gpu_addresses_.Find(address);
  if (!place.has_value()) return "";
  if (place->offset_bytes == 0) return Object(place->object);
  return fmt::format("{} + {}", Object(place->object), place->offset_bytes);
}

std::string TraceState::CpuDescriptor(uint64_t handle) const {
  const std::optional<Descriptor> place = CpuDescriptorAt(handle);
  return place.has_value() ? fmt::format("{} [{}]", Object(place->heap), place->index) : "";
}

std::string TraceState::GpuDescriptor(uint64_t handle) const {
  const std::optional<Descriptor> place = GpuDescriptorAt(handle);
  return place.has_value() ? fmt::format("{} [{}]", Object(place->heap), place->index) : "";
}

}  // namespace cairn
