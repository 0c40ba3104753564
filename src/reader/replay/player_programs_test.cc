// SPDX-License-Identifier: Apache-2.0
//
// Programs of state objects in a playback, on a device that aborts at an identifier that it did not give, and at memory
// that was not initialised. Compiled for both calling conventions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_programs.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

#if defined(CAIRN_D3D12_SYSV_ABI)
constexpr char kLibrary[] = "libother-d3d12.so";
#else
constexpr char kLibrary[] = "";
#endif

// Names as the trace has them, of characters of two bytes.
const LPCWSTR kGraph = reinterpret_cast<LPCWSTR>(u"Graph");
const LPCWSTR kOther = reinterpret_cast<LPCWSTR>(u"Other");

constexpr D3D12_PROGRAM_IDENTIFIER kRecordedGraph = {{0xA, 0xB, 0xC, 0xD}};
constexpr D3D12_PROGRAM_IDENTIFIER kRecordedOther = {{0xE, 0xF, 0, 1}};
constexpr uint64_t kResult = 256;  // where the programs write in their buffer

// A list with a root signature, whose view 0 is a buffer that is read back; and a state object with a work graph and a
// generic program, whose identifiers the recording knew as those above.
class ProgramsScript : public HostileScript {
 public:
  ProgramsScript() {
    queue = CreateQueue();
    list = CreateList(CreateAllocator());
    fence = CreateFence();
    memory = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
    written = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
    read = CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
    D3D12_WORK_GRAPH_DESC graph = {};
    graph.ProgramName = kGraph;
    D3D12_GENERIC_PROGRAM_DESC other = {};
    other.ProgramName = kOther;
    const D3D12_STATE_SUBOBJECT parts[] = {{D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH, &graph},
                                           {D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM, &other}};
    const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_EXECUTABLE, 2, parts};
    state_object = Create(Method::ID3D12Device5_CreateStateObject, Chain::kID3D12StateObject, &desc,
                          __uuidof(ID3D12StateObject));
    Identify(kGraph, kRecordedGraph);
    Identify(kOther, kRecordedOther);
    // Parameter 0: a view of an unordered access buffer.
    const uint64_t signature = CreateRootSignature(Container({1, 1, 24, 0, 0, 0, 4, 0, 36, 0, 0}));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list, ObjectPointer(signature));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView, list, 0u,
         AddressOf(written) + kResult);
  }

  void SetGraph(D3D12_GPU_VIRTUAL_ADDRESS_RANGE backing,
                D3D12_SET_WORK_GRAPH_FLAGS flags = D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE,
                const D3D12_PROGRAM_IDENTIFIER& identifier = kRecordedGraph) {
    D3D12_SET_PROGRAM_DESC desc = {};
    desc.Type = D3D12_PROGRAM_TYPE_WORK_GRAPH;
    desc.WorkGraph.ProgramIdentifier = identifier;
    desc.WorkGraph.Flags = flags;
    desc.WorkGraph.BackingMemory = backing;
    Call(Method::ID3D12GraphicsCommandList10_SetProgram, list, &desc);
  }
  void DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC& desc) {
    Call(Method::ID3D12GraphicsCommandList10_DispatchGraph, list, &desc);
  }
  void DispatchRecords(std::span<const uint32_t> records) {
    D3D12_DISPATCH_GRAPH_DESC desc = {};
    desc.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
    desc.NodeCPUInput = {1, static_cast<UINT>(records.size()), records.data(), sizeof(uint32_t)};
    DispatchGraph(desc);
  }
  D3D12_GPU_VIRTUAL_ADDRESS_RANGE Memory() const { return {AddressOf(memory), kFakeGraphBytes}; }

  // Executes the list, and reads what the programs wrote: `word` in the recording.
  void ExpectWord(uint32_t word) {
    Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(read), uint64_t{0},
         ObjectPointer(written), kResult, uint64_t{sizeof(word)});
    Close(list);
    Execute(queue, list);
    Signal(queue, fence, 1);
    Completed(fence, 1);
    ReadBack(read, 0, std::as_bytes(std::span(&word, 1)));
  }

  uint64_t queue, list, fence, memory, written, read, state_object;

 private:
  void Identify(LPCWSTR name, const D3D12_PROGRAM_IDENTIFIER& recorded) {
    const Method method = Method::ID3D12StateObjectProperties1_GetProgramIdentifier;
    const uint64_t call = Call(method, state_object, name);
    Return(method, call, recorded, name);
  }
};

PlayerResult PlayHere(TestScript* script) {
  PlayerOptions options;
  options.library = kLibrary;
  options.validate = true;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDeviceWithPrograms(); };
  const Played played = Play(script, std::move(options));
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(FakeObjectCount(), 0);
  return played.result;
}

void ExpectAllPlayed(TestScript* script) {
  const PlayerResult result = PlayHere(script);
  EXPECT_THAT(result.left_out, IsEmpty());
  EXPECT_EQ(result.compared_readbacks, 1u);
}

std::string OnlyLoss(TestScript* script) {
  const PlayerResult result = PlayHere(script);
  EXPECT_FALSE(result.left_out.empty());
  return result.left_out.empty() ? "" : result.left_out.front().what;
}

