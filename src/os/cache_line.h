// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_CACHE_LINE_H_
#define CAIRN_OS_CACHE_LINE_H_

namespace cairn {

// Asks for the cache line at `place`, which is about to be written and which another processor may have. Returns at
// once; `place` need not be mapped.
inline void FetchForWriting(const void* place) {
#if defined(__x86_64__)
  // Compilers use it only where all processors that they compile for know it; others of 64 bits ignore it.
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

}  // namespace cairn

#endif  // CAIRN_OS_CACHE_LINE_H_
