// SPDX-License-Identifier: Apache-2.0
//
// Facts of a heap, resource or fence that a call opened instead of making it. In a kObject record they
// stand alone for heaps and fences, behind ResourceFacts for resources. Format: docs/formats/trace-format.md.
#ifndef CAIRN_FORMAT_CALLS_IMPORT_FACTS_H_
#define CAIRN_FORMAT_CALLS_IMPORT_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "format/calls/record.h"

namespace cairn {

// ObjectBody::facts of objects without other facts.
inline constexpr uint32_t kImportFacts = 3;

enum class ImportSource : uint32_t {
  kAddress = 1,      // memory of the program
  kFileMapping = 2,  // a section of Windows
  kHandle = 3,       // a shared object
};

struct ImportFacts {
  uint32_t source;             // ImportSource
  uint32_t heap_type;          // D3D12_HEAP_PROPERTIES of heaps
  uint32_t cpu_page_property;  //
  uint32_t memory_pool;        //
  uint32_t heap_flags;         // D3D12_HEAP_FLAGS of heaps
  uint32_t reserved;
  uint64_t place;     // the address or handle, as the program passed it
  uint64_t original;  // number of the object of this trace that the handle stands for; 0: unknown
  uint64_t value;     // bytes of a heap; what a fence had come to
  uint64_t alignment_bytes;  // of a heap
};
static_assert(sizeof(ImportFacts) == 56);

// Returns the facts in a kObject record; nullopt for objects that were made, and where they are cut off.
std::optional<ImportFacts> ImportOf(const Record& object);

// "opened at address 0x7f0000001000", "opened from file mapping 0x54", "opened from handle 0x58".
std::string ImportText(const ImportFacts& facts);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_IMPORT_FACTS_H_
