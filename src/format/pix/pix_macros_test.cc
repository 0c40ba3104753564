// SPDX-License-Identifier: Apache-2.0
//
// Checks the calls that the macros of include/cairn/pix.h compile to, in the rows of the table of
// docs/reference/pix.md.
#include "format/pix/testing/pix_macros_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "format/pix/pix_event.h"

namespace cairn_pix_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Seen {
  std::vector<std::string> calls;
  int evaluated = 0;
};

Seen SeenBy(void (*calls)(CallCounter&, int&)) {
  Seen seen;
  CallCounter context;
  calls(context, seen.evaluated);
  for (const CallCounter::Call& call : context.calls) {
    const auto payload = std::as_bytes(std::span(call.bytes));
    seen.calls.push_back(call.what +
                         (call.what == 'e' ? "" : " " + cairn::PixText(call.metadata, payload)));
  }
  return seen;
}

// Both families: the two rows of the table without USE_PIX_RETAIL.
void ExpectEverything(const Seen& seen) {
  EXPECT_THAT(seen.calls, ElementsAre("b development 1", "m development 2", "e", "b development 3",
                                      "e", "b retail 4", "m retail 5", "e", "b retail 6", "e"));
  EXPECT_EQ(seen.evaluated, 6);
}

// The two rows with USE_PIX_RETAIL: what is compiled out evaluates nothing.
void ExpectRetailOnly(const Seen& seen) {
  EXPECT_THAT(seen.calls, ElementsAre("b retail 1", "m retail 2", "e", "b retail 3", "e"));
  EXPECT_EQ(seen.evaluated, 3);
}

TEST(PixMacros, EverythingIsCompiledUnlessRetailIsAskedFor) {
  ExpectEverything(SeenBy(CallWithNothing));
  ExpectEverything(SeenBy(CallWithPix));
}

TEST(PixMacros, RetailKeepsTheRetailMacrosOnly) {
  ExpectRetailOnly(SeenBy(CallWithRetail));
  ExpectRetailOnly(SeenBy(CallWithPixAndRetail));
}

TEST(PixMacros, ABuildWithoutPixCallsNothing) {
  const Seen seen = SeenBy(CallWithoutPix);
  EXPECT_THAT(seen.calls, IsEmpty());
  EXPECT_EQ(seen.evaluated, 0);
}

TEST(PixMacros, Version2WithTimestamp) {
  ExpectEverything(SeenBy(CallWithVersion2));
  CallCounter context;
  int evaluated = 0;
  CallWithVersion2(context, evaluated);
  const CallCounter::Call& call = context.calls.front();
  EXPECT_EQ(call.metadata, cairn::kPixMetadataBlobV2);
  const cairn::PixEvent event =
      cairn::DecodePixEvent(call.metadata, std::as_bytes(std::span(call.bytes)));
  EXPECT_EQ(event.format, cairn::PixFormat::kBlobV2);
  EXPECT_EQ(event.timestamp, 1234u);
  EXPECT_EQ(event.colour.value, 0xff010203u);
}

TEST(PixMacros, Version1WithoutTimestampIsTheDefault) {
  CallCounter context;
  int evaluated = 0;
  CallWithNothing(context, evaluated);
  const CallCounter::Call& call = context.calls.front();
  EXPECT_EQ(call.metadata, cairn::kPixMetadataBlob);
  EXPECT_EQ(cairn::DecodePixEvent(call.metadata, std::as_bytes(std::span(call.bytes))).timestamp,
            0u);
}

}  // namespace
}  // namespace cairn_pix_test
