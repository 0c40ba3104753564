// SPDX-License-Identifier: Apache-2.0
//
// Backing memory of work graphs in a replay: buffers of the player's for those that need more than was
// recorded, and which memory this implementation has initialised for which of them.
#ifndef CAIRN_READER_REPLAY_WORK_GRAPH_MEMORY_H_
#define CAIRN_READER_REPLAY_WORK_GRAPH_MEMORY_H_

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/replay_programs.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Of one device, one thread. Lists keep addresses: no buffer that is in use here goes before the device
// or the state object does.
class WorkGraphMemory {
 public:
  struct Own {
    D3D12_GPU_VIRTUAL_ADDRESS address = 0;
    bool is_new = false;
  };
  // Returns the buffer of the player's for a work graph that the program gave the memory `given` (null
  // too). kUnsupported: the device has no such memory.
  Result<Own> Provide(ID3D12Device* device, const ReplayProgram& program,
                      D3D12_GPU_VIRTUAL_ADDRESS given);

  // The contents of other memory are of another implementation, or of another work graph.
  bool IsInitialised(const ReplayProgram& program, D3D12_GPU_VIRTUAL_ADDRESS real) const;
  void NoteInitialised(const ReplayProgram& program, D3D12_GPU_VIRTUAL_ADDRESS real);

  // A state object ends. Returns its buffers, which the GPU may still use.
  std::vector<ComPtr<IUnknown>> Remove(uint64_t state_object);

 private:
  using Graph = std::tuple<uint64_t, std::array<UINT64, 4>>;  // state object, identifier here
  using Key = std::tuple<uint64_t, std::array<UINT64, 4>, D3D12_GPU_VIRTUAL_ADDRESS>;
  static Graph GraphOf(const ReplayProgram& program);

  // By what the program gave the work graph. The last buffer is the one in use.
  std::map<Key, std::vector<ComPtr<ID3D12Resource>>> own_;
  std::map<D3D12_GPU_VIRTUAL_ADDRESS, Graph> initialised_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_WORK_GRAPH_MEMORY_H_
