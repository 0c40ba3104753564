// SPDX-License-Identifier: Apache-2.0
//
// The names under which work is known from run to run: hashes of what does not change between runs. The same
// in every process, and in files.
//
//   scope   the labels around the work, outermost first; numbers in them do not count, for labels count frames
//   group   scope, type of the work, pipeline (the hash of its names and its shaders' code)
//   key     group, ordinal: the how manieth of the group in its recording, from 1
#ifndef CAIRN_FORMAT_ELIMINATION_WORK_KEY_H_
#define CAIRN_FORMAT_ELIMINATION_WORK_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

inline constexpr uint64_t kRootScope = 0x6361'6972'6e00'0001;

// `seed` and eight more bytes; never 0.
constexpr uint64_t MixedWith(uint64_t seed, uint64_t value) {
  // The finaliser of splitmix64, after both have met.
  uint64_t x = seed * 0x9e3779b97f4a7c15 + value + 0x632be59bd9b4e019;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return x == 0 ? 1 : x;
}

constexpr uint64_t MixedWith(uint64_t seed, std::string_view text) {
  uint64_t hash = MixedWith(seed, uint64_t{text.size()});
  for (const char c : text) hash = MixedWith(hash, uint64_t{static_cast<unsigned char>(c)});
  return hash;
}

// "Frame 4711 of 0x7f3a" -> "Frame # of #". May throw std::bad_alloc.
std::string WithoutNumbers(std::string_view label);

// `name`: a label WithoutNumbers.
constexpr uint64_t ScopeIn(uint64_t outer, std::string_view name) {
  return MixedWith(outer, name);
}
constexpr uint64_t GroupIn(uint64_t scope, uint32_t type, uint64_t pipeline) {
  return MixedWith(MixedWith(scope, uint64_t{type}), pipeline);
}
constexpr uint64_t KeyIn(uint64_t group, uint32_t ordinal) {
  return MixedWith(group, uint64_t{ordinal});
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_ELIMINATION_WORK_KEY_H_
