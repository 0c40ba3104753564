// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "sudden_end.h"

namespace sample {

void EndSuddenly() {
  raise(SIGKILL);
  __builtin_unreachable();
}

}  // namespace sample
