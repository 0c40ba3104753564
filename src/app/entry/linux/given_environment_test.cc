// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/given_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A file that is there; what is in it is of no interest.
constexpr char kLibrary[] = "/proc/self/exe";
constexpr char kAddress[] = "CAIRN_WATCHER_ADDRESS=name:0:1:2";

class GivenEnvironmentTest : public testing::Test {
 protected:
  void Take(const std::vector<std::string>& environment, const char* library = kLibrary) {
    given_.Take(Pointers(environment).data(), library);
  }
  void TakeAll() {
    Take({kAddress, "CAIRN_BREADCRUMBS=full", "HOME=/home/u", std::string("LD_PRELOAD=") + kLibrary,
          "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs", "VK_ADD_LAYER_PATH=/other:/cairn/lib",
          "DXVK_DEBUG=markers"});
  }
  // Returns the environment that a program gets if it is started with `environment`.
  std::vector<std::string> Completed(const std::vector<std::string>& environment) {
    const std::vector<char*> pointers = Pointers(environment);
    if (!given_.IsMissingIn(pointers.data())) return environment;
    GivenEnvironment::Room room;
    std::vector<std::string> entries;
    for (char* const* entry = given_.Complete(pointers.data(), room); *entry != nullptr; ++entry) {
      entries.emplace_back(*entry);
    }
    return entries;
  }
  static std::vector<char*> Pointers(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }
  const std::string preload_ = std::string("LD_PRELOAD=") + kLibrary;
  GivenEnvironment given_;
};

TEST_F(GivenEnvironmentTest, AnEmptyEnvironmentGetsAllOfIt) {
  TakeAll();
  EXPECT_THAT(Completed({}),
              UnorderedElementsAre(kAddress, "CAIRN_BREADCRUMBS=full", preload_,
                                   "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs",
                                   "VK_ADD_LAYER_PATH=/cairn/lib", "DXVK_DEBUG=markers"));
  GivenEnvironment::Room room;
  EXPECT_TRUE(given_.IsMissingIn(nullptr));
  EXPECT_STREQ(given_.Complete(nullptr, room)[0], kAddress);
}

TEST_F(GivenEnvironmentTest, WhatIsThereStays) {
  TakeAll();
  const std::vector<std::string> whole = {kAddress, preload_, "A=b",
                                          "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs"};
  EXPECT_EQ(Completed(whole), whole) << "CAIRN_BREADCRUMBS was unset, which is the user's business";
  EXPECT_THAT(Completed({"CAIRN_BREADCRUMBS=top", "LD_PRELOAD=/a.so /b.so",
                         "VK_INSTANCE_LAYERS=VK_LAYER_x", "VK_LAYER_PATH=/only"}),
              ElementsAre("CAIRN_BREADCRUMBS=top", preload_ + ":/a.so /b.so",
                          "VK_INSTANCE_LAYERS=VK_LAYER_x:VK_LAYER_CAIRN_breadcrumbs",
                          "VK_LAYER_PATH=/only:/cairn/lib", kAddress, "DXVK_DEBUG=markers",
                          "VK_ADD_LAYER_PATH=/cairn/lib"));
}

TEST_F(GivenEnvironmentTest, ListsOfTheLaunchersOwnAreCompleted) {
  TakeAll();
  EXPECT_THAT(
      Completed({kAddress, preload_, "VK_INSTANCE_LAYERS=VK_LAYER_x"}),
      ElementsAre(kAddress, preload_, "VK_INSTANCE_LAYERS=VK_LAYER_x:VK_LAYER_CAIRN_breadcrumbs",
                  "VK_ADD_LAYER_PATH=/cairn/lib"));
  EXPECT_THAT(Completed({kAddress, "LD_PRELOAD=", "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs"}),
              ElementsAre(kAddress, preload_, "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs"));
}

// One cairn run in another: its programs have its own address.
TEST_F(GivenEnvironmentTest, AnotherWatcherIsLeftAlone) {
  TakeAll();
  EXPECT_THAT(Completed({"CAIRN_WATCHER_ADDRESS=other:0:1:2"}),
              ElementsAre("CAIRN_WATCHER_ADDRESS=other:0:1:2"));
}

