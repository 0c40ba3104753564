// SPDX-License-Identifier: Apache-2.0
//
// The generated tables against what the compiler knows from the headers, and against facts of
// Direct3D 12. Sizes, offsets and enumerators are compared while compiling: d3d12gen/checks.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "cairn/marker_types.h"

#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/enums.h"
#include "d3d12gen/interface_traits.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/methods.h"
#include "d3d12gen/structs.h"
#include "d3d12gen/subobjects.h"

namespace cairn {
namespace {

using testing::ElementsAre;

const MethodInfo& FindMethod(std::string_view name) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const MethodInfo& method = Describe(static_cast<Method>(i));
    if (method.name == name) return method;
  }
  ADD_FAILURE() << "no method " << name;
  return Describe(Method{});
}

const ParameterInfo& Parameter(const MethodInfo& method, std::string_view name) {
  for (const ParameterInfo& parameter : method.parameters) {
    if (parameter.name == name) return parameter;
  }
  ADD_FAILURE() << method.name << " has no parameter " << name;
  return method.parameters[0];
}

const FieldInfo& Field(const StructInfo& type, std::string_view name) {
  for (const FieldInfo& field : type.fields) {
    if (field.name == name) return field;
  }
  ADD_FAILURE() << type.name << " has no field " << name;
  return type.fields[0];
}

const InterfaceInfo& Interface(const IID& iid) {
  const InterfaceInfo* const found = FindInterface(iid);
  EXPECT_NE(found, nullptr);
  return found != nullptr ? *found : Interfaces()[0];
}

// ---- Interfaces ----

struct NamedId {
  const char* name;
  IID iid;
};
const NamedId kHeaderInterfaces[] = {
#define CAIRN_INTERFACE(name) {#name, __uuidof(name)},
#include "d3d12gen/interface_names.inc"
#undef CAIRN_INTERFACE
};

TEST(InterfaceTable, HasEveryInterfaceOfTheDefinitionsUnderTheIdentifierOfTheHeader) {
  for (const NamedId& known : kHeaderInterfaces) {
    const InterfaceInfo* const found = FindInterface(known.iid);
    ASSERT_NE(found, nullptr) << known.name;
    EXPECT_STREQ(found->name, known.name);
  }
  const auto of_direct3d_12 = [](const InterfaceInfo& known) {
    return std::string_view(known.name).starts_with("ID3D12");
  };
  EXPECT_EQ(std::ranges::count_if(Interfaces(), of_direct3d_12),
            static_cast<ptrdiff_t>(std::size(kHeaderInterfaces)));
}

TEST(InterfaceTable, AnUnknownIdentifierIsNotFound) {
  const IID unknown = {0x12345678, 0x9abc, 0xdef0, {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(FindInterface(unknown), nullptr);
  EXPECT_EQ(FindInterface(IID{}), nullptr);
}

TEST(InterfaceTable, BasesLeadToIUnknown) {
  for (const InterfaceInfo& entry : Interfaces()) {
    const InterfaceInfo* root = &entry;
    for (int depth = 0; root->base != nullptr && depth < 100; ++depth) root = root->base;
    EXPECT_STREQ(root->name, "IUnknown") << entry.name;
  }
}

TEST(InterfaceTable, VersionsAndBasesAreServedByOneClass) {
  EXPECT_TRUE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(ID3D12Device))));
  EXPECT_TRUE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(ID3D12Device5))));
  EXPECT_TRUE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(ID3D12Object))));
  EXPECT_TRUE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(IUnknown))));
  EXPECT_FALSE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(ID3D12Pageable))));
  EXPECT_FALSE(IsVersionOf(Chain::kID3D12Device, Interface(__uuidof(ID3D12VideoDevice))));
  EXPECT_TRUE(
      IsVersionOf(Chain::kID3D12GraphicsCommandList, Interface(__uuidof(ID3D12CommandList))));
  EXPECT_FALSE(IsVersionOf(Chain::kID3D12GraphicsCommandList,
                           Interface(__uuidof(ID3D12VideoDecodeCommandList))));
  EXPECT_TRUE(IsVersionOf(Chain::kID3D12ProtectedResourceSession,
                          Interface(__uuidof(ID3D12ProtectedSession))));
}

