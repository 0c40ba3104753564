// SPDX-License-Identifier: Apache-2.0
#include "format/d3dconfig/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

D3DConfigPlace Place(std::optional<bool> force) {
  D3DConfigPlace place;
  place.force_driver_retail_annotations = force;
  return place;
}

TEST(D3DConfigText, FormatAndParseAreInverse) {
  for (const std::optional<bool> force :
       {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    D3DConfigPlace place = Place(force);
    place.unknown = {"from-the-future=7", "other="};
    const Result<D3DConfigPlace> parsed = ParseD3DConfig(*FormatD3DConfig(place));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, place);
  }
  EXPECT_EQ(*FormatD3DConfig(Place(true)),
            "# Settings of Direct3D 12 devices. Change them with the command d3dconfig.\n"
            "force-driver-retail-annotations=on\n");
}

TEST(D3DConfigText, PeopleMayWriteIt) {
  const Result<D3DConfigPlace> place =
      ParseD3DConfig("\n  # comment\r\n\tforce-driver-retail-annotations = TRUE \r\nx=y z\n\n");
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->force_driver_retail_annotations, true);
  EXPECT_THAT(place->unknown, ElementsAre("x=y z"));
  EXPECT_EQ(*ParseD3DConfig(""), D3DConfigPlace());
  EXPECT_EQ(*ParseD3DConfig("force-driver-retail-annotations=off"), Place(false));
}

TEST(D3DConfigText, WhatIsNoSetting) {
  const auto problem = [](std::string_view text) {
    const Result<D3DConfigPlace> place = ParseD3DConfig(text);
    if (place.ok()) return std::string("accepted");
    EXPECT_EQ(place.status().code(), StatusCode::kCorrupt);
    return place.status().message();
  };
  EXPECT_EQ(problem("\nnonsense"), "line 2: this is no setting (NAME=VALUE)");
  EXPECT_EQ(problem("=on"), "line 1: this is no setting (NAME=VALUE)");
  EXPECT_EQ(problem("A=on"), "line 1: this is no setting (NAME=VALUE)");
  EXPECT_EQ(problem("a=\x1b"), "line 1: this is no setting (NAME=VALUE)");
  EXPECT_EQ(problem(std::string_view("a=\0", 3)), "line 1: this is no setting (NAME=VALUE)");
  EXPECT_EQ(problem("force-driver-retail-annotations=maybe"),
            "line 1: 'maybe' is neither on nor off");
  EXPECT_EQ(problem("force-driver-retail-annotations=on\nforce-driver-retail-annotations=on\n"),
            "line 2: force-driver-retail-annotations stands there twice");
  EXPECT_EQ(problem(std::string(70000, '#')),
            "70000 bytes are more than the 65536 that settings take");
}

TEST(D3DConfigText, MoreThanIsReadIsNotWritten) {
  D3DConfigPlace place = Place(true);
  place.unknown.push_back("x=" + std::string(kMaxD3DConfigBytes, 'y'));
  EXPECT_EQ(FormatD3DConfig(place).status().code(), StatusCode::kInvalidArgument);
}

TEST(D3DConfigText, Switches) {
  for (const char* word : {"on", "ON", "true", "True"}) EXPECT_EQ(ParseD3DConfigSwitch(word), true);
  for (const char* word : {"off", "Off", "false"}) EXPECT_EQ(ParseD3DConfigSwitch(word), false);
  for (const char* word : {"", "1", "0", "yes", "on ", "onn"}) {
    EXPECT_EQ(ParseD3DConfigSwitch(word), std::nullopt) << word;
  }
}

