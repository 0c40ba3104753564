// SPDX-License-Identifier: Apache-2.0
//
// The memory of devices in words: calls that failed for want of it, and heaps.
#ifndef CAIRN_READER_REPORT_MEMORY_TEXT_H_
#define CAIRN_READER_REPORT_MEMORY_TEXT_H_

#include <string>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns true if a call failed for want of memory, or a heap holds more than its budget.
bool IsExhausted(const Snapshot& snapshot, const DeviceMemory& memory);

// `vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY (512 MiB asked for), the last of 3 such failures; heap 0
// (device-local): the program used 7.9 GiB of 8 GiB, its budget was 7.5 GiB`: what of it is exhausted, a sentence without its full stop.
void AppendExhausted(const Snapshot& snapshot, const DeviceMemory& memory, std::string& out);

// `heap 0 (device-local): the program used 7.9 GiB of 8 GiB, its budget was 7.5 GiB`
void AppendHeap(const MemoryHeap& heap, uint32_t number, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_MEMORY_TEXT_H_
