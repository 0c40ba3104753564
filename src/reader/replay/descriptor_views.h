// SPDX-License-Identifier: Apache-2.0
//
// The views that the descriptors of a replay hold. Implementations keep in descriptors what they use
// later on the CPU (the resource of a target, the kind of a view), and do not check it: a call that
// names a view which does not fit, or whose resource has ended, would harm this process.
//
// PlayerImpl calls Check() before each call of a trace, and Note() after each that was made. One
// thread.
#ifndef CAIRN_READER_REPLAY_DESCRIPTOR_VIEWS_H_
#define CAIRN_READER_REPLAY_DESCRIPTOR_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "d3d12gen/roles.h"
#include "reader/replay/call_in_progress.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Memory: 24 bytes for each descriptor up to the last one of its heap that was written, at most twice as
// many.
class DescriptorViews {
 public:
  // `objects`: outlives this.
  explicit DescriptorViews(ReplayObjects* objects) : objects_(objects) {}

  // Checks the view that a call creates, or the views that it sets or clears. Clips the rectangles of
  // a clear to the target, as hardware does: their number and values in the arguments change.
  // `descriptors`: those of the arguments, in their order. Other calls are ok, and stay as they are.
  // Errors are reasons to skip the call: kCorrupt: it would harm this process; kUnsupported: the
  // implementation cannot make it; kInvalidArgument: it would do nothing.
  Status Check(CallInProgress* call, std::span<const ReplayDescriptor> descriptors);

  // Follows a call that was made and that succeeded: keeps the views that it creates or copies.
  void Note(CallInProgress* call, std::span<const ReplayDescriptor> descriptors);

  // Note() notes from now on of which structures views are.
  void KeepStructures() { keeps_structures_ = true; }
  // Returns the descriptors on a device that hold views of the structure at an address. The caller makes them again, of
  // the structure at `to`. Adds to `looked` how many descriptors it looked at.
  std::vector<D3D12_CPU_DESCRIPTOR_HANDLE> MoveStructure(uint64_t device, uint64_t address,
                                                         uint64_t to, uint64_t* looked);

  // Forgets a heap that ends, if it is one: another object may get its number.
  void Remove(uint64_t heap) { heaps_.erase(heap); }

 private:
  struct View {
    ViewKind kind = ViewKind::kNone;
    uint32_t width = 0;  // of the mip of a target
    uint32_t height = 0;
    uint64_t resource = kNoObject;
    uint64_t structure = 0;  // its address
  };

  // Return null if `further` lies behind the end of the heap, or is in none. Find(): or holds nothing.
  const View* Find(const ReplayDescriptor& descriptor, uint32_t further) const;
  View* Add(const ReplayDescriptor& descriptor, uint32_t further);
  Status CheckAlive(const ReplayDescriptor& descriptor, uint32_t further) const;
  Status CheckClear(CallInProgress* call, std::span<const ReplayDescriptor> descriptors,
                    ViewKind kind, size_t count, size_t rects) const;
  Status CheckTargets(CallInProgress* call, std::span<const ReplayDescriptor> descriptors) const;
  void Set(CallInProgress* call, const ReplayDescriptor& descriptor);
  void NoteStructure(CallInProgress* call, View* view);
  void Copy(const ReplayDescriptor& to, uint32_t to_index, const ReplayDescriptor& from,
            uint32_t from_index);
  void CopyRanges(CallInProgress* call, std::span<const ReplayDescriptor> descriptors);

  ReplayObjects* const objects_;
  std::unordered_map<uint64_t, std::vector<View>> heaps_;  // descriptors behind its end hold none
  bool keeps_structures_ = false;
  std::unordered_set<uint64_t> structures_;  // that have had a view
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_DESCRIPTOR_VIEWS_H_
