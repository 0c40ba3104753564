// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/wine_exports.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace cairn {
namespace {

// Offsets in the headers of programs of Windows, and values there.
constexpr size_t kHeadersAt = 0x3c;
constexpr size_t kMagicAt = 24;
constexpr size_t kImageBytesAt = 24 + 56;
constexpr size_t kExportsAt = 24 + 112;
constexpr size_t kHeadersEnd = kExportsAt + 8;
constexpr uint16_t kMagic32 = 0x10b;
constexpr uint16_t kMagic64 = 0x20b;
constexpr uint32_t kFirstPageBytes = 4096;
// Wine writes it behind the first header of what it brings itself.
constexpr size_t kWineSignatureAt = 0x40;
constexpr std::string_view kWineSignature = "Wine builtin DLL";

struct ExportTable {
  uint32_t unused[6];
  uint32_t name_count;
  uint32_t functions;
  uint32_t names;
  uint32_t numbers;
};

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// The newer headers; null where there are none of this kind.
const std::byte* HeadersOf(const std::byte* base, uint16_t magic) {
  if (base == nullptr || Load<uint16_t>(base) != 0x5a4d) return nullptr;  // "MZ"
  const auto offset = Load<uint32_t>(base + kHeadersAt);
  if (offset > kFirstPageBytes - kHeadersEnd) return nullptr;
  const std::byte* const headers = base + offset;
  const bool known =
      Load<uint32_t>(headers) == 0x4550 && Load<uint16_t>(headers + kMagicAt) == magic;  // "PE"
  return known ? headers : nullptr;
}

}  // namespace

WineProgram KindOfProgram(const std::byte* base) {
  const bool of_64_bits = HeadersOf(base, kMagic64) != nullptr;
  if (!of_64_bits && HeadersOf(base, kMagic32) == nullptr) return WineProgram::kNone;
  if (std::memcmp(base + kWineSignatureAt, kWineSignature.data(), kWineSignature.size()) == 0) {
    return WineProgram::kOfWine;
  }
  return of_64_bits ? WineProgram::kProgram : WineProgram::k32Bits;
}

void* FindExport(const std::byte* base, const char* name) {
  const std::byte* const headers = HeadersOf(base, kMagic64);
  if (headers == nullptr) return nullptr;
  const uint64_t image_bytes = Load<uint32_t>(headers + kImageBytesAt);
  const auto inside = [image_bytes](uint64_t offset, uint64_t bytes) {
    return offset <= image_bytes && bytes <= image_bytes - offset;
  };
  const uint64_t table_at = Load<uint32_t>(headers + kExportsAt);
  const uint64_t table_bytes = Load<uint32_t>(headers + kExportsAt + 4);
  if (table_at == 0 || !inside(table_at, sizeof(ExportTable))) return nullptr;
  const auto table = Load<ExportTable>(base + table_at);
  if (!inside(table.names, uint64_t{table.name_count} * 4) ||
      !inside(table.numbers, uint64_t{table.name_count} * 2)) {
    return nullptr;
  }
  const size_t name_bytes = std::strlen(name) + 1;
  for (uint64_t i = 0; i < table.name_count; ++i) {
    const auto name_at = Load<uint32_t>(base + table.names + i * 4);
    if (!inside(name_at, name_bytes) || std::memcmp(base + name_at, name, name_bytes) != 0) {
      continue;
    }
    const uint64_t number = Load<uint16_t>(base + table.numbers + i * 2);
    if (!inside(table.functions + number * 4, 4)) return nullptr;
    const uint64_t function = Load<uint32_t>(base + table.functions + number * 4);
    // Inside of the table it is the name of another library's.
    if (!inside(function, 1) || (function >= table_at && function - table_at < table_bytes)) {
      return nullptr;
    }
    return const_cast<std::byte*>(base + function);
  }
  return nullptr;
}

}  // namespace cairn
