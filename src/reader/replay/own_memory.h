// SPDX-License-Identifier: Apache-2.0
//
// Memory of the player's in place of the program's: for acceleration structures, and for the scratch memory of their
// builds, where this device needs more bytes than the program's buffer has.
#ifndef CAIRN_READER_REPLAY_OWN_MEMORY_H_
#define CAIRN_READER_REPLAY_OWN_MEMORY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/play_cost.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Of one device, one thread. Lists keep addresses: no memory goes before its owner does.
class OwnMemory {
 public:
  // What the program has at a recorded address, as long as an object lives.
  struct Place {
    uint64_t owner = 0;  // a buffer, or a list
    uint64_t address = 0;
  };

  // `state`: of the buffers.
  explicit OwnMemory(D3D12_RESOURCE_STATES state) : state_(state) {}

  // Returns the address of at least `size_bytes` bytes for what the program has at `place`: the same ones each time,
  // until they are too few. What they hold is not copied then. kUnsupported: no device has so much. kOutOfMemory: this
  // one has not, or the playback may cost no more; memory that is made is added to `cost`.
  Result<D3D12_GPU_VIRTUAL_ADDRESS> Provide(ID3D12Device* device, PlayCost* cost, Place place,
                                            uint64_t size_bytes);

  // What lies at a place of `owner` belongs to another one as well from now on.
  void Give(uint64_t owner, Place to);
  // An owner ends. Returns the memory for its places, which the GPU may still use.
  std::vector<ComPtr<IUnknown>> Remove(uint64_t owner);

  static constexpr uint64_t kSmallestBlockBytes = 65536;
  static constexpr uint64_t kLargestBlockBytes = 16 << 20;  // of several places

 private:
  struct Part {
    D3D12_GPU_VIRTUAL_ADDRESS address = 0;
    uint64_t size_bytes = 0;
  };
  // The memory of one owner. The last block has what is free.
  struct Parts {
    std::vector<ComPtr<ID3D12Resource>> blocks;
    uint64_t block_bytes = 0;
    uint64_t used_bytes = 0;
    std::map<uint64_t, Part> parts;  // by address
  };
  Status AddBlock(ID3D12Device* device, PlayCost* cost, uint64_t size_bytes, Parts* parts) const;

  const D3D12_RESOURCE_STATES state_;
  std::map<uint64_t, Parts> owners_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_OWN_MEMORY_H_
