// SPDX-License-Identifier: Apache-2.0
//
// Tests how processes of Windows die, and their command lines.
#include "os/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "os/child.h"
#include "os/environment.h"
#include "os/testing/test_role.h"
#include "os/windows/exit_code.h"
#include "os/windows/launch.h"
#include "os/windows/system.h"
// Behind it.
#include <shellapi.h>

namespace cairn {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- Programs that misbehave ------------------------------------------------------------------------------

[[gnu::noinline]] int Deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  // Never zero, but the compiler cannot know that.
  return here[0] == 0 ? 0 : Deeper(here) + here[0];
}

const TestRole dies("dies", [](const TestWords& words) {
  const std::string& how = words.at(0);
  if (how == "access-violation") *reinterpret_cast<volatile int*>(uintptr_t{4096}) = 1;
  if (how == "abort") std::abort();
  if (how == "fastfail") __asm__ volatile("int $0x29" ::"c"(7));
  if (how == "stack-overflow") {
    volatile char first = 1;
    return Deeper(&first);
  }
  if (how == "breakpoint") __asm__ volatile("int3");
  if (how == "terminates-itself") TerminateProcess(GetCurrentProcess(), 77);
  if (how == "exits") std::exit(5);
  if (how == "exits-below-zero") std::exit(-1);
  if (how == "divides") __asm__ volatile("xorl %%ecx, %%ecx; idivl %%ecx" ::: "eax", "ecx", "edx");
  return 99;
});
const TestRole waits("waits", [](const TestWords&) -> int { SleepForEver(); });

ProcessEnd EndOfOneThat(const std::string& how) {
  return EndOf(StartRole("dies", {how}));
}

void ExpectDeath(const std::string& how, const std::string& cause) {
  const ProcessEnd end = EndOfOneThat(how);
  EXPECT_EQ(end.kind, EndKind::kSignalled) << how << ": " << end.value;
  EXPECT_EQ(CauseOfDeath(end.value), cause);
  EXPECT_FALSE(WasKilled(end));
  EXPECT_FALSE(WasAskedToEnd(end));
}

void ExpectExit(const std::string& how, int code) {
  const ProcessEnd end = EndOfOneThat(how);
  EXPECT_EQ(end.kind, EndKind::kExited) << how;
  EXPECT_EQ(end.value, code) << how;
}

// ---- The tests ------------------------------------------------------------------------------------------

TEST(EndsOfProcesses, ExceptionsAreToldAsWhatTheyAre) {
  ExpectDeath("access-violation", "EXCEPTION_ACCESS_VIOLATION");
  ExpectDeath("fastfail", "STATUS_STACK_BUFFER_OVERRUN (fastfail)");
  ExpectDeath("breakpoint", "EXCEPTION_BREAKPOINT");
  ExpectDeath("divides", "EXCEPTION_INT_DIVIDE_BY_ZERO");
}

// Wine ends the thread that has no stack left, with no code for the process.
TEST(EndsOfProcesses, AStackOverflowIsOneWhereTheSystemSaysSo) {
  const ProcessEnd end = EndOfOneThat("stack-overflow");
  if (GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr) {
    EXPECT_EQ(end.kind, EndKind::kExited);
    EXPECT_LE(end.value, 1);
    return;
  }
  EXPECT_EQ(CauseOfDeath(end.value), "EXCEPTION_STACK_OVERFLOW");
}

TEST(EndsOfProcesses, WhatCannotBeToldFromAnExitIsAnExit) {
  ExpectExit("abort", 3);
  ExpectExit("terminates-itself", 77);
  ExpectExit("exits", 5);
  ExpectExit("exits-below-zero", -1);
}

TEST(EndsOfProcesses, WhoIsKilledByAnotherHasHisCode) {
  const ProcessHandle process = StartRole("waits");
  const SystemHandle other =
      Owned(::OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(process.pid)));
  ASSERT_TRUE(other.valid());
  EXPECT_NE(TerminateProcess(HandleOf(other), 1), 0);
  const ProcessEnd end = EndOf(process);
  EXPECT_EQ(end.kind, EndKind::kExited);
  EXPECT_EQ(end.value, 1);
  // The process has ended already.
  EXPECT_TRUE(KillProcess(process).ok());
  EXPECT_EQ(CollectEnd(process).value, 1);
}

TEST(EndsOfProcesses, CodesHaveNames) {
  EXPECT_TRUE(WasAskedToEnd(EndOfExitCode(0xC000013A)));
  EXPECT_TRUE(WasKilled(EndOfExitCode(kKilledExitCode)));
  EXPECT_EQ(EndOfExitCode(0xFFFFFFF0).kind, EndKind::kExited) << "exit(-16)";
  EXPECT_EQ(EndOfExitCode(0x80000000).kind, EndKind::kExited);
  EXPECT_EQ(EndOfExitCode(0xC0001234).kind, EndKind::kSignalled);
  EXPECT_EQ(NameOfExitCode(0xC0001234), "exception 0xC0001234");
  EXPECT_EQ(NameOfExitCode(0xC0000374), "STATUS_HEAP_CORRUPTION");
}

