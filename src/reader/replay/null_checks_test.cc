// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/null_checks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "d3d12gen/methods.h"
#include "d3d12gen/supplement.h"
#include "reader/replay/replay_values.h"

namespace cairn {
namespace {

constexpr Method kCreate = Method::ID3D12Device5_CreateStateObject;
constexpr Method kAdd = Method::ID3D12Device7_AddToStateObject;
const char* const kPlayed = "";

std::string Check(Method method, const D3D12_STATE_OBJECT_DESC& desc) {
  const D3D12_STATE_OBJECT_DESC* argument = &desc;
  const Status status = CheckPointers(method, {&argument});
  return status.ok() ? kPlayed : status.message();
}

// Returns why no implementation gets a state object with `desc` for its sub-object 1; empty: it does.
template <typename Desc>
std::string Refusal(uint32_t type, const Desc* desc) {
  const D3D12_STATE_OBJECT_CONFIG config = {};
  D3D12_STATE_SUBOBJECT parts[] = {{D3D12_STATE_SUBOBJECT_TYPE_STATE_OBJECT_CONFIG, &config},
                                   {D3D12_STATE_SUBOBJECT_TYPE_STATE_OBJECT_CONFIG, desc}};
  std::memcpy(&parts[1].Type, &type, sizeof type);
  const D3D12_STATE_OBJECT_DESC object = {D3D12_STATE_OBJECT_TYPE_COLLECTION, 2, parts};
  const std::string message = Check(kCreate, object);
  EXPECT_EQ(Check(kAdd, object), message);
  const std::string place = "sub-object 1 of type " + std::to_string(type) + ": ";
  if (message.empty()) return message;
  EXPECT_TRUE(message.starts_with(place)) << message;
  return message.substr(place.size());
}

TEST(NullChecksTest, SubobjectsThatAreNotThere) {
  EXPECT_EQ(Check(kCreate, {D3D12_STATE_OBJECT_TYPE_COLLECTION, 0, nullptr}), kPlayed);
  EXPECT_EQ(Check(kCreate, {D3D12_STATE_OBJECT_TYPE_COLLECTION, 1, nullptr}),
            "pSubobjects is null");
  EXPECT_EQ(Check(kAdd, {D3D12_STATE_OBJECT_TYPE_COLLECTION, 1, nullptr}), "pSubobjects is null");
  const D3D12_WORK_GRAPH_DESC* const none = nullptr;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH, none), "pDesc is null");
}

class WorkGraphTest : public testing::Test {
 protected:
  WorkGraphTest() {
    shader_.Shader.Shader = L"Shader";
    graph_.ProgramName = L"Graph";
    graph_.NumEntrypoints = 2;
    graph_.pEntrypoints = entries_;
    graph_.NumExplicitlyDefinedNodes = 1;
    graph_.pExplicitlyDefinedNodes = &shader_;
  }
  std::string RefusalOfGraph() const {
    return Refusal(D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH, &graph_);
  }

  D3D12_NODE_ID entries_[2] = {{L"First", 0}, {L"Second", 0}};
  D3D12_NODE shader_ = {};
  D3D12_WORK_GRAPH_DESC graph_ = {};
};

TEST_F(WorkGraphTest, OneWithAllOfIt) {
  EXPECT_EQ(RefusalOfGraph(), kPlayed);
  graph_.NumEntrypoints = 0;
  graph_.pEntrypoints = nullptr;
  graph_.NumExplicitlyDefinedNodes = 0;
  graph_.pExplicitlyDefinedNodes = nullptr;
  EXPECT_EQ(RefusalOfGraph(), kPlayed);
}

TEST_F(WorkGraphTest, WithoutAName) {
  graph_.ProgramName = nullptr;
  EXPECT_EQ(RefusalOfGraph(), "ProgramName is null");
}

TEST_F(WorkGraphTest, EntryPointsThatAreNotThere) {
  entries_[1].Name = nullptr;
  EXPECT_EQ(RefusalOfGraph(), "Name of an entry point is null");
  graph_.pEntrypoints = nullptr;
  EXPECT_EQ(RefusalOfGraph(), "pEntrypoints is null");
}

