// SPDX-License-Identifier: Apache-2.0
//
// Memory of this process that the C library gives out again with what was in it: lavapipe takes its memory from there.
#ifndef CAIRN_TESTS_TRUTH_WHY_STALE_MEMORY_H_
#define CAIRN_TESTS_TRUTH_WHY_STALE_MEMORY_H_

#include <cstdint>
#include <functional>

namespace cairn::truth::why {

// So large that malloc gives it back to the system at once: what is freed there is gone, also on lavapipe.
inline constexpr uint64_t kLargeBytes = 64 << 20;
// So small that malloc keeps it, once something of that size was freed.
inline constexpr uint64_t kKeptBytes = 512 << 10;

// Writes over what the driver has freed in the memory of this process.
void Scribble();

// Leaves `stale` in each word of memory that a buffer of kKeptBytes gets next. `make`: a buffer of so many bytes, and where
// the CPU sees it; `destroy`: that buffer.
void LeaveStale(uint32_t stale, const std::function<uint32_t*(uint64_t bytes)>& make,
                const std::function<void()>& destroy);

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_STALE_MEMORY_H_
