// SPDX-License-Identifier: Apache-2.0
//
// The status of a child process (os/child.h): a struct in memory that both processes map and that outlives the
// child. The child writes it, so that the parent knows how far the child came however it ended.
//
//   struct ProbeStatus {
//     std::atomic<uint64_t> call{0};
//     StatusWord<ProbeEnd, ProbeEnd::kLost> end;
//     StatusText<> message;
//   };
//   auto status = ChildStatus<ProbeStatus>::Create("cairn-probe", question);      // in the parent
//   Child::Start({..., .memory = &status->memory()});
//   auto status = ChildStatus<ProbeStatus>::OfThisProcess();                      // in the child
//   (*status)->call = 7;
//
// The parent trusts none of it: each member may change at any time to any value.
#ifndef CAIRN_OS_CHILD_STATUS_H_
#define CAIRN_OS_CHILD_STATUS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "base/text.h"
#include "os/child.h"
#include "os/shared_memory.h"

namespace cairn {

// An enumerator from 0 to `kLast`; all other values read as 0. A reader of the new value sees everything that the
// writer stored before Set.
template <typename Enum, Enum kLast>
class StatusWord {
 public:
  void Set(Enum value) { value_.store(static_cast<uint32_t>(value), std::memory_order_release); }
  Enum Get() const {
    const uint32_t value = value_.load(std::memory_order_acquire);
    return value > static_cast<uint32_t>(kLast) ? Enum{} : static_cast<Enum>(value);
  }

 private:
  std::atomic<uint32_t> value_{0};
};

// A text of at most `kMost` bytes. One writer.
template <size_t kMost = 1000>
class StatusText {
 public:
  static constexpr size_t kMaxBytes = kMost;

  // Cuts what is too long.
  void Set(std::string_view text) {
    bytes_.store(0, std::memory_order_relaxed);
    Append(text);
  }
  // Adds `text`, behind `between` if there is something already; cuts what has no room.
  void Append(std::string_view text, std::string_view between = "") {
    const size_t used = size();
    if (used == 0) between = "";
    if (kMost - used <= between.size()) return;
    Add(between, used);
    Add(Utf8Prefix(text, kMost - used - between.size()), used + between.size());
  }
  // Adds `text` as a whole, or nothing of it.
  void AppendWhole(std::string_view text) {
    if (text.size() <= kMost - size()) Add(text, size());
  }

  std::string Bytes() const { return std::string(text_, size()); }
  // Returns one line of visible characters.
  std::string Get() const { return VisibleText(Bytes()); }

 private:
  size_t size() const { return std::min<size_t>(bytes_.load(std::memory_order_acquire), kMost); }
  void Add(std::string_view text, size_t used) {
    std::memcpy(text_ + used, text.data(), text.size());
    bytes_.store(static_cast<uint32_t>(used + text.size()), std::memory_order_release);
  }

  std::atomic<uint32_t> bytes_{0};
  char text_[kMost] = {};
};

// Owns the mapping. T holds everything that one kind of child reports. Not thread-safe beyond T's atomics.
template <typename T>
class ChildStatus {
  static_assert(std::is_standard_layout_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Creates the memory. Called in the parent, which passes memory() to Child::Start; the child reads `question`
  // behind the status. `name`, errors: those of SharedMemory::Create.
  static Result<ChildStatus> Create(const char* name, std::span<const std::byte> question = {}) {
    Result<SharedMemory> memory = SharedMemory::Create(name, sizeof(T) + question.size());
    if (!memory.ok()) return memory.status();
    new (memory->data()) T;
    std::copy(question.begin(), question.end(), memory->data() + sizeof(T));
    return ChildStatus(std::move(*memory));
  }
  // Maps the memory in the child; called once. Errors: those of TakeMemoryOfParent; kCorrupt: the memory is too small.
  static Result<ChildStatus> OfThisProcess() {
    Result<SharedMemory> memory = TakeMemoryOfParent();
    if (!memory.ok()) return memory.status();
    if (memory->size_bytes() >= sizeof(T)) return ChildStatus(std::move(*memory));
    return Status(StatusCode::kCorrupt, "the memory that its parent gave it is too small");
  }

  const SharedMemory& memory() const { return memory_; }
  std::span<const std::byte> question() const {
    return {memory_.data() + sizeof(T), memory_.size_bytes() - sizeof(T)};
  }
  T& operator*() { return *std::launder(reinterpret_cast<T*>(memory_.data())); }
  const T& operator*() const { return *std::launder(reinterpret_cast<const T*>(memory_.data())); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  explicit ChildStatus(SharedMemory memory) : memory_(std::move(memory)) {}
  SharedMemory memory_;
};

}  // namespace cairn

#endif  // CAIRN_OS_CHILD_STATUS_H_
