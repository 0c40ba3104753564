// SPDX-License-Identifier: Apache-2.0
//
// Finds the blobs that a body refers to, without knowing its structure.
#ifndef CAIRN_FORMAT_TRACE_BLOB_REFERENCES_H_
#define CAIRN_FORMAT_TRACE_BLOB_REFERENCES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "format/calls/record.h"

namespace cairn {

// Calls `use(number)` for everything in the body that looks like the number of a blob in a byte value
// (record.h): every reference, and now and then something that is none. Any bytes are allowed.
template <typename Use>
void ForEachBlobReference(std::span<const std::byte> body, Use use) {
  constexpr size_t kHeadBytes = sizeof(kBytesInBlobs) + sizeof(uint64_t) + sizeof(uint32_t);
  // A value begins where the one before ended, which may be anywhere.
  const std::byte* at = body.data();
  const std::byte* const end = at + body.size();
  while (static_cast<size_t>(end - at) >= kHeadBytes) {
    at = static_cast<const std::byte*>(
        std::memchr(at, 0xFE, static_cast<size_t>(end - at) - kHeadBytes + 1));
    if (at == nullptr) return;
    uint32_t mark = 0;
    uint64_t size = 0;
    uint32_t parts = 0;
    std::memcpy(&mark, at, sizeof(mark));
    std::memcpy(&size, at + sizeof(mark), sizeof(size));
    std::memcpy(&parts, at + sizeof(mark) + sizeof(size), sizeof(parts));
    const size_t room = (static_cast<size_t>(end - at) - kHeadBytes) / sizeof(uint64_t);
    if (mark == kBytesInBlobs && parts <= room && size <= uint64_t{parts} * kMaxBlobBytes) {
      for (uint32_t i = 0; i < parts; ++i) {
        uint64_t number = 0;
        std::memcpy(&number, at + kHeadBytes + i * sizeof(number), sizeof(number));
        use(number);
      }
    }
    ++at;
  }
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_BLOB_REFERENCES_H_
