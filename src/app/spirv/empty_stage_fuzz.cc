// SPDX-License-Identifier: Apache-2.0
// Any words must give a module that the validator takes and that is empty in that stage for good, or an error.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "app/spirv/empty_stage.h"
#include "app/spirv/validator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  for (const EmptiedStage stage :
       {EmptiedStage::kVertex, EmptiedStage::kFragment, EmptiedStage::kCompute}) {
    const Result<spirv::EmptiedModule> emptied = spirv::EmptyStage(words, stage);
    if (!emptied.ok()) continue;
    if (emptied->words.empty() != (emptied->emptied == 0)) std::abort();
    if (emptied->words.empty()) continue;
    if (!spirv::Validate(emptied->words).ok()) std::abort();
    const Result<spirv::EmptiedModule> again = spirv::EmptyStage(emptied->words, stage);
    if (!again.ok() || again->emptied != emptied->emptied) std::abort();
  }
  return 0;
}
