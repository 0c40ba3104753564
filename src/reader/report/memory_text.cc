// SPDX-License-Identifier: Apache-2.0
#include "reader/report/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

std::span<const MemoryHeap> HeapsOf(const Snapshot& snapshot, const DeviceMemory& memory) {
  return std::span(snapshot.memory_heaps).subspan(memory.first_heap, memory.heap_count);
}

bool IsFull(const MemoryHeap& heap) {
  const uint64_t most =
      heap.size_bytes == 0 ? heap.budget_bytes : std::min(heap.budget_bytes, heap.size_bytes);
  return heap.tells_use && heap.used_bytes >= most;
}

}  // namespace

bool IsExhausted(const Snapshot& snapshot, const DeviceMemory& memory) {
  const std::span<const MemoryHeap> heaps = HeapsOf(snapshot, memory);
  return memory.result != 0 || std::any_of(heaps.begin(), heaps.end(), IsFull);
}

void AppendHeap(const MemoryHeap& heap, uint32_t number, std::string& out) {
  fmt::format_to(std::back_inserter(out), "heap {}{}: ", number,
                 heap.device_local ? " (device-local)" : "");
  if (heap.tells_use) {
    out += "the program used " + BytesInWords(heap.used_bytes);
    if (heap.size_bytes != 0) out += " of " + BytesInWords(heap.size_bytes);
    out += ", its budget was " + BytesInWords(heap.budget_bytes);
  } else {
    out += BytesInWords(heap.size_bytes);
  }
}

void AppendExhausted(const Snapshot& snapshot, const DeviceMemory& memory, std::string& out) {
  std::string_view separator;
  if (memory.result != 0) {
    AppendVisibleText(snapshot.Text(memory.function), out);
    out += " failed with ";
    const std::string_view name = DeviceLostCodeName(memory.result);
    out += name.empty() ? DeviceLostCodeInWords(memory.result) : std::string(name);
    if (memory.wanted_bytes != 0) {
      fmt::format_to(std::back_inserter(out), " ({} asked for)", BytesInWords(memory.wanted_bytes));
    }
    if (memory.failed_count > 1) {
      fmt::format_to(std::back_inserter(out), ", the last of {} such failures",
                     GroupedDigits(memory.failed_count));
    }
    separator = "; ";
  }
  const std::span<const MemoryHeap> heaps = HeapsOf(snapshot, memory);
  for (uint32_t i = 0; i < heaps.size(); ++i) {
    // All heaps that tell their use: it is not known which one the failed call asked for.
    if (!(memory.result != 0 ? heaps[i].tells_use : IsFull(heaps[i]))) continue;
    out += separator;
    AppendHeap(heaps[i], i, out);
    separator = "; ";
  }
}

}  // namespace cairn
