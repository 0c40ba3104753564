// SPDX-License-Identifier: Apache-2.0
//
// Makes a block of a fuzzer's input: a block is 8 MiB of mostly zeros, an input a few kilobytes.
// The input is a list of patches, each a little-endian 32-bit offset, a 16-bit length and bytes.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_BLOCK_FUZZ_INPUT_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_BLOCK_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn {

// Applies the patches of `input` to `block`; calls `touched(offset, length)` for each.
template <typename Touched>
void ApplyPatches(std::span<const uint8_t> input, std::span<std::byte> block, Touched touched) {
  size_t at = 0;
  while (input.size() - at > 6) {
    const uint64_t offset = (input[at] | input[at + 1] << 8 | input[at + 2] << 16 |
                             static_cast<uint64_t>(input[at + 3]) << 24) %
                            block.size();
    uint64_t length = input[at + 4] | input[at + 5] << 8;
    at += 6;
    length = length < input.size() - at ? length : input.size() - at;
    length = length < block.size() - offset ? length : block.size() - offset;
    for (uint64_t i = 0; i < length; ++i) block[offset + i] = static_cast<std::byte>(input[at + i]);
    touched(offset, length);
    at += length;
  }
}

// The patches that make a block of zeros equal to `block`, runs of zeros left out.
inline std::vector<uint8_t> PatchesOf(std::span<const std::byte> block) {
  constexpr uint64_t kLongestPatch = 4096;
  constexpr uint64_t kLongestZeros = 16;
  std::vector<uint8_t> patches;
  for (uint64_t begin = 0; begin < block.size();) {
    if (block[begin] == std::byte{0}) {
      ++begin;
      continue;
    }
    uint64_t end = begin + 1;  // behind the last byte that is not zero
    for (uint64_t i = end; i < block.size() && i - begin < kLongestPatch && i - end < kLongestZeros;
         ++i) {
      if (block[i] != std::byte{0}) end = i + 1;
    }
    for (int shift = 0; shift < 32; shift += 8) {
      patches.push_back(static_cast<uint8_t>(begin >> shift));
    }
    patches.push_back(static_cast<uint8_t>(end - begin));
    patches.push_back(static_cast<uint8_t>((end - begin) >> 8));
    for (uint64_t i = begin; i < end; ++i) patches.push_back(static_cast<uint8_t>(block[i]));
    begin = end;
  }
  return patches;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_BLOCK_FUZZ_INPUT_H_
