// SPDX-License-Identifier: Apache-2.0
#include "reader/view/perfetto_trace.h"

#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kMostInterned = 1 << 16;  // texts beyond that stand in their events

// Numbers of fields, from Perfetto's protos/perfetto/trace.
constexpr uint32_t kTracePacket = 1;
namespace packet {
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequence = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kInternedData = 12;
constexpr uint32_t kSequenceFlags = 13;
constexpr uint32_t kTrackDescriptor = 60;
}  // namespace packet
namespace descriptor {
constexpr uint32_t kUuid = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kProcess = 3;
constexpr uint32_t kThread = 4;
constexpr uint32_t kParent = 5;
constexpr uint32_t kChildOrdering = 11;
constexpr uint64_t kExplicit = 3;
constexpr uint32_t kRank = 12;
}  // namespace descriptor
namespace process {
constexpr uint32_t kPid = 1;
constexpr uint32_t kName = 6;
}  // namespace process
namespace thread {
constexpr uint32_t kPid = 1;
constexpr uint32_t kTid = 2;
constexpr uint32_t kName = 5;
}  // namespace thread
namespace event {
constexpr uint32_t kCategory = 3;
constexpr uint32_t kAnnotation = 4;
constexpr uint32_t kType = 9;
constexpr uint32_t kNameNumber = 10;
constexpr uint32_t kTrack = 11;
constexpr uint32_t kName = 23;
constexpr uint32_t kFlow = 47;
constexpr uint64_t kBegin = 1;
constexpr uint64_t kEnd = 2;
constexpr uint64_t kInstant = 3;
}  // namespace event
namespace annotation {
constexpr uint32_t kNameNumber = 1;
constexpr uint32_t kNumber = 3;
constexpr uint32_t kText = 6;
}  // namespace annotation
namespace interned {
constexpr uint32_t kNumber = 1;
constexpr uint32_t kText = 2;
constexpr int kCategories = 1;
constexpr int kNames = 2;
constexpr int kArguments = 3;
}  // namespace interned

constexpr uint64_t kSequenceOfOurs = 1;
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kStateNeeded = 2;

void AddVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}
void AddNumber(uint32_t field, uint64_t value, std::string* out) {
  AddVarint(uint64_t{field} << 3, out);
  AddVarint(value, out);
}
void AddFixed64(uint32_t field, uint64_t value, std::string* out) {
  AddVarint(uint64_t{field} << 3 | 1, out);
  for (int i = 0; i < 8; ++i) *out += static_cast<char>(value >> (8 * i));
}
void AddBytes(uint32_t field, std::string_view bytes, std::string* out) {
  AddVarint(uint64_t{field} << 3 | 2, out);
  AddVarint(bytes.size(), out);
  *out += bytes;
}
void AddText(uint32_t field, std::string_view text, std::string* out) {
  AddBytes(field, VisibleText(text), out);
}

}  // namespace

PerfettoTrace::PerfettoTrace(std::function<bool(std::string_view)> print)
    : print_(std::move(print)) {}

uint64_t PerfettoTrace::AddProcess(uint64_t process_id, std::string_view name) {
  std::string body;
  AddNumber(process::kPid, process_id & 0x7FFFFFFF, &body);
  AddText(process::kName, name, &body);
  std::string fields;
  AddBytes(descriptor::kProcess, body, &fields);
  AddNumber(descriptor::kChildOrdering, descriptor::kExplicit, &fields);
  return AddDescriptor(fields, 0, "");
}

uint64_t PerfettoTrace::AddThread(uint64_t process_id, uint64_t thread_id, std::string_view name) {
  std::string body;
  AddNumber(thread::kPid, process_id & 0x7FFFFFFF, &body);
  AddNumber(thread::kTid, thread_id & 0x7FFFFFFF, &body);
  AddText(thread::kName, name, &body);
  std::string fields;
  AddBytes(descriptor::kThread, body, &fields);
  return AddDescriptor(fields, 0, "");
}

