// SPDX-License-Identifier: Apache-2.0
#include "format/trace/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "d3d12gen/interfaces.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kDevice = 1;
constexpr uint64_t kQueue = 2;
constexpr uint64_t kList = 3;
constexpr uint64_t kFence = 4;
constexpr uint64_t kBuffer = 5;
constexpr uint64_t kHeap = 6;
constexpr InterfaceGuid kIid = {};

struct View {
  uint64_t address;
  uint32_t size_bytes;
  uint32_t other;
};

// A device with one object of each kind that the rules know.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    test_.Object(kDevice, Chain::kID3D12Device, kDevice);
    test_.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
    test_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    void* fence = ObjectPointer(kFence);
    const uint64_t call =
        test_.Make(Method::ID3D12Device_CreateFence, kDevice, 10u, 0u, kIid, &fence);
    test_.Object(kFence, Chain::kID3D12Fence, kDevice, call);
    test_.Gave(call, 0, 10u, 0u, kIid, &fence);
    ResourceFacts facts{};
    facts.gpu_address = 0x10000;
    facts.size_bytes = 0x1000;
    test_.Resource(kBuffer, kDevice, 0, facts);
    test_.DescriptorHeap(kHeap, kDevice, 0, {0x500, 0x9000, 0, 1, 8, 32});
  }

  void EndAll() {
    for (const uint64_t object : {kHeap, kBuffer, kFence, kList, kQueue, kDevice}) {
      test_.ObjectEnd(object);
    }
  }
  uint64_t Wait(uint64_t value) {
    const uint64_t call =
        test_.Make(Method::ID3D12CommandQueue_Wait, kQueue, ObjectPointer(kFence), value);
    test_.Gave(call, 0, ObjectPointer(kFence), value);
    return call;
  }

  VerifyReport Verify() {
    EXPECT_TRUE(test_.status().ok()) << test_.status().message();
    TraceReader trace = test_.Open();
    return std::move(VerifyTrace(&trace, {})).value();
  }
  // "rule record severity: text", one a line.
  static std::string Text(const VerifyReport& report) {
    std::string text;
    for (const Finding& finding : report.findings) {
      text += std::string(VerifyRuleName(finding.rule)) + " " + std::to_string(finding.record) +
              " " + SeverityName(finding.severity) + ": " + finding.text + "\n";
    }
    return text;
  }

  TestTrace test_;
};

TEST_F(VerifyTest, NothingIsFoundWhereNothingIsWrong) {
  const uint64_t signal =
      test_.Make(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(kFence), uint64_t{11});
  test_.Gave(signal, 0, ObjectPointer(kFence), uint64_t{11});
  const uint64_t get = test_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  test_.Gave(get, uint64_t{11});
  Wait(11);
  const View view{0x10000, 0x1000, 0};
  test_.Make(Method::ID3D12GraphicsCommandList_IASetIndexBuffer, kList, &view);
  test_.Make(Method::ID3D12Device_CreateConstantBufferView, kDevice, &view,
             uint64_t{0x500 + 7 * 32});
  test_.Make(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 4u, uint64_t{0x500 + 4 * 32},
             uint64_t{0x500}, 0);
  test_.Note(NoteKind::kTracking, "page faults");
  test_.Frame();
  EndAll();
  const VerifyReport report = Verify();
  EXPECT_EQ(Text(report), "");
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.calls, 7u);
  EXPECT_EQ(report.checked_calls, 7u);
}

TEST_F(VerifyTest, ReferencesToObjects) {
  test_.ObjectEnd(kBuffer);
  const uint64_t copy = test_.Make(Method::ID3D12GraphicsCommandList_CopyResource, kList,
                                   ObjectPointer(99), ObjectPointer(kBuffer));
  test_.Make(Method::ID3D12GraphicsCommandList_CopyResource, kList, ObjectPointer(kHeap), nullptr);
  test_.Make(Method::ID3D12GraphicsCommandList_DrawInstanced, kQueue, 1u, 1u, 0u, 0u);
  const std::string text = Text(Verify());
  EXPECT_THAT(text,
              HasSubstr("object " + std::to_string(copy) + " error: object 99 was never made"));
  EXPECT_THAT(text, HasSubstr("resource 5 was destroyed at record"));
  EXPECT_THAT(text, HasSubstr("descriptor heap 6 stands where a resource belongs"));
  EXPECT_THAT(text, HasSubstr("ID3D12GraphicsCommandList::DrawInstanced is called on "
                              "command queue 2"));
}

