// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a library in memory: nothing is read outside of it, and what is found lies inside. As the loader maps it, it
// has a page at least, and as many bytes as its headers say.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/entry/linux/wine_exports.h"

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kHeadersAt = 0x3c;
constexpr size_t kImageBytesAt = 24 + 56;

// Returns the size in the headers, wherever the first page places them.
size_t ImageBytes(const uint8_t* data, size_t size) {
  uint8_t page[kPageBytes] = {};
  std::memcpy(page, data, std::min(size, kPageBytes));
  uint32_t headers = 0, bytes = 0;
  std::memcpy(&headers, page + kHeadersAt, sizeof(headers));
  if (headers > kPageBytes - kImageBytesAt - sizeof(bytes)) return 0;
  std::memcpy(&bytes, page + headers + kImageBytesAt, sizeof(bytes));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t image_bytes = std::max(ImageBytes(data, size), kPageBytes);
  if (image_bytes > kMostBytes) return 0;
  // Memory of its own, so that a read behind it is seen.
  const auto image = std::make_unique<std::byte[]>(image_bytes);
  std::memcpy(image.get(), data, std::min(size, image_bytes));
  const cairn::WineProgram kind = cairn::KindOfProgram(image.get());
  for (const char* const name : {"LdrLoadDll", "CairnMeetLinux", ""}) {
    const auto* const found = static_cast<const std::byte*>(cairn::FindExport(image.get(), name));
    if (found == nullptr) continue;
    if (kind != cairn::WineProgram::kProgram && kind != cairn::WineProgram::kOfWine) std::abort();
    if (found < image.get() || found >= image.get() + image_bytes) std::abort();
  }
  return 0;
}
