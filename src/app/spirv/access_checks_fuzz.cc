// SPDX-License-Identifier: Apache-2.0
// Any words must give a module that the validator takes, or an error; a module that is not changed is the same words.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "app/spirv/access_checks.h"
#include "app/spirv/validator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  for (const bool only_counts : {false, true}) {
    const Result<spirv::CheckedModule> checked = spirv::CheckAccesses(
        words, {0x7f0000001000, 0x7f0000002000, 0x7f0000010000, 0x7f0000020000, only_counts});
    if (!checked.ok()) return 0;
    const Result<uint32_t> count = spirv::CountAccesses(words);
    if (!count.ok() || *count < checked->accesses.size()) std::abort();
    if (checked->checked > checked->accesses.size()) std::abort();
    if (checked->checked == 0 ? !std::ranges::equal(checked->words, words)
                              : !spirv::Validate(checked->words).ok()) {
      std::abort();
    }
  }
  return 0;
}
