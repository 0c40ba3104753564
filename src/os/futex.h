// SPDX-License-Identifier: Apache-2.0
//
// Waiting on a word of memory that several processes share.
#ifndef CAIRN_OS_FUTEX_H_
#define CAIRN_OS_FUTEX_H_

#include <atomic>
#include <cstdint>

namespace cairn {

// Returns when somebody woke the word, when it is not `expected`, after the time, or for no reason.
// False: the time has passed.
bool FutexWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_ns);
// Wakes all who wait on it. Costs a system call.
void FutexWake(const std::atomic<uint32_t>& word);

}  // namespace cairn

#endif  // CAIRN_OS_FUTEX_H_
