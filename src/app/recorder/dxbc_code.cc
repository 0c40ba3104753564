// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/dxbc_code.h"

#include <cstring>
#include <new>
#include <span>

#include "app/recorder/block_writer.h"

namespace cairn {

uint64_t HashOfDxbc(const void* code, size_t bytes) {
  // "DXBC", then 16 bytes of hash.
  constexpr size_t kHashOffset = 4;
  if (code == nullptr || bytes < kHashOffset + sizeof(uint64_t) ||
      std::memcmp(code, "DXBC", kHashOffset) != 0) {
    return 0;
  }
  const auto* const begin = static_cast<const std::byte*>(code);
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof(hash); ++i) {
    hash = hash << 8 | std::to_integer<uint64_t>(begin[kHashOffset + i]);
  }
  return hash;
}

uint64_t KeepDxbc(BlockWriter* block, const void* code, size_t bytes) {
  const uint64_t hash = HashOfDxbc(code, bytes);
  if (block == nullptr || hash == 0) return hash;
  try {
    block->AddShader(ShaderCode::kDxbc, hash, {static_cast<const std::byte*>(code), bytes});
  } catch (const std::bad_alloc&) {
    // The report has its hash alone.
  }
  return hash;
}

}  // namespace cairn
