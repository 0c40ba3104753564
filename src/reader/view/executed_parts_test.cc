// SPDX-License-Identifier: Apache-2.0
//
// Tests what `cairn state` says of calls whose arguments lie in buffers.
#include "reader/view/executed_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "d3d12abi/d3d12_api.h"
#include "format/trace/testing/test_trace.h"
#include "reader/replay/buffer_addresses.h"
#include "reader/view/bound_state.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kDevice = 1, kQueue = 2, kList = 3, kBundle = 4, kUpload = 5, kDefault = 6,
                   kState = 7, kSignature = 8, kAllocator = 9;
constexpr uint64_t kUploadAddress = 0x50000, kDefaultAddress = 0x60000;
struct Bytes16 {
  uint8_t bytes[16] = {};
};

class ExecutedPartsTest : public testing::Test {
 protected:
  ExecutedPartsTest() {
    test_.Object(kDevice, Chain::kID3D12Device, kDevice);
    test_.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
    test_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    test_.Object(kBundle, Chain::kID3D12GraphicsCommandList, kDevice);
    ResourceFacts facts = {};
    facts.size_bytes = 4096;
    facts.heap_type = D3D12_HEAP_TYPE_UPLOAD;
    facts.gpu_address = kUploadAddress;
    test_.Resource(kUpload, kDevice, 0, facts);
    facts.heap_type = D3D12_HEAP_TYPE_DEFAULT;
    facts.gpu_address = kDefaultAddress;
    test_.Resource(kDefault, kDevice, 0, facts);
  }

  template <typename T>
  void Write(uint64_t offset_bytes, const T& value) {
    std::vector<std::byte> bytes(sizeof(uint32_t) + sizeof(value));
    const uint32_t size = sizeof(value);
    std::memcpy(bytes.data(), &size, sizeof(size));
    std::memcpy(bytes.data() + sizeof(size), &value, sizeof(value));
    test_.Add(RecordKind::kMemory, kUpload, BodyBytes(MemoryBody{0, 0, offset_bytes}, bytes));
  }
  uint64_t Execute(uint64_t list = kList) {
    void* const lists[] = {ObjectPointer(list)};
    return test_.Make(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, 1u, lists);
  }
  uint64_t BuildOf(uint64_t instances, uint32_t count,
                   D3D12_ELEMENTS_LAYOUT layout = D3D12_ELEMENTS_LAYOUT_ARRAY,
                   D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS flags = {}) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.Inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    desc.Inputs.DescsLayout = layout;
    desc.Inputs.NumDescs = count;
    desc.Inputs.Flags = flags;
    desc.Inputs.InstanceDescs = instances;
    return test_.Make(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure,
                      kList, &desc, 0u, nullptr);
  }
  void MakeSignature() {
    D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
    arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
    arguments[0].Constant = {0, 0, 1};
    arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
    const D3D12_COMMAND_SIGNATURE_DESC desc = {16, 2, arguments, 0};
    void* made = nullptr;
    const uint64_t call = test_.Make(Method::ID3D12Device_CreateCommandSignature, kDevice, &desc,
                                     nullptr, Bytes16{}, &made);
    test_.Object(kSignature, Chain::kID3D12CommandSignature, kDevice, call);
  }
  uint64_t Indirect(uint32_t count, uint64_t arguments, uint64_t counts = kNoObject,
                    uint64_t list = kList) {
    return test_.Make(Method::ID3D12GraphicsCommandList_ExecuteIndirect, list,
                      ObjectPointer(kSignature), count, ObjectPointer(arguments), uint64_t{64},
                      counts == kNoObject ? nullptr : ObjectPointer(counts), uint64_t{0});
  }
  std::string InWords(uint64_t call) {
    EXPECT_TRUE(test_.status().ok()) << test_.status().message();
    TraceReader trace = test_.Open();
    const Result<ListState> state = ListStateAt(trace, call);
    EXPECT_TRUE(state.ok()) << state.status().message();
    return state.ok() ? ListStateInWords(*state) : "";
  }

  Json PartsAt(uint64_t call) {
    TraceReader trace = test_.Open();
    const Result<ListState> state = ListStateAt(trace, call);
    EXPECT_TRUE(state.ok()) << state.status().message();
    const Json parts = Json::Parse(ListStateJson(*state))["parts"];
    const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/state.schema.json");
    EXPECT_EQ(SchemaViolation(schema["properties"]["parts"], parts), "");
    return parts;
  }

  TestTrace test_;
};

