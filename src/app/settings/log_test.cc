// SPDX-License-Identifier: Apache-2.0
#include "app/settings/log.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(LogTest, OneLineAnEventWithoutColourWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kError, "two\nlines \x1b[31m");
  Log(LogLevel::kDebug, "not said by default");
  LogOnce(LogLevel::kWarning, "key", "said once");
  LogOnce(LogLevel::kWarning, "key", "said twice");
  LogEach({"a complaint", "another one", "a complaint"});
  LogAlways("cairn check: all is well");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cairn: error: two\\x0alines \\x1b[31m\n"
            "cairn: warning: said once\n"
            "cairn: warning: a complaint\n"
            "cairn: warning: another one\n"
            "cairn check: all is well\n");
}

}  // namespace
}  // namespace cairn
