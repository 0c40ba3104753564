// SPDX-License-Identifier: Apache-2.0
#include "os/settings_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr size_t kMostBytes = 100;

class SettingsStoreTest : public testing::Test {
 protected:
  SettingsStoreTest() {
    char name[] = "/tmp/cairn-settings-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("XDG_CONFIG_HOME", (folder_ / "user").c_str(), 1);
    setenv("CAIRN_SYSTEM_CONFIG_DIR", (folder_ / "system").c_str(), 1);
  }
  ~SettingsStoreTest() override { std::filesystem::remove_all(folder_); }

  static std::string Read(SettingsScope scope) {
    const Result<std::string> text = ReadSettings(scope, kMostBytes);
    return text.ok() ? *text : "error: " + text.status().message();
  }
  static Status Write(SettingsScope scope, const std::string& text) {
    return ChangeSettings(scope, [&] { return Result<std::string>(text); });
  }
  std::filesystem::path UserFile() const { return folder_ / "user/cairn/d3dconfig"; }

  std::filesystem::path folder_;
};

TEST_F(SettingsStoreTest, EachScopeHasItsText) {
  EXPECT_EQ(Read(SettingsScope::kUser), "");
  ASSERT_TRUE(Write(SettingsScope::kUser, "a=1\n").ok());
  ASSERT_TRUE(Write(SettingsScope::kSystem, "b=2\n").ok());
  ASSERT_TRUE(Write(SettingsScope::kUser, "c=3\n").ok());
  EXPECT_EQ(Read(SettingsScope::kUser), "c=3\n");
  EXPECT_EQ(Read(SettingsScope::kSystem), "b=2\n");
  EXPECT_EQ(*SettingsName(SettingsScope::kUser), UserFile().string());
  EXPECT_THAT(*SettingsName(SettingsScope::kSystem), EndsWith("/system/d3dconfig"));
}

TEST_F(SettingsStoreTest, AnErrorChangesNothing) {
  ASSERT_TRUE(Write(SettingsScope::kUser, "a=1\n").ok());
  const Status status = ChangeSettings(SettingsScope::kUser, []() -> Result<std::string> {
    return Status(StatusCode::kInternal, "thought better of it");
  });
  EXPECT_EQ(status.message(), "thought better of it");
  EXPECT_EQ(Read(SettingsScope::kUser), "a=1\n");
}

TEST_F(SettingsStoreTest, WhatADyingWriterLeftIsInNobodysWay) {
  std::filesystem::create_directories(UserFile().parent_path());
  std::ofstream(UserFile().string() + ".new") << "half";
  ASSERT_TRUE(Write(SettingsScope::kUser, "a=1\n").ok());
  EXPECT_EQ(Read(SettingsScope::kUser), "a=1\n");
  EXPECT_FALSE(std::filesystem::exists(UserFile().string() + ".new"));
}

TEST_F(SettingsStoreTest, OtherThingsAreNotRead) {
  ASSERT_TRUE(Write(SettingsScope::kUser, std::string(1000, 'x')).ok());
  EXPECT_EQ(Read(SettingsScope::kUser), std::string(kMostBytes + 1, 'x'));
  std::filesystem::remove(UserFile());
  ASSERT_EQ(mkfifo(UserFile().c_str(), 0600), 0);
  EXPECT_EQ(ReadSettings(SettingsScope::kUser, kMostBytes).status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(Read(SettingsScope::kUser), HasSubstr("is no file"));
}

TEST_F(SettingsStoreTest, WritersTakeTurns) {
  constexpr int kWriters = 4;
  constexpr size_t kChanges = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([] {
      for (size_t change = 0; change < kChanges; ++change) {
        EXPECT_TRUE(ChangeSettings(SettingsScope::kUser, []() -> Result<std::string> {
                      return Read(SettingsScope::kUser) + "x";
                    }).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Read(SettingsScope::kUser), std::string(kWriters * kChanges, 'x'));
}

}  // namespace
}  // namespace cairn