TEST_F(ExecutedPartsTest, InstancesAsTheyAreWhenTheyAreExecuted) {
  const uint64_t call = BuildOf(kUploadAddress + 64, 3);
  D3D12_RAYTRACING_INSTANCE_DESC instance = {};
  instance.InstanceID = 7;
  instance.InstanceMask = 0xff;
  instance.AccelerationStructure = kDefaultAddress + 256;
  instance.Transform[0][3] = 1.5f;
  Write(64, instance);
  // Two writes that cover one instance in part each.
  instance.InstanceID = 8;
  Write(128 + 48, uint32_t{9});
  const uint64_t submission = Execute();
  Write(64, instance);  // too late
  EXPECT_THAT(
      InWords(call),
      HasSubstr(
          "instances  3, executed by call " + std::to_string(submission) +
          "\n  instance [0], InstanceID 7, InstanceMask 0xff, hit groups from 0, bottom level "
          "resource 6 + 256, at (1.5, 0, 0), turned or scaled\n"
          "  instance [1], InstanceID 9, InstanceMask 0x0, hit groups from 0, bottom level "
          "null, at (0, 0, 0), turned or scaled\n"
          "  instance [2], InstanceID 0"));
  const Json parts = PartsAt(call);
  EXPECT_EQ(parts["kind"], "instance");
  EXPECT_EQ(parts["count"], 3);
  EXPECT_EQ(parts["executed_by"], submission);
  EXPECT_FALSE(parts["listed"][0].contains("unknown"));
}

