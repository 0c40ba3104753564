// SPDX-License-Identifier: Apache-2.0
//
// Fills tables of a snapshot as a hostile file would: as many rows as there may be, and each of their names is the same
// long one, which costs the file nothing. It goes by rows.h, so that tables to come are filled, too.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_FULL_TABLES_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_FULL_TABLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "format/snapshot/rows.h"

namespace cairn {

// A visitor of tables (VisitTables).
class TableFiller {
 public:
  template <typename T>
  using Row = T;

  // Each table gets `rows` rows, and each of them `inner_rows` of the table inside of it, or as many as may be. Those
  // that have rows already keep them.
  TableFiller(Snapshot* snapshot, size_t rows, uint32_t inner_rows, const std::string& name)
      : snapshot_(*snapshot),
        rows_(rows),
        inner_rows_(inner_rows),
        name_(snapshot->AddText(name)) {}

  // Numbers, enumerators, flags and indices are of these bytes, one after another and again; without any they are
  // such that most rows are taken for good.
  void Vary(std::span<const uint8_t> bytes) { bytes_ = bytes; }
  // Only tables of these chunks.
  void Choose(std::vector<ChunkType> chunks) { chosen_ = std::move(chunks); }

  template <typename T>
  void Table(const TableFacts& facts, std::vector<T>& rows) {
    const bool chosen =
        chosen_.empty() || std::find(chosen_.begin(), chosen_.end(), facts.chunk) != chosen_.end();
    const size_t most = facts.rows.most_rows == 0 ? SIZE_MAX : facts.rows.most_rows;
    for (const size_t wanted = chosen ? std::min(rows_, most) : 0; rows.size() < wanted;
         ++number_) {
      T row;
      Visit(*this, row);
      if constexpr (HasLater<TableFiller, T>) VisitLater(*this, row);
      rows.push_back(row);
    }
  }
  void EventColumns(std::vector<Event>&) {}
  template <typename T>
  void Rows(const RowFacts& facts, std::vector<T> Snapshot::*table, uint32_t& first,
            uint32_t& count) {
    std::vector<T>& rows = snapshot_.*table;
    first = static_cast<uint32_t>(rows.size());
    count = facts.most_rows == 0 ? inner_rows_ : std::min(facts.most_rows, inner_rows_);
    for (uint32_t i = 0; i < count; ++i, ++number_) {
      T row;
      Visit(*this, row);
      rows.push_back(row);
    }
  }
  void Events(uint32_t& first, uint32_t& count) { first = count = 0; }

  template <typename T>
  void Number(const char*, T& value, Privacy = Privacy::kPublic) {
    if (!bytes_.empty()) {
      value = static_cast<T>(Next());
    } else if constexpr (std::is_enum_v<T>) {
      if (value == T{}) value = static_cast<T>(1);
    } else {
      value = static_cast<T>(number_ % 1000 + 1);
    }
  }
  void Fixed(const char*, uint64_t& value, Privacy = Privacy::kPublic) { value = number_ + 1; }
  template <typename T>
  void Signed(const char*, T& value) {
    value = 1;
  }
  void Step(const char*, uint64_t& value) { value = number_ + 1; }
  void Rise(const char*, uint64_t& value) { value = number_ + 1; }
  void After(const char*, uint64_t& value, uint64_t other) { value = other + 1; }
  template <typename E>
  void Choice(const char*, E& value, E first, E) {
    value = first;
  }
  template <typename E>
  void Bits(const char*, E& value, E last, bool&) {
    value = number_ % 2 == 0 ? last : static_cast<E>(1);
  }
  template <typename... Flag>
  void Flags(const char*, Flag&... flags) {
    ((flags = bytes_.empty() || Next() % 2 != 0), ...);
  }
  void Optional(const char*, bool& has, uint32_t& value) {
    has = true;
    value = 3;
  }
  void Index(const char*, uint32_t& index, cairn::Table table) {
    const size_t count = RowCount(snapshot_, table);
    index = count == 0 ? kNone : bytes_.empty() ? 0 : static_cast<uint32_t>(Next() % count);
  }
  void Name(const char*, TextRef& text) { text = name_; }
  void Fact(const char*, TextRef& text) { text = name_; }
  void Path(const char*, TextRef& text) { text = name_; }
  void Payload(const char*, TextRef& bytes) { bytes = name_; }
  void Handle(const char*, uint64_t& handle) {
    handle = 0x1000 + (bytes_.empty() ? number_ % 7 : Next());
  }
  void Address(const char*, uint64_t& address) { address = 0x100000 + number_ * 16; }

 private:
  uint8_t Next() { return bytes_[next_byte_++ % bytes_.size()]; }

  Snapshot& snapshot_;
  const size_t rows_;
  const uint32_t inner_rows_;
  const TextRef name_;
  std::vector<ChunkType> chosen_;
  uint64_t number_ = 0;
  std::span<const uint8_t> bytes_;
  size_t next_byte_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_FULL_TABLES_H_
