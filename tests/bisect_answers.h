// SPDX-License-Identifier: Apache-2.0
//
// Answers of `cairn bisect --json`.
#ifndef CAIRN_TESTS_BISECT_ANSWERS_H_
#define CAIRN_TESTS_BISECT_ANSWERS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/json.h"

namespace cairn::testing {

inline std::vector<std::string> PathOf(const Json& culprit) {
  return culprit["path"].get<std::vector<std::string>>();
}

// Expects the answer about a program that failed in each run with the culprits, and in none without
// them.
inline void ExpectSure(const Json& answer) {
  EXPECT_EQ(answer["runs_with"], answer["failed_with"]) << answer.dump(2);
  EXPECT_EQ(0, answer["failed_without"]) << answer.dump(2);
  EXPECT_LT(1, answer["runs_with"].get<int>());
  EXPECT_LT(0, answer["runs_without"].get<int>());
  EXPECT_EQ("clean", answer["without"]) << answer.dump(2);
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_BISECT_ANSWERS_H_
