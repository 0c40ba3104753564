// SPDX-License-Identifier: Apache-2.0
//
// Heaps, resources and fences that the program opens instead of making them, for a capture: how it opened them,
// as a replay needs to know.
#ifndef CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_

#include <cstdint>
#include <cstring>
#include <optional>

#include "d3d12abi/d3d12_api.h"
#include "format/calls/import_facts.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct Import {
  ImportSource source = ImportSource::kAddress;
  uint64_t place = 0;     // ImportFacts::place
  uint64_t original = 0;  // ImportFacts::original
};

// Lives during a call that opens an object: the wrapper that this thread makes meanwhile is that object's.
class ImportScope {
 public:
  explicit ImportScope(const Import& import);
  ~ImportScope();
  ImportScope(const ImportScope&) = delete;
  ImportScope& operator=(const ImportScope&) = delete;

  // Returns the import of the call that this thread is in; nullopt outside of such calls.
  static std::optional<Import> Current();

 private:
  const Import import_;
};

// Returns the facts of an import, without those of its object.
ImportFacts FactsOf(const Import& import);
// Returns the facts of an opened heap.
ImportFacts FactsOf(const Import& import, ID3D12Heap* real);

inline uint64_t HandleValue(HANDLE handle) {
  uint64_t value = 0;
  static_assert(sizeof(handle) <= sizeof(value));
  std::memcpy(&value, &handle, sizeof(handle));
  return value;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_
