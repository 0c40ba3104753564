// SPDX-License-Identifier: Apache-2.0
// Any words must give a module that the validator takes, or an error; a module that is not changed is the same words.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "app/spirv/loop_limits.h"
#include "app/spirv/validator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  const uint32_t loops = spirv::CountLoops(words);
  const Result<spirv::LimitedModule> limited = spirv::LimitLoops(words, {1000, 0x7f0000001000, {}});
  if (!limited.ok()) return 0;
  if (limited->loops.size() != loops) std::abort();
  if (limited->limited == 0 ? !std::ranges::equal(limited->words, words)
                            : !spirv::Validate(limited->words).ok()) {
    std::abort();
  }
  return 0;
}
