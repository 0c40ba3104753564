// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/testing/shaders.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <spirv-tools/optimizer.hpp>
#include <spirv/unified1/spirv.hpp>

namespace cairn::spirv::testing {

const char* NameOf(Form form) {
  switch (form) {
    case Form::kLines: return "lines";
    case Form::kDebugInfo: return "debug information";
    case Form::kOptimised: return "optimised";
    case Form::kOptimisedDebugInfo: return "optimised, debug information";
  }
  return "";
}

std::vector<uint32_t> LoadShader(const std::string& name, Form form) {
  const std::string path = CAIRN_SOURCE_DIR "/src/app/spirv/testing/shaders/" + name;
  std::ifstream file(path + (HasDebugInfo(form) ? ".debug.spv" : ".spv"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (words.empty()) return words;
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  if (form == Form::kLines || form == Form::kDebugInfo) return words;
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPerformancePasses();
  std::vector<uint32_t> optimised;
  if (!optimizer.Run(words.data(), words.size(), &optimised)) return {};
  return optimised;
}

std::vector<uint32_t> WithNewMode(std::vector<uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> spv::WordCountShift) {
    if ((words[at] & spv::OpCodeMask) != spv::OpExecutionMode) continue;
    const uint32_t entry_point = words[at + 1];
    words.insert(words.begin() + static_cast<ptrdiff_t>(at),
                 {3u << spv::WordCountShift | spv::OpExecutionMode, entry_point, kNewMode});
    return words;
  }
  return {};
}

}  // namespace cairn::spirv::testing
