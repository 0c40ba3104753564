// SPDX-License-Identifier: Apache-2.0
//
// The requirements of user-defined annotations (docs/reference/annotations.md), one test or more each, seen as an
// application sees them: through Direct3D 12, on libvkd3d, with the logging driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "annotations_device.h"
#include "app/breadcrumbs/d3d12_buffers.h"
#include "app/d3d12/layer.h"
#include "embedded/fill.cs.dxbc.h"
#include "format/snapshot/block_tables.h"

// libvkd3d-utils; its header and Microsoft's cannot both be included.
extern "C" HRESULT WINAPI D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC* desc,
                                                      D3D_ROOT_SIGNATURE_VERSION version,
                                                      ID3DBlob** blob, ID3DBlob** errors);

namespace cairn::annotations_test {
namespace {

using testing::HasSubstr;

const Environment environment("logging");

class Annotations : public testing::Test {
 protected:
  void SetUp() override {
    device_ = CreateWrappedDevice();
    ASSERT_TRUE(device_);
  }
  // Returns the driver's pointer for an object of the layer.
  template <typename T>
  const void* Native(const ComPtr<T>& object) {
    return RealObject(object.get());
  }

  RecordedCalls calls_;
  ComPtr<ID3D12Device> device_;
};

// ---- API ---------------------------------------------------------------------------------------

TEST_F(Annotations, A1_DeviceToolsAnswerOnEveryDevice) {
  const auto tools = ToolsOf(device_);
  ASSERT_TRUE(tools);
  EXPECT_TRUE(device_.As<ID3D12DeviceTools>());
  EXPECT_TRUE(device_.As<ID3D12DeviceTools1>());
  // One object: identity, and the way back.
  EXPECT_EQ(device_.As<IUnknown>().get(), tools.As<IUnknown>().get());
  EXPECT_EQ(device_.get(), tools.As<ID3D12Device>().get());
  // References are the device's.
  tools->AddRef();
  const ULONG count = tools->Release();
  device_->AddRef();
  EXPECT_EQ(count, device_->Release());
}

TEST_F(Annotations, A2_TheDefaultIsRuntimeOnly) {
  EXPECT_EQ(kRuntimeOnly, ToolsOf(device_)->GetUserDefinedAnnotationMode());
  EXPECT_EQ(0, static_cast<int>(kRuntimeOnly));
  EXPECT_EQ(1, static_cast<int>(kDriverRetail));
}

TEST_F(Annotations, A3_GetReturnsTheEffectiveMode) {
  const auto tools = ToolsOf(device_);
  EXPECT_EQ(S_OK, tools->SetUserDefinedAnnotationMode(kDriverRetail));
  EXPECT_EQ(kDriverRetail, tools->GetUserDefinedAnnotationMode());
  EXPECT_EQ(kDriverRetail, ToolsOf(device_)->GetUserDefinedAnnotationMode());
  EXPECT_EQ(S_OK, tools->SetUserDefinedAnnotationMode(kRuntimeOnly));
  EXPECT_EQ(kRuntimeOnly, tools->GetUserDefinedAnnotationMode());
}

struct Message {
  uint32_t count = 0;
  uint32_t id = 0;
  void* device = nullptr;
  std::string text;
};

TEST_F(Annotations, A4_AnInvalidModeIsRejectedWithAMessage) {
  Message message;
  const CairnMessageCallback callback = [](uint32_t id, void* device, const char* text,
                                           void* user_data) {
    Message& told = *static_cast<Message*>(user_data);
    told = {told.count + 1, id, device, text};
  };
  ASSERT_EQ(CAIRN_OK, cairnSetMessageCallback(callback, &message));
  const auto tools = ToolsOf(device_);
  uint32_t expected = 0;
  for (const auto mode : {kRuntimeOnly, kDriverRetail}) {
    ASSERT_EQ(S_OK, tools->SetUserDefinedAnnotationMode(mode));
    EXPECT_EQ(expected, message.count);
    for (const int wrong : {2, -1, 0x7FFFFFFF}) {
      EXPECT_EQ(E_INVALIDARG, tools->SetUserDefinedAnnotationMode(
                                  static_cast<D3D12_USER_DEFINED_ANNOTATION_MODE>(wrong)));
      EXPECT_EQ(mode, tools->GetUserDefinedAnnotationMode());
      EXPECT_EQ(++expected, message.count);
      EXPECT_EQ(1465u, message.id);
      EXPECT_EQ(device_.get(), message.device);
      EXPECT_THAT(message.text, HasSubstr("SetUserDefinedAnnotationMode"));
      EXPECT_THAT(message.text, HasSubstr(std::to_string(static_cast<uint32_t>(wrong))));
    }
  }
  ASSERT_EQ(CAIRN_OK, cairnSetMessageCallback(nullptr, nullptr));
}

TEST_F(Annotations, A5_TheFeatureQueryMirrorsTheDriver) {
  D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION data = {};
  EXPECT_EQ(S_OK, device_->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &data,
                                               sizeof(data)));
  EXPECT_EQ(1u, static_cast<uint32_t>(data.Supported));
  uint64_t buffer = 0x5555555555555555;
  for (const UINT size : {0u, 1u, 3u, 5u, 8u, 0xFFFFFFFFu}) {
    EXPECT_EQ(E_INVALIDARG,
              device_->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &buffer, size));
  }
  EXPECT_EQ(0x5555555555555555u, buffer);
  EXPECT_EQ(E_INVALIDARG, device_->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION,
                                                       nullptr, sizeof(data)));
}

