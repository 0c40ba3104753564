// SPDX-License-Identifier: Apache-2.0
//
// The memory that `cairn bisect -- PROGRAM` shares with a program that it runs:
//
//   BoardHeader | listed_count hashes, sorted | entry_count WorkEntry | text_bytes of texts
//
// The command writes the header and the hashes: the question. Layers in the program, of several processes
// perhaps, add an entry for each piece of work that they meet: the catalogue. Entries are an open table by
// their keys. All counts are fixed when the board is made; little-endian.
//
// Two programs that know nothing good of each other write here: who reads checks (Board::Over), and takes each
// word once.
#ifndef CAIRN_FORMAT_ELIMINATION_BOARD_H_
#define CAIRN_FORMAT_ELIMINATION_BOARD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/elimination/leave_out_class.h"

namespace cairn {

// What of a class is left out. Listed is what has its key, its group or its scope among the hashes.
enum class LeaveOut : uint8_t { kNothing = 0, kAll = 1, kListed = 2, kUnlisted = 3 };

struct BoardQuestion {
  std::array<LeaveOut, kLeaveOutClasses> rules{};  // that of LeaveOutClass::kStays stays kNothing
  std::vector<uint64_t> listed;                    // sorted

  bool operator==(const BoardQuestion&) const = default;
};

// Offset of a text: its length in two bytes, then its bytes. 0: no text.
using TextOffset = uint32_t;

struct BoardHeader {
  static constexpr uint64_t kMagic = 0x314e524941434c45;  // "ELCAIRN1"
  static constexpr uint32_t kVersion = 1;

  uint64_t magic;
  uint32_t version;
  uint32_t listed_count;
  uint32_t entry_count;
  uint32_t text_bytes;
  uint8_t rules[8];  // LeaveOut by LeaveOutClass
  // Bytes of text used by the program.
  std::atomic<uint32_t> text_used;
  std::atomic<uint32_t> lists;    // recordings that obeyed the question
  std::atomic<uint32_t> dropped;  // pieces of work that found no room
  // An experiment (format/experiment): how often it had no way to make its change. Files have 0.
  std::atomic<uint32_t> not_changed;
  std::atomic<uint64_t> left_out;  // pieces of work, each time one was recorded
  std::atomic<uint64_t> submissions;
  std::atomic<TextOffset> devices;  // names of those that recorded, kPathSeparator between them
  // An experiment: how often it changed something; of "robust" the sets of robust_features.h. Files have 0.
  std::atomic<uint32_t> changes;
};
static_assert(sizeof(BoardHeader) == 72);

struct WorkEntry {
  std::atomic<uint64_t> key;  // 0: free
  uint64_t scope;
  uint64_t group;
  uint32_t type;  // CairnMarkerType
  uint32_t ordinal;
  TextOffset path;  // the labels, kPathSeparator between them
  TextOffset pipeline;
  std::atomic<uint32_t> ready;  // 1: what stands above is written
  uint32_t runs;                // in files: so many runs met it
  std::atomic<uint64_t> recorded;
  std::atomic<uint64_t> submitted;        // each time it went to the GPU
  std::atomic<uint64_t> last_submission;  // of the run's, from 1 on
  std::atomic<uint32_t> last_position;    // in its recording, from 1 on
  uint32_t reserved;
};
static_assert(sizeof(WorkEntry) == 80);

inline constexpr char kPathSeparator = '\x1f';
inline constexpr size_t kMaxBoardText = 2000;  // bytes; what is longer is cut

// A board in memory that outlives it. Its counts are those that were checked, whatever the header says later.
class Board {
 public:
  static constexpr uint32_t kMostListed = 1u << 20;
  static constexpr uint32_t kMostEntries = 1u << 20;
  static constexpr uint32_t kMostTextBytes = 1u << 28;

  static size_t BytesFor(size_t listed_count, size_t entry_count, size_t text_bytes);
  // Makes one in zero-filled memory of BytesFor bytes, aligned to 8.
  static Board Make(std::span<std::byte> memory, const BoardQuestion& question,
                    uint32_t entry_count, uint32_t text_bytes);
  // kCorrupt for what Make does not make.
  static Result<Board> Over(std::span<std::byte> memory);

  BoardHeader& header() const { return *header_; }
  std::span<const uint64_t> listed() const { return listed_; }
  std::span<WorkEntry> entries() const { return entries_; }
  LeaveOut rule(LeaveOutClass work) const { return rules_[static_cast<size_t>(work)]; }

  bool LeavesOut(LeaveOutClass work, uint64_t scope, uint64_t group, uint64_t key) const;

  // Returns the entry of this key. `*is_new`: the entry is new; the caller fills it in, and sets
  // `ready`. Null: the table is full. Any thread of any process. `key` is not 0.
  WorkEntry* FindOrAdd(uint64_t key, bool* is_new) const;
  // 0 if there is no room.
  TextOffset AddText(std::string_view text) const;
  // Returns the text; "" for an invalid offset.
  std::string TextAt(TextOffset offset) const;

 private:
  Board() = default;

  BoardHeader* header_ = nullptr;
  std::array<LeaveOut, kLeaveOutClasses> rules_{};
  std::span<const uint64_t> listed_;
  std::span<WorkEntry> entries_;
  std::span<std::byte> texts_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_ELIMINATION_BOARD_H_
