// SPDX-License-Identifier: Apache-2.0
//
// Names of a block, each copied into a snapshot's text once.
#ifndef CAIRN_FORMAT_SNAPSHOT_NAME_TABLE_H_
#define CAIRN_FORMAT_SNAPSHOT_NAME_TABLE_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

class NameTable {
 public:
  // `expected_names` is a hint: no memory is allocated later if it holds. The names together may not
  // exceed `text_budget_bytes`, and not begin on more than `most_pages` pages.
  NameTable(const BlockReader& block, uint64_t expected_names, uint64_t text_budget_bytes,
            uint32_t most_pages, Snapshot* snapshot);

  // The text behind a reference; empty for none, and for one that leads nowhere (counted).
  TextRef Text(NameRef name);

  // The index into snapshot->annotations of the AnnotationHeader and payload behind a reference; kNone
  // for none, and for one that leads nowhere or to something shorter than a header (counted).
  uint32_t Annotation(NameRef name);

  uint64_t unreadable_count() const { return unreadable_count_; }

 private:
  struct Entry {
    NameRef name = 0;
    TextRef text;
    uint32_t annotation = kNone;
  };

  Entry* Find(NameRef name);
  void Grow();
  bool IsOnUsedPage(NameRef name) const;
  bool Read(NameRef name, TextRef* text);
  // The entry of a reference other than 0, read if need be; null if it cannot be read.
  Entry* Get(NameRef name);

  const BlockReader& block_;
  uint64_t budget_bytes_;
  uint32_t page_budget_;
  std::vector<bool> page_used_;
  Snapshot* snapshot_;
  std::vector<Entry> entries_;  // open addressing, a power of two
  uint64_t used_ = 0;
  uint64_t unreadable_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_NAME_TABLE_H_