TEST_F(VerifyTest, AddressesAndDescriptors) {
  const View behind{0x10800, 0x801, 0};
  test_.Make(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, kList, 0u, 1u, &behind);
  test_.Make(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, kList, 0u,
             uint64_t{0x20000});
  test_.Make(Method::ID3D12GraphicsCommandList_CopyBufferRegion, kList, ObjectPointer(kBuffer),
             uint64_t{0xFFF}, ObjectPointer(kBuffer), uint64_t{0}, uint64_t{2});
  test_.Make(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 5u, uint64_t{0x500 + 4 * 32},
             uint64_t{0x501}, 0);
  test_.Make(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0u,
             uint64_t{0x9000 + 8 * 32});
  const VerifyReport report = Verify();
  const std::string text = Text(report);
  EXPECT_THAT(text, HasSubstr("the vertex buffer view of 2049 bytes at resource 5 + 2048 ends "
                              "1 bytes behind it"));
  EXPECT_THAT(text, HasSubstr("the address 0x20000 is in no living buffer"));
  EXPECT_THAT(text, HasSubstr("2 bytes from 4095 on are copied, and resource 5 has 4096"));
  EXPECT_THAT(text, HasSubstr("5 descriptors from descriptor heap 6 [4] on end 1 behind"));
  EXPECT_THAT(text, HasSubstr("the CPU descriptor 0x501 is between two of"));
  EXPECT_THAT(text, HasSubstr("the GPU descriptor 0x9100 is in no living heap"));
  EXPECT_EQ(report.errors, 0u);
  EXPECT_EQ(report.warnings, 6u);
}

TEST_F(VerifyTest, AWaitThatNothingEndsMattersUnlessTheProgramDied) {
  const uint64_t wait = Wait(12);
  EndAll();
  const VerifyReport report = Verify();
  EXPECT_EQ(Text(report), "fence " + std::to_string(wait) +
                              " warning: a queue waits until fence 4 has 12, and it is "
                              "signalled up to 10\n");
}

TEST_F(VerifyTest, ADeadProgramIsNotAFault) {
  Wait(12);
  const uint64_t call =
      test_.Make(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(kFence), uint64_t{11});
  const VerifyReport report = Verify();
  EXPECT_TRUE(report.clean());
  EXPECT_THAT(Text(report), HasSubstr("cut-end " + std::to_string(call) +
                                      " note: ID3D12CommandQueue::Signal never returned"));
}

TEST_F(VerifyTest, AFenceIsNotReachedBeforeItWasSignalled) {
  const uint64_t get = test_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  test_.Gave(get, uint64_t{11});
  EXPECT_THAT(Text(Verify()), HasSubstr("error: fence 4 has reached 11, and was signalled up "
                                        "to 10"));
}

TEST_F(VerifyTest, MemoryThatBecomesResidentSignalsItsFence) {
  const uint64_t call = test_.Make(Method::ID3D12Device3_EnqueueMakeResident, kDevice, 0, 0,
                                   nullptr, ObjectPointer(kFence), uint64_t{11});
  test_.Return(call, BodyBytes(uint32_t{0}));
  const uint64_t get = test_.Make(Method::ID3D12Fence_GetCompletedValue, kFence);
  test_.Gave(get, uint64_t{11});
  EXPECT_THAT(Text(Verify()), ::testing::Not(HasSubstr("has reached")));
}

TEST_F(VerifyTest, ResultsBelongToCalls) {
  const uint64_t first =
      test_.Make(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(kFence), uint64_t{11});
  const uint64_t second = test_.Make(Method::ID3D12Fence_Signal, kFence, uint64_t{12});
  test_.Gave(first, 0, uint64_t{12});  // of the other method, and the inner call is open
  test_.Return(second, BodyBytes(uint32_t{0}));
  const std::string text = Text(Verify());
  EXPECT_THAT(text, HasSubstr("the result of call " + std::to_string(first) +
                              " is that of another method or object"));
  EXPECT_THAT(text, HasSubstr("record " + std::to_string(second) +
                              " error: the call never returned, and its thread went on"));
  EXPECT_THAT(text,
              HasSubstr("the result of call " + std::to_string(second) + ", which this thread"));
}

// The calls that a late start restores have no results, and results of calls before it remain.
TEST_F(VerifyTest, ALateStartIsNotAFault) {
  test_.Add(RecordKind::kCall, kFence, BodyBytes(uint64_t{9}),
            static_cast<uint16_t>(Method::ID3D12Fence_Signal), kRecordRestores);
  const uint64_t start = test_.Add(RecordKind::kStart, 0, {});
  test_.Add(RecordKind::kResult, kQueue, BodyBytes(ResultBody{start - 3}, BodyBytes(uint32_t{0})),
            static_cast<uint16_t>(Method::ID3D12CommandQueue_Signal));
  EXPECT_EQ(Text(Verify()), "");
}

