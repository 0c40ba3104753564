// SPDX-License-Identifier: Apache-2.0
//
// The memory in which a run of cairn why tells: loops of shaders how often they ran (Change::kLimitLoops), accesses how
// often they missed (kCheckBounds), draws and dispatches which counts they had (kLimitCounts), modules which bindings they
// have (kEmptyBinding; no record is written of these). The command makes it,
// layers in the program describe each of them, and the GPU writes the records: it outlives the program and its device.
//
//   header | loop_count entries | text_bytes of texts | padding | loop_count LoopRecord, AccessRecord or CountRecord
//
// The records begin at a multiple of kRecordAlignment, and end with the memory: drivers import whole pages of it.
// All counts are fixed when the board is made; little-endian. Programs that know nothing good of each other write
// here: who reads checks.
#ifndef CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_BOARD_H_
#define CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_BOARD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/experiment/access_record.h"
#include "format/experiment/binding.h"
#include "format/experiment/count_record.h"
#include "format/experiment/loop_record.h"
#include "format/experiment/shader_excerpt.h"

namespace cairn {

// A loop or an access of a module. Values are plain data of this process.
struct ShaderNote {
  uint64_t shader = 0;  // hash of the module as the program wrote it
  // The hash of the DXBC or DXIL from which an implementation of Direct3D made the module (docs/formats/cairn-file.md); 0 for
  // none, and where it is not known.
  uint64_t translated = 0;
  static constexpr uint32_t kNoStage = UINT32_MAX;
  uint32_t stage = kNoStage;  // ShaderStage of the module, where it has one alone
  uint32_t index = 0;         // its place in the module, among loops or accesses
  uint32_t count = 0;         // so many are there in all; 0: not known
  std::string function;
  std::string file;
  std::string text;     // its line of the source
  uint32_t line = 0;    // from 1 on; 0: not known
  uint32_t column = 0;  // from 1 on; 0: not known
  InvocationKind invocations = InvocationKind::kUnknown;
  std::string cannot;  // why it is as the program wrote it; "" for a changed one
  ShaderExcerpt excerpt;

  bool operator==(const ShaderNote&) const = default;
};

struct LoopNote : ShaderNote {
  // The comparison that leaves it; empty if none can be recorded.
  std::string left;
  std::string comparison;
  std::string right;
  bool is_float = false;  // how LoopRecord::left and right are to be read
  bool is_signed = false;
  LoopRecord record = {};

  bool operator==(const LoopNote&) const = default;
};

// A checked index of an access by descriptor.
struct IndexNote {
  IndexKind kind = IndexKind::kNone;
  bool is_signed = false;  // how IndexMiss::index is to be read

  bool operator==(const IndexNote&) const = default;
};

struct AccessNote : ShaderNote {
  AccessKind kind = AccessKind::kLoad;
  bool by_descriptor = false;  // else by address
  uint32_t bytes = 0;          // by address
  // Its name, or that of what it was loaded from; "" for none. By descriptor: of the variable.
  std::string pointer;
  std::string partly;  // why an index of it is not checked although others are; "" if all are
  // By descriptor.
  uint32_t set = 0;
  uint32_t binding = 0;
  std::array<IndexNote, kMostIndices> indices = {};
  AccessRecord record = {};

  bool operator==(const AccessNote&) const = default;
};

// A command that draws or dispatches.
struct CountNote {
  std::string command;  // "vkCmdDraw"
  std::string label;    // "Frame > Terrain"; "" outside of all
  uint32_t count = 0;   // of CountRecord::given, CountRecord::kMostCounts at most
  bool is_indirect = false;
  CountRecord record = {};

  bool operator==(const CountNote&) const = default;
};

// A variable of a module through which it gets values of the program's; `index` is its place among these.
struct BindingNote : ShaderNote {
  BindingPlace place;
  BindingKind kind = BindingKind::kUnknown;
  std::string name;  // "" for none

  bool operator==(const BindingNote&) const = default;
};

// Copied from a board.
struct ExperimentNotes {
  std::vector<LoopNote> loops;
  std::vector<AccessNote> accesses;
  std::vector<CountNote> counts;
  std::vector<BindingNote> bindings;
  uint32_t limited = 0;     // modules that were changed
  uint32_t refused = 0;     // modules that stayed as they were
  std::string why_refused;  // the first of them
  std::string why_none;     // a device on which no module was changed; ""
  uint64_t dropped = 0;     // loops and accesses that found no room, and stayed as they were

  bool operator==(const ExperimentNotes&) const = default;
};

class ExperimentBoard {
 public:
  static constexpr uint32_t kMostLoops = 1u << 16;
  static constexpr uint32_t kMostTextBytes = 1u << 24;
  static constexpr size_t kRecordAlignment = size_t{64}
                                             << 10;  // that of imports, on all known drivers
  static constexpr size_t kMostTextLength = 500;     // bytes; what is longer is cut
  static constexpr size_t kMostExcerptLength = 2000;

  static constexpr size_t kHeaderBytes = 64;
  static constexpr size_t kEntryBytes = 96;  // of what one record has besides
  static size_t BytesFor(uint32_t loop_count, uint32_t text_bytes);
  // Makes one in zero-filled memory of BytesFor bytes, aligned to a page.
  static ExperimentBoard Make(std::span<std::byte> memory, uint32_t loop_count,
                              uint32_t text_bytes);
  // kCorrupt for what Make does not make.
  static Result<ExperimentBoard> Over(std::span<std::byte> memory);

  // The loops of a module, or its accesses, from 1 on, get neighbouring records. Returns the index of the first one;
  // nothing if there is no room, and they then count as dropped. Any thread of any process.
  std::optional<uint32_t> Reserve(uint32_t count) const;
  // Describes a reserved one; once for each. `note.record` is not written.
  void Describe(uint32_t index, const LoopNote& note) const;
  void Describe(uint32_t index, const AccessNote& note) const;
  void Describe(uint32_t index, const CountNote& note) const;
  void Describe(uint32_t index, const BindingNote& note) const;
  void CountLimited() const;
  // The first sentence stays. So it is with SetWhyNone.
  void CountRefused(const std::string& why) const;
  void SetWhyNone(const std::string& why) const;

  std::span<LoopRecord> records() const { return records_; }
  // All memory from the first record on: what a driver imports.
  std::span<std::byte> record_bytes() const;

  // Copies the board. The GPU and the program may still write: counts of one record need not match.
  ExperimentNotes Read() const;

 private:
  struct Header;
  struct Entry;
  ExperimentBoard() = default;
  uint32_t Add(const std::string& text) const;
  uint32_t AddExcerpt(const ShaderExcerpt& excerpt) const;
  void DescribePlace(Entry& entry, const ShaderNote& note) const;
  void SetFirst(std::atomic<uint32_t>& text, const std::string& why) const;

  Header* header_ = nullptr;
  std::span<Entry> entries_;
  std::span<std::byte> texts_;
  std::span<LoopRecord> records_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_BOARD_H_
