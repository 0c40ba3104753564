// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Status, NamesItsFileOnce) {
  const Status bare(StatusCode::kCorrupt, "no chunk is readable");
  const Status named = bare.WithFile("a.cairn");
  EXPECT_EQ("a.cairn: no chunk is readable", named.message());
  EXPECT_EQ(StatusCode::kCorrupt, named.code());
  EXPECT_EQ("a.cairn: no chunk is readable", named.WithFile("a.cairn").message());
  EXPECT_EQ("verify: a.cairn: no chunk is readable", named.WithContext("verify").message());
  EXPECT_EQ("verify: a.cairn: no chunk is readable",
            named.WithContext("verify").WithFile("a.cairn").message());
  // The text is not searched for the name.
  EXPECT_EQ("a: bad", Status(StatusCode::kIo, "bad").WithFile("a").message());
  EXPECT_EQ("cannot open a",
            Status(StatusCode::kIo, "cannot open a").NamingFile().WithFile("b").message());
}

TEST(Status, OkStaysOk) {
  EXPECT_TRUE(Status().WithFile("a.cairn").ok());
  EXPECT_EQ("", Status().WithFile("a.cairn").message());
  EXPECT_EQ("", Status().WithContext("verify").message());
}

TEST(Status, EachCodeHasAName) {
  EXPECT_STREQ("interrupted", StatusCodeName(StatusCode::kInterrupted));
  EXPECT_STREQ("internal error", StatusCodeName(StatusCode::kInternal));
}

}  // namespace
}  // namespace cairn
