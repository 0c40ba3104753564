// SPDX-License-Identifier: Apache-2.0
//
// Tests how Windows treats names, and files that are open elsewhere.
#include "os/file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "os/testing/file_fixture.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

TEST_F(FileTest, NamesMayHaveSpacesUmlautsAndThreeHundredCharacters) {
  std::vector<fs::path> folders = {folder_ / fs::path(u8"Gr\u00fc\u00dfe aus \u6771\u4eac")};
  while (folders.back().native().size() < 300)
    folders.push_back(folders.back() / std::string(40, 'x'));
  const fs::path folder = folders.back();
  EXPECT_FALSE(MakeFolders(folder));
  EXPECT_EQ(FactsAt(folder).type, fs::file_type::directory);
  const fs::path path = folder / "a b.cairn";
  EXPECT_FALSE(CheckCreation(path));
  EXPECT_EQ(FactsAt(path).type, fs::file_type::not_found);
  EXPECT_FALSE(ReplaceFile(path, Bytes("here")));
  EXPECT_EQ(TextOf(path), "here");
  EXPECT_EQ(FactsAt(path).size_bytes, 4u);
  EXPECT_TRUE(Opened(path, FileMode::kRead).IsAt(path));
  EXPECT_FALSE(RenameToFree(path, folder / "c"));
  EXPECT_FALSE(Rename(folder / "c", folder / "d"));
  EXPECT_EQ(TextOf(folder / "d"), "here");
  EXPECT_FALSE(RemoveFile(folder / "d"));
  // The standard library takes names of that length behind this prefix only.
  for (; !folders.empty(); folders.pop_back()) {
    EXPECT_TRUE(fs::remove(fs::path(L"\\\\?\\" + fs::absolute(folders.back()).wstring())));
  }
}

// The folder has a list of rights of its own, not that of the folder above.
TEST_F(FileTest, APrivateFolderIsNotForEverybody) {
  EXPECT_FALSE(MakePrivateFolder(In("private")));
  std::array<std::byte, 4096> security;
  DWORD bytes = 0;
  ASSERT_NE(GetFileSecurityW(SystemPath(In("private")).c_str(), DACL_SECURITY_INFORMATION,
                             security.data(), static_cast<DWORD>(security.size()), &bytes),
            0);
  BOOL is_there = FALSE;
  BOOL is_default = TRUE;
  ACL* rights = nullptr;
  ASSERT_NE(GetSecurityDescriptorDacl(security.data(), &is_there, &rights, &is_default), 0);
  ASSERT_TRUE(is_there != 0 && rights != nullptr);
  // Wine makes more than one entry of it.
  EXPECT_GE(rights->AceCount, 1);
  for (DWORD i = 0; i < rights->AceCount; ++i) {
    void* entry = nullptr;
    ASSERT_NE(GetAce(rights, i, &entry), 0);
    SID* const whose = reinterpret_cast<SID*>(&static_cast<ACCESS_ALLOWED_ACE*>(entry)->SidStart);
    for (const WELL_KNOWN_SID_TYPE many :
         {WinWorldSid, WinAuthenticatedUserSid, WinBuiltinUsersSid}) {
      EXPECT_EQ(IsWellKnownSid(whose, many), 0);
    }
  }
}

TEST_F(FileTest, DevicesAreToldFromFiles) {
  File device = Opened("NUL", FileMode::kWrite);
  EXPECT_EQ(device.facts().type, fs::file_type::character);
  EXPECT_EQ(FactsAt("NUL").type, fs::file_type::character);
  EXPECT_FALSE(device.Append(Bytes("x")));
  EXPECT_EQ(device.Sync(), std::errc::invalid_argument);
}

// Not every system replaces a file that is open for reading. A failure must change nothing.
TEST_F(FileTest, WhoReadsAFileKeepsItOrItIsReplaced) {
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("before")));
  {
    const File reader = Opened(In("a"), FileMode::kRead);
    const std::error_code error = ReplaceFile(In("a"), Bytes("between"));
    EXPECT_TRUE(!error || error == std::errc::device_or_resource_busy) << error.message();
    EXPECT_EQ(TextOf(In("a")), error ? "before" : "between");
  }
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("after")));
  EXPECT_EQ(TextOf(In("a")), "after");
}

}  // namespace
}  // namespace cairn