// ---- Modes -------------------------------------------------------------------------------------

TEST_F(Annotations, M1_AChildKeepsTheModeOfItsCreationForEver) {
  List only = CreateList(device_);
  const auto only_queue = CreateQueue(device_);
  SetMode(device_, kDriverRetail);
  List retail = CreateList(device_);
  const auto retail_queue = CreateQueue(device_);
  for (const auto mode : {kDriverRetail, kRuntimeOnly, kDriverRetail}) {
    SetMode(device_, mode);
    calls_.Take();
    only.list->SetMarker(1, "a", 1);
    only_queue->SetMarker(1, "a", 1);
    EXPECT_EQ(0u, calls_.Take().size());
    retail.list->SetMarker(1, "a", 1);
    retail_queue->SetMarker(1, "a", 1);
    EXPECT_EQ(2u, calls_.Take().size());
    for (List* each : {&only, &retail}) {
      ASSERT_EQ(S_OK, each->list->Close());
      ASSERT_EQ(S_OK, each->allocator->Reset());
      ASSERT_EQ(S_OK, each->list->Reset(each->allocator.get(), nullptr));
    }
  }
}

TEST_F(Annotations, M2_ListsAndQueuesFollowTheMode) {
  for (const auto mode : {kRuntimeOnly, kDriverRetail}) {
    SetMode(device_, mode);
    List list = CreateList(device_);
    const auto queue = CreateQueue(device_);
    calls_.Take();
    list.list->BeginEvent(1, "a", 1);
    list.list->EndEvent();
    list.list->SetMarker(1, "a", 1);
    queue->BeginEvent(1, "a", 1);
    queue->EndEvent();
    queue->SetMarker(1, "a", 1);
    EXPECT_EQ(mode == kDriverRetail ? 6u : 0u, calls_.Take().size());
  }
}

TEST_F(Annotations, M3_SeveralThreadsMaySetTheMode) {
  constexpr uint32_t kThreads = 4, kRounds = 25;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto tools = ToolsOf(device_);
      for (uint32_t i = 0; i < kRounds; ++i) {
        tools->SetUserDefinedAnnotationMode((i + t) % 2 == 0 ? kDriverRetail : kRuntimeOnly);
        const List list = CreateList(device_);
        list.list->SetMarker(t, "first", 5);
        list.list->SetMarker(t, "second", 6);
        list.list->Close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Each list has exactly one mode: both of its markers came, or none.
  std::vector<std::string> last(kThreads);
  for (const Call& call : calls_.Take()) {
    ASSERT_LT(call.metadata, kThreads);
    EXPECT_EQ(last[call.metadata] == "first" ? "second" : "first", call.bytes);
    last[call.metadata] = call.bytes;
  }
  for (const std::string& text : last) EXPECT_NE("first", text);
}

// ---- Forwarding --------------------------------------------------------------------------------

std::string PatternOf(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 37 + i / 251);
  return text;
}

