// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_FORMAT_EXPERIMENT_SHADER_EXCERPT_H_
#define CAIRN_FORMAT_EXPERIMENT_SHADER_EXCERPT_H_

#include <cstdint>
#include <string>

namespace cairn {

// Lines around a place in a shader.
struct ShaderExcerpt {
  std::string lines;        // with line breaks between them; "" for none
  uint32_t first_line = 0;  // in the source, from 1 on; 0: the lines are disassembled SPIR-V
  uint32_t marked = 0;      // the place is this one of them, from 0 on

  bool operator==(const ShaderExcerpt&) const = default;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_SHADER_EXCERPT_H_
