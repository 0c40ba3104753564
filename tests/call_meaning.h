// SPDX-License-Identifier: Apache-2.0
//
// Compares what tables of today say of each method with its role (codegen/overrides.toml, [roles]), before the
// tables go. Each difference is decided, with a reason, in the tests. What a table keeps to itself is copied
// there, as it was. A table that is gone takes its test with it; the last one takes this file.
#ifndef CAIRN_TESTS_CALL_MEANING_H_
#define CAIRN_TESTS_CALL_MEANING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "d3d12gen/methods.h"
#include "d3d12gen/roles.h"

namespace cairn {

// A method whose role says something else than the table did, and why that is right.
struct Decided {
  std::string_view method;
  std::string_view why;
};

inline std::string_view NameOf(Method method) {
  return Describe(method).name;
}
inline std::string_view InterfaceOf(Method method) {
  return NameOf(method).substr(0, NameOf(method).find("::"));
}
inline std::string_view ShortNameOf(Method method) {
  return NameOf(method).substr(NameOf(method).find("::") + 2);
}

inline std::set<std::string_view> AllNames() {
  std::set<std::string_view> names;
  for (uint32_t i = 0; i < kMethodCount; ++i) names.insert(NameOf(static_cast<Method>(i)));
  return names;
}

// Expects that `before` and `now` answer the same of every method but those that were decided. Other headers
// have methods that these lack.
template <typename Before, typename Now>
void Compare(Before before, Now now, std::span<const Decided> decided) {
  std::set<std::string_view> differ;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    if (before(method) != now(method)) differ.insert(NameOf(method));
  }
  const std::set<std::string_view> known = AllNames();
  std::set<std::string_view> expected;
  for (const Decided& each : decided) {
    if (known.contains(each.method)) expected.insert(each.method);
  }
  EXPECT_EQ(differ, expected);
}

template <size_t size>
bool IsOneOf(Method method, const std::string_view (&names)[size]) {
  return std::find(std::begin(names), std::end(names), NameOf(method)) != std::end(names);
}

inline constexpr std::string_view kAsserts = "a debug layer compares states";
inline constexpr std::string_view kNeverRecorded = "recorded as the method that cannot fail";

}  // namespace cairn

#endif  // CAIRN_TESTS_CALL_MEANING_H_
