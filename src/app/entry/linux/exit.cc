// SPDX-License-Identifier: Apache-2.0
//
// The end of a Windows program under Wine. Wine calls _exit with the whole code, of which the
// system keeps eight bits: an access violation, 0xc0000005, ends like `return 5`. So this library
// replaces _exit. Other ends, such as those of children between fork and exec, stay unchanged.
#include <sys/syscall.h>
#include <unistd.h>

#include "app/breadcrumbs/crash_signals.h"

extern "C" __attribute__((visibility("default"))) void _exit(int code) {
  cairn::NoteExit(static_cast<uint32_t>(code));
  for (;;) syscall(SYS_exit_group, code);
}