TEST(InterfaceTable, KindsAndOwners) {
  EXPECT_EQ(Interface(__uuidof(ID3D12Resource2)).kind, InterfaceKind::kWrapped);
  EXPECT_EQ(Interface(__uuidof(ID3D12Resource2)).chain, Chain::kID3D12Resource);
  EXPECT_TRUE(HasTearOff(Interface(__uuidof(ID3D12InfoQueue1))));
  EXPECT_EQ(Describe(Chain::kID3D12InfoQueue).owner, Chain::kID3D12Device);
  EXPECT_EQ(Describe(Chain::kID3D12DebugCommandQueue).owner, Chain::kID3D12CommandQueue);
  EXPECT_TRUE(IsPassed(Interface(__uuidof(ID3D12RootSignatureDeserializer))));
  EXPECT_TRUE(IsPassed(Interface(__uuidof(ID3D12Debug4))));
  EXPECT_EQ(Interface(__uuidof(ID3D12Pageable)).kind, InterfaceKind::kShared);
  EXPECT_STREQ(Describe(Chain::kID3D12Fence).first->name, "ID3D12Fence");
  EXPECT_STREQ(Describe(Chain::kID3D12Fence).newest->name, "ID3D12Fence1");
}

TEST(InterfaceTraitsTable, SaysWhatMayStandBehindAPointer) {
  EXPECT_THAT(InterfaceTraits<ID3D12Resource>::kChains, ElementsAre(Chain::kID3D12Resource));
  EXPECT_THAT(InterfaceTraits<ID3D12Resource1>::kChains, ElementsAre(Chain::kID3D12Resource));
  EXPECT_THAT(
      InterfaceTraits<ID3D12CommandList>::kChains,
      ElementsAre(Chain::kID3D12GraphicsCommandList, Chain::kID3D12VideoDecodeCommandList,
                  Chain::kID3D12VideoProcessCommandList, Chain::kID3D12VideoEncodeCommandList));
  EXPECT_EQ(std::size(InterfaceTraits<IUnknown>::kChains), kChainCount - 1);
  EXPECT_THAT(InterfaceTraits<ID3D12Pageable>::kChains,
              testing::AllOf(testing::Contains(Chain::kID3D12Heap),
                             testing::Not(testing::Contains(Chain::kID3D12RootSignature))));
}

// ---- Methods ----

#if !defined(_MSC_VER)
// The place in the table of methods, as pointers to virtual methods hold it.
template <typename Member>
size_t SlotOf(Member member) {
  size_t words[2];
  static_assert(sizeof(member) == sizeof(words));
  std::memcpy(words, &member, sizeof(words));
  return (words[0] - 1) / sizeof(void*);
}