TEST(D3DConfigText, AForceHoldsWhereverItIsOn) {
  const auto combined = [](std::optional<bool> user, std::optional<bool> system) {
    return CombineD3DConfig(Place(user), Place(system)).force_driver_retail_annotations;
  };
  for (const std::optional<bool> other :
       {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    EXPECT_TRUE(combined(true, other));
    EXPECT_TRUE(combined(other, true));
    EXPECT_EQ(combined({}, other), other.value_or(false));
    EXPECT_EQ(combined(false, other), other.value_or(false));
  }
}

// Both places in a folder of the test's own.
class D3DConfigFiles : public ::testing::Test {
 protected:
  D3DConfigFiles() {
    char name[] = "/tmp/cairn-d3dconfig-XXXXXX";
    folder_ = mkdtemp(name);
    setenv("XDG_CONFIG_HOME", (folder_ / "user").c_str(), 1);
    setenv("CAIRN_SYSTEM_CONFIG_DIR", (folder_ / "system").c_str(), 1);
  }
  ~D3DConfigFiles() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path UserFile() const { return folder_ / "user/cairn/d3dconfig"; }
  void WriteUserFile(const std::string& text) const {
    std::filesystem::create_directories(UserFile().parent_path());
    std::ofstream(UserFile()) << text;
  }
  static Status Set(D3DConfigScope scope, bool value) {
    return ChangeD3DConfigPlace(
        scope, [&](D3DConfigPlace& place) { place.force_driver_retail_annotations = value; });
  }
  static bool Forced() {
    std::vector<std::string> warnings;
    const Result<D3DConfigSettings> settings = ReadD3DConfig(&warnings);
    EXPECT_TRUE(settings.ok());
    EXPECT_THAT(warnings, IsEmpty());
    return settings.ok() && settings->force_driver_retail_annotations;
  }

  std::filesystem::path folder_;
};

TEST_F(D3DConfigFiles, NothingWasEverSet) {
  EXPECT_FALSE(Forced());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "user"));
}