TEST_F(VerifyTest, BytesFramesAndNotes) {
  test_.Call(Method::ID3D12GraphicsCommandList_DrawInstanced, kList, ToBytes("short"));
  ByteWriter memory;
  memory.WriteU32(5);
  memory.WriteBytes(ToBytes("bytes"));
  test_.Add(RecordKind::kMemory, kBuffer, BodyBytes(MemoryBody{0, 0, 4092}, memory.bytes()));
  test_.Frame();
  ++test_.frame;
  test_.Frame();
  test_.Note(NoteKind::kIncomplete, "no memory\x1b");
  test_.Note(NoteKind::kIncomplete, "");
  const std::string text = Text(Verify());
  EXPECT_THAT(text, HasSubstr("call 9 error: ID3D12GraphicsCommandList::DrawInstanced: "));
  EXPECT_THAT(text, HasSubstr("memory 10 error: 5 bytes at 4092 of resource 5, which has 4096"));
  EXPECT_THAT(text, HasSubstr("frame 2 ends where frame 1 should"));
  EXPECT_THAT(text, HasSubstr("recording 13 warning: no memory\\x1b"));
  EXPECT_THAT(text, HasSubstr("recording 14 warning: a note that says nothing"));
}

TEST_F(VerifyTest, ACutFileHasACutEndOnly) {
  test_.Frame();
  test_.Flush();
  const std::vector<std::byte> cut = test_.BytesSoFar();
  Result<TraceReader> trace = TraceReader::FromBytes(cut);
  ASSERT_TRUE(trace.ok());
  const Result<VerifyReport> report = VerifyTrace(&*trace, {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->clean()) << Text(*report);
  EXPECT_GT(report->counts[static_cast<size_t>(VerifyRule::kCutEnd)], 0u);
  const std::span<const std::byte> inside(cut.data(), cut.size() - 20);
  trace = TraceReader::FromBytes(inside);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(VerifyTrace(&*trace, {})->clean());
}

TEST_F(VerifyTest, DamageIsAnError) {
  test_.Frame();
  std::vector<std::byte> damaged = test_.Bytes();
  const Result<FileReader> layout = FileReader::FromBytes(damaged);
  for (const ChunkInfo& chunk : layout->chunks()) {
    if (chunk.type == kTraceRecordChunk) damaged[chunk.payload_offset() + 9] ^= std::byte{1};
  }
  Result<TraceReader> trace = TraceReader::FromBytes(damaged);
  ASSERT_TRUE(trace.ok());
  const Result<VerifyReport> report = VerifyTrace(&*trace, {});
  EXPECT_GT(report->errors, 0u);
  EXPECT_THAT(Text(*report), HasSubstr("records 1 to"));
}

TEST_F(VerifyTest, DamageWhereNoRecordLeadsIsAnError) {
  const std::vector<std::byte> report(100, std::byte{7});
  ASSERT_TRUE(test_.file().Append(MakeChunkType("QRST"), report).ok());
  test_.Frame();
  const std::vector<std::byte> whole = test_.Bytes();
  const Result<FileReader> layout = FileReader::FromBytes(whole);
  uint64_t damaged_chunks = 0;
  for (const ChunkInfo& chunk : layout->chunks()) {
    if (chunk.type == kTraceRecordChunk || chunk.type == kTraceBlobChunk) continue;
    std::vector<std::byte> damaged = whole;
    damaged[chunk.payload_offset()] ^= std::byte{1};
    Result<TraceReader> trace = TraceReader::FromBytes(damaged);
    if (!trace.ok()) continue;  // what nothing can be read without
    ++damaged_chunks;
    const Result<VerifyReport> found = VerifyTrace(&*trace, {});
    ASSERT_TRUE(found.ok());
    const std::string text = Text(*found);
    EXPECT_THAT(text, HasSubstr("offset " + std::to_string(chunk.offset)));
    EXPECT_EQ(found->errors, 1u) << text;
  }
  EXPECT_GE(damaged_chunks, 1u);
}

TEST_F(VerifyTest, FindingsAreCountedBeyondWhatIsKept) {
  for (int i = 0; i < 100; ++i) test_.ObjectEnd(1000);
  const VerifyReport report = Verify();
  EXPECT_EQ(report.findings.size(), kFindingsPerRule);
  EXPECT_EQ(report.errors, 100u);
}

}  // namespace
}  // namespace cairn