TEST(CommandLine, IsTakenApartAsItWasPutTogether) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"C:\\Program Files\\g.exe"},
        {"g", "", "a b", "\"", "\\", "\\\\\"", "a\\", "a b\\", "a b\\\\", "\\\"\\\\\" \\"},
        {"g", "\t", "a\"b", "a\\\"b c", "\"\"", "gr\u00fcn", "%x%", "'", "*.txt"}}) {
    int count = 0;
    const std::wstring line = JoinedCommandLine(words);
    wchar_t** const apart = CommandLineToArgvW(line.c_str(), &count);
    std::vector<std::string> seen;
    for (int i = 0; i < count; ++i) seen.push_back(Utf8(apart[i]));
    LocalFree(apart);
    EXPECT_EQ(seen, words) << Utf8(line);
  }
  EXPECT_EQ(JoinedCommandLine({"g\".exe", "a"}), L"\"g.exe\" a");
}

TEST(EnvironmentBlock, ReplacesANameInCapitalsOrNotAndIsSorted) {
  SetVariable("CAIRN_BLOCK_TEST", "old");
  const std::wstring block = EnvironmentBlock({"cairn_Block_Test=new", "CAIRN_A=", "_CAIRN=1"});
  std::vector<std::wstring> entries;
  for (size_t at = 0; at < block.size(); at += entries.back().size() + 1) {
    entries.emplace_back(block.c_str() + at);
  }
  EXPECT_THAT(entries, testing::Contains(L"cairn_Block_Test=new"));
  EXPECT_THAT(entries, Not(testing::Contains(L"CAIRN_BLOCK_TEST=old")));
  EXPECT_THAT(entries, testing::Contains(L"CAIRN_A="));
  const auto at = [&entries](const wchar_t* entry) {
    return std::find(entries.begin(), entries.end(), entry) - entries.begin();
  };
  EXPECT_LT(at(L"CAIRN_A="), at(L"cairn_Block_Test=new"));
  EXPECT_LT(at(L"cairn_Block_Test=new"), at(L"_CAIRN=1"));
}

TEST(ConditionOf, OneWhoseThreadsAreAllSuspendedIsStopped) {
  STARTUPINFOW info = {};
  info.cb = sizeof(info);
  PROCESS_INFORMATION started = {};
  std::wstring line = JoinedCommandLine(ArgumentsOfRole("waits"));
  ASSERT_NE(CreateProcessW(Wide(OwnProgramPath()).c_str(), line.data(), nullptr, nullptr, FALSE,
                           CREATE_SUSPENDED, nullptr, nullptr, &info, &started),
            0);
  const SystemHandle thread = Owned(started.hThread);
  const ProcessHandle process = {static_cast<ProcessId>(started.dwProcessId),
                                 Owned(started.hProcess)};
  EXPECT_EQ(ConditionOf(process.pid), ProcessCondition::kStopped);
  ResumeThread(HandleOf(thread));
  EXPECT_EQ(ConditionOf(process.pid), ProcessCondition::kRunning);
  EXPECT_TRUE(KillProcess(process).ok());
  EXPECT_TRUE(WasKilled(EndOf(process)));
}