TEST_F(D3DConfigFiles, UserAndSystem) {
  ASSERT_TRUE(Set(D3DConfigScope::kSystem, true).ok());
  EXPECT_TRUE(Forced());
  // What is on for every device of the machine is on for this user's.
  ASSERT_TRUE(Set(D3DConfigScope::kUser, false).ok());
  EXPECT_TRUE(Forced());
  ASSERT_TRUE(Set(D3DConfigScope::kSystem, false).ok());
  EXPECT_FALSE(Forced());
  ASSERT_TRUE(Set(D3DConfigScope::kUser, true).ok());
  EXPECT_TRUE(Forced());
  // Nothing but the file is left, and everybody may read it.
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(UserFile().parent_path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ElementsAre("d3dconfig"));
  struct stat status = {};
  ASSERT_EQ(stat(UserFile().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

// Under the umask of a careful administrator others could not enter the folder, and the settings for
// everybody would be those of root.
TEST_F(D3DConfigFiles, FoldersOfTheSystemAreOpenToEverybodyWhateverTheUmask) {
  const auto mode = [](const std::filesystem::path& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  };
  const std::filesystem::path system = folder_ / "etc/cairn";
  setenv("CAIRN_SYSTEM_CONFIG_DIR", system.c_str(), 1);
  const mode_t before = umask(0077);
  EXPECT_TRUE(Set(D3DConfigScope::kSystem, true).ok());
  umask(0);
  EXPECT_TRUE(Set(D3DConfigScope::kUser, true).ok());
  umask(before);
  EXPECT_EQ(mode(folder_ / "etc"), 0755u);
  EXPECT_EQ(mode(system), 0755u);
  EXPECT_EQ(mode(system / "d3dconfig"), 0644u);
  // The user's are nobody else's affair.
  EXPECT_EQ(mode(folder_ / "user"), 0700u);
  EXPECT_EQ(mode(UserFile().parent_path()), 0700u);
  // What is there keeps its mode.
  ASSERT_EQ(chmod(system.c_str(), 0750), 0);
  EXPECT_TRUE(Set(D3DConfigScope::kSystem, false).ok());
  EXPECT_EQ(mode(system), 0750u);
}

TEST_F(D3DConfigFiles, ADamagedPlaceHasNoEffectAndIsReplaced) {
  ASSERT_TRUE(Set(D3DConfigScope::kSystem, true).ok());
  WriteUserFile("force-driver-retail-annotations=of");
  std::vector<std::string> warnings;
  const Result<D3DConfigSettings> settings = ReadD3DConfig(&warnings);
  ASSERT_TRUE(settings.ok());
  EXPECT_TRUE(settings->force_driver_retail_annotations);
  EXPECT_THAT(warnings, ElementsAre(UserFile().string() +
                                    " is damaged: line 1: 'of' is neither on nor off; its settings "
                                    "have no effect"));
  warnings.clear();
  ASSERT_TRUE(ChangeD3DConfigPlace(
                  D3DConfigScope::kUser,
                  [](D3DConfigPlace& place) { place.force_driver_retail_annotations = false; },
                  &warnings)
                  .ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("what it said is replaced")));
  EXPECT_TRUE(Forced()) << "what the administrator forces is forced";
  ASSERT_TRUE(Set(D3DConfigScope::kSystem, false).ok());
  EXPECT_FALSE(Forced());
}

TEST_F(D3DConfigFiles, SettingsOfANewerVersionAreKept) {
  WriteUserFile("from-the-future=7\n");
  ASSERT_TRUE(Set(D3DConfigScope::kUser, true).ok());
  const Result<D3DConfigPlace> place = ReadD3DConfigPlace(D3DConfigScope::kUser);
  ASSERT_TRUE(place.ok());
  EXPECT_THAT(place->unknown, ElementsAre("from-the-future=7"));
  EXPECT_EQ(place->force_driver_retail_annotations, true);
}

TEST_F(D3DConfigFiles, APipeInThePlaceOfTheFileBlocksNobody) {
  std::filesystem::create_directories(UserFile().parent_path());
  ASSERT_EQ(mkfifo(UserFile().c_str(), 0600), 0);
  std::vector<std::string> warnings;
  EXPECT_TRUE(ReadD3DConfig(&warnings).ok());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is no file")));
}

TEST_F(D3DConfigFiles, AFolderThatCannotBeMade) {
  std::ofstream(folder_ / "user") << "a file";
  const Status status = Set(D3DConfigScope::kUser, true);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("user/cairn cannot be created"));
  EXPECT_FALSE(Forced());
}

TEST_F(D3DConfigFiles, WithoutAHomeThereIsTheSystem) {
  setenv("XDG_CONFIG_HOME", "relative", 1);
  const std::string home = getenv("HOME") == nullptr ? "" : getenv("HOME");
  unsetenv("HOME");
  EXPECT_FALSE(SettingsName(SettingsScope::kUser).ok());
  ASSERT_TRUE(Set(D3DConfigScope::kSystem, true).ok());
  EXPECT_TRUE(Forced());
  EXPECT_EQ(Set(D3DConfigScope::kUser, true).code(), StatusCode::kNotFound);
  setenv("HOME", home.c_str(), 1);
}

// Each writer adds lines; a lost update or a half-written file would show.
TEST_F(D3DConfigFiles, WritersTakeTurnsAndReadersSeeWholeFiles) {
  constexpr int kWriters = 4;
  constexpr int kChanges = 25;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([writer] {
      for (int i = 0; i < kChanges; ++i) {
        const Status status =
            ChangeD3DConfigPlace(D3DConfigScope::kUser, [&](D3DConfigPlace& place) {
              place.unknown.push_back("w" + std::to_string(writer) + "-" + std::to_string(i) +
                                      "=1");
            });
        EXPECT_TRUE(status.ok()) << status.message();
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(ReadD3DConfigPlace(D3DConfigScope::kUser).ok());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadD3DConfigPlace(D3DConfigScope::kUser)->unknown.size(), size_t{kWriters * kChanges});
}

}  // namespace
}  // namespace cairn
