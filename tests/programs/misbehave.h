// SPDX-License-Identifier: Apache-2.0
//
// What misbehave does by its system: misbehave_linux.cc, misbehave_windows.cc.
#ifndef CAIRN_TESTS_PROGRAMS_MISBEHAVE_H_
#define CAIRN_TESTS_PROGRAMS_MISBEHAVE_H_

#include <optional>
#include <string>

#include "programs/simulated_frame.h"

// Ends this process so that nothing in it can tell.
[[noreturn]] void EndSuddenly();

// Runs this program again with the mode "kill"; false if it did not die of that.
bool AnotherIsKilled(const char* self);

void WaitForEver();

// The modes of this system. Nothing if it is none of them; what is returned else is the program's exit code.
std::optional<int> MisbehaveAsHere(const std::string& mode, const char* argument,
                                   SimulatedDevice& device, SimulatedCommandList& native);

#endif  // CAIRN_TESTS_PROGRAMS_MISBEHAVE_H_