uint64_t PerfettoTrace::AddTrack(std::string_view name, uint64_t parent) {
  return AddDescriptor("", parent, name);
}

uint64_t PerfettoTrace::AddDescriptor(std::string_view body, uint64_t parent,
                                      std::string_view name) {
  const uint64_t track = ++track_count_;
  std::string fields;
  AddNumber(descriptor::kUuid, track, &fields);
  if (!name.empty()) AddText(descriptor::kName, name, &fields);
  if (parent != 0) {
    AddNumber(descriptor::kParent, parent, &fields);
    AddNumber(descriptor::kRank, track & 0x7FFFFFFF, &fields);
  }
  fields += body;
  std::string in_packet;
  AddBytes(packet::kTrackDescriptor, fields, &in_packet);
  AddPacket(in_packet);
  return track;
}

uint64_t PerfettoTrace::Intern(int table, std::string_view text, std::string* told) {
  auto& known = interned_[table];
  if (const auto found = known.find(text); found != known.end()) return found->second;
  if (known.size() == kMostInterned) return 0;
  const uint64_t number = known.size() + 1;
  known.emplace(text, number);
  std::string entry;
  AddNumber(interned::kNumber, number, &entry);
  AddText(interned::kText, text, &entry);
  AddBytes(static_cast<uint32_t>(table), entry, told);
  return number;
}

void PerfettoTrace::AddEvent(uint64_t type, const PerfettoEvent& told) {
  std::string fields;
  std::string texts;
  AddNumber(event::kType, type, &fields);
  AddNumber(event::kTrack, told.track, &fields);
  if (!told.category.empty()) {
    AddNumber(event::kCategory, Intern(interned::kCategories, told.category, &texts), &fields);
  }
  if (!told.name.empty()) {
    const uint64_t number = Intern(interned::kNames, told.name, &texts);
    number != 0 ? AddNumber(event::kNameNumber, number, &fields)
                : AddText(event::kName, told.name, &fields);
  }
  for (const uint64_t flow : told.flows) AddFixed64(event::kFlow, flow, &fields);
  for (const PerfettoArgument& argument : told.arguments) {
    std::string body;
    AddNumber(annotation::kNameNumber, Intern(interned::kArguments, argument.name, &texts), &body);
    if (const auto* number = std::get_if<uint64_t>(&argument.value)) {
      AddNumber(annotation::kNumber, *number, &body);
    } else {
      AddText(annotation::kText, std::get<std::string>(argument.value), &body);
    }
    AddBytes(event::kAnnotation, body, &fields);
  }
  std::string in_packet;
  AddNumber(packet::kTimestamp, told.time_ns, &in_packet);
  if (!texts.empty()) AddBytes(packet::kInternedData, texts, &in_packet);
  AddBytes(packet::kTrackEvent, fields, &in_packet);
  AddPacket(in_packet);
}

void PerfettoTrace::AddPacket(std::string_view fields) {
  std::string body(fields);
  AddNumber(packet::kSequence, kSequenceOfOurs, &body);
  AddNumber(packet::kSequenceFlags, first_ ? kStateCleared : kStateNeeded, &body);
  first_ = false;
  AddBytes(kTracePacket, body, &out_);
  Flush(kPieceBytes);
}

void PerfettoTrace::Begin(const PerfettoEvent& told) {
  AddEvent(event::kBegin, told);
}

void PerfettoTrace::End(uint64_t time_ns, uint64_t track) {
  AddEvent(event::kEnd, {.time_ns = time_ns, .track = track});
}

void PerfettoTrace::Instant(const PerfettoEvent& told) {
  AddEvent(event::kInstant, told);
}

void PerfettoTrace::Flush(size_t at_least) {
  if (out_.size() < at_least) return;
  going_on_ = going_on_ && print_(out_);
  out_.clear();
}

bool PerfettoTrace::Finish() {
  Flush(1);
  return going_on_;
}

}  // namespace cairn
