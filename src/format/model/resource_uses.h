// SPDX-License-Identifier: Apache-2.0
//
// Tracks how command lists use contents of resources: reads and partial changes, and complete
// overwrites. An unclear use counts as a read.
#ifndef CAIRN_FORMAT_MODEL_RESOURCE_USES_H_
#define CAIRN_FORMAT_MODEL_RESOURCE_USES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/calls/created_object.h"
#include "format/model/call_values.h"
#include "format/model/descriptor_table.h"
#include "format/model/resource_shape.h"
#include "format/trace/address_map.h"

namespace cairn {

inline constexpr Subresources kWholeResource = {0, 0xFFFFFFFF, 1};
// D3D12_RESOURCE_STATES: what is in these is seen through no descriptor heap.
inline constexpr uint32_t kDrawnInto = 0x4;
inline constexpr uint32_t kDepthWritten = 0x10;

struct ResourceUse {
  enum class Kind : uint8_t {
    kRead,       // may depend on what it holds
    kOverwrite,  // all of it is written, or said to be of no use
    kState,      // a barrier brings it into `state`
    kHeap,       // `object` is a descriptor heap: whatever has a view in it may be read
  };
  Kind kind = Kind::kRead;
  uint64_t object = 0;
  uint32_t state = 0;
  Subresources subresources = kWholeResource;

  bool whole() const { return subresources.count == kWholeResource.count; }
};

// Follows objects, descriptors and recordings of lists through a trace, one record after the other.
class ListUses {
 public:
  void OnObject(const Record& record, const CreatedObject& object);
  // A call of a device that writes or copies descriptors; a call of a list, but for its Reset.
  void OnView(Method method, const DecodedCall& call, const CallValues& values);
  void OnCopies(const DecodedCall& call, bool simple);
  void OnListCall(Method method, uint64_t list, const DecodedCall& call, const CallValues& values);
  // A list's Reset succeeded; an object ended, which may be a list.
  void OnReset(uint64_t list) { lists_.erase(list); }
  void EndList(uint64_t object) { lists_.erase(object); }

  // Returns the uses recorded since the list's Reset.
  std::span<const ResourceUse> UsesOf(uint64_t list) const;
  const ResourceShape* ShapeOf(uint64_t resource) const;
  // Objects, views and lists that are followed.
  size_t size() const { return shapes_.size() + targets_.contents().size() + lists_.size(); }
  // A list drew into something that is not known: nothing can be said of any resource.
  bool lost() const { return lost_; }

 private:
  struct List {
    std::vector<ResourceUse> uses;
    std::vector<TargetView> bound;       // as their descriptors were when they were
    std::unordered_set<uint64_t> heaps;  // ever bound since the Reset
    bool work_noted = false;             // since targets, heaps and states changed last
    bool predicated = false;
  };

  // A handle for render targets, or depth; null, and lost(), if nothing is known of it.
  const TargetView* Target(uint64_t handle);
  static void Read(List* list, uint64_t object);
  static void Overwrite(List* list, uint64_t object, const Subresources& subresources);
  static void OverwriteOrRead(List* list, bool whole, uint64_t object,
                              const Subresources& subresources);
  // Record how a render pass begins with a plane of a view, and what it resolves at its end.
  // `access`: a D3D12_RENDER_PASS_BEGINNING_ACCESS_TYPE; for EndPass the bytes of a
  // D3D12_RENDER_PASS_ENDING_ACCESS.
  static void BeginPass(List* list, const TargetView& view, uint32_t plane, uint32_t access,
                        bool resumes);
  void EndPass(List* list, const void* access);
  // Records a read of every object that the call refers to.
  void ReadAll(List* list, const CallValues& values);
  // Records that the GPU works with the bindings.
  static void NoteWork(List* list);

  void OnBundle(uint64_t list, uint64_t bundle);
  void OnSetTargets(List* list, const DecodedCall& call);
  void OnClear(List* list, const DecodedCall& call, bool depth_stencil);
  void OnBarriers(List* list, const DecodedCall& call);
  void OnBarrierGroups(List* list, const DecodedCall& call);
  void OnRenderPass(List* list, const DecodedCall& call);
  void OnDiscard(List* list, const DecodedCall& call);
  void OnCopyResource(List* list, const DecodedCall& call);
  void OnCopyBuffer(List* list, const DecodedCall& call);
  void OnCopyTexture(List* list, const DecodedCall& call);
  void OnResolve(List* list, const DecodedCall& call);
  // True: the call was one of those above.
  bool OnKnownWork(Method method, List* list, const DecodedCall& call);

  std::unordered_map<uint64_t, ResourceShape> shapes_;
  AddressMap addresses_;
  DescriptorTable<TargetView> targets_;  // of heaps of render targets and depth views
  std::unordered_map<uint64_t, List> lists_;
  bool lost_ = false;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_RESOURCE_USES_H_
