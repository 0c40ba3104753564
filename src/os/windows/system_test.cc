// SPDX-License-Identifier: Apache-2.0
//
// Checks values that other parts of the system return.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "os/environment.h"
#include "os/library.h"
#include "os/memory.h"
#include "os/random.h"
#include "os/settings_store.h"
#include "os/this_process.h"
#include "os/thread.h"
#include "os/user.h"

namespace cairn {
namespace {

using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Memory, IsZeroInWholePages) {
  EXPECT_EQ(PageBytes() & (PageBytes() - 1), 0u);
  const SparseMemory memory = SparseMemory::Reserve(size_t{1} << 30);
  ASSERT_NE(memory.data(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % PageBytes(), 0u);
  memory.data()[123'456'789] = std::byte{1};
  EXPECT_EQ(memory.data()[123'456'788], std::byte{0});
}

TEST(Library, IsFoundOnceItIsLoaded) {
  const Result<Library> library = Library::Load("version.dll");
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_NE(library->Find<void (*)()>("GetFileVersionInfoSizeW"), nullptr);
  EXPECT_EQ(library->Find<void (*)()>("none"), nullptr);
  const Library found = Library::FindLoaded("version.dll");
  void* const function = reinterpret_cast<void*>(found.Find<void (*)()>("VerQueryValueW"));
  ASSERT_NE(function, nullptr);
  // The spelling of the first caller that loaded it.
  EXPECT_THAT(LibraryPathOf(function), AnyOf(EndsWith("version.dll"), EndsWith("VERSION.dll")));
  EXPECT_THAT(LibraryPathOf(reinterpret_cast<void*>(&IsAdministrator)), EndsWith(".exe"));
  EXPECT_EQ(LibraryPathOf(nullptr), "");
  const Result<Library> none = Library::Load("none-such.dll");
  EXPECT_EQ(none.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(none.status().message(), HasSubstr("none-such.dll: "));
}

TEST(Thread, HasANameAndASlot) {
  static std::array<char, kThreadNameBytes> name;
  static int ended = 0;
  static int value = 7;
  static ThreadSlot slot;
  EXPECT_EQ(slot.Get(), nullptr);
  slot.Set(&value);  // nowhere
  slot.Open([](void* left) { ended += *static_cast<int*>(left); });
  uint32_t id = 0;
  StartInnerThread("cairn-inner", [&id] {
    name = CurrentThreadName();
    id = CurrentThreadId();
    EXPECT_EQ(slot.Get(), nullptr);
    slot.Set(&value);
    EXPECT_EQ(slot.Get(), &value);
  }).join();
  EXPECT_STREQ(name.data(), "cairn-inner");
  EXPECT_NE(id, CurrentThreadId());
  EXPECT_EQ(slot.Get(), nullptr);
  EXPECT_EQ(ended, 7);
}

TEST(Environment, IsWhatProgramsThatAreStartedWillHave) {
  SetVariable("CAIRN_TEST_VARIABLE", "gr\u00fcn");
  EXPECT_STREQ(OwnVariable("CAIRN_TEST_VARIABLE"), "gr\u00fcn");
  SetMissingVariable("CAIRN_TEST_VARIABLE", "blau");
  EXPECT_STREQ(OwnVariable("CAIRN_TEST_VARIABLE"), "gr\u00fcn");
  SetMissingVariable("CAIRN_TEST_MISSING", "blau");
  EXPECT_STREQ(OwnVariable("CAIRN_TEST_MISSING"), "blau");
}

TEST(ThisProcess, KnowsItself) {
  EXPECT_GT(OwnProcessId(), 0);
  EXPECT_THAT(OwnProgramPath(), EndsWith("windows_os_test.exe"));
  EXPECT_THAT(OwnCommandLine(), HasSubstr("windows_os_test"));
  EXPECT_FALSE(UserName().empty());
}

TEST(Random, IsNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 8; ++i) {
    std::string bytes(32, '\0');
    ASSERT_TRUE(FillWithSecrets(std::as_writable_bytes(std::span(bytes))));
    EXPECT_TRUE(seen.insert(bytes).second);
  }
}

// The user's own settings: put back at the end.
class SettingsStoreTest : public testing::Test {
 protected:
  SettingsStoreTest() : before_(ReadSettings(SettingsScope::kUser, 1 << 20).value()) {}
  ~SettingsStoreTest() override { Write(before_); }
  static void Write(const std::string& text) {
    const Status status = ChangeSettings(SettingsScope::kUser, [&text] { return text; });
    EXPECT_TRUE(status.ok()) << status.message();
  }

  const std::string before_;
};

TEST_F(SettingsStoreTest, KeepsATextInTheRegistry) {
  EXPECT_EQ(SettingsName(SettingsScope::kUser).value(),
            "HKEY_CURRENT_USER\\Software\\Cairn, value D3DConfig");
  const std::string text = "mode=full\nnames=Gr\u00fc\u00dfe\n";
  Write(text);
  EXPECT_EQ(ReadSettings(SettingsScope::kUser, 1000).value(), text);
  // One byte more than asked for says that there is more.
  EXPECT_EQ(ReadSettings(SettingsScope::kUser, 3).value(), "mode");
  const Status refused = ChangeSettings(SettingsScope::kUser, []() -> Result<std::string> {
    return Status(StatusCode::kInvalidArgument, "no");
  });
  EXPECT_EQ(refused.message(), "no");
  EXPECT_EQ(ReadSettings(SettingsScope::kUser, 1000).value(), text);
}

TEST_F(SettingsStoreTest, WritersTakeTurns) {
  Write("");
  const auto add = [] {
    for (int i = 0; i < 50; ++i) {
      const Status status = ChangeSettings(SettingsScope::kUser, [] {
        Result<std::string> text = ReadSettings(SettingsScope::kUser, 1000);
        *text += "x";
        return text;
      });
      EXPECT_TRUE(status.ok()) << status.message();
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(ReadSettings(SettingsScope::kUser, 1000).value(), std::string(100, 'x'));
}

}  // namespace
}  // namespace cairn
