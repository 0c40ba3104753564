// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/testing/snapshot_dump.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "format/file/testing/test_container.h"
#include "format/snapshot/rows.h"
#include "format/snapshot/snapshot_file.h"

namespace cairn {
namespace {

bool MatchIsGood(std::span<const Event> events, uint32_t index) {
  const Event& event = events[index];
  if (event.match == 0) return true;
  if (event.match > events.size()) return false;
  const Event& other = events[event.match - 1];
  const bool forwards =
      event.kind == EventKind::kBegin ? event.match > index + 1 : event.match < index + 1;
  return event.kind != EventKind::kBind && forwards && other.kind != event.kind &&
         other.match == index + 1;
}

// Every row by rows.h: what is out of range in it, and how it reads.
class RowPrinter {
 public:
  template <typename T>
  using Row = const T;

  explicit RowPrinter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  const std::string& text() const { return text_; }
  const std::string& bad() const { return bad_; }

  template <typename T>
  void Table(const TableFacts& facts, const std::vector<T>& rows) {
    table_ = facts.rows.name;
    risen_ = {};
    for (const T& row : rows) Print(facts.rows.name, row);
  }
  template <typename T>
  void Print(const char* table, const T& row) {
    rise_ = 0;
    text_ += table;
    Visit(*this, row);
    if constexpr (HasLater<RowPrinter, T>) VisitLater(*this, row);
    text_ += '\n';
  }
  void EventColumns(const std::vector<Event>& events) {
    for (const Event& event : events) {
      const bool is_bind = event.kind == EventKind::kBind;
      const size_t limit = is_bind ? snapshot_.binds.size() : snapshot_.annotations.size();
      const bool good = event.detail < limit || (!is_bind && event.detail == kNone);
      if (!good) Bad("detail of an event");
      Name("event", event.name);
    }
    for (const Bind& bind : snapshot_.binds) {
      if (bind.is_address) continue;
      Index("bind", static_cast<uint32_t>(bind.value), cairn::Table::kObjects);
    }
    text_ += '\n';
  }
  template <typename T>
  void Rows(const RowFacts& facts, std::vector<T> Snapshot::*table, uint32_t first,
            uint32_t count) {
    const std::vector<T>& rows = snapshot_.*table;
    if (uint64_t{first} + count > rows.size()) return Bad(facts.name);
    RowPrinter printer(snapshot_);
    for (uint32_t i = 0; i < count; ++i) printer.Print(facts.name, rows[first + i]);
    text_ += "\n " + printer.text_;
    if (!printer.bad_.empty()) Bad(printer.bad_);
  }
  void Events(uint32_t first, uint32_t count) {
    if (uint64_t{first} + count > snapshot_.events.size()) return Bad("events");
    fmt::format_to(std::back_inserter(text_), " events {}", count);
    const std::span<const Event> events = std::span(snapshot_.events).subspan(first, count);
    for (uint32_t i = 0; i < count; ++i) PrintEvent(events, i);
  }

  template <typename T>
  void Number(const char* key, T value, Privacy = Privacy::kPublic) {
    fmt::format_to(std::back_inserter(text_), " {} {:#x}", key, static_cast<uint64_t>(value));
  }
  void Fixed(const char* key, uint64_t value, Privacy = Privacy::kPublic) { Number(key, value); }
  void Signed(const char* key, int64_t value) { Number(key, value); }
  void Step(const char* key, uint64_t value) { Number(key, value); }
  void Rise(const char* key, uint64_t value) {
    uint64_t& before = risen_[rise_++];
    if (value < before) Bad(key);
    before = value;
    Number(key, value);
  }
  void After(const char* key, uint64_t value, uint64_t) { Number(key, value); }
  template <typename E>
  void Choice(const char* key, E value, E first, E last) {
    if (value < first || value > last) Bad(key);
    Number(key, value);
  }
  template <typename E>
  void Bits(const char* key, E value, E last, bool flag) {
    Choice(key, value, E{}, last);
    Flags("", flag);
  }
  template <typename... Flag>
  void Flags(const char* key, Flag... flags) {
    text_ += fmt::format(" {}", key);
    ((text_ += flags ? " yes" : " no"), ...);
  }
  void Optional(const char* key, bool has, uint32_t value) {
    if (has) Number(key, value);
  }
  void Index(const char* key, uint32_t index, cairn::Table table) {
    if (index != kNone && index >= RowCount(snapshot_, table)) Bad(key);
    Number(key, index);
  }
  void Name(const char* key, TextRef ref) {
    if (uint64_t{ref.offset} + ref.length > snapshot_.text.size()) return Bad(key);
    text_ += fmt::format(" {} '{}'", key, VisibleText(snapshot_.Text(ref)));
  }
  void Fact(const char* key, TextRef text) { Name(key, text); }
  void Path(const char* key, TextRef text) { Name(key, text); }
  void Payload(const char* key, TextRef bytes) { Name(key, bytes); }
  void Handle(const char* key, uint64_t handle) { Number(key, handle); }
  void Address(const char* key, uint64_t address) { Number(key, address); }

