// SPDX-License-Identifier: Apache-2.0
#include "icd/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "icd/settings.h"

namespace cairn::icd {
namespace {

Directive Parse(std::string_view label) {
  Directive directive;
  std::string error;
  EXPECT_TRUE(IsScript(label));
  EXPECT_TRUE(ParseDirective(label, &directive, &error)) << error;
  return directive;
}

std::string ErrorOf(std::string_view label) {
  Directive directive;
  std::string error;
  EXPECT_FALSE(ParseDirective(label, &directive, &error)) << label;
  return error;
}

TEST(Script, OnlyLabelsWithThePrefixAreDirectives) {
  EXPECT_TRUE(IsScript("icd: hang"));
  EXPECT_FALSE(IsScript("Shadow map"));
  EXPECT_FALSE(IsScript(""));
}

TEST(Script, WordsAndCounts) {
  EXPECT_EQ(Parse("icd: hang").kind, DirectiveKind::kHang);
  EXPECT_EQ(Parse("icd:hang").kind, DirectiveKind::kHang);
  EXPECT_EQ(Parse("icd: duration 3").count, 3u);
  EXPECT_EQ(Parse("icd: late 2").count, 2u);
  EXPECT_EQ(Parse("icd: late for ever").kind, DirectiveKind::kLateForEver);
  EXPECT_EQ(Parse("icd: stop").count, 0u);
  EXPECT_EQ(Parse("icd: stop after 7").count, 7u);
  EXPECT_EQ(Parse("icd: device-lost after 0x10").count, 16u);
  EXPECT_EQ(Parse("icd: reorder").kind, DirectiveKind::kReorder);
  EXPECT_EQ(Parse("icd: reorder end").kind, DirectiveKind::kReorderEnd);
}

TEST(Script, PlacesAndTransfers) {
  EXPECT_EQ(Parse("icd: late 2").place, MarkerPlace::kBoth);
  EXPECT_EQ(Parse("icd: late 2 top").place, MarkerPlace::kTop);
  EXPECT_EQ(Parse("icd: late for ever bottom").place, MarkerPlace::kBottom);
  EXPECT_FALSE(Parse("icd: hang").in_transfer);
  EXPECT_TRUE(Parse("icd: hang in transfer").in_transfer);
  EXPECT_EQ(Parse("icd: duration 3 in transfer").count, 3u);
}

TEST(Script, LostMarkers) {
  EXPECT_EQ(Parse("icd: lose next marker").count, 1u);
  EXPECT_EQ(Parse("icd: lose 4 markers").count, 4u);
  EXPECT_EQ(Parse("icd: lose top").kind, DirectiveKind::kLoseTop);
  EXPECT_EQ(Parse("icd: lose bottom").kind, DirectiveKind::kLoseBottom);
  EXPECT_EQ(Parse("icd: lose bottom").count, 1u);
  EXPECT_EQ(Parse("icd: lose 3 bottoms").kind, DirectiveKind::kLoseBottom);
  EXPECT_EQ(Parse("icd: lose 3 bottoms").count, 3u);
}

TEST(Script, Faults) {
  const Directive unknown = Parse("icd: fault");
  EXPECT_EQ(unknown.kind, DirectiveKind::kFault);
  EXPECT_EQ(unknown.access, FaultAccess::kNone);
  const Directive write = Parse("icd: fault 0x1234000 write precision 0x1000");
  EXPECT_EQ(write.address, 0x1234000u);
  EXPECT_EQ(write.access, FaultAccess::kWrite);
  EXPECT_EQ(write.precision, 0x1000u);
  const Directive miss = Parse("icd: miss image 0x1000 read");
  EXPECT_EQ(miss.kind, DirectiveKind::kMiss);
  EXPECT_EQ(miss.missed, Missed::kImage);
  EXPECT_EQ(miss.address, 0x1000u);
  EXPECT_EQ(Parse("icd: miss descriptor").missed, Missed::kDescriptor);
  EXPECT_EQ(Parse("icd: masked-fault 16").access, FaultAccess::kRead);
  EXPECT_EQ(Parse("icd: fault-after-completion 16 execute").access, FaultAccess::kExecute);
}

TEST(Script, VendorDataAndBindings) {
  const Directive info = Parse("icd: vendor-info 5 0xff MMU of engine 3");
  EXPECT_EQ(info.code, 5u);
  EXPECT_EQ(info.data, 255u);
  EXPECT_EQ(info.text, "MMU of engine 3");
  EXPECT_EQ(Parse("icd: vendor-binary some bytes").text, "some bytes");
  const Directive bind = Parse("icd: unbind 0x10000 4096");
  EXPECT_EQ(bind.kind, DirectiveKind::kUnbind);
  EXPECT_EQ(bind.address, 0x10000u);
  EXPECT_EQ(bind.size_bytes, 4096u);
}

TEST(Script, MistakesNameTheFaultyWord) {
  EXPECT_THAT(ErrorOf("icd: explode"), ::testing::HasSubstr("\"icd: explode\" is no directive"));
  EXPECT_THAT(ErrorOf("icd: duration three"),
              ::testing::HasSubstr("\"three\" is not what follows \"duration\""));
  for (const char* label : {"icd:", "icd: late", "icd: hang now", "icd: hangs", "icd: lose 3",
                            "icd: miss", "icd: bind 4096", "icd: fault 1 write precision 3",
                            "icd: duration 99999999999999999999", "icd: late 2 in transfer"}) {
    EXPECT_NE(ErrorOf(label), "");
  }
}

TEST(Settings, WordsOfTheEnvironment) {
  Settings settings;
  std::string error;
  ASSERT_TRUE(ParseSettings("no-buffer-marker,lazy,bottom-line=4,no-VK_KHR_synchronization2",
                            &settings, &error))
      << error;
  EXPECT_FALSE(settings.Has("VK_AMD_buffer_marker"));
  EXPECT_FALSE(settings.Has("VK_KHR_synchronization2"));
  EXPECT_TRUE(settings.Has("VK_EXT_device_fault"));
  EXPECT_TRUE(settings.lazy);
  EXPECT_EQ(settings.bottom_line_limit, 4u);
  EXPECT_TRUE(ParseSettings("", &settings, &error));
  for (const char* text : {"no-such-thing", "lazy,,quick", "bottom-line=0", "bottom-line=x"}) {
    EXPECT_FALSE(ParseSettings(text, &settings, &error)) << text;
  }
}

}  // namespace
}  // namespace cairn::icd
