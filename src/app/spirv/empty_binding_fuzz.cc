// SPDX-License-Identifier: Apache-2.0
// Any words must give a module that the validator takes and in which the binding is empty for good, or an error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "app/spirv/empty_binding.h"
#include "app/spirv/module_bindings.h"
#include "app/spirv/validator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  constexpr size_t kMostBindings = 4;  // each takes two validations
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  const Result<std::vector<spirv::Binding>> bindings = spirv::ListBindings(words);
  if (!bindings.ok()) return 0;
  for (size_t i = 0; i < std::min(bindings->size(), kMostBindings); ++i) {
    const BindingPlace& place = (*bindings)[i].place;
    const Result<spirv::UnboundModule> emptied = spirv::EmptyBinding(words, place);
    if (!emptied.ok()) continue;
    if (emptied->words.empty() != (emptied->emptied == 0)) std::abort();
    if (emptied->words.empty()) continue;
    if (!spirv::Validate(emptied->words).ok()) std::abort();
    const Result<spirv::UnboundModule> again = spirv::EmptyBinding(emptied->words, place);
    if (!again.ok() || again->emptied != 0) std::abort();
  }
  return 0;
}
