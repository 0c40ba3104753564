// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/raw_marker_text.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

TEST(RawMarkerText, IsReadBack) {
  for (const RawMarker& marker :
       {RawMarker{PipeLocation::kTop, 5, 0xDEADCAFE}, RawMarker{PipeLocation::kBottom, 0, 0},
        RawMarker{PipeLocation::kBottom, UINT32_MAX, UINT64_MAX}}) {
    EXPECT_EQ(ParseRawMarkerText(RawMarkerText(marker).data()), marker);
  }
  EXPECT_STREQ(RawMarkerText({PipeLocation::kTop, 5, 0xDEADCAFE}).data(),
               "cairn raw marker T 5 00000000deadcafe");
}

// Programs may use any text as a label.
TEST(RawMarkerText, EverythingElseIsALabel) {
  const std::string good = RawMarkerText({PipeLocation::kBottom, 12, 0xDEADBEEF}).data();
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(ParseRawMarkerText(good.substr(0, length))) << length;
  }
  for (const char* text :
       {"cairn raw marker X 5 00000000deadcafe", "cairn raw marker T -5 00000000deadcafe",
        "cairn raw marker T 4294967296 00000000deadcafe", "cairn raw marker T 5 00000000deadcafe ",
        "cairn raw marker T 5 00000000deadcafg", "cairn raw marker T  00000000deadcafe",
        "cairn raw marker T 5 0x000000deadcafe", "cairn raw marker T 5 000000000deadcafe",
        " cairn raw marker T 5 00000000deadcafe", "Shadow pass"}) {
    EXPECT_FALSE(ParseRawMarkerText(text)) << text;
  }
}

}  // namespace
}  // namespace cairn