TEST(MethodTable, SlotsAreThoseOfTheHeader) {
#define CAIRN_METHOD(interface, method) \
  EXPECT_EQ(Describe(Method::interface##_##method).slot, SlotOf(&interface::method)) << #method;
#include "d3d12gen/method_names.inc"
#undef CAIRN_METHOD
}
#endif

TEST(MethodTable, NamesAreThoseOfTheEnumerators) {
#define CAIRN_METHOD(interface, method) \
  EXPECT_STREQ(Describe(Method::interface##_##method).name, #interface "::" #method);
#include "d3d12gen/method_names.inc"
#undef CAIRN_METHOD
}

TEST(MethodTable, CreationSaysWhatAndWhere) {
  const MethodInfo& method = FindMethod("ID3D12Device::CreateFence");
  EXPECT_EQ(method.object_chain, Chain::kID3D12Fence);
  EXPECT_TRUE(method.object_is_new);
  EXPECT_EQ(method.identifier_parameter, 2);
  EXPECT_EQ(method.object_parameter, 3);
  EXPECT_STREQ(method.parameters[0].name, "InitialValue");
  EXPECT_EQ(method.parameters[0].kind, ValueKind::kUnsigned);
  EXPECT_EQ(method.parameters[0].size_bytes, 8u);
  EXPECT_EQ(method.parameters[1].kind, ValueKind::kFlags);
  EXPECT_STREQ(Enums()[method.parameters[1].type_index].name, "D3D12_FENCE_FLAGS");
  EXPECT_EQ(method.parameters[2].kind, ValueKind::kGuid);
  EXPECT_EQ(method.parameters[3].direction, Direction::kOut);
  const MethodInfo& session = FindMethod("ID3D12Heap1::GetProtectedResourceSession");
  EXPECT_EQ(session.object_chain, Chain::kID3D12ProtectedResourceSession);
  EXPECT_FALSE(session.object_is_new);
}

TEST(MethodTable, EveryCreationHasAnIdentifierAndAPlaceForTheObject) {
  uint32_t creations = 0;
  uint32_t typed = 0;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const MethodInfo& method = Describe(static_cast<Method>(i));
    if (method.object_chain == Chain::kNone) continue;
    ++creations;
    ASSERT_GE(method.object_parameter, 0) << method.name;
    const ParameterInfo& object = method.parameters[method.object_parameter];
    EXPECT_EQ(object.pointers, 2) << method.name;
    EXPECT_EQ(object.direction, Direction::kOut) << method.name;
    if (method.identifier_parameter >= 0) {
      const ParameterInfo& identifier = method.parameters[method.identifier_parameter];
      EXPECT_EQ(identifier.kind, ValueKind::kGuid) << method.name;
      continue;
    }
    // The type says what it is.
    ++typed;
    EXPECT_EQ(object.kind, ValueKind::kObject) << method.name;
    EXPECT_EQ(object.chain, method.object_chain) << method.name;
  }
  EXPECT_GE(creations, 60u);
  EXPECT_EQ(typed, 4u);
}

TEST(MethodTable, CountsNameTheParameterThatHoldsThem) {
  const MethodInfo& barrier = FindMethod("ID3D12GraphicsCommandList::ResourceBarrier");
  const ParameterInfo& barriers = Parameter(barrier, "pBarriers");
  EXPECT_EQ(barriers.kind, ValueKind::kStruct);
  EXPECT_EQ(barriers.pointers, 1);
  ASSERT_EQ(barriers.count.factor_count, 1);
  EXPECT_EQ(barriers.count.factors[0].kind, CountFactor::Kind::kSibling);
  EXPECT_STREQ(barrier.parameters[barriers.count.factors[0].value].name, "NumBarriers");
  EXPECT_STREQ(Structs()[barriers.type_index].name, "D3D12_RESOURCE_BARRIER");

  const MethodInfo& get = FindMethod("ID3D12Object::GetPrivateData");
  const ParameterInfo& data = Parameter(get, "pData");
  EXPECT_EQ(data.kind, ValueKind::kBytes);
  EXPECT_EQ(data.direction, Direction::kOut);
  EXPECT_TRUE(data.optional);
  EXPECT_TRUE(data.count.in_bytes);
  ASSERT_EQ(data.count.factor_count, 1);
  EXPECT_EQ(data.count.factors[0].kind, CountFactor::Kind::kSiblingBehind);
  EXPECT_EQ(data.count.factors[0].value, 1u);
  EXPECT_EQ(Parameter(get, "pDataSize").direction, Direction::kInOut);

  const MethodInfo& constants =
      FindMethod("ID3D12GraphicsCommandList::SetComputeRoot32BitConstants");
  const CountInfo& values = Parameter(constants, "pSrcData").count;
  ASSERT_EQ(values.factor_count, 2);
  EXPECT_TRUE(values.in_bytes);
  EXPECT_EQ(values.factors[1].kind, CountFactor::Kind::kConstant);
  EXPECT_EQ(values.factors[1].value, sizeof(UINT));

  const MethodInfo& samples = FindMethod("ID3D12GraphicsCommandList1::SetSamplePositions");
  const CountInfo& positions = Parameter(samples, "pSamplePositions").count;
  ASSERT_EQ(positions.factor_count, 2);
  EXPECT_EQ(positions.factors[0].kind, CountFactor::Kind::kSibling);
  EXPECT_EQ(positions.factors[1].kind, CountFactor::Kind::kSibling);
}

TEST(MethodTable, ArraysOfObjectsHaveCounts) {
  const MethodInfo& execute = FindMethod("ID3D12CommandQueue::ExecuteCommandLists");
  const ParameterInfo& lists = Parameter(execute, "ppCommandLists");
  EXPECT_EQ(lists.kind, ValueKind::kObject);
  EXPECT_EQ(lists.pointers, 2);
  EXPECT_EQ(lists.direction, Direction::kIn);
  EXPECT_STREQ(lists.count.text, "NumCommandLists");
}

TEST(MethodTable, AddressesHandlesAndStringsHaveTheirOwnKinds) {
  const MethodInfo& view =
      FindMethod("ID3D12GraphicsCommandList::SetComputeRootConstantBufferView");
  EXPECT_EQ(view.parameters[1].kind, ValueKind::kGpuAddress);
  const MethodInfo& clear = FindMethod("ID3D12GraphicsCommandList::ClearRenderTargetView");
  EXPECT_EQ(clear.parameters[0].kind, ValueKind::kCpuDescriptor);
  EXPECT_EQ(clear.parameters[1].array_length, 4u);
  EXPECT_EQ(clear.parameters[1].kind, ValueKind::kFloat);
  const MethodInfo& event = FindMethod("ID3D12Fence::SetEventOnCompletion");
  EXPECT_EQ(event.parameters[1].kind, ValueKind::kHandle);
  EXPECT_EQ(event.parameters[1].handle, HandleKind::kEvent);
  EXPECT_EQ(event.parameters[1].lifetime, Lifetime::kSignal);
  EXPECT_EQ(FindMethod("ID3D12Object::SetName").parameters[0].kind, ValueKind::kWideString);
  EXPECT_EQ(FindMethod("ID3D12Resource::GetGPUVirtualAddress").result.kind, ValueKind::kGpuAddress);
  EXPECT_EQ(FindMethod("ID3D12Resource::Map").parameters[2].lifetime, Lifetime::kUnmap);
}

TEST(MethodTable, WorkIsWhatTheGpuDoes) {
  EXPECT_EQ(FindMethod("ID3D12GraphicsCommandList::DrawInstanced").work,
            CAIRN_MARKER_DRAW_INSTANCED);
  EXPECT_EQ(FindMethod("ID3D12GraphicsCommandList6::DispatchMesh").work,
            CAIRN_MARKER_DISPATCH_MESH);
  EXPECT_EQ(FindMethod("ID3D12VideoDecodeCommandList1::DecodeFrame1").work,
            CAIRN_MARKER_DECODE_FRAME);
  EXPECT_EQ(FindMethod("ID3D12GraphicsCommandList::SetPipelineState").work, kNoWork);
  EXPECT_EQ(FindMethod("ID3D12Device::CreateFence").work, kNoWork);
}

TEST(MethodTable, EveryDescribedTypeExists) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const MethodInfo& method = Describe(static_cast<Method>(i));
    for (const ParameterInfo& parameter : method.parameters) {
      const bool is_enum =
          parameter.kind == ValueKind::kEnum || parameter.kind == ValueKind::kFlags;
      if (is_enum) {
        ASSERT_LT(parameter.type_index, Enums().size()) << method.name;
        EXPECT_EQ(parameter.size_bytes, 4u) << method.name;
      } else if (parameter.type_index != kNoType) {
        ASSERT_LT(parameter.type_index, Structs().size()) << method.name;
      }
      for (const CountFactor& factor : parameter.count.factors) {
        if (factor.kind != CountFactor::Kind::kConstant) {
          EXPECT_LT(factor.value, method.parameters.size()) << method.name;
        }
      }
    }
  }
}

// ---- Enums ----

TEST(EnumTable, NamesValues) {
  const EnumInfo* const formats = FindEnum("DXGI_FORMAT");
  ASSERT_NE(formats, nullptr);
  EXPECT_FALSE(formats->is_flags);
  EXPECT_STREQ(EnumeratorName(*formats, DXGI_FORMAT_R8G8B8A8_UNORM), "DXGI_FORMAT_R8G8B8A8_UNORM");
  EXPECT_EQ(EnumeratorName(*formats, 0x7654321), nullptr);
  const EnumInfo* const lists = FindEnum("D3D12_COMMAND_LIST_TYPE");
  ASSERT_NE(lists, nullptr);
  EXPECT_STREQ(EnumeratorName(*lists, static_cast<uint32_t>(-1)), "D3D12_COMMAND_LIST_TYPE_NONE");
  EXPECT_EQ(FindEnum("D3D12_NO_SUCH_ENUM"), nullptr);
}

TEST(EnumTable, NamesFlags) {
  const EnumInfo* const states = FindEnum("D3D12_RESOURCE_STATES");
  ASSERT_NE(states, nullptr);
  EXPECT_TRUE(states->is_flags);
  EXPECT_EQ(FlagNames(*states, D3D12_RESOURCE_STATE_COPY_DEST), "D3D12_RESOURCE_STATE_COPY_DEST");
  EXPECT_EQ(FlagNames(*states,
                      D3D12_RESOURCE_STATE_COPY_DEST | D3D12_RESOURCE_STATE_DEPTH_READ | 1 << 29),
            "D3D12_RESOURCE_STATE_DEPTH_READ | D3D12_RESOURCE_STATE_COPY_DEST | 0x20000000");
  EXPECT_EQ(FlagNames(*states, 0), "D3D12_RESOURCE_STATE_COMMON");
  const EnumInfo* const stages = FindEnum("D3D12_META_COMMAND_PARAMETER_FLAGS");
  ASSERT_NE(stages, nullptr);
  EXPECT_EQ(FlagNames(*stages, 0), "0x0") << "it has no name for nothing";
}

// ---- Structs ----

TEST(StructTable, UnionsHaveTags) {
  const StructInfo* const barrier = FindStruct("D3D12_RESOURCE_BARRIER");
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(barrier->size_bytes, sizeof(D3D12_RESOURCE_BARRIER));
  EXPECT_TRUE(barrier->holds_objects);
  ASSERT_GE(barrier->tag_field, 0);
  EXPECT_STREQ(barrier->fields[barrier->tag_field].name, "Type");
  EXPECT_THAT(Field(*barrier, "Aliasing").tag_values,
              ElementsAre(D3D12_RESOURCE_BARRIER_TYPE_ALIASING));
  EXPECT_TRUE(Field(*barrier, "UAV").in_union);
  EXPECT_FALSE(Field(*barrier, "Flags").in_union);
  const StructInfo* const root = FindStruct("D3D12_ROOT_PARAMETER1");
  ASSERT_NE(root, nullptr);
  EXPECT_THAT(Field(*root, "Descriptor").tag_values,
              ElementsAre(D3D12_ROOT_PARAMETER_TYPE_CBV, D3D12_ROOT_PARAMETER_TYPE_SRV,
                          D3D12_ROOT_PARAMETER_TYPE_UAV));
}

TEST(StructTable, FieldsOfStructsWithoutATypeAreFound) {
  const StructInfo* const argument = FindStruct("D3D12_INDIRECT_ARGUMENT_DESC");
  ASSERT_NE(argument, nullptr);
  const FieldInfo& offset = Field(*argument, "Constant.DestOffsetIn32BitValues");
  EXPECT_EQ(offset.offset_bytes,
            offsetof(D3D12_INDIRECT_ARGUMENT_DESC, Constant.DestOffsetIn32BitValues));
  EXPECT_THAT(offset.tag_values, ElementsAre(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT));
}

TEST(StructTable, BitFieldsLieWhereTheCompilerPutsThem) {
  const StructInfo* const instance = FindStruct("D3D12_RAYTRACING_INSTANCE_DESC");
  ASSERT_NE(instance, nullptr);
  D3D12_RAYTRACING_INSTANCE_DESC desc = {};
  desc.InstanceID = 0xABCDEF;
  desc.InstanceMask = 0x12;
  desc.InstanceContributionToHitGroupIndex = 0x345678;
  desc.Flags = 0x9A;
  const auto read = [&](const char* name) {
    const FieldInfo& field = Field(*instance, name);
    uint32_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(&desc) + field.offset_bytes, sizeof(word));
    return word >> field.bit_offset & ((1u << field.bit_count) - 1);
  };
  EXPECT_EQ(read("InstanceID"), 0xABCDEFu);
  EXPECT_EQ(read("InstanceMask"), 0x12u);
  EXPECT_EQ(read("InstanceContributionToHitGroupIndex"), 0x345678u);
  EXPECT_EQ(read("Flags"), 0x9Au);
}

