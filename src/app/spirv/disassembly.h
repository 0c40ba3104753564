// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_SPIRV_DISASSEMBLY_H_
#define CAIRN_APP_SPIRV_DISASSEMBLY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/spirv/module.h"

namespace cairn::spirv {

// The functions of a module as SPIRV-Tools prints them, an instruction a line, with the names that the module has.
class Disassembly {
 public:
  // Cost: linear in the module. Empty for one that SPIRV-Tools cannot print.
  explicit Disassembly(const Module& module);
  Disassembly(const Disassembly&) = delete;
  Disassembly& operator=(const Disassembly&) = delete;

  // The lines of the functions, without the blanks that all of them begin with.
  const std::vector<std::string_view>& lines() const { return lines_; }
  // The line of an instruction of `function`, which is one of the module's; nothing for others.
  std::optional<size_t> LineOf(const Function& function, const Instruction& instruction) const;

 private:
  const Module& module_;
  std::string text_;
  std::vector<std::string_view> lines_;
  std::vector<size_t> first_lines_;  // of each function
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DISASSEMBLY_H_
