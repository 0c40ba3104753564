// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/spirv_descriptors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kDecorate = 4u << 16 | 71;
constexpr uint32_t kFunction = 5u << 16 | 54;

std::vector<uint32_t> Module(const std::vector<uint32_t>& instructions) {
  std::vector<uint32_t> words = {0x07230203, 0x00010600, 0, 100, 0};
  words.insert(words.end(), instructions.begin(), instructions.end());
  words.insert(words.end(), {kFunction, 2, 1, 0, 3});
  return words;
}

TEST(SpirvDescriptors, AreThoseWithASetAndABinding) {
  const auto found = FindSpirvDescriptors(Module({
      kDecorate, 9,  33, 5, kDecorate,     9,  34, 1,  // set 1 binding 5, in this order
      kDecorate, 10, 34, 0, kDecorate,     10, 33, 2,  // set 0 binding 2
      kDecorate, 11, 34, 0, kDecorate,     11, 33, 2,  // the same once more
      kDecorate, 12, 34, 7,                            // no binding
      kDecorate, 13, 33, 7,                            // no set
      kDecorate, 14, 30, 3, 3u << 16 | 71, 15, 2,      // other decorations
  }));
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(ShaderDescriptor{0, 2}, ShaderDescriptor{1, 5}));
}

TEST(SpirvDescriptors, AModuleMayHaveNone) {
  const auto found = FindSpirvDescriptors(Module({}));
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

// Unknown is not the same as none: with unknown descriptors nothing may be omitted.
TEST(SpirvDescriptors, OfWhatIsNoWholeModuleNothingIsKnown) {
  std::vector<uint32_t> whole = Module({kDecorate, 9, 33, 5});
  EXPECT_TRUE(FindSpirvDescriptors(whole));
  EXPECT_FALSE(FindSpirvDescriptors({}));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(FindSpirvDescriptors(std::span(whole).first(size))) << size;
  }
  EXPECT_FALSE(FindSpirvDescriptors(Module({0}))) << "an instruction of no words";
  EXPECT_FALSE(FindSpirvDescriptors(Module({3u << 16 | 74, 9, 10}))) << "groups";
  whole[0] = 0x03022307;
  EXPECT_FALSE(FindSpirvDescriptors(whole)) << "of another byte order";
}

}  // namespace
}  // namespace cairn
