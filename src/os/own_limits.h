// SPDX-License-Identifier: Apache-2.0
//
// Bounds what this process may still take: what it does for a hostile file then has an end, whatever the file says.
// Programs that it starts later have the same bounds, until they are lifted. Call these from one thread.
#ifndef CAIRN_OS_OWN_LIMITS_H_
#define CAIRN_OS_OWN_LIMITS_H_

#include <cstdint>
#include <string>

namespace cairn {

// Limits the process to `more_bytes` of further memory, as the system counts writable memory:
// operator new throws std::bad_alloc beyond that. A later call replaces the bound. False: the
// system has no such bound (Windows), or refuses it; nothing changes then.
bool LimitOwnMemory(uint64_t more_bytes);

// Limits all threads together to `more_seconds` of further processor time, to whole seconds. Then
// `last_words` (cut to 1,000 bytes) are written to stderr, and the process ends with exit code 1. A
// later call replaces the bound and the words. False as above.
bool LimitOwnProcessorTime(uint64_t more_seconds, const std::string& last_words);

// Takes both bounds back: the process has those again that it had before.
void LiftOwnLimits();

}  // namespace cairn

#endif  // CAIRN_OS_OWN_LIMITS_H_
