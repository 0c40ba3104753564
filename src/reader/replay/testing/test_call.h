// SPDX-License-Identifier: Apache-2.0
//
// For tests of the player's parts: decoded calls, and objects of a fake device under the numbers of a
// trace, without a trace and without a player.
#ifndef CAIRN_READER_REPLAY_TESTING_TEST_CALL_H_
#define CAIRN_READER_REPLAY_TESTING_TEST_CALL_H_

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/testing/fake_device.h"
#include "reader/replay/call_in_progress.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/root_signature.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Objects with these numbers.
class TestObjects {
 public:
  static constexpr uint64_t kDevice = 1;

  TestObjects() {
    *device_.Receive() = CreateFakeDevice();
    Add(kDevice, Chain::kID3D12Device, device_.get());
  }

  void AddHeap(uint64_t number, D3D12_DESCRIPTOR_HEAP_TYPE type, uint32_t count) {
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = type;
    desc.NumDescriptors = count;
    ComPtr<IUnknown> heap;
    EXPECT_EQ(device_->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
              S_OK);
    const DescriptorHeapFacts facts = {
        .type = static_cast<uint32_t>(type), .count = count, .increment_bytes = 8};
    EXPECT_TRUE(table.SetFacts(Add(number, Chain::kID3D12DescriptorHeap, heap.get()), facts).ok());
  }
  void AddResource(uint64_t number, const D3D12_RESOURCE_DESC& desc,
                   D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT,
                   D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = type;
    ComPtr<IUnknown> resource;
    EXPECT_EQ(
        device_->CreateCommittedResource(&heap, flags, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                         __uuidof(ID3D12Resource), resource.Receive()),
        S_OK);
    Add(number, Chain::kID3D12Resource, resource.get());
  }
  void AddSignature(uint64_t number, std::vector<RootParameter> parameters) {
    ComPtr<IUnknown> made;
    EXPECT_EQ(
        device_->CreateRootSignature(0, nullptr, 0, __uuidof(ID3D12RootSignature), made.Receive()),
        S_OK);
    Add(number, Chain::kID3D12RootSignature, made.get())->created.root_signature =
        std::make_shared<const RootSignatureLayout>(RootSignatureLayout{std::move(parameters)});
  }
  void AddPipeline(uint64_t number) {
    const D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
    ComPtr<IUnknown> made;
    EXPECT_EQ(
        device_->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState), made.Receive()),
        S_OK);
    Add(number, Chain::kID3D12PipelineState, made.get());
  }
  void AddList(uint64_t number, uint64_t allocator) {
    constexpr auto kType = D3D12_COMMAND_LIST_TYPE_DIRECT;
    ComPtr<IUnknown> memory;
    EXPECT_EQ(
        device_->CreateCommandAllocator(kType, __uuidof(ID3D12CommandAllocator), memory.Receive()),
        S_OK);
    auto* const real =
        Add(allocator, Chain::kID3D12CommandAllocator, memory.get())->As<ID3D12CommandAllocator>();
    ComPtr<IUnknown> made;
    EXPECT_EQ(device_->CreateCommandList(0, kType, real, nullptr,
                                         __uuidof(ID3D12GraphicsCommandList), made.Receive()),
              S_OK);
    Add(number, Chain::kID3D12GraphicsCommandList, made.get());
  }
  void AddQueue(uint64_t number) {
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    ComPtr<IUnknown> made;
    EXPECT_EQ(device_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), made.Receive()),
              S_OK);
    Add(number, Chain::kID3D12CommandQueue, made.get());
  }
  void AddFence(uint64_t number) {
    ComPtr<IUnknown> made;
    EXPECT_EQ(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), made.Receive()),
              S_OK);
    Add(number, Chain::kID3D12Fence, made.get());
  }
  // Returns the descriptor as ReplayValues has it.
  ReplayDescriptor At(uint64_t heap, uint32_t index) {
    const D3D12_DESCRIPTOR_HEAP_DESC& desc = table.Find(heap)->heap;
    return {
        .heap = heap, .index = index, .heap_count = desc.NumDescriptors, .heap_type = desc.Type};
  }
  IUnknown* Real(uint64_t number) { return table.Find(number)->pointer.get(); }
  ReplayObject* Add(uint64_t number, Chain chain, IUnknown* real) {
    const Result<ReplayObject*> added = table.Add(number, chain, kDevice, real);
    EXPECT_TRUE(added.ok()) << added.status().message();
    return added.ok() ? *added : nullptr;
  }

  ReplayObjects table;

 private:
  ComPtr<ID3D12Device> device_;
};

// A call with arguments of the types that its method declares; interfaces as IUnknown*.
class TestCall {
 public:
  template <typename... Arguments>
  TestCall(ReplayObjects* objects, Method method, uint64_t object, Arguments... arguments)
      : call{record_, method, Describe(method), objects->Find(object), decoded_, *objects} {
    record_.object = object;
    (Add(arguments), ...);
    EXPECT_EQ(sizeof...(arguments), call.info.parameters.size()) << call.info.name;
  }
  TestCall(const TestCall&) = delete;
  TestCall& operator=(const TestCall&) = delete;

 private:
  struct alignas(16) Place {
    std::array<std::byte, 16> bytes = {};
  };
  void Add(std::nullptr_t) { Add(static_cast<void*>(nullptr)); }
  template <typename T>
  void Add(T value) {
    static_assert(sizeof(T) <= sizeof(Place));
    std::memcpy(places_.emplace_back().bytes.data(), &value, sizeof(value));
    decoded_.arguments.push_back(&places_.back());
  }

  Record record_ = {};
  DecodedCall decoded_;
  std::deque<Place> places_;

 public:
  CallInProgress call;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_TEST_CALL_H_
