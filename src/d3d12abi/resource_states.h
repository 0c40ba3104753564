// SPDX-License-Identifier: Apache-2.0
//
// Tracks the states of subresources after all submissions. A copy out of a subresource has to name
// its state (texture_readback.h). Follows the barriers of lists, and the rules of promotion and
// decay. Pure: no Direct3D object is touched, and states are numbers (D3D12_RESOURCE_STATES).
//
//   ListStates list;                      one a command list; its recording fills it
//   list.Transition(image, kAllSubresources, kStateRenderTarget);
//   ResourceStates states;                one a device
//   states.Add(image, {.mips = 1, ...});
//   states.Execute(lists, /*copy_queue=*/false);
//   states.State(image, 0);
#ifndef CAIRN_D3D12ABI_RESOURCE_STATES_H_
#define CAIRN_D3D12ABI_RESOURCE_STATES_H_

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace cairn {

inline constexpr uint32_t kAllSubresources = 0xFFFFFFFF;

// D3D12_RESOURCE_STATES, those that are needed here.
inline constexpr uint32_t kStateCommon = 0;
inline constexpr uint32_t kStatePresent = 0;
inline constexpr uint32_t kStateRenderTarget = 0x4;
inline constexpr uint32_t kStateUnorderedAccess = 0x8;
inline constexpr uint32_t kStateCopyDest = 0x400;
inline constexpr uint32_t kStateCopySource = 0x800;

// The facts that decide promotion, decay, and the numbers of subresources.
struct StatefulResource {
  uint32_t initial_state = kStateCommon;
  uint32_t mips = 1;
  uint32_t array_size = 1;  // 1 for volumes
  uint32_t planes = 1;
  bool buffer = false;
  bool simultaneous_access = false;
  bool is_image =
      false;  // of a swap chain: transitions to kStatePresent or `present_state` show it
  uint32_t present_state = kStatePresent;
};

// Subresources by their parts, as enhanced barriers name them.
struct SubresourceRange {
  uint32_t first_mip = 0;
  uint32_t mip_count = 1;
  uint32_t first_slice = 0;
  uint32_t slice_count = 1;
  uint32_t first_plane = 0;
  uint32_t plane_count = 1;
};

// The state changes of a command list, in order. Not thread-safe, like the list. Memory: 40 bytes
// each.
class ListStates {
 public:
  void Reset() { steps_.clear(); }
  // Split barriers: note the one that ends.
  void Transition(uint64_t object, uint32_t subresource, uint32_t after);
  void Transition(uint64_t object, const SubresourceRange& range, uint32_t after);
  // Destination of a copy: in the common state, that is what it is promoted to.
  void CopiedInto(uint64_t object, uint32_t subresource);
  // A colour target was bound or cleared.
  void Target(uint64_t object, uint32_t subresource);

 private:
  friend class ResourceStates;
  enum class Kind : uint8_t { kTransition, kCopiedInto, kTarget };
  struct Step {
    uint64_t object;
    Kind kind;
    bool by_range;
    uint32_t after;
    uint32_t subresource;
    SubresourceRange range;
  };
  std::vector<Step> steps_;
};

// The states of a device's resources. Any thread: submissions have to be reported in their order.
class ResourceStates {
 public:
  void Add(uint64_t object, const StatefulResource& resource);
  void Remove(uint64_t object);
  // The lists of one ExecuteCommandLists call on `queue` (a number of the caller's choice). Objects that
  // are not known are passed over.
  void Execute(std::span<const ListStates* const> lists, bool copy_queue, uint64_t queue = 0);

  // Returns the state; kStateCommon if unknown.
  uint32_t State(uint64_t object, uint32_t subresource) const;
  // The queue that executed the last list with a step about this object: there, a copy comes after all
  // of that. 0: none did.
  uint64_t LastQueue(uint64_t object) const;
  // The image that was shown last; 0: none, or it has ended.
  uint64_t LastPresented() const;
  // The last colour target of what was submitted; 0: none, or it has ended.
  struct LastTargetPlace {
    uint64_t object = 0;
    uint32_t subresource = 0;
  };
  LastTargetPlace LastTarget() const;

 private:
  struct Entry {
    StatefulResource resource;
    uint32_t state = kStateCommon;  // of all, while `each` is empty
    uint64_t queue = 0;
    std::vector<uint32_t> each;
    uint32_t subresource_count() const;
    void Set(uint32_t subresource, uint32_t value);
    uint32_t Get(uint32_t subresource) const;
    bool decays() const { return resource.buffer || resource.simultaneous_access; }
  };
  void Apply(const ListStates::Step& step, Entry* entry);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Entry> entries_;
  uint64_t last_presented_ = 0;
  LastTargetPlace last_target_;
};

// The state that stands for a D3D12_BARRIER_LAYOUT; kStateCommon for layouts that are not known.
uint32_t StateOfLayout(uint32_t layout);

// The barriers of a ResourceBarrier call. `number(ID3D12Resource*)` gives the object's number.
// `Barrier` is D3D12_RESOURCE_BARRIER, which this header does not declare.
template <typename Barrier, typename Number>
void NoteBarriers(ListStates* list, const Barrier* barriers, uint32_t count, const Number& number) {
  constexpr uint32_t kTransition = 0;
  constexpr uint32_t kBeginOnly = 1;
  if (barriers == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<uint32_t>(barriers[i].Type) != kTransition) continue;
    if ((static_cast<uint32_t>(barriers[i].Flags) & kBeginOnly) != 0) continue;
    const auto& transition = barriers[i].Transition;
    list->Transition(number(transition.pResource), transition.Subresource,
                     static_cast<uint32_t>(transition.StateAfter));
  }
}

// The groups of a Barrier call (ID3D12GraphicsCommandList7). `Group` is D3D12_BARRIER_GROUP.
template <typename Group, typename Number>
void NoteBarrierGroups(ListStates* list, const Group* groups, uint32_t count,
                       const Number& number) {
  constexpr uint32_t kTextures = 1;
  constexpr uint32_t kSplit = 0x80;  // D3D12_BARRIER_SYNC_SPLIT >> 24: the barrier only begins
  if (groups == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<uint32_t>(groups[i].Type) != kTextures) continue;
    if (groups[i].pTextureBarriers == nullptr) continue;
    for (uint32_t k = 0; k < groups[i].NumBarriers; ++k) {
      const auto& barrier = groups[i].pTextureBarriers[k];
      if (static_cast<uint32_t>(barrier.SyncAfter) >> 24 == kSplit) continue;
      const auto& range = barrier.Subresources;
      const uint32_t after = StateOfLayout(static_cast<uint32_t>(barrier.LayoutAfter));
      if (range.NumMipLevels == 0) {  // then the first field is an index of a subresource
        list->Transition(number(barrier.pResource), range.IndexOrFirstMipLevel, after);
      } else {
        list->Transition(
            number(barrier.pResource),
            SubresourceRange{range.IndexOrFirstMipLevel, range.NumMipLevels, range.FirstArraySlice,
                             range.NumArraySlices, range.FirstPlane, range.NumPlanes},
            after);
      }
    }
  }
}

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_RESOURCE_STATES_H_
