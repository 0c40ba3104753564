// SPDX-License-Identifier: Apache-2.0
//
// The shaders of this folder's tests, as two compilers' options leave them.
#ifndef CAIRN_APP_SPIRV_TESTING_SHADERS_H_
#define CAIRN_APP_SPIRV_TESTING_SHADERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::spirv::testing {

enum class Form {
  kLines,               // glslang -g: OpLine, all variables in memory
  kDebugInfo,           // glslang -gVS: NonSemantic.Shader.DebugInfo.100
  kOptimised,           // kLines behind spirv-opt -O: one function, values without variables
  kOptimisedDebugInfo,  // kDebugInfo behind the same
};
inline constexpr Form kForms[] = {Form::kLines, Form::kDebugInfo, Form::kOptimised,
                                  Form::kOptimisedDebugInfo};

// "lines", "optimised", ...
const char* NameOf(Form form);
// The module of "march.comp" in testing/shaders; empty if there is none.
std::vector<uint32_t> LoadShader(const std::string& name, Form form);
// Has debug information of its own, beside names and lines.
constexpr bool HasDebugInfo(Form form) {
  return form == Form::kDebugInfo || form == Form::kOptimisedDebugInfo;
}

// The mode MaximallyReconvergesKHR, which the SPIRV-Tools of Debian 12 do not know.
inline constexpr uint32_t kNewMode = 6023;
// The module with that mode, as Dawn writes it for a driver that has VK_KHR_shader_maximal_reconvergence; it has a mode
// already.
std::vector<uint32_t> WithNewMode(std::vector<uint32_t> words);

}  // namespace cairn::spirv::testing

#endif  // CAIRN_APP_SPIRV_TESTING_SHADERS_H_
