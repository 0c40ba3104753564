// SPDX-License-Identifier: Apache-2.0
//
// Checks each access of a SPIR-V module to memory by address, and each one by descriptor whose indices may be outside.
// docs/internals/shaders.md has what is inserted.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_SPIRV_ACCESS_CHECKS_H_
#define CAIRN_APP_SPIRV_ACCESS_CHECKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/spirv/access_finder.h"
#include "app/spirv/source_places.h"
#include "base/status.h"
#include "format/experiment/access_record.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

// The memory that takes the place of what lies outside. An access of more is not checked.
inline constexpr uint32_t kSpareBytes = 64 << 10;

// A load, a store, or an atomic operation through a pointer to PhysicalStorageBuffer, or through one that comes from the
// variable of a descriptor by an index. OpCopyMemory counts twice.
struct Access {
  uint32_t function = 0;  // id
  SourcePlace place;
  AccessKind kind = AccessKind::kLoad;
  uint32_t bytes = 0;  // by address
  // The name of the pointer, or of what it was loaded from; "" for none. By descriptor: of the variable.
  std::string pointer;
  bool by_descriptor = false;
  uint32_t set = 0;
  uint32_t binding = 0;
  std::vector<CheckedIndex> indices;  // those that are checked, in the order of IndexMiss
  // Empty if it is checked, else a sentence that says why not.
  std::string cannot;
  // Says why an index of a checked access is not checked; "" if all are.
  std::string partly;
};

// Addresses on the device, each a multiple of 64.
struct AccessChecks {
  uint64_t table = 0;    // an AccessTable
  uint64_t records = 0;  // an AccessRecord for each access of the module, in their order
  uint64_t zeros = 0;    // kSpareBytes of zeros: loads from outside read these
  uint64_t spare = 0;    // kSpareBytes for stores and atomic operations outside
  // Accesses outside are told, and go where the program wants them; then zeros and spare are not used.
  bool only_counts = false;
};

struct CheckedModule {
  std::vector<uint32_t> words;   // equal to the module's own where `checked` is 0
  std::vector<Access> accesses;  // all
  uint32_t checked = 0;          // how many are checked
  InvocationKind invocations = InvocationKind::kUnknown;
};

// Counts the accesses of a module, which may be any words. Errors: as Module::Read; a module beyond the bounds on its
// size. Cost: linear in the module.
Result<uint32_t> CountAccesses(std::span<const uint32_t> words);

// Checks the accesses of a module, which may be any words.
// Errors: as ReadValid; kUnsupported also where the changed module is not valid, and says why.
// Cost: two validations; the rest is linear in the module.
Result<CheckedModule> CheckAccesses(std::span<const uint32_t> words, const AccessChecks& checks);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_ACCESS_CHECKS_H_