class ProgramFile : public testing::Test {
 protected:
  ProgramFile()
      : folder_(std::filesystem::temp_directory_path() /
                Wide("cairn gr\u00fcn " + std::to_string(OwnProcessId()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ProgramFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  static ProcessEnd EndOfOne(const std::string& program) {
    SpawnRequest request;
    request.arguments = ArgumentsOfRole("dies", {"exits"});
    request.arguments[0] = program;
    const Result<ProcessHandle> process = SpawnProgram(request);
    EXPECT_TRUE(process.ok()) << process.status().message();
    return process.ok() ? EndOf(*process) : ProcessEnd();
  }
  static std::string ReadOwnProgram() {
    std::ifstream file(std::filesystem::path(Wide(OwnProgramPath())), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  static bool UnderWine() {
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
  }
  static std::string Utf8Of(const std::filesystem::path& path) { return Utf8(path.wstring()); }

  const std::filesystem::path folder_;
};

TEST_F(ProgramFile, MayHaveSpacesAndUmlautsAndNoExtension) {
  ASSERT_TRUE(CopyFileW(Wide(OwnProgramPath()).c_str(), (folder_ / "ein spiel.exe").c_str(), TRUE));
  EXPECT_EQ(EndOfOne(Utf8Of(folder_ / "ein spiel.exe")).value, 5);
  EXPECT_EQ(EndOfOne(Utf8Of(folder_ / "ein spiel")).value, 5);
}

TEST_F(ProgramFile, MayHaveALongPath) {
  std::filesystem::path folder = folder_;
  while (folder.native().size() < 300) {
    folder /= std::wstring(40, L'x');
    ASSERT_TRUE(CreateDirectoryW(SystemPath(folder).c_str(), nullptr)) << folder.native().size();
  }
  const std::filesystem::path file = folder / "game.exe";
  ASSERT_TRUE(CopyFileW(Wide(OwnProgramPath()).c_str(), SystemPath(file).c_str(), TRUE));
  SpawnRequest request;
  request.arguments = {Utf8Of(file), "--role", "dies", "exits"};
  const Result<ProcessHandle> process = SpawnProgram(request);
  if (process.ok()) {
    EXPECT_EQ(EndOf(*process).value, 5);
  }
  EXPECT_TRUE(process.ok() || UnderWine()) << process.status().message();
  DeleteFileW(SystemPath(file).c_str());
  for (; folder != folder_; folder = folder.parent_path()) {
    RemoveDirectoryW(SystemPath(folder).c_str());
  }
  if (!process.ok()) GTEST_SKIP() << "Wine starts no program with such a path";
}

TEST_F(ProgramFile, WhyALibraryIsNotInItIsTold) {
  SpawnRequest request;
  std::string why;
  request.arguments = ArgumentsOfRole("dies", {"exits"});
  request.not_preloaded = [&why](const Status& status) { why = status.message(); };
  request.preloaded = Utf8Of(folder_ / "none.dll");
  Result<ProcessHandle> process = SpawnProgram(request);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(EndOf(*process).value, 5);
  EXPECT_EQ(why, request.preloaded + " is not loaded into it: No such file or directory");
  std::ofstream(folder_ / "text.dll") << "no library";
  request.preloaded = Utf8Of(folder_ / "text.dll");
  process = SpawnProgram(request);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(EndOf(*process).value, 5);
  EXPECT_THAT(why, HasSubstr("text.dll is not loaded into it: "));
}

// Makes the part of a 32-bit program that the system reads to find its kind.
TEST_F(ProgramFile, Of32BitsIsRefusedWhereALibraryIsToBeInIt) {
  std::string bytes = ReadOwnProgram();
  uint32_t header = 0;
  std::memcpy(&header, bytes.data() + 0x3c, sizeof(header));
  const uint16_t machine = IMAGE_FILE_MACHINE_I386;
  const uint16_t magic = IMAGE_NT_OPTIONAL_HDR32_MAGIC;
  std::memcpy(bytes.data() + header + 4, &machine, sizeof(machine));
  std::memcpy(bytes.data() + header + 24, &magic, sizeof(magic));
  std::ofstream(folder_ / "old.exe", std::ios::binary) << bytes;
  SpawnRequest request;
  request.arguments = {Utf8Of(folder_ / "old.exe")};
  request.preloaded = CAIRN_TEST_PRELOADED;
  const Status refused = SpawnProgram(request).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(),
              HasSubstr("old.exe' cannot be watched: it is a program of 32 bits, "
                        "and what is loaded into it has 64; start its version "
                        "of 64 bits"));
}

TEST_F(ProgramFile, IsFoundInPath) {
  ASSERT_TRUE(CopyFileW(Wide(OwnProgramPath()).c_str(), (folder_ / "in-path.exe").c_str(), TRUE));
  const std::string before = OwnVariable("PATH");
  SetVariable("PATH", before + ";" + Utf8Of(folder_));
  EXPECT_EQ(EndOfOne("in-path").value, 5);
  EXPECT_EQ(EndOfOne("in-path.exe").value, 5);
  SetVariable("PATH", before);
  SpawnRequest request;
  request.arguments = {"in-path"};
  EXPECT_EQ(SpawnProgram(request).status().code(), StatusCode::kNotFound);
}

TEST_F(ProgramFile, ThatIsNoneIsRefused) {
  SpawnRequest request;
  std::ofstream(folder_ / "text.exe") << "no program";
  request.arguments = {Utf8Of(folder_ / "text.exe")};
  EXPECT_EQ(SpawnProgram(request).status().code(), StatusCode::kUnsupported);
  std::ofstream(folder_ / "start.BAT") << "exit 3";
  request.arguments = {Utf8Of(folder_ / "start.BAT")};
  const Status batch = SpawnProgram(request).status();
  EXPECT_EQ(batch.code(), StatusCode::kUnsupported);
  EXPECT_THAT(batch.message(), HasSubstr("it is a batch file; start cmd.exe /c"));
}

}  // namespace
}  // namespace cairn
