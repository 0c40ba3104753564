// SPDX-License-Identifier: Apache-2.0
//
// The part of VerifyTrace that looks into calls.
#ifndef CAIRN_FORMAT_TRACE_VERIFY_CALLS_H_
#define CAIRN_FORMAT_TRACE_VERIFY_CALLS_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "format/trace/verify.h"

namespace cairn {

// Counts all findings and keeps the first of each rule. `report` must outlive it.
class FindingList {
 public:
  explicit FindingList(VerifyReport* report) : report_(*report) {}
  void Add(VerifyRule rule, Severity severity, uint64_t record, std::string text);
  // Bytes that cannot be read; a warning if they only were not looked at (TraceReader::LimitCost).
  void Unread(VerifyRule rule, uint64_t record, const Status& status,
              const std::string& what = "") {
    const bool is_left_out = status.code() == StatusCode::kOutOfMemory;
    Add(rule, is_left_out ? Severity::kWarning : Severity::kError, record,
        what + VisibleText(status.message()));
  }
  void Error(VerifyRule rule, uint64_t record, std::string text) {
    Add(rule, Severity::kError, record, std::move(text));
  }
  void Warning(VerifyRule rule, uint64_t record, std::string text) {
    Add(rule, Severity::kWarning, record, std::move(text));
  }
  void Note(VerifyRule rule, uint64_t record, std::string text) {
    Add(rule, Severity::kNote, record, std::move(text));
  }

 private:
  VerifyReport& report_;
};

// Checks calls, which it receives in their order. The constructor's arguments must outlive it.
class CallVerifier : private ValueVisitor {
 public:
  CallVerifier(TraceReader* trace, const TraceState* state, FindingList* findings)
      : trace_(*trace), state_(*state), findings_(*findings) {}

  // True if the arguments could be decoded.
  bool LookAtCall(const Record& record, Method method);
  void LookAtResult(const Record& record, uint64_t call, Method method);
  void LookAtObject(const TracedObject& object);
  void LookAtEnd();
  // A byte value, valid until the next call of anything.
  Result<std::span<const std::byte>> Bytes(std::span<const std::byte>* rest);

 private:
  struct Fence {
    bool shared = false;     // others may signal it
    uint64_t greatest = 0;   // value that it had at first, or that a signal gave it
    uint64_t awaited = 0;    // the greatest value that a queue waits for
    uint64_t wait_call = 0;  // which
  };
  struct NewFence {
    uint64_t value = 0;
    bool shared = false;
  };

  Status Object(Chain declared, uint64_t* place) override;
  Status GpuAddress(uint64_t* place) override;
  Status CpuDescriptor(uint64_t* place) override;
  Status GpuDescriptor(uint64_t* place) override;

  bool Decode(const Record& record, Method method, std::span<const std::byte> body, bool results);
  void LookAtDescriptor(std::optional<TraceState::Descriptor> place, uint64_t handle,
                        const char* kind);
  // LookAtRange and LookAtBufferRange check a range of GPU memory, LookAtDescriptors descriptors
  // from `handle` on.
  void LookAtRange(uint64_t address, uint64_t size_bytes, const char* what);
  void LookAtBufferRange(uint64_t resource, uint64_t offset, uint64_t size_bytes);
  void LookAtDescriptors(uint64_t handle, uint64_t count);
  void LookAtDescriptorRanges(size_t count_argument, size_t starts_argument, size_t sizes_argument);
  void LookAtRanges(Method method);
  void LookAtFences(const Record& record, Method method);
  void Signal(uint64_t fence, uint64_t value);

  // Access to the arguments of the decoded call.
  template <typename T>
  T Argument(size_t index) const;
  // Element `index` of the array that an argument points to; the array is not null.
  template <typename T>
  T Element(size_t argument, size_t index) const;
  bool IsNull(size_t argument) const { return Argument<uint64_t>(argument) == 0; }

  TraceReader& trace_;
  const TraceState& state_;
  FindingList& findings_;
  Arena arena_{uint64_t{256} << 20};
  DecodedCall decoded_;
  uint64_t record_ = 0;  // that is looked at
  std::unordered_map<uint64_t, Fence> fences_;
  std::unordered_map<uint64_t, NewFence> new_fences_;  // by the call that makes them
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_VERIFY_CALLS_H_
