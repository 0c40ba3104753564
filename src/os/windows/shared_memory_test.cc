// SPDX-License-Identifier: Apache-2.0
//
// Memory that another process finds by its path: a handle of ours, copied by that process.
#include "os/shared_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <process.h>

#include <string>

#include "os/environment.h"
#include "os/this_process.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr char kPathVariable[] = "CAIRN_TEST_MEMORY";

std::string PathOf(ProcessId process, intptr_t handle, uint64_t size_bytes) {
  return fmt::format("process/{}/handle/{}/bytes/{}", process, handle, size_bytes);
}

StatusCode CodeOf(const std::string& path) {
  return SharedMemory::MapPathForWriting(path).status().code();
}

// The part of the other process, which runs the same test.
void WriteThere(const char* path) {
  const Result<SharedMemory> memory = SharedMemory::MapPathForWriting(path);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  ASSERT_EQ(memory->size_bytes(), 10'000u);
  EXPECT_EQ(memory->data()[9'999], std::byte{42});
  memory->data()[0] = std::byte{7};
}

TEST(SharedMemoryOfAnotherProcess, IsFoundByItsPath) {
  if (const char* const path = OwnVariable(kPathVariable)) return WriteThere(path);
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 10'000);
  ASSERT_TRUE(memory.ok());
  memory->data()[9'999] = std::byte{42};
  SetVariable(kPathVariable, memory->PathForOthers());
  const std::wstring program = Wide(OwnProgramPath());
  EXPECT_EQ(_wspawnl(_P_WAIT, program.c_str(), L"test",
                     L"--gtest_filter=SharedMemoryOfAnotherProcess.IsFoundByItsPath",
                     L"--gtest_output=", nullptr),
            0);
  EXPECT_EQ(memory->data()[0], std::byte{7});
}

TEST(SharedMemoryOfAnotherProcess, APathToSomethingElseIsRefused) {
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 10'000);
  ASSERT_TRUE(memory.ok());
  const ProcessId self = OwnProcessId();
  EXPECT_TRUE(SharedMemory::MapPathForWriting(PathOf(self, memory->handle(), 10'000)).ok());
  EXPECT_EQ(CodeOf(PathOf(self, memory->handle(), 20'000)), StatusCode::kCorrupt);
  EXPECT_EQ(CodeOf(PathOf(self, memory->handle(), 0)), StatusCode::kCorrupt);
  EXPECT_EQ(CodeOf(PathOf(self, memory->handle(), ~uint64_t{0})), StatusCode::kCorrupt);
  const SystemHandle event = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  EXPECT_EQ(CodeOf(PathOf(self, event.get(), 10'000)), StatusCode::kCorrupt);
  // The handle that stands for this process itself.
  EXPECT_EQ(CodeOf(PathOf(self, -1, 10'000)), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf("process/0/handle/4/bytes/1"), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(PathOf(self, memory->handle(), 10'000) + " "), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf("process/4294967292/handle/4/bytes/1"), StatusCode::kNotFound);
  EXPECT_EQ(CodeOf("C:\\Windows\\win.ini"), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn
