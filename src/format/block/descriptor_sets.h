// SPDX-License-Identifier: Apache-2.0
//
// The contents of descriptor sets, in pages of the block. A record is a DescriptorSetRecord and its
// descriptors, in 64, 128, ... or 4,096 bytes, aligned to that. It is used again for another set
// once its own has ended: with a new generation, so that earlier bindings lead nowhere.
//
// A descriptor is no reference: what it names may have been destroyed, and the handle may be another's by now.
// `stamp` tells: the descriptor means what was destroyed first after it was written.
#ifndef CAIRN_FORMAT_BLOCK_DESCRIPTOR_SETS_H_
#define CAIRN_FORMAT_BLOCK_DESCRIPTOR_SETS_H_

#include <atomic>
#include <cstdint>

namespace cairn {

enum class DescriptorKind : uint8_t {
  kNone = 0,
  kBuffer = 1,
  kBufferView = 2,
  kImageView = 3,
  kSampler = 4,
  kAccelerationStructure = 5,
};

struct DescriptorRecord {
  // Written last, and 0 while the rest is written. 0: it holds nothing.
  std::atomic<uint64_t> handle;
  uint32_t
      stamp;  // low half of the count of the handle's counter (destructions.h) when it was written
  uint16_t binding;  // elements of one binding follow one another, from 0
  DescriptorKind kind;
  uint8_t writable;  // 1: a buffer that shaders can write through it
};
static_assert(sizeof(DescriptorRecord) == 16);

struct DescriptorSetRecord {
  std::atomic<uint32_t> generation;  // never 0; 0 while the record changes hands
  uint32_t descriptor_count;         // that follow
  uint64_t native_handle;
  uint32_t context;
  // Descriptors in which nothing is looked for: programs may leave them stale, or they are too many.
  uint32_t unseen_count;
  uint64_t reserved;
};
static_assert(sizeof(DescriptorSetRecord) == 32);

inline constexpr uint32_t kDescriptorSetUnitBytes = 64;
inline constexpr uint32_t kDescriptorSetSizes = 7;  // 64 << 0 ... 64 << 6 bytes: a page
constexpr uint32_t DescriptorsThatFit(uint32_t size) {
  return static_cast<uint32_t>(((kDescriptorSetUnitBytes << size) - sizeof(DescriptorSetRecord)) /
                               sizeof(DescriptorRecord));
}
inline constexpr uint32_t kMaxSetDescriptors = DescriptorsThatFit(kDescriptorSetSizes - 1);

// Names a record: its offset in the block in units, and the generation that it had. 0 is none.
using DescriptorSetPlace = uint64_t;
constexpr DescriptorSetPlace MakeDescriptorSetPlace(uint64_t offset, uint32_t generation) {
  return uint64_t{generation} << 32 | offset / kDescriptorSetUnitBytes;
}
constexpr uint64_t OffsetOfDescriptorSet(DescriptorSetPlace place) {
  return (place & 0xFFFFFFFF) * kDescriptorSetUnitBytes;
}
constexpr uint32_t GenerationOfDescriptorSet(DescriptorSetPlace place) {
  return static_cast<uint32_t>(place >> 32);
}

// Bound instead of a set's record: descriptors in buffers of the program, and those that a command buffer
// itself holds. Nothing is known of them.
inline constexpr DescriptorSetPlace kDescriptorBuffers = 1;
inline constexpr DescriptorSetPlace kPushedDescriptors = 2;

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_DESCRIPTOR_SETS_H_
