// SPDX-License-Identifier: Apache-2.0
//
// Byte values that keep their size and lose what they hold, in a body or in blobs.
#ifndef CAIRN_READER_REDACT_HIDDEN_BYTES_H_
#define CAIRN_READER_REDACT_HIDDEN_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cairn {

class HiddenBytes {
 public:
  // Replaces the bytes of `value`, a byte value (format/calls/record.h) as it stands in a body: `text`, as
  // much of it as there is room for, and zeros. Its first `kept_bytes` stay. Bytes in blobs are remembered
  // by the number of their blob. A value that is cut stays.
  void Hide(std::span<std::byte> value, std::string_view text, uint64_t kept_bytes = 0);
  // Replaces the bytes of a blob that a hidden value refers to.
  void HideBlob(uint64_t number, std::span<std::byte> bytes) const;

 private:
  struct Blob {
    std::string text;
    uint64_t kept_bytes = 0;
  };
  std::unordered_map<uint64_t, Blob> blobs_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REDACT_HIDDEN_BYTES_H_
