// SPDX-License-Identifier: Apache-2.0
//
// The terminal that a pager shows its text on, while stdout is the pager's input.
#ifndef CAIRN_OS_LINUX_PAGED_TERMINAL_H_
#define CAIRN_OS_LINUX_PAGED_TERMINAL_H_

#include "os/terminal.h"

namespace cairn {

// Makes stdout take escapes, and sets the result of OutputSize.
void NotePagedTerminal(const TerminalSize& size);
void ForgetPagedTerminal();

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_PAGED_TERMINAL_H_
