// SPDX-License-Identifier: Apache-2.0
//
// The end that nothing in a process can see coming. In a file named for the operating system.
#ifndef CAIRN_SAMPLES_SUDDEN_END_H_
#define CAIRN_SAMPLES_SUDDEN_END_H_

namespace sample {

// Ends the process like `kill -9`, or Task Manager.
[[noreturn]] void EndSuddenly();

}  // namespace sample

#endif  // CAIRN_SAMPLES_SUDDEN_END_H_
