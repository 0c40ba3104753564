// SPDX-License-Identifier: Apache-2.0
//
// What the program does to itself.
#ifndef CAIRN_TESTS_TRUTH_DEEDS_H_
#define CAIRN_TESTS_TRUTH_DEEDS_H_

#include "truth/faults.h"
#include "truth/notes.h"

namespace cairn::truth {

// Notes the moment, and does it. Returns from kNothing and kIdle alone.
void DoIt(Deed deed, double idle_s, Notes* notes);

// A thread that does it once the work has begun.
void DoItWhile(uint32_t work, Deed deed, Notes* notes);

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_DEEDS_H_
