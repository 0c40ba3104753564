// SPDX-License-Identifier: Apache-2.0
//
// Execution modes that are newer than the SPIRV-Tools of Debian 12, and that no change of this folder concerns: without them
// it parses and validates the rest of the module.
#ifndef CAIRN_APP_SPIRV_NEW_MODES_H_
#define CAIRN_APP_SPIRV_NEW_MODES_H_

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::spirv {

class NewModes {
 public:
  // Takes MaximallyReconvergesKHR out of a module, which may be any words and outlives this. Copies the words only if
  // it is there.
  explicit NewModes(std::span<const uint32_t> module);

  // The module without them.
  std::span<const uint32_t> rest() const { return modes_.empty() ? module_ : rest_; }
  // Puts them into a changed copy of rest(), which has its entry points.
  void PutBack(std::vector<uint32_t>* words) const;

 private:
  std::span<const uint32_t> module_;
  std::vector<uint32_t> rest_;
  std::vector<uint32_t> modes_;  // whole instructions
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_NEW_MODES_H_
