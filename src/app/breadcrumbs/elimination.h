// SPDX-License-Identifier: Apache-2.0
//
// Leaves work out of this run of the program, as `cairn bisect -- PROGRAM` asks on its board, and notes there
// which work there was (format/elimination). Off in every other run: then nobody makes one of these.
//
// A layer asks before it makes the real call of a command:
//
//   list.Begin("Frame");
//   if (!list.LeavesOut(CAIRN_MARKER_DISPATCH, pipeline, block)) next.CmdDispatch(...);
//   list.End();
//
// Nothing here fails a call: what finds no memory or no room stays in.
#ifndef CAIRN_APP_BREADCRUMBS_ELIMINATION_H_
#define CAIRN_APP_BREADCRUMBS_ELIMINATION_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/recorder/block_writer.h"
#include "format/elimination/board.h"
#include "os/shared_memory.h"

namespace cairn {

// The elimination of the process. Any thread.
class Elimination {
 public:
  // The one that the environment asks for (CAIRN_ELIMINATION); null without it, and where the board cannot be used,
  // which is said on stderr. Found out once; then a load.
  static Elimination* Active();

  explicit Elimination(const Board& board) : board_(board) {}
  Elimination(const Elimination&) = delete;
  Elimination& operator=(const Elimination&) = delete;

  const Board& board() const { return board_; }
  // The entry of a piece of work; null where there is no room. `path` and `pipeline` are called for a new one
  // alone. May throw std::bad_alloc.
  struct Work {
    uint64_t key;
    uint64_t scope;
    uint64_t group;
    uint32_t type;
    uint32_t ordinal;
    std::string_view path;
    CairnPipeline pipeline;
    uint64_t pipeline_hash;
  };
  WorkEntry* Note(const Work& work, BlockWriter& block);
  // A device of this name records.
  void NoteDevice(std::string_view name) noexcept;

 private:
  TextOffset TextOnce(uint64_t hash, std::string_view text);

  const Board board_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, TextOffset> texts_;  // that are on the board, by scope or pipeline
  std::vector<std::string> devices_;
};

// The elimination in one command list; like it, one thread at a time.
class ListElimination {
 public:
  explicit ListElimination(Elimination& run) : run_(run) {}

  // A recording begins: nothing is open in it.
  void Start() noexcept;
  // A scope; "" for one without a name.
  void Begin(std::string_view name) noexcept;
  void End() noexcept;
  // Returns true if this command must be left out.
  bool LeavesOut(CairnMarkerType type, CairnPipeline pipeline, BlockWriter& block) noexcept;
  // Call it when the recorded work is submitted once more.
  void Submitted() noexcept;

 private:
  struct Scope {
    uint64_t hash = 0;
    size_t path_bytes = 0;  // of the path before it
  };
  bool Decide(CairnMarkerType type, CairnPipeline pipeline, BlockWriter& block);

  Elimination& run_;
  bool broken_ = false;  // no memory: where it stands is not known any more
  std::vector<Scope> scopes_;
  std::string path_;
  std::unordered_map<uint64_t, uint32_t> ordinals_;  // by group
  std::vector<WorkEntry*> recorded_;                 // what stays in, in its order
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_ELIMINATION_H_
