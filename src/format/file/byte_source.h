// SPDX-License-Identifier: Apache-2.0
//
// The source of a FileReader's bytes: a file or memory.
#ifndef CAIRN_FORMAT_FILE_BYTE_SOURCE_H_
#define CAIRN_FORMAT_FILE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace cairn {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The size when the source was opened; a file may have changed since.
  virtual uint64_t size_bytes() const = 0;
  // Reads exactly bytes.size() bytes from `offset`; kIo when they cannot all be had. May be called
  // from several threads at once.
  virtual Status ReadAt(uint64_t offset, std::span<std::byte> bytes) const = 0;
};

// Regular files only. Never blocks on a pipe or device.
Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path);

// `bytes` must outlive the source.
std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_BYTE_SOURCE_H_
