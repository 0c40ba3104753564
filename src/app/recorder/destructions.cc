// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/destructions.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "app/recorder/thread_number.h"
#include "os/cache_line.h"
#include "os/clock.h"
#include "os/thread.h"

namespace cairn {
namespace {

static_assert(kDestroyingThreadNameBytes == kThreadNameBytes);

struct DestroyingThread {
  uint32_t id = 0;
  uint32_t uses = 0;
  std::array<char, kThreadNameBytes> name{};
};

// Threads are named at any time: looked at now and then.
const DestroyingThread& ThisThread() {
  constexpr uint32_t kUsesOfAName = 32;
  thread_local DestroyingThread thread;
  if (thread.uses++ % kUsesOfAName == 0) {
    thread.id = CurrentThreadId();
    thread.name = CurrentThreadName();
  }
  return thread;
}

uint32_t Count(DestructionCounter& counter) {
  return static_cast<uint32_t>(counter.count.fetch_add(1, std::memory_order_relaxed) + 1);
}

template <typename T>
T* At(BlockHeader* header, uint64_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(header) + offset);
}

// Asks for the records that the thread writes next in its block: each was written by another thread, one turn of the
// ring ago, and is in that one's cache.
void FetchAhead(DestructionRecord* records, uint64_t place) {
  constexpr uint64_t kAhead = 4;
  const uint64_t in_block = place % kDestructionBlock;
  const uint64_t last = std::min<uint64_t>(in_block + kAhead, kDestructionBlock - 1);
  for (uint64_t next = in_block == 0 ? 1 : in_block + kAhead; next <= last; ++next) {
    const auto* const record =
        reinterpret_cast<const std::byte*>(&records[(place - in_block + next) % kDestructionRing]);
    FetchForWriting(record);
    FetchForWriting(record + sizeof(DestructionRecord) / 2);
  }
}

}  // namespace

bool IsOfMemory(uint32_t kind) {
  // VkObjectType: memory, buffers, images, their views, samplers, acceleration structures.
  // D3D12_DRED_ALLOCATION_TYPE: heaps and resources.
  constexpr uint32_t kKinds[] = {kVulkanObject | 8,
                                 kVulkanObject | 9,
                                 kVulkanObject | 10,
                                 kVulkanObject | 13,
                                 kVulkanObject | 14,
                                 kVulkanObject | 21,
                                 kVulkanObject | 1000150000,
                                 25,
                                 34};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

Destructions::Destructions(BlockHeader* header)
    : header_(header),
      records_(header->destructions_offset == 0
                   ? nullptr
                   : At<DestructionRecord>(header, header->destructions_offset)),
      counters_(At<DestructionCounter>(
          header, OffsetOfDestructionCounter(header->destructions_offset, 0))) {}

// A thread that rested may hold places that the others have come to again: they are dropped, long before that.
uint64_t Destructions::TakePlace() {
  const uint64_t given = header_->destruction_serial.load(std::memory_order_relaxed);
  const uint64_t oldest = given > kDestructionRing / 2 ? given - kDestructionRing / 2 : 0;
  return shards_[ThreadNumber() % kShards].places.Next(header_->destruction_serial, oldest);
}

void Destructions::Note(uint32_t context, const DestroyedThing& what, const DestroyedThing& cause,
                        const DestroyedThing& owner) {
  if (records_ == nullptr || context >= kMaxContexts) return;
  const ContextRecord& device = At<ContextRecord>(header_, header_->contexts_offset)[context];
  if (device.device_lost.load(std::memory_order_relaxed) != 0) return;
  const DestroyingThread& thread = ThisThread();
  const uint64_t place = TakePlace();
  DestructionRecord& record = records_[place % kDestructionRing];
  FetchAhead(records_, place);
  record.serial.store(kDestructionBeingWritten, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.kind = what.kind;
  record.context = context;
  record.native_handle = what.handle;
  record.time_ns = MonotonicNs();
  record.frame = static_cast<uint32_t>(device.frame.load(std::memory_order_relaxed));
  record.order = what.handle == 0 ? 0 : Count(counters_[DestructionCounterOf(what.handle)]);
  record.submission_serial = header_->submission_serial.load(std::memory_order_relaxed);
  record.object = what.entry.place;
  record.object_serial = what.entry.serial;
  record.cause_kind = cause.kind;
  record.cause_handle = cause.handle;
  record.cause_object = cause.entry.place;
  record.cause_object_serial = cause.entry.serial;
  record.owner_kind = owner.kind;
  record.owner_handle = owner.handle;
  record.owner_object = owner.entry.place;
  record.owner_object_serial = owner.entry.serial;
  record.thread_id = thread.id;
  std::copy(thread.name.begin(), thread.name.end(), record.thread_name);
  record.serial.store(place + 1, std::memory_order_release);
}

}  // namespace cairn
