// SPDX-License-Identifier: Apache-2.0
//
// Tests for every system; linux/process_test.cc and windows/process_test.cc have the rest.
#include "os/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <new>
#include <string>
#include <thread>

#include "base/program_name.h"
#include "base/text.h"
#include "os/child.h"
#include "os/environment.h"
#include "os/library.h"
#include "os/shared_memory.h"
#include "os/testing/test_role.h"
#include "os/this_process.h"

namespace cairn {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMemoryBytes = 4096;

// Words that must arrive unchanged, although they contain characters at which command lines are
// split.
const TestWords& OddWords() {
  static const TestWords words = {"",
                                  " ",
                                  "a b",
                                  "\"",
                                  "\\",
                                  "\\\\\"",
                                  "a\\",
                                  "a b\\",
                                  "a b\\\\",
                                  "\"a b\"",
                                  "\ta\n",
                                  "'$PATH'",
                                  "%PATH%",
                                  "a\\\\b c",
                                  "gr\u00fcn\U0001F600",
                                  "--x=\"y z\"",
                                  "^&|<>"};
  return words;
}

const TestRole exits("exits", [](const TestWords& words) { return std::stoi(words.at(0)); });
const TestRole sleeps("sleeps", [](const TestWords&) -> int { SleepForEver(); });
const TestRole takes_words("takes-words",
                           [](const TestWords& words) { return words == OddWords() ? 0 : 1; });
const TestRole has_variables("has-variables", [](const TestWords&) {
  const char* const set = OwnVariable("CAIRN_SPAWN_TEST");
  const char* const replaced = OwnVariable("CAIRN_SPAWN_OTHER");
  if (set == nullptr || std::string(set) != "value=1 gr\u00fcn") return 1;
  if (replaced == nullptr || std::string(replaced) != "new") return 2;
  return OwnVariable("PATH") == nullptr ? 3 : 0;
});
const TestRole writes_into_memory("writes-into-memory", [](const TestWords& words) {
  Result<SharedMemory> memory =
      SharedMemory::MapForWriting(TakeInherited(std::stoull(words.at(0))), kMemoryBytes);
  if (!memory.ok()) return 1;
  memory->data()[7] = std::byte{42};
  // Another handle of its parent means nothing here.
  return SharedMemory::MapForWriting(TakeInherited(std::stoull(words.at(1))), kMemoryBytes).ok()
             ? 2
             : 0;
});
// Starts one that sleeps, says who that is, and sleeps.
const TestRole starts_another("starts-another", [](const TestWords& words) -> int {
  Result<SharedMemory> memory =
      SharedMemory::MapForWriting(TakeInherited(std::stoull(words.at(0))), kMemoryBytes);
  const ProcessHandle other = StartRole("sleeps");
  if (memory.ok()) reinterpret_cast<std::atomic<int64_t>*>(memory->data())->store(other.pid);
  SleepForEver();
});

// Evaluated before main.
const bool had_library = [] {
  const Library library = Library::FindLoaded(CAIRN_TEST_PRELOADED);
  return library.Find<int (*)()>("cairn_preloaded_library") != nullptr;
}();
const TestRole has_library("has-library", [](const TestWords&) { return had_library ? 0 : 1; });

SpawnRequest Request(const std::string& role, const TestWords& words = {}) {
  SpawnRequest request;
  request.arguments = ArgumentsOfRole(role, words);
  return request;
}

ProcessEnd EndOfOne(const SpawnRequest& request) {
  const Result<ProcessHandle> process = SpawnProgram(request);
  EXPECT_TRUE(process.ok()) << process.status().message();
  return process.ok() ? EndOf(*process) : ProcessEnd();
}

TEST(Process, TellsTheExitCode) {
  for (const int code : {0, 1, 7, 255}) {
    const ProcessEnd end = EndOfOne(Request("exits", {std::to_string(code)}));
    EXPECT_EQ(end.kind, EndKind::kExited);
    EXPECT_EQ(end.value, code);
  }
}

TEST(Process, WordsArriveAsTheyAre) {
  EXPECT_EQ(EndOfOne(Request("takes-words", OddWords())).value, 0);
  TestWords others = OddWords();
  others.pop_back();
  EXPECT_EQ(EndOfOne(Request("takes-words", others)).value, 1);
}

#ifndef CAIRN_SANITIZED  // their runtime wants to come first
TEST(Process, HasALibraryBeforeItsFirstInstruction) {
  SpawnRequest request = Request("has-library");
  EXPECT_EQ(EndOfOne(request).value, 1);
  request.preloaded = CAIRN_TEST_PRELOADED;
  request.not_preloaded = [](const Status& why) { FAIL() << why.message(); };
  EXPECT_TRUE(CheckPreloaded(request.preloaded).ok());
  EXPECT_EQ(EndOfOne(request).value, 0);
}

TEST(Process, RunsWithoutALibraryThatIsNotThere) {
  SpawnRequest request = Request("exits", {"7"});
  request.preloaded = CAIRN_TEST_PRELOADED ".not";
  EXPECT_EQ(EndOfOne(request).value, 7);
}
#endif

TEST(Process, HasTheVariablesThatAreSetForIt) {
  SetVariable("CAIRN_SPAWN_OTHER", "old");
  SpawnRequest request = Request("has-variables");
  request.environment = {"CAIRN_SPAWN_TEST=value=1 gr\u00fcn", "CAIRN_SPAWN_OTHER=new"};
  EXPECT_EQ(EndOfOne(request).value, 0);
  EXPECT_STREQ(OwnVariable("CAIRN_SPAWN_OTHER"), "old");
  EXPECT_EQ(OwnVariable("CAIRN_SPAWN_TEST"), nullptr);
}

TEST(Process, InheritsOneHandleAndNoOther) {
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", kMemoryBytes);
  const Result<SharedMemory> other = SharedMemory::Create("cairn-test-other", kMemoryBytes);
  ASSERT_TRUE(memory.ok() && other.ok());
  const SystemHandle inherited = CopyOf(memory->handle());
  SpawnRequest request = Request(
      "writes-into-memory", {std::to_string(inherited.get()), std::to_string(other->handle())});
  request.inherited = &inherited;
  EXPECT_EQ(EndOfOne(request).value, 0);
  EXPECT_EQ(memory->data()[7], std::byte{42});
  // Only that once.
  request.inherited = nullptr;
  EXPECT_EQ(EndOfOne(request).value, 1);
}

TEST(Process, SaysWhyNothingStarted) {
  SpawnRequest request;
  for (const std::string name : {"/nonexistent/game", "nonexistent-game"}) {
    request.arguments = {name};
    const Status missing = SpawnProgram(request).status();
    EXPECT_EQ(missing.code(), StatusCode::kNotFound);
    EXPECT_EQ(missing.message(),
              "program '" + name + "' was not found; give its path, or a name in PATH");
  }
  const std::string folder = std::filesystem::temp_directory_path().string();
  request.arguments = {folder};
  const Status refused = SpawnProgram(request).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("'" + folder + "' cannot be executed: "));
}

