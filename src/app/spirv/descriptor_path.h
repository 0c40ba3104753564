// SPDX-License-Identifier: Apache-2.0
//
// The way from the variable of a descriptor to what a pointer points to, and which of its indices have to be checked.
#ifndef CAIRN_APP_SPIRV_DESCRIPTOR_PATH_H_
#define CAIRN_APP_SPIRV_DESCRIPTOR_PATH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/spirv/module.h"
#include "app/spirv/value_types.h"
#include "format/experiment/access_record.h"

namespace cairn::spirv {

// The bound that an index has to be below.
struct IndexBound {
  enum class From : uint8_t {
    kConstant,  // `value`
    kId,        // the value of that id: a specialisation constant, an integer of 32 bits
    kLength,    // OpArrayLength of that member of the block
  };
  From from = From::kConstant;
  uint32_t value = 0;
};

struct CheckedIndex {
  uint32_t at = 0;  // among DescriptorPath::indices
  IndexKind kind = IndexKind::kElement;
  bool is_signed = false;
  IndexBound bound;
};

struct DescriptorPath {
  uint32_t variable = 0;
  bool is_opaque = false;             // leads to an image, a sampler and the like
  std::vector<uint32_t> indices;      // ids, as in one OpAccessChain from the variable on
  std::vector<uint32_t> types;        // ids: of the variable's memory, and behind each index
  std::vector<CheckedIndex> checked;  // kMostIndices at most; the rest is as it was
  std::string cannot;                 // a sentence, if no index can be checked
  std::string partly;                 // a sentence, if one can't be checked although others are
};

// Follows pointers of one function to their variables. `module` and `function` outlive this, and stay as they are.
class DescriptorPaths {
 public:
  DescriptorPaths(const Module& module, const Function& function, const ValueTypes& types);

  // Nothing for a pointer that does not lead from a buffer's or an image's variable by chains of indices alone, and for
  // one whose indices are known to be inside.
  std::optional<DescriptorPath> Of(uint32_t pointer) const;

 private:
  std::optional<uint32_t> ConstantOf(uint32_t id) const;
  bool IsWord(uint32_t type, bool* is_signed) const;
  void Check(uint32_t at, const Instruction& array, IndexKind kind, const IndexBound& bound,
             DescriptorPath* path) const;
  std::optional<IndexBound> LengthOf(const Instruction& array) const;
  bool Walk(DescriptorPath* path) const;

  const Module& module_;
  const ValueTypes& types_;
  std::unordered_map<uint32_t, const Instruction*> chains_;  // by result
};

// The ids that a module decorates as NonUniform.
std::unordered_set<uint32_t> NonUniformIds(const Module& module);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DESCRIPTOR_PATH_H_
