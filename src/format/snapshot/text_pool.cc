// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/text_pool.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_reader.h"

namespace cairn {
namespace {

constexpr size_t kTextsPerChunk = 1 << 16;
constexpr size_t kTextBytesPerChunk = 16 << 20;

size_t SharedPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
}

constexpr size_t kShortBytes = 16;

// Copies `size` bytes, and bytes behind them up to kShortBytes: most texts have a few, for which a call of memcpy
// takes longer than the copying. Both have room for as many.
void CopyShort(const void* from, uint32_t size, void* to) {
  if (size > kShortBytes) {
    std::memmove(to, from, size);
    return;
  }
  std::array<char, kShortBytes> bytes;  // they may overlap
  std::memcpy(bytes.data(), from, kShortBytes);
  std::memcpy(to, bytes.data(), kShortBytes);
}

}  // namespace

uint32_t* TextPoolWriter::Slot(std::string_view text, uint64_t hash) {
  size_t index = hash & (table_.size() - 1);
  while (table_[index] != 0) {
    const uint32_t number = table_[index];
    if (hashes_[number - 1] == hash && texts_[number - 1] == text) break;
    index = (index + 1) & (table_.size() - 1);
  }
  return &table_[index];
}

void TextPoolWriter::Grow() {
  table_.assign(std::max<size_t>(1024, table_.size() * 2), 0);
  for (uint32_t i = 0; i < texts_.size(); ++i) *Slot(texts_[i], hashes_[i]) = i + 1;
}

uint64_t TextPoolWriter::NumberOf(std::string_view text) {
  if (text.empty()) return 0;
  if (texts_.size() * 2 >= table_.size()) Grow();
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  uint32_t* slot = Slot(text, hash);
  if (*slot == 0) {
    texts_.push_back(text);
    hashes_.push_back(hash);
    *slot = static_cast<uint32_t>(texts_.size());
  }
  return *slot;
}

bool TextPoolWriter::NextPayload(ByteWriter* payload) {
  payload->Clear();
  if (written_ == texts_.size()) return false;
  size_t end = written_;
  size_t bytes = 0;
  while (end < texts_.size() && end - written_ < kTextsPerChunk && bytes < kTextBytesPerChunk) {
    bytes += texts_[end++].size();
  }
  payload->WriteVarint(written_ + 1);
  payload->WriteVarint(end - written_);
  std::string_view before;
  for (size_t i = written_; i < end; ++i) {
    const size_t shared = SharedPrefix(before, texts_[i]);
    payload->WriteVarint(shared);
    payload->WriteVarint(texts_[i].size() - shared);
    before = texts_[i];
  }
  before = {};
  for (size_t i = written_; i < end; ++i) {
    payload->WriteBytes(
        std::as_bytes(std::span(texts_[i]).subspan(SharedPrefix(before, texts_[i]))));
    before = texts_[i];
  }
  written_ = end;
  return true;
}

bool TextPoolReader::AddPayload(std::span<const std::byte> bytes, uint64_t* text_budget_bytes,
                                Snapshot* snapshot) {
  // Numbers rise from payload to payload, as they were written.
  const uint64_t expected_number =
      parts_.empty() ? 1 : parts_.back().first_number + parts_.back().texts.size();
  struct Lengths {
    uint32_t shared;
    uint32_t rest;
  };
  ByteReader reader(bytes);
  uint64_t first_number = 0;
  uint32_t count = 0;
  if (!reader.ReadVarint(first_number) || first_number < expected_number ||
      !reader.ReadCount(2, count)) {
    return false;
  }
  std::vector<Lengths> lengths(count);
  for (Lengths& length : lengths) {
    reader.ReadVarint32(length.shared);
    reader.ReadVarint32(length.rest);
  }
  std::vector<TextRef>& texts = parts_.emplace_back(Part{first_number, {}}).texts;
  std::span<const std::byte> rest;
  if (!reader.ReadBytes(reader.remaining(), rest)) return false;
  // Those before the first that is malformed stay.
  texts.reserve(count);
  uint64_t rest_bytes = 0;
  uint64_t end = snapshot->text.size();
  uint32_t length_before = 0;
  for (const Lengths& length : lengths) {
    const uint64_t size = uint64_t{length.shared} + length.rest;
    if (length.shared > length_before || length.rest > rest.size() - rest_bytes ||
        size > *text_budget_bytes) {
      break;
    }
    *text_budget_bytes -= size;
    rest_bytes += length.rest;
    length_before = static_cast<uint32_t>(size);
    texts.push_back({static_cast<uint32_t>(end), length_before});
    end += size;
  }
  snapshot->text.resize(end + kShortBytes);
  char* const text = snapshot->text.data();
  const std::byte* from = rest.data();
  const std::byte* const rest_end = from + rest.size();
  for (size_t i = 0; i < texts.size(); ++i) {
    char* const to = text + texts[i].offset;
    if (i != 0) CopyShort(text + texts[i - 1].offset, lengths[i].shared, to);
    if (static_cast<size_t>(rest_end - from) >= kShortBytes) {
      CopyShort(from, lengths[i].rest, to + lengths[i].shared);
    } else {
      std::copy_n(reinterpret_cast<const char*>(from), lengths[i].rest, to + lengths[i].shared);
    }
    from += lengths[i].rest;
  }
  snapshot->text.resize(end);
  return texts.size() == count;
}

TextRef TextPoolReader::TextOfOtherPart(uint64_t number) {
  const auto after = std::upper_bound(
      parts_.begin(), parts_.end(), number,
      [](uint64_t wanted, const Part& part) { return wanted < part.first_number; });
  if (after != parts_.begin()) {
    const Part& part = *std::prev(after);
    const uint64_t index = number - part.first_number;
    if (index < part.texts.size()) return part.texts[index];
  }
  ++unknown_count_;
  return TextRef{};
}

}  // namespace cairn
