// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_RECORDER_THREAD_NUMBER_H_
#define CAIRN_APP_RECORDER_THREAD_NUMBER_H_

#include <cstdint>

namespace cairn {

// Returns the calling thread's number, the smallest that no living thread had when it asked first. So threads that
// live at one time have different numbers, and share nothing that is picked by number % N, as long as there are no
// more than N of them. Beyond 1,024 threads numbers may be those of others.
uint32_t ThreadNumber();

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_THREAD_NUMBER_H_
