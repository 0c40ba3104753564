// SPDX-License-Identifier: Apache-2.0
//
// Programs of state objects in a replay: what this implementation names by which identifier, and what its
// work graphs read and need. Implementations believe an identifier: one that this one did not give, or
// whose state object is gone, never reaches it.
//
//   GetProgramIdentifier was made:       programs.Asked(call, Describe(...))
//   its recorded result has come:        programs.Recorded(call, identifier)
//   a list sets a program:               programs.Find(device, identifier), CheckInputs(program, desc)
//   an object ends:                      programs.Remove(object)
#ifndef CAIRN_READER_REPLAY_REPLAY_PROGRAMS_H_
#define CAIRN_READER_REPLAY_REPLAY_PROGRAMS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12gen/supplement.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

struct ReplayProgram {
  D3D12_PROGRAM_IDENTIFIER identifier = {};  // here
  uint64_t device = 0;  // of the state object; devices may have used equal identifiers
  uint64_t state_object = 0;
  bool is_work_graph = false;
  UINT64 least_backing_bytes = 0;  // of a work graph
  std::vector<UINT> record_bytes;  // of a work graph, by entry point
};

// Asks the state object `real` about its program `name`, whose identifier it gave. The caller names the device.
ReplayProgram DescribeProgram(IUnknown* real, const WCHAR* name, uint64_t state_object,
                              const D3D12_PROGRAM_IDENTIFIER& identifier);

// Checks what `desc` gives the work graph from the CPU. kUnsupported: the trace does not have it, or the
// mode is not known; kCorrupt: the implementation would read what is not there.
Status CheckInputs(const ReplayProgram& program, D3D12_DISPATCH_GRAPH_DESC* desc);

// One thread.
class ReplayPrograms {
 public:
  // `call` gave a program; what the recording knew it by comes with its results. A program without an
  // identifier is none.
  void Asked(uint64_t call, ReplayProgram program);
  bool IsAwaited(uint64_t call) const { return asked_.contains(call); }
  void Recorded(uint64_t call, const D3D12_PROGRAM_IDENTIFIER& recorded);
  // Null: there is no such program here.
  std::shared_ptr<const ReplayProgram> Find(uint64_t device,
                                            const D3D12_PROGRAM_IDENTIFIER& recorded) const;
  void Remove(uint64_t state_object);

 private:
  using Key = std::pair<uint64_t, std::array<UINT64, 4>>;  // a device, a recorded identifier

  std::unordered_map<uint64_t, ReplayProgram> asked_;
  std::map<Key, std::shared_ptr<const ReplayProgram>> programs_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_REPLAY_PROGRAMS_H_