// Arguments of a marker API: metadata, data or null, size.
std::vector<std::tuple<UINT, std::string, bool>> Payloads() {
  std::vector<std::tuple<UINT, std::string, bool>> payloads;
  for (const UINT metadata : {0u, 1u, 2u, 6345127u, 3u, 0xFFFFFFFFu}) {
    payloads.emplace_back(metadata, PatternOf(metadata % 100 + 3), true);
  }
  payloads.emplace_back(1, "", true);
  payloads.emplace_back(1, "", false);
  payloads.emplace_back(1, PatternOf(1 << 20), true);
  return payloads;
}

// One call of each kind through `target`; `first` is the queue's or the list's first function.
template <typename Target>
void ExpectOneCallEach(Target* target, const void* native, uint32_t handle_type,
                       DriverFunction first, RecordedCalls& calls) {
  const auto function = [first](int offset) {
    return static_cast<DriverFunction>(static_cast<int>(first) + offset);
  };
  for (const auto& [metadata, text, with_data] : Payloads()) {
    const void* data = with_data ? text.data() : nullptr;
    const UINT size = static_cast<UINT>(text.size());
    calls.Take();
    target->BeginEvent(metadata, data, size);
    target->SetMarker(metadata, data, size);
    target->EndEvent();
    const std::vector<Call> seen = calls.Take();
    ASSERT_EQ(3u, seen.size());
    EXPECT_EQ(function(0), seen[0].function);
    EXPECT_EQ(function(2), seen[1].function);
    EXPECT_EQ(function(1), seen[2].function);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(metadata, seen[i].metadata);
      EXPECT_EQ(size, seen[i].size);
      EXPECT_EQ(with_data, seen[i].data != nullptr);
      EXPECT_TRUE(text == seen[i].bytes) << text.size();
      EXPECT_NE(0u, seen[i].event_id);
    }
    for (const Call& call : seen) {
      EXPECT_EQ(native, call.native);
      EXPECT_EQ(handle_type, call.handle_type);
    }
    EXPECT_NE(seen[0].event_id, seen[1].event_id);
    EXPECT_EQ(seen[0].event_id, seen[2].event_id);
  }
  // Null data with a size, and an end without a begin.
  target->SetMarker(9, nullptr, 40);
  target->EndEvent();
  const std::vector<Call> seen = calls.Take();
  ASSERT_EQ(2u, seen.size());
  EXPECT_EQ(40u, seen[0].size);
  EXPECT_EQ(nullptr, seen[0].data);
  EXPECT_EQ(function(1), seen[1].function);
  EXPECT_EQ(0u, seen[1].event_id);
}

TEST_F(Annotations, F1_OneDriverCallForEachCallWithTheSameBytes) {
  SetMode(device_, kDriverRetail);
  const List list = CreateList(device_);
  ExpectOneCallEach(list.list.get(), Native(list.list), D3D12DDI_HT_COMMAND_LIST,
                    DriverFunction::kCmdListBeginEvent, calls_);
  const auto queue = CreateQueue(device_);
  ExpectOneCallEach(queue.get(), Native(queue), D3D12DDI_HT_COMMAND_QUEUE,
                    DriverFunction::kCmdQueueBeginEvent, calls_);
}

TEST_F(Annotations, F2_RuntimeOnlyCallsNothing) {
  const List list = CreateList(device_);
  const auto queue = CreateQueue(device_);
  for (const auto& [metadata, text, with_data] : Payloads()) {
    const void* data = with_data ? text.data() : nullptr;
    const UINT size = static_cast<UINT>(text.size());
    list.list->BeginEvent(metadata, data, size);
    list.list->SetMarker(metadata, data, size);
    list.list->EndEvent();
    queue->BeginEvent(metadata, data, size);
    queue->SetMarker(metadata, data, size);
    queue->EndEvent();
  }
  EXPECT_EQ(S_OK, list.list->SetName(L"list"));
  EXPECT_EQ(0u, calls_.Take().size());
}

