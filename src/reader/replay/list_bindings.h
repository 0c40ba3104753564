// SPDX-License-Identifier: Apache-2.0
//
// The bindings of the command lists of a replay: root signatures and their tables, pipelines, and
// which of them are unknown because a call was skipped. Implementations index arrays by what a call
// says about the root signature that was set before, hold bound objects without a reference, and some
// read the descriptors of tables on the CPU.
//
// PlayerImpl calls Check() before each call of a list, Note() after each that succeeded, and Forget()
// after each that it skipped. One thread.
#ifndef CAIRN_READER_REPLAY_LIST_BINDINGS_H_
#define CAIRN_READER_REPLAY_LIST_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12gen/roles.h"
#include "reader/replay/call_in_progress.h"
#include "reader/replay/recent_values.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/replay_programs.h"
#include "reader/replay/root_signature.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Holds a reference to each object that a list has bound. Memory: a few hundred bytes a list, and 48 for
// each root parameter that has had a table.
class ListBindings {
 public:
  // Takes over an object of a device that a list had bound, and that the table of objects no longer
  // has: the GPU may still use it.
  using Retire = std::function<void(uint64_t device, ComPtr<IUnknown> object)>;

  // `objects`: outlives this. `is_libvkd3d`: of the implementation that plays: it reads tables on the
  // CPU, and its lists have no use for an allocator that was released.
  ListBindings(ReplayObjects* objects, bool is_libvkd3d, Retire retire)
      : objects_(objects), is_libvkd3d_(is_libvkd3d), retire_(std::move(retire)) {}

  // A list was created, with the allocator and the pipeline of `facts`, which gives the pipeline away.
  void Begin(uint64_t list, CreationFacts* facts);
  // A list ends.
  void End(const ReplayObject& list);
  // Leaks all references: after a loss or a hang the implementation may never return.
  void Abandon();

  // Checks a call of a list by what the list has bound. `descriptors`: those of the arguments. Calls of
  // other objects are ok. Errors are reasons to skip the call: kCorrupt: it would harm this process;
  // kUnsupported: what it uses is unknown here.
  Status Check(CallInProgress* call, std::span<const ReplayDescriptor> descriptors);
  // Checks if a list can be submitted, or go on: kCorrupt: its allocator was reset or has ended since
  // it was begun; kUnsupported: its Reset or Close was skipped.
  Status CheckRecorded(uint64_t list) const;

  // Follows a call that was made and that succeeded. `lost_pipeline`: the pipeline of the call could not
  // be made here. Counts resets of allocators, too.
  void Note(CallInProgress* call, std::span<const ReplayDescriptor> descriptors,
            bool lost_pipeline);
  // Follows a SetProgram that was made: the list has the program, and holds its state object.
  void SetProgram(CallInProgress* call, ComPtr<IUnknown> state_object,
                  std::shared_ptr<const ReplayProgram> program);
  // The program that was set last, if no pipeline or state object was since. Null: none.
  const ReplayProgram* ProgramOf(uint64_t list) const;
  // Follows a call that was skipped: what it would have bound is unknown from here on.
  void Forget(uint64_t list, Method method);

  // Returns true if a Reset or a Close of the list was skipped, and no Reset was made since.
  bool IsUnknown(uint64_t list) const;
  // The skipped call had failed in the recording, too: the list is as it was before.
  void SetKnown(uint64_t list);

 private:
  struct Table {
    ComPtr<IUnknown> heap;
    uint64_t heap_number = 0;
    uint32_t index = 0;
    uint32_t heap_count = 0;
    uint64_t outside = 0;  // the handle, as recorded, if it was in no heap
  };
  // A root signature, and what is set for it.
  struct Point {
    bool set = false;
    bool unknown = false;  // what was set last was skipped
    ComPtr<IUnknown> signature;
    std::shared_ptr<const RootSignatureLayout> layout;  // null: not known
    std::vector<Table> tables;                          // by root parameter
    bool checked = false;                               // the tables, since one was set
  };
  struct Bound {
    Point points[2];  // graphics, compute
    ComPtr<IUnknown> pipeline;
    ComPtr<IUnknown> state_object;
    std::shared_ptr<const ReplayProgram> program;  // of that state object
    // True if the last binding was skipped, so that the state that work would use is unknown. True
    // for all of a list whose Reset was skipped.
    bool unknown = false;
    bool unknown_heaps = false;
    bool unknown_pipeline = false;
    bool unknown_targets = false;
    uint64_t allocator = kNoObject;
    uint64_t allocator_resets = 0;
  };

  const Bound* Find(uint64_t list) const;
  Bound& Of(uint64_t list) {
    Bound* const recent = recent_.Find(list);
    return recent != nullptr ? *recent : Made(list);
  }
  Bound& Made(uint64_t list);
  bool IsRecorded(const Bound& bound) const;
  Status CheckRecorded(uint64_t list, const Bound& bound) const;
  Status CheckRootArgument(CallInProgress* call, const Bound& list,
                           std::span<const ReplayDescriptor> descriptors);
  Status CheckTables(Bound* bound, size_t point) const;
  Status CheckWork(CallInProgress* call, Bound* bindings);
  void NoteState(CallInProgress* call, std::span<const ReplayDescriptor> descriptors);
  void SetRootSignature(CallInProgress* call, size_t point);
  void SetTable(CallInProgress* call, size_t point, std::span<const ReplayDescriptor> descriptors);
  // `pipeline`: null: none from here on.
  void Start(CallInProgress* call, const ReplayObject* allocator, IUnknown* pipeline);
  void Clear(CallInProgress* call, IUnknown* pipeline);
  // Keeps an object that was bound until the GPU has no use for it: the program may have released it
  // already.
  void Unbind(uint64_t device, ComPtr<IUnknown> object);
  void Unbind(uint64_t device, Bound* bound);

  ReplayObjects* const objects_;
  const bool is_libvkd3d_;
  const Retire retire_;
  std::unordered_map<uint64_t, std::unique_ptr<Bound>> lists_;
  mutable RecentValues<Bound> recent_;  // of lists_
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_LIST_BINDINGS_H_