TEST_F(WorkGraphTest, NodesThatAreNotThere) {
  shader_.Shader.Shader = nullptr;
  EXPECT_EQ(RefusalOfGraph(), "Shader of a node is null");
  graph_.pExplicitlyDefinedNodes = nullptr;
  EXPECT_EQ(RefusalOfGraph(), "pExplicitlyDefinedNodes is null");
}

TEST_F(WorkGraphTest, OverridesThatAreNotThere) {
  const D3D12_NODE_ID nameless = {};
  const D3D12_NODE_OUTPUT_OVERRIDES output = {0, &nameless, nullptr, nullptr, nullptr};
  for (const auto type :
       {D3D12_NODE_OVERRIDES_TYPE_BROADCASTING_LAUNCH, D3D12_NODE_OVERRIDES_TYPE_COALESCING_LAUNCH,
        D3D12_NODE_OVERRIDES_TYPE_THREAD_LAUNCH, D3D12_NODE_OVERRIDES_TYPE_COMMON_COMPUTE}) {
    shader_.Shader.OverridesType = type;
    shader_.Shader.pBroadcastingLaunchOverrides = nullptr;
    EXPECT_EQ(RefusalOfGraph(), "the overrides of a node is null");
  }
  D3D12_THREAD_LAUNCH_OVERRIDES overrides = {};
  shader_.Shader.OverridesType = D3D12_NODE_OVERRIDES_TYPE_THREAD_LAUNCH;
  shader_.Shader.pThreadLaunchOverrides = &overrides;
  EXPECT_EQ(RefusalOfGraph(), kPlayed);
  overrides.NumOutputOverrides = 1;
  EXPECT_EQ(RefusalOfGraph(), "pOutputOverrides is null");
  overrides.pOutputOverrides = &output;
  EXPECT_EQ(RefusalOfGraph(), "Name in pNewName is null");
  overrides.pShareInputOf = &nameless;
  EXPECT_EQ(RefusalOfGraph(), "Name in pShareInputOf is null");
}

TEST_F(WorkGraphTest, KindsThatNobodyKnows) {
  const uint32_t future = 9;
  std::memcpy(&shader_.Shader.OverridesType, &future, sizeof(future));
  EXPECT_EQ(RefusalOfGraph(), "overrides of type 9 are not known");
  std::memcpy(&shader_.NodeType, &future, sizeof(future));
  EXPECT_EQ(RefusalOfGraph(), "nodes of type 9 are not known");
}

TEST(NullChecksTest, GenericPrograms) {
  const auto refusal = [](const D3D12_GENERIC_PROGRAM_DESC& program) {
    return Refusal(D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM, &program);
  };
  const D3D12_STATE_SUBOBJECT part = {};
  const D3D12_STATE_SUBOBJECT* const parts[] = {&part, nullptr};
  LPCWSTR exports[] = {L"Vertices", nullptr};
  EXPECT_EQ(refusal({L"Program", 1, exports, 1, parts}), kPlayed);
  EXPECT_EQ(refusal({L"Program", 0, nullptr, 0, nullptr}), kPlayed);
  EXPECT_EQ(refusal({nullptr, 1, exports, 1, parts}), "ProgramName is null");
  EXPECT_EQ(refusal({L"Program", 1, nullptr, 1, parts}), "pExports is null");
  EXPECT_EQ(refusal({L"Program", 2, exports, 1, parts}), "a name in pExports is null");
  EXPECT_EQ(refusal({L"Program", 1, exports, 1, nullptr}), "ppSubobjects is null");
  EXPECT_EQ(refusal({L"Program", 1, exports, 2, parts}), "a sub-object in ppSubobjects is null");
}

TEST(NullChecksTest, HitGroups) {
  D3D12_HIT_GROUP_DESC group = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, &group), "HitGroupExport is null");
  group.HitGroupExport = L"Group";  // its shaders are optional
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP, &group), kPlayed);
}

