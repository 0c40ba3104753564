// SPDX-License-Identifier: Apache-2.0
//
// Any words as SPIR-V: no crash, and what is found is in order.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "format/snapshot/spirv_descriptors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Memory of its own, so that a read behind it is seen.
  std::vector<uint32_t> words(size / 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  const auto found = cairn::FindSpirvDescriptors(words);
  if (!found) return 0;
  if (!std::is_sorted(found->begin(), found->end()) || found->size() > words.size()) std::abort();
  return 0;
}
