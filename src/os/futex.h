// SPDX-License-Identifier: Apache-2.0
//
// Waiting on a word of memory that several processes share: a word that counts, so that whoever changes it can say
// what it was. On Linux it is the kernel's futex, which the Windows half under Wine has as well (linux_half.h). On Windows, where words can be waited on inside of one process only,
// it is an event that has the name of memory, word and value, and is there only while somebody waits.
#ifndef CAIRN_OS_FUTEX_H_
#define CAIRN_OS_FUTEX_H_

#include <atomic>
#include <cstdint>

#include "os/shared_memory.h"

namespace cairn {

// Returns when `word`, which lies in `memory`, is not `expected`, after the time, or for no reason.
// False: the time has passed.
bool FutexWait(const SharedMemory& memory, const std::atomic<uint32_t>& word, uint32_t expected,
               uint64_t timeout_ns);
// Wakes all waiters that expect `was`. Call it after changing the word from `was`. Costs a system
// call.
void FutexWake(const SharedMemory& memory, const std::atomic<uint32_t>& word, uint32_t was);

}  // namespace cairn

#endif  // CAIRN_OS_FUTEX_H_
