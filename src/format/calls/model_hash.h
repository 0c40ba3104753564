// SPDX-License-Identifier: Apache-2.0
//
// Two builds mean the same by the numbers of methods and chains if their hashes are equal.
#ifndef CAIRN_FORMAT_CALLS_MODEL_HASH_H_
#define CAIRN_FORMAT_CALLS_MODEL_HASH_H_

#include <cstdint>
#include <string_view>

#include "d3d12gen/methods.h"

namespace cairn {

// FNV-1a over the names of all methods in order, and the number of chains. Some microseconds.
inline uint32_t ModelHash() {
  uint32_t hash = 0x811C9DC5;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x01000193; };
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    for (const char c : std::string_view(Describe(static_cast<Method>(i)).name)) {
      add(static_cast<unsigned char>(c));
    }
    add(0);
  }
  add(static_cast<unsigned char>(kChainCount));
  return hash;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_MODEL_HASH_H_