TEST(StructTable, CountsOfPointersAreFields) {
  const StructInfo* const state = FindStruct("D3D12_STATE_OBJECT_DESC");
  ASSERT_NE(state, nullptr);
  const FieldInfo& subobjects = Field(*state, "pSubobjects");
  ASSERT_EQ(subobjects.count.factor_count, 1);
  EXPECT_STREQ(state->fields[subobjects.count.factors[0].value].name, "NumSubobjects");
  const StructInfo* const frames = FindStruct("D3D12_VIDEO_PROCESS_REFERENCE_SET");
  ASSERT_NE(frames, nullptr);
  const FieldInfo& past = Field(*frames, "ppPastFrames");
  EXPECT_EQ(past.kind, ValueKind::kObject);
  EXPECT_EQ(past.pointers, 2);
  EXPECT_STREQ(past.count.text, "NumPastFrames");
}

TEST(StructTable, EveryArrayOfObjectsHasACount) {
  for (const StructInfo& type : Structs()) {
    for (const FieldInfo& field : type.fields) {
      if (field.kind == ValueKind::kObject && field.pointers == 2) {
        EXPECT_GE(field.count.factor_count, 1) << type.name << "." << field.name;
      }
    }
  }
}

TEST(StructTable, GpuAddressesAreKnown) {
  EXPECT_EQ(Field(*FindStruct("D3D12_VERTEX_BUFFER_VIEW"), "BufferLocation").kind,
            ValueKind::kGpuAddress);
  EXPECT_EQ(Field(*FindStruct("D3D12_DISPATCH_RAYS_DESC"), "Width").kind, ValueKind::kUnsigned);
  EXPECT_EQ(Field(*FindStruct("D3D12_GPU_VIRTUAL_ADDRESS_RANGE"), "StartAddress").kind,
            ValueKind::kGpuAddress);
}

