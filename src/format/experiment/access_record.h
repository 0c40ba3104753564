// SPDX-License-Identifier: Apache-2.0
//
// Memory that shaders with checked accesses read and write: the ranges that they may access by address, and a record for
// each access, by address or by descriptor. All little-endian.
#ifndef CAIRN_FORMAT_EXPERIMENT_ACCESS_RECORD_H_
#define CAIRN_FORMAT_EXPERIMENT_ACCESS_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cairn {

enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };
// The kind of an index on the way from a variable to the accessed memory.
enum class IndexKind : uint8_t {
  kNone,
  kDescriptor,  // of an array of them
  kElement,     // of an array, a matrix or a vector in a buffer
};

// Bytes that may be accessed: a buffer with an address, or several that overlap.
struct AccessRange {
  uint64_t begin;  // address on the device
  uint64_t bytes;  // from 1 on

  bool operator==(const AccessRange&) const = default;
};

// A list of ranges: this, and `count` AccessRange in the order of their addresses, none of which overlap. Memory for one
// is there even in an empty list. Aligned to 64 bytes.
struct AccessList {
  static constexpr uint32_t kMostRanges = 65536;

  uint32_t count;
  uint32_t unused[3];
};
static_assert(sizeof(AccessList) == 16 && sizeof(AccessRange) == 16);

// Says which list holds. Who writes a new one writes it elsewhere, and then its place here: shaders may still read the
// old one. Aligned to 64 bytes.
struct AccessTable {
  uint32_t list;  // bytes from here to the AccessList
  uint32_t unused[15];
};
static_assert(sizeof(AccessTable) == 64);

// Aligned to 64 bytes. All zeros: no access was outside.
struct AccessRecord {
  uint32_t misses;  // accesses outside; wraps around at 2^32
  uint32_t first;   // 1 once the words below are written
  // The first one:
  uint32_t has_range;      // 1: a range begins at its address or before
  uint32_t bytes;          // of the access by address
  uint32_t invocation[4];  // see InvocationKind
  // By address; of an access by descriptor an IndexMiss begins here.
  uint64_t address;
  AccessRange range;  // with has_range: the last one that begins at its address or before
  uint32_t unused[2];

  bool operator==(const AccessRecord&) const = default;
};
static_assert(sizeof(AccessRecord) == 64);

// So many indices of an access are checked: the first ones.
inline constexpr uint32_t kMostIndices = 4;

// The indices of an access by descriptor, one of which is not below its bound. Those that it does not have are 0, and
// below 1.
struct IndexMiss {
  uint32_t index[kMostIndices];
  uint32_t bound[kMostIndices];
};
static_assert(offsetof(AccessRecord, address) + sizeof(IndexMiss) == sizeof(AccessRecord));

inline IndexMiss IndexMissOf(const AccessRecord& record) {
  IndexMiss miss;
  std::memcpy(&miss, &record.address, sizeof(miss));
  return miss;
}
inline void SetIndexMiss(const IndexMiss& miss, AccessRecord* record) {
  std::memcpy(&record->address, &miss, sizeof(miss));
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_ACCESS_RECORD_H_
