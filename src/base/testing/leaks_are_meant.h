// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_BASE_TESTING_LEAKS_ARE_MEANT_H_
#define CAIRN_BASE_TESTING_LEAKS_ARE_MEANT_H_

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define CAIRN_LEAKS_ARE_FOUND
#endif
#endif

namespace cairn {

// For tests of what leaves objects behind because a GPU may still be using them: while it lives, allocations of this
// thread are no leaks.
struct LeaksAreMeant {
#ifdef CAIRN_LEAKS_ARE_FOUND
  LeaksAreMeant() {
    __lsan_disable();
  }
  ~LeaksAreMeant() {
    __lsan_enable();
  }
#else
  LeaksAreMeant() {}
  ~LeaksAreMeant() {}
#endif
};

}  // namespace cairn

#endif  // CAIRN_BASE_TESTING_LEAKS_ARE_MEANT_H_
