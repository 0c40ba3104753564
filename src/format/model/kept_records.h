// SPDX-License-Identifier: Apache-2.0
//
// Records that belong together (a call with its blobs, what it created, and its result), one behind the
// other in one piece of memory.
#ifndef CAIRN_FORMAT_MODEL_KEPT_RECORDS_H_
#define CAIRN_FORMAT_MODEL_KEPT_RECORDS_H_

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"

namespace cairn {

// The memory of all KeptRecords of this process, with kPerPieceBytes for each piece: what stands around
// one (objects, views, nodes of maps) is of that order. This is what bounds LiveState.
inline std::atomic<size_t>& KeptBytes() {
  static std::atomic<size_t> bytes{0};
  return bytes;
}

template <typename T>
struct KeptAllocator {
  using value_type = T;
  static constexpr size_t kPerPieceBytes = 512;

  KeptAllocator() = default;
  template <typename Other>
  KeptAllocator(const KeptAllocator<Other>&) {}  // NOLINT: implicit, as allocators are

  T* allocate(size_t count) {
    T* const memory = std::allocator<T>().allocate(count);
    KeptBytes() += count * sizeof(T) + kPerPieceBytes;
    return memory;
  }
  void deallocate(T* memory, size_t count) {
    KeptBytes() -= count * sizeof(T) + kPerPieceBytes;
    std::allocator<T>().deallocate(memory, count);
  }
  friend bool operator==(const KeptAllocator&, const KeptAllocator&) { return true; }
};

class KeptRecords final : public BlobSource {
 public:
  void Add(const Record& record) {
    const size_t place = bytes_.size();
    bytes_.resize(place + sizeof(Head) + record.body.size());
    const Head head{record.number, record.object, record.body.size(),
                    record.thread, record.method, record.kind};
    std::memcpy(bytes_.data() + place, &head, sizeof(head));
    if (record.body.empty()) return;
    std::memcpy(bytes_.data() + place + sizeof(head), record.body.data(), record.body.size());
  }
  void Add(const KeptRecords& records) {
    bytes_.insert(bytes_.end(), records.bytes_.begin(), records.bytes_.end());
  }
  // Keeps the memory.
  void Clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }

  // The record at `place`, which is moved behind it; false at the end. Its body is valid until the next
  // Add() or Clear().
  bool Next(size_t* place, Record* record) const {
    if (*place >= bytes_.size()) return false;
    Head head;
    std::memcpy(&head, bytes_.data() + *place, sizeof(head));
    record->kind = head.kind;
    record->flags = kRecordRestores;
    record->method = head.method;
    record->thread = head.thread;
    record->number = head.number;
    record->object = head.object;
    record->body = std::span(bytes_).subspan(*place + sizeof(head), head.body_bytes);
    *place += sizeof(head) + head.body_bytes;
    return true;
  }
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    Record record;
    for (size_t place = 0; Next(&place, &record);) visit(record);
  }

  Result<std::span<const std::byte>> Blob(uint64_t number) override {
    Record record;
    for (size_t place = 0; Next(&place, &record);) {
      if (record.number != number || record.kind != RecordKind::kBlob) continue;
      if (record.body.size() < sizeof(BlobBody)) break;
      return record.body.subspan(sizeof(BlobBody));
    }
    return Status(StatusCode::kNotFound, "the bytes of a call are missing");
  }

 private:
  struct Head {
    uint64_t number;
    uint64_t object;
    uint64_t body_bytes;
    uint32_t thread;
    uint16_t method;
    RecordKind kind;
  };
  std::vector<std::byte, KeptAllocator<std::byte>> bytes_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_KEPT_RECORDS_H_
