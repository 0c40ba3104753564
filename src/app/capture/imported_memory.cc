// SPDX-License-Identifier: Apache-2.0
#include "app/capture/imported_memory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "app/capture/changed_bytes.h"
#include "os/memory_of_process.h"
#include "os/this_process.h"

namespace cairn {
namespace {

constexpr uint64_t kPieceBytes = 256u << 10;

bool Read(uint64_t address, std::span<std::byte> out) {
  return ReadMemoryOfProcess(OwnProcessId(), address, out);
}

}  // namespace

ImportedMemory& ImportedMemory::Get() {
  static ImportedMemory& memory = *new ImportedMemory;
  return memory;
}

bool ImportedMemory::ReadAll(Memory* memory) {
  const uint64_t size_bytes = memory->size_bytes;
  if (memory->address == 0 || size_bytes == 0 || size_bytes > std::numeric_limits<size_t>::max() ||
      size_bytes > std::numeric_limits<uint64_t>::max() - memory->address) {
    return false;
  }
  // Memory for a copy is asked for only if both ends can be read: the size may be any number.
  std::byte end{};
  if (!Read(memory->address, {&end, 1}) || !Read(memory->address + size_bytes - 1, {&end, 1})) {
    return false;
  }
  memory->copy.reset(static_cast<std::byte*>(std::malloc(size_bytes)));
  if (memory->copy == nullptr) return false;
  for (uint64_t offset = 0; offset < size_bytes; offset += kPieceBytes) {
    const size_t piece_bytes = std::min(kPieceBytes, size_bytes - offset);
    if (Read(memory->address + offset, {memory->copy.get() + offset, piece_bytes})) continue;
    memory->copy.reset();
    return false;
  }
  return true;
}

bool ImportedMemory::Add(uint64_t object, uint64_t address, uint64_t size_bytes,
                         const Report& report) {
  const std::lock_guard lock(mutex_);
  Memory& memory = objects_[object];
  memory = {address, size_bytes, nullptr, false};
  any_.store(true, std::memory_order_relaxed);
  memory.lost = !ReadAll(&memory);
  for (uint64_t offset = 0; report && !memory.lost && offset < size_bytes; offset += kPieceBytes) {
    const size_t piece_bytes = std::min(kPieceBytes, size_bytes - offset);
    report(object, 0, offset, {memory.copy.get() + offset, piece_bytes});
  }
  return !memory.lost;
}

void ImportedMemory::Forget(uint64_t object) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  objects_.erase(object);
  any_.store(!objects_.empty(), std::memory_order_relaxed);
}

void ImportedMemory::ForgetAll() {
  const std::lock_guard lock(mutex_);
  objects_.clear();
  any_.store(false, std::memory_order_relaxed);
}

std::vector<uint64_t> ImportedMemory::Flush(const Report& report) {
  std::vector<uint64_t> lost;
  if (!any_.load(std::memory_order_relaxed)) return lost;
  const std::lock_guard lock(mutex_);
  for (auto& [object, memory] : objects_) {
    for (uint64_t offset = 0; !memory.lost && offset < memory.size_bytes; offset += kPieceBytes) {
      piece_.resize(std::min(kPieceBytes, memory.size_bytes - offset));
      if (!Read(memory.address + offset, piece_)) {
        memory.lost = true;
        lost.push_back(object);
        break;
      }
      TakeChangedBytes(piece_.data(), memory.copy.get() + offset, 0, piece_.size(),
                       [&, number = object, copy = memory.copy.get()](size_t at, size_t size) {
                         if (report) report(number, 0, offset + at, {copy + offset + at, size});
                       });
    }
  }
  return lost;
}

bool ImportedMemory::Has(uint64_t object) const {
  if (!any_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  return objects_.contains(object);
}

bool ImportedMemory::Copy(uint64_t object, uint64_t offset_bytes, std::span<std::byte> to) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  if (found == objects_.end() || found->second.copy == nullptr) return false;
  std::memcpy(to.data(), found->second.copy.get() + offset_bytes, to.size());
  return true;
}

}  // namespace cairn
