// SPDX-License-Identifier: Apache-2.0
//
// The texts of a snapshot file: each different text once, numbered from 1 in the order of first use;
// 0 is the empty text.
#ifndef CAIRN_FORMAT_SNAPSHOT_TEXT_POOL_H_
#define CAIRN_FORMAT_SNAPSHOT_TEXT_POOL_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Numbers texts and writes them, front-coded: each as the length of the beginning that it shares with
// the one before it, and the rest. The texts must outlive the writer.
class TextPoolWriter {
 public:
  uint64_t NumberOf(std::string_view text);

  // The payload of the next chunk of texts; false once all have been written.
  bool NextPayload(ByteWriter* payload);

 private:
  void Grow();
  uint32_t* Slot(std::string_view text, uint64_t hash);

  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> table_;  // numbers, open addressing, a power of two
  size_t written_ = 0;
};

class TextPoolReader {
 public:
  // Adds a payload's texts to snapshot->text. False when it is malformed or `text_budget_bytes` are
  // used up; texts read before stay.
  bool AddPayload(std::span<const std::byte> bytes, uint64_t* text_budget_bytes,
                  Snapshot* snapshot);

  // Unknown numbers give the empty text and are counted.
  TextRef Text(uint64_t number) {
    if (number == 0) return TextRef{};
    // Nearly all snapshots have one part.
    if (!parts_.empty() && number - parts_.back().first_number < parts_.back().texts.size()) {
      return parts_.back().texts[number - parts_.back().first_number];
    }
    return TextOfOtherPart(number);
  }
  uint64_t unknown_count() const { return unknown_count_; }

 private:
  struct Part {
    uint64_t first_number;
    std::vector<TextRef> texts;
  };
  TextRef TextOfOtherPart(uint64_t number);

  std::vector<Part> parts_;
  uint64_t unknown_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TEXT_POOL_H_
