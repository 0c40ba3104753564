// SPDX-License-Identifier: Apache-2.0
//
// Makes an access by descriptor happen only where its indices are inside.
//
// Memory goes into a function of its own, which the program calls in the place of the access: no branch is added to a
// function of the program. It gives zeros for what is outside. An image or a sampler cannot be returned by a function:
// its index becomes 0.
#ifndef CAIRN_APP_SPIRV_DESCRIPTOR_REWRITER_H_
#define CAIRN_APP_SPIRV_DESCRIPTOR_REWRITER_H_

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/spirv/access_finder.h"
#include "app/spirv/index_guard.h"
#include "app/spirv/inserted_code.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

class DescriptorRewriter {
 public:
  // only_counts: each access goes where the program wants it. All outlive this.
  DescriptorRewriter(Module& module, const BasicTypes& types, IndexGuard& guard, bool only_counts);

  // Puts what has to stand in front of an access that can be checked into `code`, and changes the access.
  void Rewrite(Code& code, const FoundAccess& access, uint64_t record, Instruction* instruction);
  // Adds the functions and decorations to the module. Once, behind the last Rewrite.
  void Finish();

 private:
  using Ids =
      std::unordered_map<uint32_t, uint32_t>;  // values of the program, and their parameters

  uint32_t AsWord(Code& code, uint32_t id, bool is_signed);
  uint32_t BoundOf(Code& code, const DescriptorPath& path, const CheckedIndex& index,
                   const Ids& ids, bool is_non_uniform);
  std::vector<IndexGuard::Bounded> Bounds(Code& code, const DescriptorPath& path, const Ids& ids,
                                          bool is_non_uniform);
  uint32_t Chain(Code& code, uint32_t type, const DescriptorPath& path,
                 std::vector<uint32_t> indices, bool is_non_uniform);
  void RewriteOpaque(Code& code, const FoundAccess& access, uint64_t record,
                     Instruction* instruction);
  // Returns the id of the function.
  uint32_t AddAccess(const FoundAccess& access, uint64_t record, const Instruction& instruction,
                     uint32_t return_type);

  Module& module_;
  const BasicTypes& types_;
  IndexGuard& guard_;
  const bool only_counts_;
  std::unordered_set<uint32_t> program_non_uniform_;
  std::vector<uint32_t> non_uniform_;
  std::vector<Function> functions_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DESCRIPTOR_REWRITER_H_
