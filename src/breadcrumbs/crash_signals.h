// SPDX-License-Identifier: Apache-2.0
//
// A last look before the process dies of a fault: mirrored words are brought up to date and the signal
// is noted in the block. Then the signal goes on to whoever handled it before. SIGKILL cannot be
// seen; for it, mirrored words are up to one period old.
#ifndef CAIRN_BREADCRUMBS_CRASH_SIGNALS_H_
#define CAIRN_BREADCRUMBS_CRASH_SIGNALS_H_

#include "recorder/block.h"

namespace cairn {

class Context;

// The handlers are installed with the first context.
void RememberContextInCrashSignals(Context* context, BlockHeader* header);
void ForgetContextInCrashSignals(Context* context);

}  // namespace cairn

#endif  // CAIRN_BREADCRUMBS_CRASH_SIGNALS_H_