TEST(FileOfProgram, IsAPathItselfAndANameTheFirstOfItInPath) {
  const std::filesystem::path own = OwnProgramPath();
  EXPECT_EQ(FileOfProgram(own.string()), own.string());
  EXPECT_EQ(FileOfProgram("no-such-program-of-cairn"), "");
  const std::string path = OwnVariable("PATH");
  SetVariable("PATH", own.parent_path().string());
  const std::string found = FileOfProgram(own.filename().string());
  SetVariable("PATH", path);
  std::error_code error;
  EXPECT_TRUE(std::filesystem::equivalent(found, own, error)) << found << ": " << error.message();
}

TEST(Process, IsKilledAndSeenByOthers) {
  const ProcessHandle process = StartRole("sleeps");
  Result<ProcessHandle> opened = OpenProcess(process.pid);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(CollectEnd(*opened).kind, EndKind::kUnknown) << "it has not ended";
  EXPECT_EQ(ConditionOf(process.pid), ProcessCondition::kRunning);
  EXPECT_TRUE(KillProcess(process).ok());
  const ProcessEnd end = EndOf(process);
  EXPECT_EQ(end.kind, EndKind::kSignalled);
  EXPECT_TRUE(WasKilled(end)) << CauseOfDeath(end.value);
  EXPECT_EQ(CollectEnd(ProcessHandle()).kind, EndKind::kUnknown);
}

TEST(Process, IsGone) {
  EXPECT_EQ(OpenProcess(ProcessId{1} << 40).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ConditionOf(ProcessId{1} << 40), ProcessCondition::kRunning);
  EXPECT_EQ(ArgumentsOf(ProcessId{1} << 40), "");
}

TEST(Process, ItsCommandLineIsKnown) {
  const ProcessHandle process = StartRole("sleeps", {"two words", ""});
  const std::string zero(1, '\0');
  // Under Wine a process writes it down itself, when it begins to run.
  while (ArgumentsOf(process.pid).empty()) std::this_thread::yield();
  EXPECT_EQ(ArgumentsOf(process.pid), OwnProgramPath() + zero + "--role" + zero + "sleeps" + zero +
                                          "two words" + zero + zero);
  EXPECT_EQ(CommandLineOf(process.pid),
            ShellQuoted(OwnProgramPath()) + " --role sleeps 'two words' ''");
  EXPECT_EQ(ProgramOf(process.pid), OwnProgramPath());
  EXPECT_TRUE(KillProcess(process).ok());
  (void)EndOf(process);
}

TEST(Process, DiesWithWhoStartedIt) {
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", kMemoryBytes);
  ASSERT_TRUE(memory.ok());
  const auto* const said = new (memory->data()) std::atomic<int64_t>(0);
  const SystemHandle inherited = CopyOf(memory->handle());
  SpawnRequest request = Request("starts-another", {std::to_string(inherited.get())});
  request.inherited = &inherited;
  const Result<ProcessHandle> starter = SpawnProgram(request);
  ASSERT_TRUE(starter.ok());
  while (*said == 0) std::this_thread::yield();
  const Result<ProcessHandle> other = OpenProcess(*said);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_TRUE(KillProcess(*starter).ok());
  EXPECT_TRUE(WasKilled(EndOf(*starter)));
  (void)EndOf(*other);
}

}  // namespace
}  // namespace cairn
