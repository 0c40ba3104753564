// SPDX-License-Identifier: Apache-2.0
//
// The accesses of a function to memory by address, and through descriptors with indices that may be outside.
#ifndef CAIRN_APP_SPIRV_ACCESS_FINDER_H_
#define CAIRN_APP_SPIRV_ACCESS_FINDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/spirv/descriptor_path.h"
#include "app/spirv/module.h"
#include "app/spirv/pointee_size.h"
#include "format/experiment/access_record.h"

namespace cairn::spirv {

// A value of the function that an access takes.
struct LocalValue {
  uint32_t id = 0;
  uint32_t type = 0;
};

struct FoundAccess {
  uint32_t block = 0;         // index in the function
  uint32_t instruction = 0;   // index in the block
  uint16_t word = 0;          // of the pointer, in the instruction
  uint32_t pointer_type = 0;  // id
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;  // by address
  std::string cannot;  // a sentence, if it can't be checked
  // By descriptor:
  std::optional<DescriptorPath> path;
  std::vector<LocalValue> locals;  // all but the pointer, the indices among them
};

// Counts those that FindAccesses finds, in any module.
uint32_t CountAccesses(const Module& module, const Function& function);
// In the order in which they stand in a function of a valid module. Cost: linear in the function.
std::vector<FoundAccess> FindAccesses(const Module& module, const Function& function,
                                      PointeeSizes& sizes);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_ACCESS_FINDER_H_
