// SPDX-License-Identifier: Apache-2.0
//
// Hashes of what the GPU left in buffers and textures, for a capture that is asked for them: a
// replay compares them. A resource is hashed when it ends, for then its program has waited for all
// work with it. The resources that still live are hashed when the process or the recording ends.
//
// Memory that nobody wrote would differ from run to run. So memory begins as zeros, as Direct3D 12
// promises for committed resources and heaps, here and in the replay. These have no hash: resources
// that cannot be made zero; resources that the CPU can map (their bytes are recorded); images of
// swap chains; reserved, multisampled and large resources; acceleration structures; results of
// queries; and what is all zeros in a resource that no list named.
//
// Threads: any. The lock is held while the GPU is waited for; no other lock is taken under it but
// those of ResourceStates.
#ifndef CAIRN_APP_D3D12_CAPTURE_RESOURCE_HASHES_H_
#define CAIRN_APP_D3D12_CAPTURE_RESOURCE_HASHES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "app/capture/capture.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/resource_states.h"
#include "d3d12abi/texture_readback.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class ResourceHashes {
 public:
  // Larger ones have no hash, nor have those with more subresources.
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  static constexpr uint32_t kMostSubresources = 64;

  // `states` must outlive it.
  ResourceHashes(ID3D12Device* real, const ResourceStates* states)
      : real_(real), states_(*states) {}

  // A heap was made, which gets a buffer over all of it for a moment.
  void BeginHeap(uint64_t number, ID3D12Heap* real);
  // A resource was made; `heap`: the number of the one that it is placed in, 0 for one with memory of its own.
  void Begin(uint64_t number, ID3D12Resource* real, uint32_t initial_state, uint64_t heap);
  // The resource is about to end. `queue`: where it was worked with last; null: one of our own looks.
  void End(uint64_t number, ID3D12CommandQueue* queue);
  // The process or the capture is about to end, and the GPU has nothing to do: all that live and that `wanted` is true of, for a short time.
  void EndAll(const std::function<bool(uint64_t number)>& wanted);
  // Omits the resource's hash: its contents differ from run to run.
  void Forget(uint64_t number);

 private:
  struct Resource {
    ID3D12Resource* real = nullptr;
  };
  // mutex_ is held in these.
  ID3D12CommandQueue* OwnQueue();
  void Write(Capture& capture, uint64_t number, ID3D12Resource* real, ID3D12CommandQueue* queue);
  // Returns true if `status` is ok. Once the device is lost, nothing is hashed any more, and a note
  // says why.
  bool Goes(const Status& status);

  ID3D12Device* const real_;
  const ResourceStates& states_;
  std::mutex mutex_;
  std::optional<TextureReadback> readback_;
  ComPtr<ID3D12CommandQueue> queue_;
  bool stopped_ = false;
  std::map<uint64_t, Resource> resources_;  // that began as zeros
  std::unordered_set<uint64_t> heaps_;      // that did; numbers are never used again
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_RESOURCE_HASHES_H_
