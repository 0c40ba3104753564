// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace cairn {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // reflected

// kTables[k][b]: the CRC of byte b followed by k zero bytes, so that eight bytes take eight
// independent look-ups.
constexpr std::array<std::array<uint32_t, 256>, 8> MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      const uint32_t before = tables[k - 1][b];
      tables[k][b] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr std::array<std::array<uint32_t, 256>, 8> kTables = MakeTables();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t Crc32cSse42(std::span<const std::byte> bytes, uint32_t crc) {
  uint64_t state = ~crc;
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    state = _mm_crc32_u64(state, word);
  }
  uint32_t tail = static_cast<uint32_t>(state);
  for (; left > 0; ++at, --left) tail = _mm_crc32_u8(tail, static_cast<uint8_t>(*at));
  return ~tail;
}

bool CpuHasCrc32c() {
  return __builtin_cpu_supports("sse4.2");
}
#else
uint32_t Crc32cSse42(std::span<const std::byte> bytes, uint32_t crc) {
  return Crc32cPortable(bytes, crc);
}

bool CpuHasCrc32c() {
  return false;
}
#endif

}  // namespace

uint32_t Crc32cPortable(std::span<const std::byte> bytes, uint32_t crc) {
  uint32_t state = ~crc;
  size_t i = 0;
  const auto byte = [&bytes](size_t index) { return static_cast<uint8_t>(bytes[index]); };
  for (; i + 8 <= bytes.size(); i += 8) {
    uint32_t next = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      next ^= kTables[7 - k][byte(i + k) ^ (state >> (8 * k) & 0xFF)];
      next ^= kTables[3 - k][byte(i + 4 + k)];
    }
    state = next;
  }
  for (; i < bytes.size(); ++i) state = state >> 8 ^ kTables[0][(state & 0xFF) ^ byte(i)];
  return ~state;
}

bool Crc32cIsAccelerated() {
  static const bool accelerated = CpuHasCrc32c();
  return accelerated;
}

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc) {
  return Crc32cIsAccelerated() ? Crc32cSse42(bytes, crc) : Crc32cPortable(bytes, crc);
}

}  // namespace cairn
