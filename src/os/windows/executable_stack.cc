// SPDX-License-Identifier: Apache-2.0
#include "os/executable_stack.h"

namespace cairn {

// No library needs an executable stack on Windows.
void AllowExecutableStack(const std::string&, char**) {}

}  // namespace cairn
