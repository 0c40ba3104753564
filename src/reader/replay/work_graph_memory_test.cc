// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/work_graph_memory.h"

#include <gtest/gtest.h>

#include "d3d12abi/testing/fake_device.h"

namespace cairn {
namespace {

constexpr uint64_t kStateObject = 9;
constexpr uint64_t kOtherStateObject = 10;

class WorkGraphMemoryTest : public testing::Test {
 protected:
  WorkGraphMemoryTest() { *device_.Receive() = CreateFakeDevice(); }
  static ReplayProgram Graph(UINT64 identifier, uint64_t state_object = kStateObject,
                             UINT64 bytes = 256) {
    ReplayProgram program;
    program.identifier = {{identifier, 0, 0, 1}};
    program.state_object = state_object;
    program.is_work_graph = true;
    program.least_backing_bytes = bytes;
    return program;
  }
  // Returns the address; `is_new`: of a buffer that this call has to make.
  D3D12_GPU_VIRTUAL_ADDRESS Provide(const ReplayProgram& graph, uint64_t given, bool is_new) {
    const Result<WorkGraphMemory::Own> own = memory_.Provide(device_.get(), graph, given);
    EXPECT_TRUE(own.ok()) << own.status().message();
    if (!own.ok()) return 0;
    EXPECT_EQ(own->is_new, is_new);
    return own->address;
  }

  ComPtr<ID3D12Device> device_;
  WorkGraphMemory memory_;
};

TEST_F(WorkGraphMemoryTest, EachGraphHasItsOwn) {
  const auto first = Provide(Graph(1), 0, true);
  EXPECT_EQ(Provide(Graph(1), 0, false), first);
  const auto second = Provide(Graph(2), 0, true);
  EXPECT_NE(second, first) << "two that the program gave nothing";
  const auto elsewhere = Provide(Graph(1, kOtherStateObject), 0, true);
  EXPECT_NE(elsewhere, first);
  EXPECT_NE(elsewhere, second);
  const auto given = Provide(Graph(1), 0x1000, true);
  EXPECT_NE(given, first) << "what the program keeps apart";
  EXPECT_EQ(Provide(Graph(1), 0, false), first);
}

// A list that was recorded with the old buffer may be submitted later.
TEST_F(WorkGraphMemoryTest, BuffersThatBecameTooSmallStay) {
  const int without = FakeObjectCount();
  const auto small = Provide(Graph(1), 0, true);
  const int with_one = FakeObjectCount();
  const auto large = Provide(Graph(1, kStateObject, 512), 0, true);
  EXPECT_NE(large, small);
  EXPECT_EQ(FakeObjectCount() - with_one, with_one - without) << "both are there";
  EXPECT_EQ(Provide(Graph(1), 0, false), large);
  EXPECT_EQ(memory_.Remove(kStateObject).size(), 2u);
  EXPECT_EQ(FakeObjectCount(), without);
}

TEST_F(WorkGraphMemoryTest, StateObjectsTakeTheirBuffersWithThem) {
  Provide(Graph(1), 0, true);
  Provide(Graph(2), 0, true);
  Provide(Graph(1, kOtherStateObject), 0, true);
  EXPECT_TRUE(memory_.Remove(77).empty());
  {
    const auto ended = memory_.Remove(kStateObject);
    EXPECT_EQ(ended.size(), 2u);
    Provide(Graph(1), 0, true);  // another object with its number
  }
  Provide(Graph(1, kOtherStateObject), 0, false);
}

TEST_F(WorkGraphMemoryTest, OnlyWhatThisPlaybackInitialisedIs) {
  EXPECT_FALSE(memory_.IsInitialised(Graph(1), 0x1000)) << "contents of another implementation";
  memory_.NoteInitialised(Graph(1), 0x1000);
  EXPECT_TRUE(memory_.IsInitialised(Graph(1), 0x1000));
  EXPECT_FALSE(memory_.IsInitialised(Graph(1), 0x2000));
  EXPECT_FALSE(memory_.IsInitialised(Graph(2), 0x1000));
  EXPECT_FALSE(memory_.IsInitialised(Graph(1, kOtherStateObject), 0x1000));
  memory_.NoteInitialised(Graph(2), 0x1000);
  EXPECT_FALSE(memory_.IsInitialised(Graph(1), 0x1000)) << "another work graph has it now";
  memory_.NoteInitialised(Graph(1, kOtherStateObject), 0x2000);
  memory_.Remove(kStateObject);
  EXPECT_FALSE(memory_.IsInitialised(Graph(2), 0x1000));
  EXPECT_TRUE(memory_.IsInitialised(Graph(1, kOtherStateObject), 0x2000));
}

}  // namespace
}  // namespace cairn
