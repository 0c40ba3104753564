// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/adapter_choice.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace cairn {
namespace {

const std::vector<Adapter> kThree = {
    {"NVIDIA H100 PCIe", 11}, {"NVIDIA H100 PCIe", 12}, {"llvmpipe (LLVM 15.0.6)", 13}};

std::string WrongAbout(std::string_view wanted, const std::vector<Adapter>& adapters = kThree) {
  const Result<uint32_t> found = FindAdapter(adapters, wanted);
  EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
  return found.status().message();
}

TEST(AdapterChoice, FindsPlacesAndPartsOfNames) {
  EXPECT_EQ(*FindAdapter(kThree, "0"), 0u);
  EXPECT_EQ(*FindAdapter(kThree, "2"), 2u);
  EXPECT_EQ(*FindAdapter(kThree, "LLVMPIPE"), 2u);
  EXPECT_EQ(*FindAdapter(kThree, "llvm 15"), 2u);
}

TEST(AdapterChoice, ErrorsListTheAdaptersThatThereAre) {
  const std::string all =
      "; there are 0 \"NVIDIA H100 PCIe\", 1 \"NVIDIA H100 PCIe\", 2 \"llvmpipe (LLVM 15.0.6)\"";
  EXPECT_EQ(WrongAbout("3"), "--adapter: there is no adapter 3" + all);
  EXPECT_EQ(WrongAbout("99999999999999999999"),
            "--adapter: there is no adapter 99999999999999999999" + all);
  EXPECT_EQ(WrongAbout("Radeon"), "--adapter: no adapter has \"Radeon\" in its name" + all);
  EXPECT_EQ(WrongAbout("h100"),
            "--adapter: 2 adapters have \"h100\" in their names, give the number of one" + all);
  EXPECT_EQ(WrongAbout("\x1b"), "--adapter: no adapter has \"\\x1b\" in its name" + all);
  EXPECT_EQ(WrongAbout(""), "--adapter: the name is empty" + all);
  EXPECT_EQ(WrongAbout("0", {}), "--adapter: there is no adapter 0; this machine has none");
}

TEST(AdapterChoice, NameThenLuidThenPlace) {
  const auto choose = [](const RecordedAdapter& recorded) {
    return AdapterChoice(kThree).Choose(recorded);
  };
  EXPECT_EQ(choose({"llvmpipe (LLVM 15.0.6)", 99, 0}), 2u);
  EXPECT_EQ(choose({"NVIDIA H100 PCIe", 12, 0}), 1u);  // the name and the LUID
  EXPECT_EQ(choose({"NVIDIA H100 PCIe", 99, 1}), 1u);  // the name and the place
  EXPECT_EQ(choose({"NVIDIA H100 PCIe", 99, 2}), 0u);
  EXPECT_EQ(choose({"", 13, 0}), 2u);
  EXPECT_EQ(AdapterChoice({{"A", 1}, {"", 2}}).Choose({"B", 2, 0}), 1u);
}

// LUIDs and places are those of one start of one machine.
TEST(AdapterChoice, LuidOfAnotherNameIsAnotherAdapter) {
  AdapterChoice choice(kThree);
  EXPECT_EQ(choice.Choose({"NVIDIA H100 PCIe", 13, 0}), 0u);
  EXPECT_EQ(choice.Choose({"Radeon", 13, 0}), std::nullopt);
  EXPECT_FALSE(choice.IsAlike({"Radeon", 13, 0}, 2));
}

TEST(AdapterChoice, NoneIsChosenWhereNoneIsAlike) {
  const auto choose = [](const RecordedAdapter& recorded) {
    return AdapterChoice(kThree).Choose(recorded);
  };
  EXPECT_EQ(choose({"Radeon", std::nullopt, 1}), std::nullopt);
  EXPECT_EQ(choose({"Radeon", 99, 0}), std::nullopt);
  EXPECT_EQ(choose({"", std::nullopt, 1}), std::nullopt);
  EXPECT_EQ(choose({}), std::nullopt);
  EXPECT_EQ(AdapterChoice({}).Choose({"Radeon", 1, 1}), std::nullopt);
  // On Linux no LUID is known.
  EXPECT_EQ(AdapterChoice({{"A", 0}, {"B", 0}}).Choose({"", 0, 1}), std::nullopt);
  EXPECT_FALSE(AdapterChoice(kThree).IsAlike({"Radeon", std::nullopt, 1}, std::nullopt));
  EXPECT_TRUE(AdapterChoice(kThree).IsAlike({"", std::nullopt, 1}, std::nullopt));
}

TEST(AdapterChoice, TwoOfOneNameAreTwo) {
  AdapterChoice choice(kThree);
  const RecordedAdapter first = {"NVIDIA H100 PCIe", 21, 4};
  const RecordedAdapter second = {"NVIDIA H100 PCIe", 22, 5};
  EXPECT_EQ(choice.Choose(first), 0u);
  EXPECT_EQ(choice.Choose(second), 1u);
  EXPECT_EQ(choice.Choose(first), 0u);
  EXPECT_FALSE(choice.IsShared(first, 0));
  EXPECT_TRUE(choice.IsAlike(second, 1));
  EXPECT_FALSE(choice.IsAlike({"Radeon", 1, 1}, 1));
  EXPECT_TRUE(choice.IsAlike({"", std::nullopt, 1}, 1));
  const RecordedAdapter third = {"NVIDIA H100 PCIe", 23, 6};
  EXPECT_EQ(choice.Choose(third), 0u);
  EXPECT_TRUE(choice.IsShared(third, 0));
  const RecordedAdapter unlike = {"Radeon", 24, 7};
  EXPECT_EQ(choice.Choose(unlike), std::nullopt);
  EXPECT_FALSE(choice.IsShared(unlike, std::nullopt));
  EXPECT_EQ(choice.Choose({"Arc", 25, 8}), std::nullopt);
  EXPECT_TRUE(choice.IsShared(unlike, std::nullopt));
}

TEST(AdapterChoice, AllAreOnTheOneThatIsAskedFor) {
  AdapterChoice choice(kThree, 2);
  EXPECT_EQ(choice.Choose({"NVIDIA H100 PCIe", 11, 0}), 2u);
  EXPECT_EQ(choice.Choose({"NVIDIA H100 PCIe", 12, 1}), 2u);
  EXPECT_TRUE(choice.IsShared({"NVIDIA H100 PCIe", 12, 1}, 2));
}

TEST(AdapterChoice, NamesAndIdentifiersSayThatADeviceIsAnother) {
  const AdapterChoice choice({{"A", 0, 0x10DE, 1}, {"", 0, 0x10DE, 1}, {"A", 0}});
  const auto another = [&choice](const char* name, uint32_t vendor, uint32_t device,
                                 std::optional<uint32_t> place) {
    return choice.IsAnother({name, {}, {}, vendor, device}, place);
  };
  EXPECT_TRUE(another("B", 0x10DE, 2, 0));
  EXPECT_TRUE(another("B", 0x10005, 0, 0)) << "a vendor may give no numbers to its devices";
  EXPECT_FALSE(another("A", 0x10DE, 2, 0));
  EXPECT_FALSE(another("B", 0x10DE, 1, 0)) << "names have versions in them";
  EXPECT_FALSE(another("", 0x1002, 2, 0)) << "nobody knows, from here on";
  EXPECT_FALSE(another("B", 0, 0, 0));
  EXPECT_FALSE(another("B", 0x1002, 2, 1));
  EXPECT_FALSE(another("B", 0x1002, 2, 2));
  EXPECT_FALSE(another("B", 0x1002, 2, 3));
  EXPECT_FALSE(another("B", 0x1002, 2, std::nullopt));
}

// DXGI and Vulkan have their own names and numbers for one adapter; Wine's DXGI makes them up.
TEST(AdapterChoice, WhatTwoLibrariesSayIsNotCompared) {
  const AdapterChoice choice({{"A", 0, 0x10DE, 1}, {"A", 0, 0x10DE, 1, /*of_vulkan=*/true}});
  RecordedAdapter recorded = {.name = "B", .vendor_id = 0x1002, .device_id = 2};
  EXPECT_TRUE(choice.IsAnother(recorded, 0));
  EXPECT_FALSE(choice.IsAnother(recorded, 1));
  recorded.of_vulkan = true;
  EXPECT_FALSE(choice.IsAnother(recorded, 0));
  EXPECT_TRUE(choice.IsAnother(recorded, 1));
}

}  // namespace
}  // namespace cairn