TEST_F(ExecutedPartsTest, InstancesThatNobodyKnows) {
  const uint64_t written = BuildOf(kDefaultAddress, 1);
  const uint64_t nowhere = BuildOf(0xdead0000, 1);
  const uint64_t pointers = BuildOf(kUploadAddress, 1, D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS);
  const uint64_t update =
      BuildOf(kUploadAddress, 1, D3D12_ELEMENTS_LAYOUT_ARRAY,
              D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE);
  const uint64_t beyond = BuildOf(kUploadAddress + 4096 - 64, 4'000'000'000);
  Write(0, uint32_t{0});
  Execute();
  EXPECT_THAT(InWords(written),
              HasSubstr("  instance [0]: unknown, the GPU may write resource 6: only a playback "
                        "knows it\n"));
  EXPECT_EQ(PartsAt(written)["listed"][0]["unknown"],
            "the GPU may write resource 6: only a playback knows it");
  EXPECT_THAT(InWords(nowhere),
              HasSubstr("  instance [0]: unknown, its address is that of no buffer\n"));
  EXPECT_THAT(InWords(pointers),
              HasSubstr("  instance [0]: unknown, its place is behind a pointer"));
  const std::string text = InWords(beyond);
  EXPECT_THAT(text, HasSubstr("instances  4,000,000,000, executed"));
  EXPECT_THAT(text, HasSubstr("  instance [0], InstanceID 0,"));
  EXPECT_THAT(InWords(update), HasSubstr("instances  1, executed"));
  EXPECT_THAT(text, HasSubstr("  instance [1] and 14 more: unknown, it ends beyond the 4,096 bytes "
                              "of resource 5\n"));
  EXPECT_EQ(PartsAt(beyond)["listed"].size(), 16u);
}

// Buffers are those of the submission, not of the recording.
TEST_F(ExecutedPartsTest, InstancesPointToWhatIsThereWhenTheyAreExecuted) {
  constexpr uint64_t kLate = 20, kLateAddress = 0x70000;
  const uint64_t call = BuildOf(kUploadAddress, 2);
  D3D12_RAYTRACING_INSTANCE_DESC instance = {};
  instance.AccelerationStructure = kLateAddress + 256;
  Write(0, instance);
  instance.AccelerationStructure = kDefaultAddress;
  Write(64, instance);
  ResourceFacts facts{};
  facts.gpu_address = kLateAddress;
  facts.size_bytes = 4096;
  test_.Resource(kLate, kDevice, 0, facts);
  test_.ObjectEnd(kDefault);
  Execute();
  const std::string text = InWords(call);
  EXPECT_THAT(text, HasSubstr("bottom level resource 20 + 256,"));
  EXPECT_THAT(text, HasSubstr("bottom level at 0x60000, where no buffer is,"));
}

TEST_F(ExecutedPartsTest, ABufferThatNobodyWroteIsNotKnown) {
  const uint64_t call = BuildOf(kUploadAddress, 1);
  const uint64_t submission = Execute();
  EXPECT_THAT(InWords(call),
              HasSubstr("executed by call " + std::to_string(submission) +
                        "\n  instance [0]: unknown, the trace has no write into resource 5\n"));
}

TEST_F(ExecutedPartsTest, ABufferThatWasDestroyedIsNotKnown) {
  const uint64_t call = BuildOf(kUploadAddress, 1);
  Write(0, uint32_t{1});
  test_.ObjectEnd(kUpload);
  Execute();
  EXPECT_THAT(InWords(call), HasSubstr("  instance [0]: unknown, resource 5 was destroyed before "
                                       "it was executed\n"));
}

TEST_F(ExecutedPartsTest, RecordsHaveTheNamesOfTheirExports) {
  D3D12_HIT_GROUP_DESC group = {};
  group.HitGroupExport = reinterpret_cast<const WCHAR*>(u"Glass");
  group.ClosestHitShaderImport = reinterpret_cast<const WCHAR*>(u"Refract");
  D3D12_STATE_SUBOBJECT part = {D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, &group};
  const D3D12_STATE_OBJECT_DESC made_of = {D3D12_STATE_OBJECT_TYPE_RAYTRACING_PIPELINE, 1, &part};
  void* made = nullptr;
  const uint64_t creation =
      test_.Make(Method::ID3D12Device5_CreateStateObject, kDevice, &made_of, Bytes16{}, &made);
  test_.Object(kState, Chain::kID3D12StateObject, kDevice, creation);
  ShaderIdentifier glass = {};
  glass.fill(std::byte{0x11});
  const char16_t* const name = u"Glass";
  const uint64_t asked =
      test_.Make(Method::ID3D12StateObjectProperties_GetShaderIdentifier, kState, name);
  const void* const identifier = glass.data();
  test_.Gave(asked, identifier, name);
  test_.Make(Method::ID3D12GraphicsCommandList_Reset, kList, ObjectPointer(kAllocator), nullptr);
  test_.Make(Method::ID3D12GraphicsCommandList4_SetPipelineState1, kList, ObjectPointer(kState));
  D3D12_DISPATCH_RAYS_DESC desc = {};
  desc.RayGenerationShaderRecord = {kUploadAddress, 32};
  desc.MissShaderTable = {kDefaultAddress, 32, 32};
  desc.HitGroupTable = {kUploadAddress + 128, 128, 64};
  const uint64_t call = test_.Make(Method::ID3D12GraphicsCommandList4_DispatchRays, kList, &desc);
  Write(0, glass);
  Write(192, glass);
  glass[0] = std::byte{9};
  Write(0, glass);
  const uint64_t submission = Execute();
  EXPECT_THAT(
      InWords(call),
      HasSubstr("records  3, executed by call " + std::to_string(submission) +
                "\n  of  RAYTRACING_PIPELINE: hit group \"Glass\": closest hit \"Refract\"\n"
                "  ray generation, an identifier that GetShaderIdentifier did not return\n"
                "  miss [0]: unknown, the GPU may write resource 6: only a playback knows "
                "it\n"
                "  hit group [0], no shader\n"
                "  hit group [1], export \"Glass\"\n"));
}

TEST_F(ExecutedPartsTest, CommandsAsManyAsTheBufferCounts) {
  MakeSignature();
  const uint64_t call = Indirect(64, kUpload, kUpload);
  Write(0, uint32_t{2});
  const uint32_t command[] = {0xff, 4000, 1, 1};
  Write(64, command);
  Execute();
  const std::string text = InWords(call);
  EXPECT_THAT(text, HasSubstr("commands  2, executed by call"));
  EXPECT_THAT(text, HasSubstr("\n  of  16 bytes each: CONSTANT root 0, 1 value at 0; DISPATCH\n"
                              "  command [0], Dispatch: 4,000 × 1 × 1 groups; root constant of "
                              "parameter 0: 0xff\n"
                              "  command [1], Dispatch: 0 × 0 × 0 groups; root constant of "
                              "parameter 0: 0x0\n"));
  EXPECT_THAT(text, Not(HasSubstr("command [2]")));
}

TEST_F(ExecutedPartsTest, CommandsThatTheGpuCounts) {
  MakeSignature();
  const uint64_t call = Indirect(64, kUpload, kDefault);
  const uint64_t bundled = Indirect(1, kUpload, kNoObject, kBundle);
  test_.Make(Method::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kBundle));
  Write(0, uint32_t{0});
  const uint64_t first = Execute();
  // Nothing of this recording is executed.
  const uint64_t reset = test_.Make(Method::ID3D12GraphicsCommandList_Reset, kList,
                                    ObjectPointer(kAllocator), nullptr);
  test_.Gave(reset, 0, ObjectPointer(kAllocator), nullptr);
  const uint64_t never = Indirect(1, kUpload);
  const uint64_t again = test_.Make(Method::ID3D12GraphicsCommandList_Reset, kList,
                                    ObjectPointer(kAllocator), nullptr);
  test_.Gave(again, 0, ObjectPointer(kAllocator), nullptr);
  Execute();
  const std::string by_first = ", executed by call " + std::to_string(first) + "\n";
  const std::string text = InWords(call);
  EXPECT_THAT(text, HasSubstr("commands  up to 64" + by_first));
  EXPECT_THAT(text, HasSubstr("  command [15], Dispatch"));
  EXPECT_THAT(text, Not(HasSubstr("command [16]")));
  EXPECT_THAT(InWords(bundled), HasSubstr("commands  1" + by_first));
  EXPECT_THAT(InWords(never),
              HasSubstr("commands  1, which no ExecuteCommandLists of the trace executes\n"));
  EXPECT_THAT(InWords(never), HasSubstr("unknown, no submission of the trace executes it\n"));
}

}  // namespace
}  // namespace cairn::cli
