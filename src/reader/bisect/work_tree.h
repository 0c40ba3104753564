// SPDX-License-Identifier: Apache-2.0
//
// The work of a program (format/elimination) as what a search leaves out, and back:
//
//   scope    what stands under the same labels                          Suspect::Kind::kSubmission
//   group    what one pipeline, or no pipeline, does in it, by type     Suspect::Kind::kList
//   work     one of those, by its ordinal in the recording              Suspect::Kind::kCall
//
// Pure.
#ifndef CAIRN_READER_BISECT_WORK_TREE_H_
#define CAIRN_READER_BISECT_WORK_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/elimination/catalogue.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// The place of all failures of a program: they show in no known submission. It is behind the whole
// tree.
inline constexpr uint64_t kProgramPlace = ~uint64_t{0};

class WorkTree {
 public:
  WorkTree() = default;
  // Builds the tree of one class of work. The work that went to the GPU last comes last: culprits
  // are likely there. `gone`: hashes of culprits that were found already: they are in no run, and
  // not in the tree.
  WorkTree(const WorkCatalogue& catalogue, LeaveOutClass work_class,
           std::vector<uint64_t> gone = {});

  const BisectTree& tree() const { return tree_; }

  // Returns the board's question for a run. Work of the other class stays. Copies are separate,
  // because draws read their results: while copies are searched, all shader work is left out,
  // except in a question about the whole or the rest.
  BoardQuestion QuestionFor(const BisectQuestion& question) const;

  // The same for nothing but these.
  BoardQuestion AloneQuestion(const std::vector<Suspect>& kept) const;

  // Returns true if a culprit stays completely in such a run. It may be one of another tree of the
  // same catalogue: `note` is the result of NoteOf there.
  bool Keeps(const BisectQuestion& question, Suspect::Kind kind, const WorkNote& note) const;

  // The work that a suspect stands for; of a scope or a group its first, whose ordinal says nothing.
  const WorkNote& NoteOf(const Suspect& suspect) const;
  // Returns the hash by which a board knows it: its key, group or scope.
  uint64_t HashOf(const Suspect& suspect) const;
  // Returns the number of pieces of work that it stands for.
  size_t CountOf(const Suspect& suspect) const;

 private:
  struct Group {
    size_t first = 0;  // in notes_
    size_t count = 0;
  };
  BoardQuestion Keeping(std::vector<uint64_t> hashes) const;
  std::vector<uint64_t> KeptHashes(const BisectQuestion& question) const;
  const Group& GroupOf(const Suspect& suspect) const;

  LeaveOutClass class_ = LeaveOutClass::kShader;
  BisectTree tree_;
  std::vector<uint64_t> gone_;
  std::vector<WorkNote> notes_;             // call number i is notes_[i - 1]
  std::vector<std::vector<Group>> groups_;  // of submission number i: groups_[i - 1]
};

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_WORK_TREE_H_