// Copies bytes on the GPU, with annotations around every step, and compares them.
void CopyOnGpu(const ComPtr<ID3D12Device>& device, D3D12_COMMAND_LIST_TYPE type) {
  constexpr size_t kBytes = 4096;
  const auto from = CreateMappedBuffer(device.get(), MappedHeap::kUpload, kBytes);
  const auto to = CreateMappedBuffer(device.get(), MappedHeap::kReadback, kBytes);
  ASSERT_TRUE(from.ok() && to.ok());
  const std::string text = PatternOf(kBytes);
  std::memcpy(from->memory, text.data(), kBytes);
  const auto queue = CreateQueue(device, type);
  const List list = CreateList(device, type);
  queue->BeginEvent(1, "Frame", 6);
  list.list->BeginEvent(1, "Copy", 5);
  list.list->SetMarker(1, "before", 7);
  list.list->CopyBufferRegion(to->resource.get(), 0, from->resource.get(), 0, kBytes);
  list.list->SetMarker(1, "after", 6);
  list.list->EndEvent();
  Execute(device, queue, list.list);
  queue->SetMarker(1, "executed", 9);
  queue->EndEvent();
  EXPECT_EQ(0, std::memcmp(to->memory, text.data(), kBytes));
  EXPECT_EQ(S_OK, device->GetDeviceRemovedReason());
}

TEST_F(Annotations, F4_AllTypesOfListsAndQueuesAroundRealWork) {
  SetMode(device_, kDriverRetail);
  for (const auto type : {D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_TYPE_COMPUTE,
                          D3D12_COMMAND_LIST_TYPE_COPY}) {
    calls_.Take();
    CopyOnGpu(device_, type);
    std::vector<DriverFunction> order;
    for (const Call& call : calls_.Take()) order.push_back(call.function);
    EXPECT_EQ((std::vector<DriverFunction>{
                  DriverFunction::kCmdQueueBeginEvent, DriverFunction::kCmdListBeginEvent,
                  DriverFunction::kCmdListSetMarker, DriverFunction::kCmdListSetMarker,
                  DriverFunction::kCmdListEndEvent, DriverFunction::kCmdQueueSetMarker,
                  DriverFunction::kCmdQueueEndEvent}),
              order)
        << type;
  }
}

TEST_F(Annotations, F4_BundlesToo) {
  SetMode(device_, kDriverRetail);
  const List bundle = CreateList(device_, D3D12_COMMAND_LIST_TYPE_BUNDLE);
  bundle.list->BeginEvent(1, "in a bundle", 12);
  bundle.list->SetMarker(1, "marker", 7);
  bundle.list->EndEvent();
  ASSERT_EQ(S_OK, bundle.list->Close());
  EXPECT_EQ(3u, calls_.Take().size());
  const auto queue = CreateQueue(device_);
  const List list = CreateList(device_);
  list.list->BeginEvent(1, "around it", 10);
  list.list->ExecuteBundle(bundle.list.get());
  list.list->EndEvent();
  Execute(device_, queue, list.list);
  EXPECT_EQ(S_OK, device_->GetDeviceRemovedReason());
  EXPECT_EQ(2u, calls_.Take().size());
}

// ---- Names -------------------------------------------------------------------------------------

// For the shader fill.cs: a buffer and three constants.
ComPtr<ID3D12RootSignature> CreateRootSignature(const ComPtr<ID3D12Device>& device) {
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[1].Constants.Num32BitValues = 3;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = 2;
  desc.pParameters = parameters;
  ComPtr<ID3DBlob> blob;
  EXPECT_EQ(S_OK,
            D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1,
                                        reinterpret_cast<ID3DBlob**>(blob.Receive()), nullptr));
  ComPtr<ID3D12RootSignature> signature;
  EXPECT_EQ(S_OK, device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(),
                                              __uuidof(ID3D12RootSignature), signature.Receive()));
  return signature;
}

