// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/file/byte_source.h"

namespace cairn {
namespace {

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t size_bytes() const override { return bytes_.size(); }

  Status ReadAt(uint64_t offset, std::span<std::byte> bytes) const override {
    if (offset > bytes_.size() || bytes.size() > bytes_.size() - offset) {
      return Status(StatusCode::kIo, "a read goes past the end of the bytes in memory");
    }
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return Status();
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace cairn
