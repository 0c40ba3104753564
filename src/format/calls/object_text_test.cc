// SPDX-License-Identifier: Apache-2.0
#include "format/calls/object_text.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ObjectText, IsKindNumberAndName) {
  EXPECT_EQ(ObjectText(Chain::kID3D12Resource, 3, "Scene colour"), "resource 3 \"Scene colour\"");
  EXPECT_EQ(ObjectText(Chain::kID3D12Fence, 1234567), "fence 1234567");
  EXPECT_EQ(ObjectText(Chain::kNone, 5), "object 5");
  EXPECT_EQ(ObjectText(Chain::kID3D12Heap, 5, "a\x1b"), "heap 5 \"a\\x1b\"");
}

TEST(ObjectText, KindsAreWordsOfTheInterface) {
  EXPECT_EQ(ObjectKindText(Chain::kID3D12GraphicsCommandList), "command list");
  EXPECT_EQ(ObjectKindText(Chain::kID3D12CommandQueue), "command queue");
  EXPECT_EQ(ObjectKindText(Chain::kID3D12PipelineState), "pipeline state");
  EXPECT_EQ(ObjectKindText(Chain::kIDXGIVkSwapChain), "swap chain");
  EXPECT_EQ(ObjectKindText(Chain::kID3D12DXVKInteropDevice), "DXVK interop device");
  EXPECT_EQ(ObjectKindText(static_cast<Chain>(kChainCount)), "object");
}

TEST(ObjectNumberIn, ReadsEverySpellingThatIsPrinted) {
  for (const char* const text :
       {"1012", "1,012", "#1012", "resource 1012", "resource 1012 \"Depth\"", "object 1012",
        "command list 1012 \"a \"b\"\"", "video decoder heap 1012", "video decoder 1012"}) {
    EXPECT_EQ(ObjectNumberIn(text), 1012u) << text;
  }
}

TEST(ObjectNumberIn, TakesOtherTextForAName) {
  for (const char* const text :
       {"", "#", "Depth", "resource", "resource ", "resource x", "resource 12 Depth",
        "resource 12 \"", "resource 12 ", "Resource 12", "shadow resource 12", "12 resource"}) {
    EXPECT_EQ(ObjectNumberIn(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cairn
