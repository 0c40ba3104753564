// SPDX-License-Identifier: Apache-2.0
//
// Puts what is real into decoded arguments: objects, addresses and descriptors instead of the numbers
// that the recording process had.
#ifndef CAIRN_READER_REPLAY_REPLAY_VALUES_H_
#define CAIRN_READER_REPLAY_REPLAY_VALUES_H_

#include <cstdint>
#include <vector>

#include "format/calls/value_decoder.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Statuses of its methods: kUnsupported: the call cannot be made here (something foreign or absent);
// kCorrupt: the trace contradicts itself.
class ReplayValues final : public ValueVisitor {
 public:
  // `cpu_reads_tables`: of the implementation that plays.
  ReplayValues(ReplayObjects* objects, bool cpu_reads_tables)
      : objects_(objects), cpu_reads_tables_(cpu_reads_tables) {}

  // Call it before each call is decoded. `device`: the real device of the called object; null:
  // unknown.
  void Begin(Method method, const void* device) {
    method_ = method;
    device_ = device;
    descriptors_.clear();
    had_event_ = false;
    lost_pipeline_ = false;
  }
  // The descriptors that were met, CPU and GPU, in the order of the arguments; those that are null,
  // or that were in no heap, have heap kNoObject.
  const std::vector<ReplayDescriptor>& descriptors() const { return descriptors_; }
  std::vector<ReplayDescriptor>& descriptors() { return descriptors_; }
  // An event was passed, not null.
  bool had_event() const { return had_event_; }
  // A list was to begin with a pipeline that could not be made here. It begins without one.
  bool lost_pipeline() const { return lost_pipeline_; }

  Status Object(Chain declared, uint64_t* place) override;
  Status GpuAddress(uint64_t* place) override;
  Status CpuDescriptor(uint64_t* place) override;
  Status GpuDescriptor(uint64_t* place) override;
  Status Handle(HandleKind kind, uint64_t* place) override;
  Status Callback(uint64_t* place) override;

 private:
  Status Descriptor(const Result<ReplayDescriptor>& real, uint64_t* place);

  ReplayObjects* const objects_;
  const bool cpu_reads_tables_;
  Method method_ = Method::ID3D12Object_GetPrivateData;
  const void* device_ = nullptr;
  std::vector<ReplayDescriptor> descriptors_;
  bool had_event_ = false;
  bool lost_pipeline_ = false;
};

// Returns true for calls that CheckDescriptors looks at.
bool HasDescriptorRules(const CallRole& role);
// Checks accesses that could corrupt memory and that an implementation does not check: copies of
// descriptors beyond their heap, views written into a heap of another type. Returns kCorrupt for
// these. If the ranges of a copy differ in their number of descriptors, reduces the arguments and
// `descriptors` to those that both have.
Status CheckDescriptors(Method method, const std::vector<void*>& arguments,
                        std::vector<ReplayDescriptor>* descriptors);
// Returns true for calls that CheckPointers looks at.
bool HasPointers(Method method);
// Null where the definitions promise that something is there, in parameters and in what they point to, or where no
// implementation takes it.
Status CheckPointers(Method method, const std::vector<void*>& arguments);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_REPLAY_VALUES_H_
