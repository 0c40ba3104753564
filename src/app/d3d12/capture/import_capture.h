// SPDX-License-Identifier: Apache-2.0
//
// Heaps, resources and fences that the program opens instead of making them, for a capture: how it opened them,
// as a replay needs to know.
#ifndef CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_

#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

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
  // The object of the call is recorded now. The implementation may also give out one that it has given out before.
  static void NoteRecorded();
  bool recorded() const { return recorded_; }

 private:
  const Import import_;
  bool recorded_ = false;
  // The same of the scope around this one, put back at its end.
  const Import* const outer_import_;
  bool* const outer_recorded_;
};

// The objects of this process that handles and names stand for. Handles are closed without a call that could be
// heard: one whose number comes again stands for what it was made for last. Any thread.
class SharedHandles {
 public:
  static SharedHandles& Get();  // of the process; never destroyed

  // CreateSharedHandle returned `handle` for an object. `name`: may be null; ends with a zero of `wchar_bytes`.
  // Without memory, here and in Opened(), the handle stands for an unknown object; nothing is thrown.
  void Created(HANDLE handle, const void* name, uint32_t wchar_bytes, uint64_t object);
  // OpenSharedHandleByName returned it.
  void Opened(HANDLE handle, const void* name, uint32_t wchar_bytes);
  // Returns the object's number in the capture; 0: unknown.
  uint64_t Find(HANDLE handle) const;

 private:
  static constexpr size_t kMost = 1u << 16;  // then all are forgotten

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> handles_;
  std::unordered_map<std::string, uint64_t> names_;
};

// Returns the facts of an import, without those of its object.
ImportFacts FactsOf(const Import& import);
// Returns the facts of an opened heap.
ImportFacts FactsOf(const Import& import, ID3D12Heap* real);
// Returns the facts of an opened fence.
ImportFacts FactsOf(const Import& import, ID3D12Fence* real);

inline uint64_t HandleValue(HANDLE handle) {
  uint64_t value = 0;
  static_assert(sizeof(handle) <= sizeof(value));
  std::memcpy(&value, &handle, sizeof(handle));
  return value;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_IMPORT_CAPTURE_H_