// Objects of the kinds that this device can make, each with the number of its kind.
std::vector<std::pair<ComPtr<ID3D12Object>, uint32_t>> ObjectsOfAllKinds(
    const ComPtr<ID3D12Device>& device) {
  std::vector<std::pair<ComPtr<ID3D12Object>, uint32_t>> objects;
  const auto add = [&objects](const auto& object, uint32_t kind) {
    ASSERT_TRUE(object) << kind;
    objects.emplace_back(object.template As<ID3D12Object>(), kind);
  };
  const List list = CreateList(device);
  add(CreateQueue(device), 19);
  add(list.allocator, 20);
  add(list.list, 22);
  ComPtr<ID3D12Fence> fence;
  device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  add(fence, 23);
  D3D12_DESCRIPTOR_HEAP_DESC descriptors = {};
  descriptors.NumDescriptors = 4;
  ComPtr<ID3D12DescriptorHeap> descriptor_heap;
  device->CreateDescriptorHeap(&descriptors, __uuidof(ID3D12DescriptorHeap),
                               descriptor_heap.Receive());
  add(descriptor_heap, 24);
  D3D12_HEAP_DESC heap_desc = {};
  heap_desc.SizeInBytes = 65536;
  heap_desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> heap;
  device->CreateHeap(&heap_desc, __uuidof(ID3D12Heap), heap.Receive());
  add(heap, 25);
  D3D12_QUERY_HEAP_DESC queries = {};
  queries.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  queries.Count = 2;
  ComPtr<ID3D12QueryHeap> query_heap;
  device->CreateQueryHeap(&queries, __uuidof(ID3D12QueryHeap), query_heap.Receive());
  add(query_heap, 27);
  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW;
  D3D12_COMMAND_SIGNATURE_DESC signature_desc = {};
  signature_desc.ByteStride = sizeof(D3D12_DRAW_ARGUMENTS);
  signature_desc.NumArgumentDescs = 1;
  signature_desc.pArgumentDescs = &argument;
  ComPtr<ID3D12CommandSignature> signature;
  device->CreateCommandSignature(&signature_desc, nullptr, __uuidof(ID3D12CommandSignature),
                                 signature.Receive());
  add(signature, 28);
  D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline_desc = {};
  const auto root_signature = CreateRootSignature(device);
  pipeline_desc.pRootSignature = root_signature.get();
  pipeline_desc.CS = {kFillCsDxbc, sizeof(kFillCsDxbc)};
  ComPtr<ID3D12PipelineState> pipeline;
  device->CreateComputePipelineState(&pipeline_desc, __uuidof(ID3D12PipelineState),
                                     pipeline.Receive());
  add(pipeline, 21);
  const auto buffer = CreateMappedBuffer(device.get(), MappedHeap::kUpload, 256);
  if (buffer.ok()) add(buffer->resource, 34);
  return objects;
}

TEST_F(Annotations, N1_NamesReachTheDriverForChildrenWithTheirKind) {
  SetMode(device_, kDriverRetail);
  for (const auto& [object, kind] : ObjectsOfAllKinds(device_)) {
    calls_.Take();
    EXPECT_EQ(S_OK, object->SetName(L"object"));
    const std::vector<Call> seen = calls_.Take();
    ASSERT_EQ(1u, seen.size()) << kind;
    EXPECT_EQ(DriverFunction::kSetName, seen[0].function);
    EXPECT_EQ(kind, seen[0].handle_type);
    EXPECT_EQ(L"object", seen[0].name);
    EXPECT_NE(nullptr, seen[0].native);
  }
  EXPECT_EQ(S_OK, device_->SetName(L"device"));
  // A root signature has no type of handle.
  const auto root_signature = CreateRootSignature(device_);
  EXPECT_EQ(S_OK, root_signature->SetName(L"root signature"));
  EXPECT_EQ(0u, calls_.Take().size());
}

TEST_F(Annotations, N2_NamesObeyTheModeOfCreationAndArriveWhole) {
  const auto only = CreateQueue(device_);
  SetMode(device_, kDriverRetail);
  const auto retail = CreateQueue(device_);
  SetMode(device_, kRuntimeOnly);
  EXPECT_EQ(S_OK, only->SetName(L"nobody hears"));
  EXPECT_EQ(0u, calls_.Take().size());
  const std::wstring names[] = {L"", L"ASCII", L"\u00e9\u4e2d\U0001F5FF and \U0010FFFF",
                                std::wstring(65536, L'n')};
  for (const std::wstring& name : names) {
    EXPECT_EQ(S_OK, retail->SetName(name.c_str()));
    const std::vector<Call> seen = calls_.Take();
    ASSERT_EQ(1u, seen.size());
    EXPECT_TRUE(seen[0].name == name) << name.size();
  }
  // libvkd3d refuses to take a name away; the driver hears of it all the same.
  retail->SetName(nullptr);
  const std::vector<Call> seen = calls_.Take();
  ASSERT_EQ(1u, seen.size());
  EXPECT_EQ(nullptr, seen[0].name_pointer);
}

