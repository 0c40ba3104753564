// SPDX-License-Identifier: Apache-2.0
//
// CRC32C (Castagnoli), the checksum of the .cairn file.
#ifndef CAIRN_BASE_CRC32C_H_
#define CAIRN_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cairn {

// The CRC of `bytes`, or, given the CRC of the bytes before them, of both together:
// Crc32c(b, Crc32c(a)) is the CRC of a followed by b. Uses the CPU's CRC instruction where the CPU
// has it (chosen at run time). Cost: BM_Crc32c of base_bench.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t crc = 0);

// The same by table, on any CPU.
uint32_t Crc32cPortable(std::span<const std::byte> bytes, uint32_t crc = 0);

// True when Crc32c uses the CPU's instruction.
bool Crc32cIsAccelerated();

}  // namespace cairn

#endif  // CAIRN_BASE_CRC32C_H_