TEST(NullChecksTest, LibrariesAndCollections) {
  D3D12_EXPORT_DESC exports[] = {{nullptr, nullptr, D3D12_EXPORT_FLAG_NONE}};
  D3D12_DXIL_LIBRARY_DESC library = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library), kPlayed);
  library.NumExports = 1;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library), "pExports is null");
  library.pExports = exports;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library),
            "Name of an export is null");
  library.DXILLibrary.BytecodeLength = 4;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY, &library), "a shader is null");
  const D3D12_EXISTING_COLLECTION_DESC collection = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION, &collection),
            "pExistingCollection is null");
}

TEST(NullChecksTest, Associations) {
  const D3D12_STATE_SUBOBJECT part = {};
  LPCWSTR exports[] = {nullptr};
  const auto refusal = [](const D3D12_SUBOBJECT_TO_EXPORTS_ASSOCIATION& association) {
    return Refusal(D3D12_STATE_SUBOBJECT_TYPE_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &association);
  };
  EXPECT_EQ(refusal({&part, 0, nullptr}), kPlayed) << "for all that have no other";
  EXPECT_EQ(refusal({nullptr, 0, nullptr}), "pSubobjectToAssociate is null");
  EXPECT_EQ(refusal({&part, 1, nullptr}), "pExports is null");
  EXPECT_EQ(refusal({&part, 1, exports}), "a name in pExports is null");
  const D3D12_DXIL_SUBOBJECT_TO_EXPORTS_ASSOCIATION named = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_DXIL_SUBOBJECT_TO_EXPORTS_ASSOCIATION, &named),
            "SubobjectToAssociate is null");
}

TEST(NullChecksTest, FixedFunctionState) {
  D3D12_INPUT_LAYOUT_DESC inputs = {nullptr, 1};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT, &inputs),
            "pInputElementDescs is null");
  const D3D12_INPUT_ELEMENT_DESC element = {};
  inputs.pInputElementDescs = &element;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT, &inputs), "SemanticName is null");
  D3D12_STREAM_OUTPUT_DESC outputs = {};
  outputs.NumStrides = 1;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT, &outputs), "pBufferStrides is null");
  outputs.NumEntries = 1;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT, &outputs), "pSODeclaration is null");
  D3D12_VIEW_INSTANCING_DESC views = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING, &views), kPlayed);
  views.ViewInstanceCount = 1;
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING, &views),
            "pViewInstanceLocations is null");
}

TEST(NullChecksTest, SerializedRootSignatures) {
  const D3D12_GLOBAL_SERIALIZED_ROOT_SIGNATURE none = {};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_SERIALIZED_ROOT_SIGNATURE, &none), kPlayed);
  const D3D12_GLOBAL_SERIALIZED_ROOT_SIGNATURE global = {{nullptr, 4}};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_GLOBAL_SERIALIZED_ROOT_SIGNATURE, &global),
            "pSerializedBlob is null");
  const D3D12_LOCAL_SERIALIZED_ROOT_SIGNATURE local = {{nullptr, 4}};
  EXPECT_EQ(Refusal(D3D12_STATE_SUBOBJECT_TYPE_LOCAL_SERIALIZED_ROOT_SIGNATURE, &local),
            "pSerializedBlob is null");
}

// ---- Pipelines -----------------------------------------------------------------------------------

// Returns why no implementation gets a stream of a mask and `content`; empty: it does.
template <typename Content>
std::string RefusalInStream(uint32_t type, const Content& content) {
  struct {
    alignas(void*) uint32_t mask_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK;
    UINT mask = ~0u;
    alignas(void*) uint32_t type;
    alignas(void*) Content content;
  } parts;
  parts.type = type;
  parts.content = content;
  const D3D12_PIPELINE_STATE_STREAM_DESC stream = {sizeof(parts), &parts};
  const D3D12_PIPELINE_STATE_STREAM_DESC* argument = &stream;
  LPCWSTR name = L"Pipeline";
  const Status status = CheckPointers(Method::ID3D12Device2_CreatePipelineState, {&argument});
  const Status loaded =
      CheckPointers(Method::ID3D12PipelineLibrary1_LoadPipeline, {&name, &argument});
  EXPECT_EQ(loaded.message(), status.message());
  if (status.ok()) return kPlayed;
  const std::string place = "sub-object of type " + std::to_string(type) + ": ";
  EXPECT_TRUE(status.message().starts_with(place)) << status.message();
  return status.message().substr(place.size());
}