TEST(StructTable, NamesAreSortedAndUnique) {
  std::set<std::string> names;
  std::string_view last;
  for (const StructInfo& type : Structs()) {
    EXPECT_LT(last, std::string_view(type.name));
    last = type.name;
    names.insert(type.name);
  }
  EXPECT_EQ(names.size(), Structs().size());
}

// ---- Sub-objects ----

TEST(SubobjectTable, PartsOfPipelineStreamsHaveTheSizesOfTheHeaders) {
  const auto part = [](uint32_t type) { return FindPipelineSubobject(type); };
  EXPECT_EQ(part(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE)->value.chain,
            Chain::kID3D12RootSignature);
  const SubobjectInfo* const shader = part(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS);
  EXPECT_EQ(shader->value.size_bytes, sizeof(D3D12_SHADER_BYTECODE));
  EXPECT_EQ(shader->alignment_bytes, alignof(D3D12_SHADER_BYTECODE));
  const SubobjectInfo* const blend = part(D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_BLEND);
  EXPECT_EQ(blend->value.size_bytes, sizeof(D3D12_BLEND_DESC));
  EXPECT_EQ(blend->alignment_bytes, alignof(D3D12_BLEND_DESC));
  EXPECT_STREQ(Structs()[blend->value.type_index].name, "D3D12_BLEND_DESC");
  EXPECT_EQ(part(999), nullptr);
}

