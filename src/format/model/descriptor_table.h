// SPDX-License-Identifier: Apache-2.0
//
// The contents of the descriptors in a program's heaps, by CPU handle, with copies followed to
// their origin. A copy of an unwritten descriptor leaves an unwritten one.
//
//   DescriptorTable<uint64_t> writers;          what is kept of each: here, the call that wrote it
//   writers.AddHeap(heap, facts);
//   writers.Write(handle, record.number);
//   writers.Copy(call, simple);
#ifndef CAIRN_FORMAT_MODEL_DESCRIPTOR_TABLE_H_
#define CAIRN_FORMAT_MODEL_DESCRIPTOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "format/calls/created_object.h"
#include "format/model/descriptor_copies.h"

namespace cairn {

// One thread.
template <typename T>
class DescriptorTable {
 public:
  // False for facts that cannot be a heap's, which is then as if it had no descriptors.
  bool AddHeap(uint64_t heap, const DescriptorHeapFacts& facts) {
    if (facts.cpu_start == 0 || facts.increment_bytes == 0 || facts.count > kMostDescriptors ||
        facts.cpu_start + HeapBytes(facts) < facts.cpu_start) {
      return false;
    }
    heaps_.insert_or_assign(facts.cpu_start, Heap{heap, facts});
    return true;
  }
  // Another heap may come to lie where this one was.
  void RemoveHeap(const DescriptorHeapFacts& facts) {
    const auto known = heaps_.find(facts.cpu_start);
    if (known == heaps_.end()) return;
    const uint64_t end = facts.cpu_start + HeapBytes(known->second.facts);
    contents_.erase(contents_.lower_bound(facts.cpu_start), contents_.lower_bound(end));
    heaps_.erase(known);
  }

  // The heap that a handle lies in; kNoObject if it lies in none.
  uint64_t HeapAt(uint64_t handle) const {
    const Heap* const heap = Find(handle);
    return heap == nullptr ? kNoObject : heap->object;
  }
  // Returns the distance of descriptors in the heap of this handle; 0 if there is none.
  uint64_t IncrementAt(uint64_t handle) const {
    const Heap* const heap = Find(handle);
    return heap == nullptr ? 0 : heap->facts.increment_bytes;
  }
  // False for handles that no heap has.
  bool Write(uint64_t handle, T content) {
    if (Find(handle) == nullptr) return false;
    contents_.insert_or_assign(handle, std::move(content));
    return true;
  }
  // CopyDescriptors, or CopyDescriptorsSimple. Returns how many descriptors it copies. `copied` may change
  // what a copy leaves.
  template <typename Copied>
  size_t Copy(const DecodedCall& call, bool simple, const Copied& copied) {
    const auto increment_at = [this](uint64_t handle) { return IncrementAt(handle); };
    const std::vector<DescriptorCopy> copies = DescriptorCopiesOf(call, simple, increment_at);
    for (const DescriptorCopy& copy : copies) {
      const auto source = contents_.find(copy.from);
      if (source == contents_.end()) {
        contents_.erase(copy.to);
      } else {
        T content = source->second;
        copied(content);
        contents_.insert_or_assign(copy.to, std::move(content));
      }
    }
    return copies.size();
  }

  const std::map<uint64_t, T>& contents() const { return contents_; }  // by handle

 private:
  struct Heap {
    uint64_t object = 0;
    DescriptorHeapFacts facts;
  };
  const Heap* Find(uint64_t handle) const {
    const auto after = heaps_.upper_bound(handle);
    if (after == heaps_.begin()) return nullptr;
    const Heap& heap = std::prev(after)->second;
    return handle < heap.facts.cpu_start + HeapBytes(heap.facts) ? &heap : nullptr;
  }

  std::map<uint64_t, Heap> heaps_;  // by the handle of the first descriptor
  std::map<uint64_t, T> contents_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_DESCRIPTOR_TABLE_H_
