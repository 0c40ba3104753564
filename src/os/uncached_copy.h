// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_UNCACHED_COPY_H_
#define CAIRN_OS_UNCACHED_COPY_H_

#if defined(__x86_64__)
#include <smmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cairn {

#if defined(__x86_64__)
// Reads the 16 bytes around as well, which lie on the same page.
[[gnu::target("sse4.1"), gnu::no_sanitize("address")]] inline void StreamFromUncached(
    std::byte* to, const std::byte* from, size_t size) {
  constexpr size_t kWide = sizeof(__m128i);
  while (size != 0) {
    const size_t before = reinterpret_cast<uintptr_t>(from) % kWide;
    const size_t part = std::min(size, kWide - before);
    alignas(kWide) std::byte wide[kWide];
    auto* const place = const_cast<std::byte*>(from - before);
    _mm_store_si128(reinterpret_cast<__m128i*>(wide),
                    _mm_stream_load_si128(reinterpret_cast<__m128i*>(place)));
    std::memcpy(to, wide + before, part);
    to += part;
    from += part;
    size -= part;
  }
}
#endif

// Copies from memory that the processor may not cache, as drivers have for D3D12_HEAP_TYPE_UPLOAD: each plain load from
// there waits for the one before, some 1 us if the memory is the GPU's own.
inline void CopyFromUncached(std::byte* to, const std::byte* from, size_t size) {
#if defined(__x86_64__)
  static const bool streams = __builtin_cpu_supports("sse4.1");
  if (streams) return StreamFromUncached(to, from, size);
#endif
  std::memcpy(to, from, size);
}

}  // namespace cairn

#endif  // CAIRN_OS_UNCACHED_COPY_H_