TEST(SubobjectTable, SubobjectsOfStateObjectsAreStructs) {
  const SubobjectInfo* const hit = FindStateSubobject(D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP);
  ASSERT_NE(hit, nullptr);
  EXPECT_STREQ(Structs()[hit->value.type_index].name, "D3D12_HIT_GROUP_DESC");
  for (uint32_t type = 0; type < 13; ++type) {
    const SubobjectInfo* const known = FindStateSubobject(type);
    EXPECT_TRUE(known == nullptr || known->value.kind == ValueKind::kStruct) << type;
  }
}

// ---- What encoders ask ----

TEST(StructTable, FlatStructsHoldNoPointersAndUniversalOnesNoAddresses) {
  EXPECT_TRUE(FindStruct("D3D12_BOX")->is_universal);
  EXPECT_TRUE(FindStruct("D3D12_VERTEX_BUFFER_VIEW")->is_flat);
  EXPECT_FALSE(FindStruct("D3D12_VERTEX_BUFFER_VIEW")->is_universal);
  EXPECT_FALSE(FindStruct("D3D12_RESOURCE_BARRIER")->is_flat);
  EXPECT_FALSE(FindStruct("D3D12_INPUT_LAYOUT_DESC")->is_flat);
}

TEST(StructTable, ListsAreKnown) {
  EXPECT_TRUE(Field(*FindStruct("D3D12_AUTO_BREADCRUMB_NODE"), "pNext").is_list);
  EXPECT_FALSE(Field(*FindStruct("D3D12_INPUT_LAYOUT_DESC"), "pInputElementDescs").is_list);
}

}  // namespace
}  // namespace cairn