TEST_F(GivenEnvironmentTest, WithoutAWatcherNothingIsGiven) {
  Take({preload_, "CAIRN_BREADCRUMBS=full"});
  EXPECT_THAT(Completed({}), IsEmpty());
}

TEST_F(GivenEnvironmentTest, WithoutTheVulkanLayerNoneIsNamed) {
  Take({kAddress, preload_});
  EXPECT_THAT(Completed({}), UnorderedElementsAre(kAddress, preload_));
}

// ld.so would say so, and the program would go on without it.
TEST_F(GivenEnvironmentTest, ALibraryThatIsNotThereIsNotNamed) {
  Take({kAddress, "LD_PRELOAD=/nowhere/l.so"}, "/nowhere/l.so");
  EXPECT_THAT(Completed({}), IsEmpty());
}

// A path that cannot be followed, here with too many links, may lead another program to a file.
TEST_F(GivenEnvironmentTest, ALibraryThatCannotBeLookedForIsNotHidden) {
  const std::string folder = testing::TempDir() + "given_environment_loop";
  ::unlink(folder.c_str());
  ASSERT_EQ(::symlink(folder.c_str(), folder.c_str()), 0);
  const std::string library = folder + "/l.so";
  Take({kAddress, "LD_PRELOAD=" + library, "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs",
        "VK_ADD_LAYER_PATH=/cairn/lib"},
       library.c_str());
  EXPECT_THAT(Completed({}), UnorderedElementsAre(kAddress, "LD_PRELOAD=" + library,
                                                  "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs",
                                                  "VK_ADD_LAYER_PATH=/cairn/lib"));
  ::unlink(folder.c_str());
}

// Behind a root that does not show it: a container may show the installed implicit layer in another place.
TEST_F(GivenEnvironmentTest, AHiddenLibraryEnablesTheImplicitLayer) {
  constexpr char kHidden[] = "/nowhere/l.so";
  const std::string layers = "VK_INSTANCE_LAYERS=VK_LAYER_CAIRN_breadcrumbs";
  const std::string folders = "VK_ADD_LAYER_PATH=/nowhere";
  Take({kAddress, "CAIRN_BREADCRUMBS=full", std::string("LD_PRELOAD=") + kHidden, layers, folders},
       kHidden);
  EXPECT_THAT(Completed({}), UnorderedElementsAre(kAddress, "CAIRN_BREADCRUMBS=full",
                                                  "CAIRN_ENABLE_VULKAN_LAYER=1"));
  for (const auto& [preloaded, left] : std::vector<std::pair<std::string, std::string>>{
           {"/nowhere/l.so", ""},
           {"/nowhere/l.so:/a.so /b.so", "/a.so /b.so"},
           {"/a.so:/nowhere/l.so:/b.so", "/a.so:/b.so"},
           {"/a.so /nowhere/l.so", "/a.so"},
           {"/nowhere/l.so:/a.so /nowhere/l.so:/b.so:/nowhere/l.so", "/a.so:/b.so"},
           {"/run/host/nowhere/l.so", "/run/host/nowhere/l.so"}}) {
    const std::vector<std::string> completed =
        Completed({kAddress, "LD_PRELOAD=" + preloaded, layers, folders});
    EXPECT_THAT(completed, ElementsAre(kAddress, "LD_PRELOAD=" + left, layers, folders,
                                       "CAIRN_ENABLE_VULKAN_LAYER=1"));
    EXPECT_EQ(Completed(completed), completed);
  }
  EXPECT_THAT(Completed({"CAIRN_WATCHER_ADDRESS=other:0:1:2"}),
              ElementsAre("CAIRN_WATCHER_ADDRESS=other:0:1:2"));
}

TEST_F(GivenEnvironmentTest, WhatHasNoRoomStaysAsItIs) {
  TakeAll();
  const std::vector<std::string> many(GivenEnvironment::Room::kMostEntries, "A=b");
  EXPECT_EQ(Completed(many), many);
  const std::vector<std::string> longest = {"LD_PRELOAD=" +
                                            std::string(GivenEnvironment::Room::kMostBytes, 'a')};
  EXPECT_EQ(Completed(longest), longest);
}

}  // namespace
}  // namespace cairn
