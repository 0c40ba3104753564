// SPDX-License-Identifier: Apache-2.0
//
// What only Windows has: pipes without a reader, command lines as programs get them, which libraries there are.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <io.h>
#include <process.h>
#include <windows.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::StartsWith;

constexpr char kGolden[] = CAIRN_SOURCE_DIR "/tests/golden/";

CommandResult Cairn(std::vector<std::string> arguments, const std::string& folder = kGolden) {
  arguments.insert(arguments.begin(), Program("cairn"));
  return RunCommand(arguments, {.folder = folder});
}

TEST(CairnExe, HasTheVerbsThatLinuxHas) {
  const std::string help = Cairn({"--help"}).output;
  for (const std::string verb :
       {"run", "report", "view", "info", "calls", "objects", "images", "state", "diff", "verify",
        "trim", "repack", "replay", "bisect", "top", "selftest", "pix"}) {
    EXPECT_THAT(help, HasSubstr("\n  " + verb + " ")) << verb;
  }
}

// In small letters, of a file that is not run.
std::set<std::string> ImportsOf(const std::string& file) {
  std::set<std::string> names;
  const HMODULE module =
      LoadLibraryExW(std::filesystem::path(file).c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
  if (module == nullptr) return names;
  const auto* const bytes = reinterpret_cast<const char*>(module);
  const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(bytes);
  const auto& nt = *reinterpret_cast<const IMAGE_NT_HEADERS64*>(bytes + dos.e_lfanew);
  const IMAGE_DATA_DIRECTORY& imports =
      nt.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  for (auto* at = reinterpret_cast<const IMAGE_IMPORT_DESCRIPTOR*>(bytes + imports.VirtualAddress);
       at->Name != 0; ++at) {
    std::string name = bytes + at->Name;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    names.insert(name);
  }
  FreeLibrary(module);
  return names;
}

// The shipped files need no library that Windows lacks. Wine has others, so that the fault would
// stay unnoticed.
TEST(CairnExe, ImportsNothingButWindows) {
  const std::set<std::string> windows = {
      "advapi32.dll", "bcrypt.dll",  "gdi32.dll",  "iphlpapi.dll", "kernel32.dll", "mswsock.dll",
      "msvcrt.dll",   "shell32.dll", "user32.dll", "version.dll",  "ws2_32.dll"};
  for (const char* const file : {"cairn.exe", "cairn-d3d.dll", "libcairn.dll"}) {
    const std::set<std::string> imports = ImportsOf(CAIRN_BINARY_DIR "/bin/" + std::string(file));
    EXPECT_THAT(imports, Contains("kernel32.dll")) << file;
    EXPECT_THAT(imports, IsSubsetOf(windows)) << file;
  }
}

TEST(CairnExe, WordsOfTheCommandLineArriveAsTheyAre) {
  for (const std::string word : {"*.cairn", "a\"b", "ends with \\", "\\\\server\\none",
                                 "Gr\u00fc\u00dfe \u6771\u4eac \U0001f600", "%PATH%", "a  b"}) {
    EXPECT_THAT(Cairn({"info", word}).errors, StartsWith("cairn info: cannot open " + word + ": "));
  }
  EXPECT_EQ(Cairn({"info", ""}).errors,
            "cairn info: no file is given; say cairn info FILE.cairn\n");
}

TEST(CairnExe, BothSlashesSeparateFolders) {
  const CommandResult result = Cairn({"info", "..\\golden/trace-v1.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("File      ..\\golden/trace-v1.cairn\n"));
}

TEST(CairnExe, WritesToADevice) {
  const CommandResult result = Cairn({"repack", "-o", "NUL", "trace-v1.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("NUL: "));
}

TEST(CairnExe, AFileThatIsOpenElsewhereStays) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(std::string(kGolden) + "trace-v1.cairn", folder / "a.cairn");
  const std::string before = ReadFile(folder / "a.cairn");
  const int held =
      _open((folder / "a.cairn").c_str(), _O_RDONLY | _O_BINARY);  // may not be renamed
  ASSERT_GE(held, 0);
  const CommandResult result = Cairn({"repack", "a.cairn"}, folder.path().string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors,
            "cairn repack: cannot rename the finished file to a.cairn: Device or resource "
            "busy; close it where it is open, or choose another file name (it is complete in "
            "a.cairn.part)\n");
  EXPECT_EQ(ReadFile(folder / "a.cairn"), before);
  EXPECT_EQ(Cairn({"verify", "a.cairn.part"}, folder.path().string()).exit_code, 0);
  _close(held);
  EXPECT_EQ(Cairn({"repack", "a.cairn"}, folder.path().string()).exit_code, 0);
  EXPECT_LT(ReadFile(folder / "a.cairn").size(), before.size());
}

// Runs `cairn report` of a golden file with this as its stdout.
int ReportInto(int output) {
  const std::wstring program = std::filesystem::path(Program("cairn")).wstring();
  const std::wstring file =
      std::filesystem::path(std::string(kGolden) + "snapshot-v1.cairn").wstring();
  const int before = _dup(1);
  _dup2(output, 1);
  const intptr_t exit_code =
      _wspawnl(_P_WAIT, program.c_str(), L"cairn", L"report", file.c_str(), nullptr);
  _dup2(before, 1);
  _close(before);
  return static_cast<int>(exit_code);
}

// Returns the text on stderr meanwhile.
std::string ErrorsOfReportInto(int output, int* exit_code) {
  const TemporaryFolder folder;
  const int before = _dup(2);
  const int errors = _open((folder / "errors").c_str(), _O_WRONLY | _O_CREAT | _O_BINARY, 0600);
  _dup2(errors, 2);
  *exit_code = ReportInto(output);
  _dup2(before, 2);
  _close(before);
  _close(errors);
  return ReadFile(folder / "errors");
}

TEST(CairnExe, AReaderThatGoesAwayIsNoErrorToSpeakOf) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(_pipe(ends, 4096, _O_BINARY), 0);
  _close(ends[0]);
  int exit_code = -1;
  EXPECT_EQ(ErrorsOfReportInto(ends[1], &exit_code), "");
  EXPECT_EQ(exit_code, 1);
  _close(ends[1]);
  // Other reasons are told.
  const TemporaryFolder folder;
  const std::string file = folder / "read-only";
  const int made = _open(file.c_str(), _O_RDONLY | _O_CREAT, 0600);
  ASSERT_GE(made, 0);
  EXPECT_THAT(ErrorsOfReportInto(made, &exit_code),
              StartsWith("cairn report: the output cannot be written: "));
  EXPECT_EQ(exit_code, 1);
  _close(made);
}

}  // namespace
}  // namespace cairn::testing
