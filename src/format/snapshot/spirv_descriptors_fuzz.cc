// SPDX-License-Identifier: Apache-2.0
//
// Any words as SPIR-V, and as a container of Direct3D: no crash, what is found is in order, and traits are those that there are.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "format/snapshot/shader_traits.h"
#include "format/snapshot/spirv_descriptors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Memory of its own, so that a read behind it is seen.
  std::vector<uint32_t> words(size / 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  for (const uint32_t traits : {cairn::TraitsOfSpirv(words), cairn::TraitsOfDxbc(words)}) {
    if (traits != 0 && (traits & cairn::kShaderRead) == 0) std::abort();
    if (traits > (cairn::kShaderRead | cairn::kShaderLoops | cairn::kShaderAtomics)) std::abort();
  }
  const auto found = cairn::FindSpirvDescriptors(words);
  if (!found) return 0;
  if (!std::is_sorted(found->begin(), found->end()) || found->size() > words.size()) std::abort();
  return 0;
}
