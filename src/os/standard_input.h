// SPDX-License-Identifier: Apache-2.0
//
// Bytes from whoever started the program, or for programs that it starts.
#ifndef CAIRN_OS_STANDARD_INPUT_H_
#define CAIRN_OS_STANDARD_INPUT_H_

#include <cstddef>
#include <span>

#include "base/status.h"

namespace cairn {

// Waits for bytes on standard input and reads some of them, as they are: at least one, at most bytes.size(), which is
// not 0. Returns their number; 0 at the end of the input, or if it cannot be read. One thread at a time; none of the C
// library's locks is held meanwhile, so that the process can end while a thread waits here.
size_t ReadStandardInput(std::span<std::byte> bytes);

// Makes these bytes, and their end, the standard input of this process and of programs that it starts from now on.
// Takes memory, or on Windows space among its temporary files, for as long as one of them has it open.
Status ReplaceStandardInput(std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_OS_STANDARD_INPUT_H_
