// SPDX-License-Identifier: Apache-2.0
//
// With what arguments a command was recorded: up to two kBind events directly behind its kBegin, of the points below.
// Each holds three numbers of 32 bits: the slot, and both halves of the value; with kEventBindsAddress, as they lead to
// no object. Readers that do not know these points skip them.
#ifndef CAIRN_FORMAT_BLOCK_WORK_ARGUMENTS_H_
#define CAIRN_FORMAT_BLOCK_WORK_ARGUMENTS_H_

#include <array>
#include <cstdint>

#include "format/block/block.h"

namespace cairn {

// Stored in files: never renumber or reuse one.
enum class ArgumentsPoint : uint16_t {
  kNone = 0,
  kDraw = 32,         // vertices, instances, first vertex
  kIndexedDraw = 33,  // indices, instances, first index
  kGroups = 34,       // of threads, of tasks or of rays: along x, y, z
  kIndirect = 35,     // commands, or the most of them; offset of the first in its buffer, 64 bits
  kIndirectAddress = 36,  // commands; address of the first, 64 bits
  kBytes = 37,            // regions; bytes of all of them, 64 bits
  kTexels = 38,           // width, height, depth of the first region
  // Behind one of the above, where not all of it is 0.
  kFirst =
      48,  // of kDraw and kIndexedDraw: first instance, vertex offset (signed); of kGroups: base along x, y, z
  kIndirectMore =
      49,  // of kIndirect: bytes from command to command; offset of their count in its buffer, 64 bits
  kRegions = 50,  // of kTexels: regions
};
constexpr bool IsArguments(uint16_t point) {
  return point >= static_cast<uint16_t>(ArgumentsPoint::kDraw) && point < 64;
}

// The numbers of one such event.
struct ArgumentNumbers {
  ArgumentsPoint point = ArgumentsPoint::kNone;
  uint32_t first = 0;
  uint64_t rest = 0;  // the second in its low half, the third in its high half

  constexpr uint32_t second() const { return static_cast<uint32_t>(rest); }
  constexpr uint32_t third() const { return static_cast<uint32_t>(rest >> 32); }
};
constexpr ArgumentNumbers Three(ArgumentsPoint point, uint32_t first, uint32_t second,
                                uint32_t third) {
  return {point, first, uint64_t{third} << 32 | second};
}

struct WorkArguments {
  ArgumentNumbers main;
  ArgumentNumbers more;  // kNone: there is no second event
};

constexpr WorkArguments DrawArguments(uint32_t vertices, uint32_t instances, uint32_t first_vertex,
                                      uint32_t first_instance) {
  WorkArguments made{Three(ArgumentsPoint::kDraw, vertices, instances, first_vertex), {}};
  if (first_instance != 0) made.more = Three(ArgumentsPoint::kFirst, first_instance, 0, 0);
  return made;
}
constexpr WorkArguments IndexedDrawArguments(uint32_t indices, uint32_t instances,
                                             uint32_t first_index, int32_t vertex_offset,
                                             uint32_t first_instance) {
  WorkArguments made{Three(ArgumentsPoint::kIndexedDraw, indices, instances, first_index), {}};
  if (first_instance != 0 || vertex_offset != 0) {
    made.more =
        Three(ArgumentsPoint::kFirst, first_instance, static_cast<uint32_t>(vertex_offset), 0);
  }
  return made;
}
constexpr WorkArguments GroupArguments(uint32_t x, uint32_t y, uint32_t z, uint32_t base_x = 0,
                                       uint32_t base_y = 0, uint32_t base_z = 0) {
  WorkArguments made{Three(ArgumentsPoint::kGroups, x, y, z), {}};
  if ((base_x | base_y | base_z) != 0) {
    made.more = Three(ArgumentsPoint::kFirst, base_x, base_y, base_z);
  }
  return made;
}
// Without `count_offset` all `commands` run.
inline constexpr uint64_t kNoCount = UINT64_MAX;
constexpr WorkArguments IndirectArguments(uint32_t commands, uint64_t offset, uint32_t stride = 0,
                                          uint64_t count_offset = kNoCount) {
  WorkArguments made{{ArgumentsPoint::kIndirect, commands, offset}, {}};
  // A single command needs no stride.
  if ((stride != 0 && commands > 1) || count_offset != kNoCount) {
    made.more = {ArgumentsPoint::kIndirectMore, stride, count_offset};
  }
  return made;
}
constexpr WorkArguments IndirectAddressArguments(uint32_t commands, uint64_t address) {
  return {{ArgumentsPoint::kIndirectAddress, commands, address}, {}};
}
constexpr WorkArguments ByteArguments(uint32_t regions, uint64_t bytes) {
  return {{ArgumentsPoint::kBytes, regions, bytes}, {}};
}
constexpr WorkArguments TexelArguments(uint32_t width, uint32_t height, uint32_t depth,
                                       uint32_t regions) {
  WorkArguments made{Three(ArgumentsPoint::kTexels, width, height, depth), {}};
  if (regions > 1) made.more = Three(ArgumentsPoint::kRegions, regions, 0, 0);
  return made;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_WORK_ARGUMENTS_H_