  void Blob(const char* key, BlobRef ref, uint64_t size) {
    if (ref.empty()) return;
    if (ref.length != size || ref.offset > snapshot_.blobs.size() ||
        ref.length > snapshot_.blobs.size() - ref.offset) {
      return Bad(key);
    }
    const std::span<const std::byte> bytes = snapshot_.Blob(ref);
    text_ += fmt::format("{} '{}'\n", key,
                         VisibleText({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }

 private:
  void Bad(std::string_view what) {
    if (bad_.empty()) bad_ = fmt::format("{}: {}", table_, what);
  }
  void PrintEvent(std::span<const Event> events, uint32_t i) {
    const Event& event = events[i];
    if (!MatchIsGood(events, i)) Bad(fmt::format("match of event {}", i));
    text_ +=
        fmt::format("\n  {} flags {} type {} match {} call {}", static_cast<uint32_t>(event.kind),
                    event.flags, event.type, event.match, event.call);
    Index("pipeline", event.pipeline, cairn::Table::kPipelines);
    Name("name", event.name);
    if (event.kind != EventKind::kBind) {
      Number("annotation", event.detail);
    } else if (event.detail < snapshot_.binds.size()) {
      const Bind& bind = snapshot_.binds[event.detail];
      text_ += fmt::format(" slot {} {} {:#x}", bind.slot, bind.is_address ? "address" : "object",
                           bind.value);
    }
  }

  const Snapshot& snapshot_;
  const char* table_ = "";
  std::string text_;
  std::string bad_;
  std::array<uint64_t, kMostSteps> risen_{};
  size_t rise_ = 0;
};

RowPrinter Print(const Snapshot& snapshot) {
  RowPrinter printer(snapshot);
  printer.Print("process", snapshot.process);
  for (const Incident& incident : snapshot.incidents) printer.Print("incident", incident);
  VisitTables(printer, snapshot);
  for (const Fault& fault : snapshot.faults) {
    printer.Blob("vendor binary", fault.vendor_binary, fault.vendor_binary_bytes);
  }
  for (const Shader& shader : snapshot.shaders) {
    printer.Blob("code", shader.bytes, shader.size_bytes);
  }
  for (const UserData& data : snapshot.user_data) {
    printer.Blob("bytes", data.bytes, data.size_bytes);
  }
  for (const TextRef& loss : snapshot.losses) printer.Name("loss", loss);
  return printer;
}

// Checks conditions between rows.
std::string FindBadNeighbours(const Snapshot& snapshot) {
  for (const ReportedEventId& reported : snapshot.reported_event_ids) {
    const bool resolved = reported.state == EventIdState::kResolved;
    if (resolved != (reported.annotation != kNone)) return "annotation of an EventID";
  }
  return "";
}

}  // namespace

std::string FindInconsistency(const Snapshot& snapshot) {
  const RowPrinter printer = Print(snapshot);
  return printer.bad().empty() ? FindBadNeighbours(snapshot) : printer.bad();
}

std::string DumpSnapshot(const Snapshot& snapshot) {
  return Print(snapshot).text();
}

std::vector<std::byte> SnapshotFileBytes(const Snapshot& snapshot, Compression compression) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file), compression);
  if (!writer.ok() || !WriteSnapshot(snapshot, &*writer).ok() || !writer->Finish().ok()) return {};
  return file.bytes;
}

}  // namespace cairn
