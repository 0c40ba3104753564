// SPDX-License-Identifier: Apache-2.0
//
// Programs of state objects. SetProgram names one by the identifier that GetProgramIdentifier gave, and
// DispatchGraph reads records from the CPU whose size only the program's state object knows. What was
// asked for is noted here, so that reports name the state object, and captures copy the records.
//
//   Programs().Find(device, identifier) -> its state object, and the sizes of its entry points' records
//   RecordableInputs(scratch, desc, record_bytes) -> the same inputs without gaps
#ifndef CAIRN_APP_D3D12_WORK_GRAPHS_H_
#define CAIRN_APP_D3D12_WORK_GRAPHS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "app/d3d12/scratch.h"
#include "d3d12gen/thin/ID3D12StateObjectProperties.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Bytes of a record, by entry point. Null and empty for what is no work graph.
using RecordBytes = std::shared_ptr<const std::vector<UINT>>;

struct NotedProgram {
  Wrapper* state_object = nullptr;  // null: nobody asked for this identifier
  RecordBytes record_bytes;
};

// Devices may use the same identifiers for programs of their own. Thread-safe. Memory: some 100 bytes for each program that was asked for, until its state object ends.
class NotedPrograms {
 public:
  // Replaces what was noted with this identifier of this device.
  void Add(const void* device, const D3D12_PROGRAM_IDENTIFIER& identifier, NotedProgram program);
  void Remove(const Wrapper& state_object);
  NotedProgram Find(const void* device, const D3D12_PROGRAM_IDENTIFIER& identifier) const;

 private:
  using Key = std::pair<const void*, std::array<UINT64, 4>>;
  static Key KeyOf(const void* device, const D3D12_PROGRAM_IDENTIFIER& identifier);

  mutable std::mutex mutex_;
  std::map<Key, NotedProgram> programs_;
};

NotedPrograms& Programs();

// Notes the programs that are asked for.
class WrappedID3D12StateObjectProperties final : public ThinID3D12StateObjectProperties {
 public:
  WrappedID3D12StateObjectProperties(void* real, Wrapper& owner)
      : ThinID3D12StateObjectProperties(real, &owner) {}
  ~WrappedID3D12StateObjectProperties() override { Programs().Remove(owner()); }

#if defined(_MSC_VER)
  D3D12_PROGRAM_IDENTIFIER STDMETHODCALLTYPE GetProgramIdentifier(LPCWSTR name) override;
#else
  D3D12_PROGRAM_IDENTIFIER* STDMETHODCALLTYPE GetProgramIdentifier(D3D12_PROGRAM_IDENTIFIER* result,
                                                                   LPCWSTR name) override;
#endif

 private:
  void Note(const D3D12_PROGRAM_IDENTIFIER& identifier, LPCWSTR name);
};

// Returns `desc` as a trace holds it: inputs from the CPU follow each other, and so do their records,
// which lie at least their size apart. A stride of zero means the same record again and again: there it
// is copied as often. Records whose size is unknown (`record_bytes` lacks their entry point), or which
// come to more than 64 MiB, are left out: their pointer is null. In `scratch`; null without memory;
// `desc` itself if nothing comes from the CPU.
const D3D12_DISPATCH_GRAPH_DESC* RecordableInputs(Scratch& scratch,
                                                  const D3D12_DISPATCH_GRAPH_DESC* desc,
                                                  std::span<const UINT> record_bytes);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_WORK_GRAPHS_H_