TEST_F(Annotations, N3_TheDriverIsGivenTheApplicationsOwnName) {
  SetMode(device_, kDriverRetail);
  const auto queue = CreateQueue(device_);
  const uint64_t live = MarkerArena::LiveBytes(ProcessBlock());
  std::wstring name = L"borrowed";
  EXPECT_EQ(S_OK, queue->SetName(name.c_str()));
  const std::vector<Call> seen = calls_.Take();
  ASSERT_EQ(1u, seen.size());
  // The driver gets no copy: a driver that needs the name later copies it.
  EXPECT_EQ(name.c_str(), seen[0].name_pointer);
  EXPECT_EQ(live, MarkerArena::LiveBytes(ProcessBlock()));
}

// ---- Lifetimes ---------------------------------------------------------------------------------

TEST_F(Annotations, L1_MarkersAreCopiedDuringTheCall) {
  SetMode(device_, kDriverRetail);
  const List list = CreateList(device_);
  const auto queue = CreateQueue(device_);
  char buffer[] = "first";
  list.list->SetMarker(1, buffer, sizeof(buffer));
  queue->SetMarker(1, buffer, sizeof(buffer));
  std::memcpy(buffer, "other", sizeof(buffer));
  const std::vector<Call> seen = calls_.Take();
  ASSERT_EQ(2u, seen.size());
  for (const Call& call : seen) {
    KeptMarker marker;
    ASSERT_EQ(EventIdState::kResolved, ResolveInBlock(call.event_id, &marker));
    EXPECT_EQ(std::string("first", 6), PayloadText(marker));
  }
}

TEST_F(Annotations, L2_MarkersOfListsDieWithTheResetOfTheirAllocator) {
  SetMode(device_, kDriverRetail);
  List list = CreateList(device_);
  const List other = CreateList(device_);
  ASSERT_EQ(S_OK, other.list->Close());
  list.list->SetMarker(1, "kept", 4);
  const uint64_t id = calls_.Take().at(0).event_id;
  ASSERT_EQ(S_OK, list.list->Close());
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(id));
  // The EventID expires neither when the list is recorded anew with another allocator, nor when it
  // is gone.
  ASSERT_EQ(S_OK, list.list->Reset(other.allocator.get(), nullptr));
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(id));
  ASSERT_EQ(S_OK, list.list->Close());
  list.list = ComPtr<ID3D12GraphicsCommandList>();
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(id));
  ASSERT_EQ(S_OK, other.allocator->Reset());
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(id));
  ASSERT_EQ(S_OK, list.allocator->Reset());
  EXPECT_EQ(EventIdState::kExpired, ResolveInBlock(id));
}

TEST_F(Annotations, L3_MarkersOfQueuesLiveUntilTheQueueIsDestroyed) {
  SetMode(device_, kDriverRetail);
  auto queue = CreateQueue(device_);
  queue->SetMarker(1, "first", 5);
  const uint64_t first = calls_.Take().at(0).event_id;
  const List list = CreateList(device_);
  Execute(device_, queue, list.list);
  ASSERT_EQ(S_OK, list.allocator->Reset());
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(first));

  const BlockWriter& block = ProcessBlock();
  const auto dropped = [&block] {
    const auto reader = BlockReader::Open(std::span(block.data(), block.size_bytes()));
    return CountDroppedMarkers(*reader).of_queues;
  };
  const uint64_t dropped_before = dropped();
  const std::string text = PatternOf(1000);
  for (uint32_t i = 0; i < 5000; ++i) queue->SetMarker(1, text.data(), 1000);
  const uint64_t last = calls_.Take().back().event_id;
  // The oldest are dropped, and counted.
  EXPECT_EQ(EventIdState::kExpired, ResolveInBlock(first));
  EXPECT_EQ(EventIdState::kResolved, ResolveInBlock(last));
  EXPECT_GT(dropped(), dropped_before + 2500);
  EXPECT_LE(MarkerArena::LiveBytes(block), uint64_t{MarkerArena::kQueueDataPages} * kPageBytes);
  queue = ComPtr<ID3D12CommandQueue>();
  EXPECT_EQ(EventIdState::kExpired, ResolveInBlock(last));
}