TEST(PlayerProgramsTest, WorkGraphSumsTheRecordsOfTheProgram) {
  ProgramsScript script;
  script.SetGraph(script.Memory());
  const uint32_t records[] = {5, 7, 30};
  script.DispatchRecords(records);
  script.ExpectWord(42);
  ExpectAllPlayed(&script);
}

TEST(PlayerProgramsTest, InputsOfSeveralNodes) {
  ProgramsScript script;
  script.SetGraph(script.Memory());
  const uint32_t records[] = {5, 7, 30};
  const D3D12_NODE_CPU_INPUT inputs[] = {{0, 1, records, 4}, {1, 2, &records[1], 4}};
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT;
  desc.MultiNodeCPUInput = {2, inputs, sizeof(inputs[0])};
  script.DispatchGraph(desc);
  script.ExpectWord(42);
  ExpectAllPlayed(&script);
}

// The addresses in them are those of the recording until they are replaced.
TEST(PlayerProgramsTest, InputsThatTheGpuReads) {
  ProgramsScript script;
  const uint64_t inputs = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint32_t records[] = {5, 7, 30};
  script.Write(inputs, 512, std::as_bytes(std::span(records)));
  const D3D12_NODE_GPU_INPUT input = {0, 3, {TestScript::AddressOf(inputs) + 512, 4}};
  script.Write(inputs, 64, std::as_bytes(std::span(&input, 1)));
  script.SetGraph(script.Memory());
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_GPU_INPUT;
  desc.NodeGPUInput = TestScript::AddressOf(inputs) + 64;
  script.DispatchGraph(desc);
  script.ExpectWord(42);
  ExpectAllPlayed(&script);
}

// The recording's implementation needed less: here the graph gets a buffer of the playback, and is initialised.
TEST(PlayerProgramsTest, MemoryThatIsTooSmallHere) {
  for (const uint64_t bytes : {uint64_t{0}, kFakeGraphBytes / 2}) {
    ProgramsScript script;
    script.SetGraph({bytes == 0 ? 0 : TestScript::AddressOf(script.memory), bytes});
    const uint32_t record = 42;
    script.DispatchRecords({&record, 1});
    script.ExpectWord(42);
    ExpectAllPlayed(&script);
  }
}

// As after a late start.
TEST(PlayerProgramsTest, MemoryThatThisPlaybackHasNotInitialised) {
  ProgramsScript script;
  script.SetGraph(script.Memory(), D3D12_SET_WORK_GRAPH_FLAG_NONE);
  const uint32_t record = 42;
  script.DispatchRecords({&record, 1});
  script.ExpectWord(42);
  ExpectAllPlayed(&script);
}

TEST(PlayerProgramsTest, GenericProgramDispatches) {
  ProgramsScript script;
  D3D12_SET_PROGRAM_DESC desc = {};
  desc.Type = D3D12_PROGRAM_TYPE_GENERIC_PIPELINE;
  desc.GenericPipeline.ProgramIdentifier = kRecordedOther;
  script.Call(Method::ID3D12GraphicsCommandList10_SetProgram, script.list, &desc);
  script.Call(Method::ID3D12GraphicsCommandList_Dispatch, script.list, 1u, 1u, 1u);
  script.ExpectWord(1);  // the second program
  ExpectAllPlayed(&script);
}

// ---- What never reaches the implementation -------------------------------------------------------

TEST(PlayerProgramsTest, IdentifierThatNobodyGave) {
  ProgramsScript script;
  script.SetGraph(script.Memory(), D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE, {{9, 9, 9, 9}});
  EXPECT_THAT(OnlyLoss(&script), HasSubstr("no state object gave its identifier here"));
}

TEST(PlayerProgramsTest, IdentifierOfAStateObjectThatEnded) {
  ProgramsScript script;
  script.trace.ObjectEnd(script.state_object);
  script.SetGraph(script.Memory());
  EXPECT_THAT(OnlyLoss(&script), HasSubstr("no state object gave its identifier here"));
}

TEST(PlayerProgramsTest, ProgramOfAnotherType) {
  ProgramsScript script;
  script.SetGraph(script.Memory(), D3D12_SET_WORK_GRAPH_FLAG_INITIALIZE, kRecordedOther);
  EXPECT_THAT(OnlyLoss(&script), HasSubstr("its program is of another type"));
}

TEST(PlayerProgramsTest, RecordsOfAnEntryPointThatIsNotThere) {
  ProgramsScript script;
  script.SetGraph(script.Memory());
  const uint32_t record = 42;
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
  desc.NodeCPUInput = {2, 1, &record, sizeof(record)};
  script.DispatchGraph(desc);
  EXPECT_THAT(OnlyLoss(&script), HasSubstr("entry point 2 of a work graph that has 2"));
}

TEST(PlayerProgramsTest, GraphsAreDispatchedBehindTheirProgramAlone) {
  ProgramsScript script;
  const uint32_t record = 42;
  script.DispatchRecords({&record, 1});
  EXPECT_THAT(OnlyLoss(&script), HasSubstr("its list has no work graph here"));
}

}  // namespace
}  // namespace cairn
