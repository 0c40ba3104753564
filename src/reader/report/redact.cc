// SPDX-License-Identifier: Apache-2.0
#include "reader/report/redact.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/block/indirect_values.h"
#include "format/block/work_arguments.h"
#include "format/snapshot/rows.h"

namespace cairn {
namespace {

constexpr uint64_t kLowestGpuAddress = 0x10000;
constexpr uint64_t kNullPages =
    0x10000;  // Lower addresses come from null pointers: nothing is mapped there.
constexpr uint64_t kFaultAlignment = (uint64_t{1} << 21) - 1;  // No driver has larger pages.

std::string NameOfHash(uint64_t hash) {
  return fmt::format("name-{:016x}", hash);
}

// Goes over all rows.
class Redactor {
 public:
  template <typename T>
  using Row = T;

  explicit Redactor(Snapshot snapshot) : copy_(std::move(snapshot)) {
    text_.swap(copy_.text);
    for (const Object& object : copy_.objects) {
      if (object.gpu_address != 0) {
        lowest_address_ = std::min(lowest_address_, object.gpu_address);
      }
    }
    if (lowest_address_ == UINT64_MAX) return;
    distance_ = lowest_address_ - std::min(lowest_address_, kLowestGpuAddress);
    // The range that a faulting address stands for is aligned: it has to move as a whole.
    if (!copy_.fault_addresses.empty()) distance_ &= ~kFaultAlignment;
  }

  Snapshot Run() {
    Visit(*this, copy_.process);
    for (Incident& incident : copy_.incidents) Visit(*this, incident);
    VisitTables(*this, copy_);
    for (TextRef& loss : copy_.losses) Fact("", loss);
    for (Fault& fault : copy_.faults) fault.vendor_binary = BlobRef{};
    for (Shader& shader : copy_.shaders) shader.bytes = BlobRef{};
    for (UserData& data : copy_.user_data) data.bytes = BlobRef{};
    copy_.blobs.clear();
    return std::move(copy_);
  }

  template <typename T>
  void Table(const TableFacts&, std::vector<T>& rows) {
    for (T& row : rows) {
      Visit(*this, row);
      if constexpr (HasLater<Redactor, T>) VisitLater(*this, row);
    }
  }
  void EventColumns(std::vector<Event>& events) {
    std::vector<bool> is_number(copy_.binds.size());
    for (Event& event : events) {
      Name("", event.name);
      if (event.kind == EventKind::kBind) is_number[event.detail] = !HoldsAddress(event.type);
    }
    for (size_t i = 0; i < copy_.binds.size(); ++i) {
      Bind& bind = copy_.binds[i];
      // An address outside of all objects is private as well, though no object's move may apply to
      // it.
      if (bind.is_address && !is_number[i]) Address("", bind.value);
    }
  }
  template <typename T>
  void Rows(const RowFacts&, std::vector<T> Snapshot::*table, uint32_t first, uint32_t count) {
    for (T& row : std::span(copy_.*table).subspan(first, count)) Visit(*this, row);
  }
  void Events(uint32_t, uint32_t) {}

  // Numbers identify no machine, except those marked private.
  template <typename T>
  void Number(const char*, T& value, Privacy privacy = Privacy::kPublic) {
    if (privacy == Privacy::kPrivate) value = T{};
  }
  void Fixed(const char* key, uint64_t& value, Privacy privacy = Privacy::kPublic) {
    Number(key, value, privacy);
  }
  void Signed(const char*, int64_t) {}
  void Step(const char*, uint64_t) {}
  void Rise(const char*, uint64_t) {}
  void After(const char*, uint64_t, uint64_t) {}
  template <typename E>
  void Choice(const char*, E, E, E) {}
  template <typename E>
  void Bits(const char*, E, E, bool) {}
  template <typename... Flag>
  void Flags(const char*, Flag...) {}
  void Optional(const char*, bool, uint32_t) {}
  void Index(const char*, uint32_t, cairn::Table) {}

  // Many rows have one text: it is kept once, as it was.
  void Fact(const char*, TextRef& text) {
    const auto [known, is_new] = facts_.try_emplace(uint64_t{text.offset} << 32 | text.length);
    if (is_new) known->second = copy_.AddText(TextOf(text));
    text = known->second;
  }
  void Name(const char*, TextRef& text) {
    if (text.empty()) {
      text = TextRef{};
      return;
    }
    const std::string_view name = TextOf(text);
    const uint64_t hash = XXH3_64bits(name.data(), name.size());
    const auto [known, is_new] = hidden_.try_emplace(hash);
    if (is_new) known->second = copy_.AddText(NameOfHash(hash));
    text = known->second;
  }
  void Path(const char* key, TextRef& text) {
    const bool is_path = TextOf(text).find_first_of("/\\") != std::string_view::npos;
    is_path ? Name(key, text) : Fact(key, text);
  }
  void Payload(const char*, TextRef& bytes) { bytes = TextRef{}; }
  void Handle(const char*, uint64_t& handle) {
    if (handle != 0) handle = handles_.try_emplace(handle, handles_.size() + 1).first->second;
  }
  // An address near null is public, and shows that a pointer was null. An address below all objects
  // must not wrap: the result would reveal the distance.
  void Address(const char*, uint64_t& address) {
    if (address < kNullPages) return;
    const bool moves = lowest_address_ != UINT64_MAX && address >= distance_;
    address = moves ? std::max(address - distance_, kLowestGpuAddress) : kLowestGpuAddress;
  }

 private:
  std::string_view TextOf(TextRef text) const {
    return std::string_view(text_).substr(text.offset, text.length);
  }
  // The arguments of a command identify no machine.
  static bool HoldsAddress(uint16_t point) {
    return !IsArguments(point) ||
           point == static_cast<uint16_t>(ArgumentsPoint::kIndirectAddress) ||
           point == static_cast<uint16_t>(kIndirectHostAddress);
  }

  Snapshot copy_;
  std::string text_;                              // as it was
  uint64_t lowest_address_ = UINT64_MAX;          // of an object
  uint64_t distance_ = 0;                         // by which addresses move
  std::unordered_map<uint64_t, TextRef> facts_;   // by where they stood
  std::unordered_map<uint64_t, TextRef> hidden_;  // by hash
  std::unordered_map<uint64_t, uint64_t> handles_;
};

}  // namespace

Snapshot Redact(Snapshot snapshot) {
  return Redactor(std::move(snapshot)).Run();
}

std::string RedactedName(std::string_view name) {
  return NameOfHash(XXH3_64bits(name.data(), name.size()));
}

}  // namespace cairn
