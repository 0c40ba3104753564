// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/name_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/snapshot/annotation.h"

namespace cairn {
namespace {

// Fibonacci hashing: neighbouring references spread over the table.
size_t Spread(NameRef name) {
  return static_cast<size_t>(name * uint64_t{0x9E3779B97F4A7C15} >> 24);
}

}  // namespace

NameTable::NameTable(const BlockReader& block, uint64_t expected_names, uint64_t text_budget_bytes,
                     uint32_t most_pages, Snapshot* snapshot)
    : block_(block),
      budget_bytes_(text_budget_bytes),
      page_budget_(most_pages),
      page_used_(block.size_bytes() / kPageBytes + 1),
      snapshot_(snapshot) {
  entries_.resize(std::bit_ceil(std::max<uint64_t>(64, expected_names * 2)));
}

NameTable::Entry* NameTable::Find(NameRef name) {
  size_t index = Spread(name) & (entries_.size() - 1);
  while (entries_[index].name != 0 && entries_[index].name != name) {
    index = (index + 1) & (entries_.size() - 1);
  }
  return &entries_[index];
}

void NameTable::Grow() {
  std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
  for (const Entry& entry : old) {
    if (entry.name != 0) *Find(entry.name) = entry;
  }
}

bool NameTable::IsOnUsedPage(NameRef name) const {
  const uint64_t page = uint64_t{name} * 8 / kPageBytes;
  return page < page_used_.size() && page_used_[page];
}

bool NameTable::Read(NameRef name, TextRef* text) {
  const uint64_t offset = uint64_t{name} * 8;
  if (offset < block_.pages_offset() || !block_.Contains(offset, 8)) return false;
  if (!page_used_[offset / kPageBytes]) {
    if (page_budget_ == 0) return false;
    --page_budget_;
    page_used_[offset / kPageBytes] = true;
  }
  const uint32_t length = block_.Load32(offset);
  // The bytes are copied in eights, with the four of the length before them.
  const uint64_t whole = (uint64_t{length} + 4 + 7) / 8 * 8;
  if (length > kMaxNameBytes || length > budget_bytes_ || !block_.Contains(offset, whole)) {
    return false;
  }
  char bytes[kMaxNameBytes + 16];
  block_.Copy(offset, bytes, whole);
  *text = snapshot_->AddText(std::string_view(bytes + 4, length));
  budget_bytes_ -= length;
  return true;
}

NameTable::Entry* NameTable::Get(NameRef name) {
  // Comes before the search: a block may claim a million names on pages of their own, and the search misses the cache
  // for each.
  if (page_budget_ == 0 && !IsOnUsedPage(name)) {
    ++unreadable_count_;
    return nullptr;
  }
  Entry* entry = Find(name);
  if (entry->name == name) return entry;
  TextRef text;
  if (!Read(name, &text)) {
    ++unreadable_count_;
    return nullptr;
  }
  if (++used_ * 2 > entries_.size()) {
    Grow();
    entry = Find(name);
  }
  *entry = Entry{name, text, kNone};
  return entry;
}

TextRef NameTable::Text(NameRef name) {
  if (name == 0) return TextRef{};
  const Entry* entry = Get(name);
  return entry == nullptr ? TextRef{} : entry->text;
}

uint32_t NameTable::Annotation(NameRef name) {
  if (name == 0) return kNone;
  Entry* entry = Get(name);
  if (entry == nullptr || entry->annotation != kNone) {
    return entry == nullptr ? kNone : entry->annotation;
  }
  if (entry->text.length < sizeof(AnnotationHeader)) {
    ++unreadable_count_;
    return kNone;
  }
  AnnotationHeader header;
  std::memcpy(&header, snapshot_->text.data() + entry->text.offset, sizeof(header));
  const TextRef payload{entry->text.offset + static_cast<uint32_t>(sizeof(header)),
                        entry->text.length - static_cast<uint32_t>(sizeof(header))};
  const uint32_t index = AddAnnotation(header, payload, &budget_bytes_, snapshot_);
  if (index == kNone) ++unreadable_count_;
  entry->annotation = index;
  return index;
}

}  // namespace cairn