TEST_F(Annotations, L4_RuntimeOnlyRetainsNothing) {
  const BlockWriter& block = ProcessBlock();
  const uint64_t live = MarkerArena::LiveBytes(block);
  const uint32_t entries = MarkerArena::EntriesInUse(block);
  const List list = CreateList(device_);
  const auto queue = CreateQueue(device_);
  for (uint32_t i = 0; i < 1000; ++i) {
    list.list->BeginEvent(1, "event", 6);
    list.list->EndEvent();
    queue->SetMarker(1, "marker", 7);
  }
  EXPECT_EQ(live, MarkerArena::LiveBytes(block));
  EXPECT_EQ(entries, MarkerArena::EntriesInUse(block));
}

TEST_F(Annotations, L4_LiveBytesGoBackToZero) {
  SetMode(device_, kDriverRetail);
  const BlockWriter& block = ProcessBlock();
  const uint64_t live = MarkerArena::LiveBytes(block);
  const List list = CreateList(device_);
  for (uint32_t i = 0; i < 1000; ++i) list.list->SetMarker(1, "12345678", 8);
  EXPECT_EQ(live + 8000, MarkerArena::LiveBytes(block));
  ASSERT_EQ(S_OK, list.list->Close());
  ASSERT_EQ(S_OK, list.allocator->Reset());
  EXPECT_EQ(live, MarkerArena::LiveBytes(block));
}

// ---- EventIDs ----------------------------------------------------------------------------------

TEST_F(Annotations, E1_EveryMarkerHasItsOwnEventIdUnderManyThreads) {
  SetMode(device_, kDriverRetail);
  constexpr uint32_t kThreads = 8, kRounds = 10, kMarkers = 100;
  const auto queue = CreateQueue(device_);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const List list = CreateList(device_);
      for (uint32_t round = 0; round < kRounds; ++round) {
        for (uint32_t i = 0; i < kMarkers; ++i) {
          list.list->SetMarker(1, &i, sizeof(i));
          queue->SetMarker(1, &i, sizeof(i));
        }
        list.list->Close();
        list.allocator->Reset();
        list.list->Reset(list.allocator.get(), nullptr);
      }
      list.list->Close();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> ids;
  for (const Call& call : calls_.Take()) ids.push_back(call.event_id);
  EXPECT_EQ(size_t{2} * kThreads * kRounds * kMarkers, ids.size());
  std::sort(ids.begin(), ids.end());
  EXPECT_NE(0u, ids.front());
  EXPECT_EQ(ids.end(), std::adjacent_find(ids.begin(), ids.end()));
}

// ---- The software driver -----------------------------------------------------------------------

TEST_F(Annotations, W1_TheLoggingDriverSupportsLogsAndRetainsNothing) {
  D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION data = {};
  ASSERT_EQ(S_OK, device_->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &data,
                                               sizeof(data)));
  EXPECT_EQ(1u, static_cast<uint32_t>(data.Supported));
  SetMode(device_, kDriverRetail);
  const List list = CreateList(device_);
  ObserveLoggingDriver(nullptr, nullptr);
  testing::internal::CaptureStderr();
  list.list->SetMarker(1, "hello", 5);
  list.list->SetName(L"a name");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("driver logging: pfnCmdListSetMarker("));
  EXPECT_THAT(log, HasSubstr("metadata 1, 5 bytes, EventID 0x"));
  EXPECT_THAT(log, HasSubstr("pfnSetName(type 22, "));
  EXPECT_THAT(log, HasSubstr("\"a name\""));
  // It is the runtime that keeps markers, and with the reset nothing is left.
  ASSERT_EQ(S_OK, list.list->Close());
  ASSERT_EQ(S_OK, list.allocator->Reset());
  EXPECT_EQ(0u, MarkerArena::LiveBytes(ProcessBlock()));
}

}  // namespace
}  // namespace cairn::annotations_test
