// SPDX-License-Identifier: Apache-2.0
#include "os/executable_stack.h"

namespace cairn {

// No library wants one.
void AllowExecutableStack(const std::string&, char**) {}

}  // namespace cairn