TEST(NullChecksTest, ShadersOfStreams) {
  for (const uint32_t stage :
       {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS,
        D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DS, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_HS,
        D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_GS, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS,
        D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_AS, D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS}) {
    EXPECT_EQ(RefusalInStream(stage, D3D12_SHADER_BYTECODE{nullptr, 0}), kPlayed);
    EXPECT_EQ(RefusalInStream(stage, D3D12_SHADER_BYTECODE{nullptr, 4}), "a shader is null");
  }
}

TEST(NullChecksTest, FixedFunctionStateOfStreams) {
  const auto inputs = [](const D3D12_INPUT_LAYOUT_DESC& desc) {
    return RefusalInStream(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_INPUT_LAYOUT, desc);
  };
  const D3D12_INPUT_ELEMENT_DESC nameless = {};
  EXPECT_EQ(inputs({nullptr, 0}), kPlayed);
  EXPECT_EQ(inputs({nullptr, 1}), "pInputElementDescs is null");
  EXPECT_EQ(inputs({&nameless, 1}), "SemanticName is null");
  D3D12_STREAM_OUTPUT_DESC outputs = {};
  outputs.NumStrides = 1;
  EXPECT_EQ(RefusalInStream(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT, outputs),
            "pBufferStrides is null");
  outputs.NumEntries = 1;
  EXPECT_EQ(RefusalInStream(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_STREAM_OUTPUT, outputs),
            "pSODeclaration is null");
  EXPECT_EQ(RefusalInStream(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VIEW_INSTANCING,
                            D3D12_VIEW_INSTANCING_DESC{1, nullptr, {}}),
            "pViewInstanceLocations is null");
  EXPECT_EQ(RefusalInStream(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SERIALIZED_ROOT_SIGNATURE,
                            D3D12_SERIALIZED_ROOT_SIGNATURE_DESC{nullptr, 4}),
            "pSerializedBlob is null");
}

TEST(NullChecksTest, StreamsThatAreNotThere) {
  D3D12_PIPELINE_STATE_STREAM_DESC stream = {};
  const D3D12_PIPELINE_STATE_STREAM_DESC* argument = &stream;
  const std::vector<void*> arguments = {&argument};
  constexpr Method kCreatePipeline = Method::ID3D12Device2_CreatePipelineState;
  EXPECT_TRUE(CheckPointers(kCreatePipeline, arguments).ok());
  stream.SizeInBytes = 4;
  EXPECT_EQ(CheckPointers(kCreatePipeline, arguments).message(),
            "pPipelineStateSubobjectStream is null");
}

// They are created anew.
TEST(NullChecksTest, PipelinesThatALibraryLoads) {
  LPCWSTR name = L"Pipeline";
  D3D12_COMPUTE_PIPELINE_STATE_DESC compute = {};
  compute.CS.BytecodeLength = 4;
  const D3D12_COMPUTE_PIPELINE_STATE_DESC* computes = &compute;
  EXPECT_EQ(CheckPointers(Method::ID3D12PipelineLibrary_LoadComputePipeline, {&name, &computes})
                .message(),
            "a shader is null");
  D3D12_GRAPHICS_PIPELINE_STATE_DESC graphics = {};
  graphics.InputLayout.NumElements = 1;
  const D3D12_GRAPHICS_PIPELINE_STATE_DESC* draws = &graphics;
  EXPECT_EQ(
      CheckPointers(Method::ID3D12PipelineLibrary_LoadGraphicsPipeline, {&name, &draws}).message(),
      "pInputElementDescs is null");
}

}  // namespace
}  // namespace cairn
