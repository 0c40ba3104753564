// SPDX-License-Identifier: Apache-2.0
#include "annotations_device.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <utility>

#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/d3d12/layer.h"

// libvkd3d-utils; its header and Microsoft's cannot both be included.
extern "C" HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown* adapter, D3D_FEATURE_LEVEL level,
                                                 REFIID iid, void** device, int api_version);

namespace cairn::annotations_test {

Environment::Environment(const char* driver, const char* events) {
  setenv("CAIRN_DRIVER", driver, 1);
  setenv("CAIRN_EVENTS", events, 1);
  setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  setenv("CAIRN_SYSTEM_CONFIG_DIR", "/nonexistent", 1);
  setenv("VKD3D_DEBUG", "none", 0);
}

ComPtr<ID3D12Device> CreateWrappedDevice() {
  constexpr int kApiVersion10 = 0;
  void* real = nullptr;
  EXPECT_EQ(S_OK, D3D12CreateDeviceVKD3D(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                         &real, kApiVersion10));
  ComPtr<ID3D12Device> device;
  if (real == nullptr) return device;
  *device.Receive() = WrapDevice(static_cast<ID3D12Device*>(real), DeviceOrigin());
  return device;
}

ComPtr<ID3D12DeviceTools2> ToolsOf(const ComPtr<ID3D12Device>& device) {
  ComPtr<ID3D12DeviceTools2> tools;
  EXPECT_EQ(S_OK, device->QueryInterface(__uuidof(ID3D12DeviceTools2), tools.Receive()));
  return tools;
}

void SetMode(const ComPtr<ID3D12Device>& device, D3D12_USER_DEFINED_ANNOTATION_MODE mode) {
  EXPECT_EQ(S_OK, ToolsOf(device)->SetUserDefinedAnnotationMode(mode));
}

List CreateList(const ComPtr<ID3D12Device>& device, D3D12_COMMAND_LIST_TYPE type) {
  List created;
  EXPECT_EQ(S_OK, device->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                                 created.allocator.Receive()));
  EXPECT_EQ(S_OK,
            device->CreateCommandList(0, type, created.allocator.get(), nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), created.list.Receive()));
  return created;
}

ComPtr<ID3D12CommandQueue> CreateQueue(const ComPtr<ID3D12Device>& device,
                                       D3D12_COMMAND_LIST_TYPE type) {
  D3D12_COMMAND_QUEUE_DESC desc = {};
  desc.Type = type;
  ComPtr<ID3D12CommandQueue> queue;
  EXPECT_EQ(S_OK, device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()));
  return queue;
}

void Execute(const ComPtr<ID3D12Device>& device, const ComPtr<ID3D12CommandQueue>& queue,
             const ComPtr<ID3D12GraphicsCommandList>& list) {
  EXPECT_EQ(S_OK, list->Close());
  ID3D12CommandList* const lists[] = {list.get()};
  queue->ExecuteCommandLists(1, lists);
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(S_OK,
            device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()));
  ASSERT_EQ(S_OK, queue->Signal(fence.get(), 1));
  const Status waited =
      WaitForFence(device.get(), fence.get(), 1, std::chrono::milliseconds(60000));
  ASSERT_TRUE(waited.ok()) << waited.message();
}

RecordedCalls::RecordedCalls() {
  ObserveLoggingDriver(Record, this);
}
RecordedCalls::~RecordedCalls() {
  ObserveLoggingDriver(nullptr, nullptr);
}

std::vector<Call> RecordedCalls::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(calls_, {});
}

void RecordedCalls::Record(const DriverCall& call, void* user_data) {
  EXPECT_EQ(sizeof(wchar_t), call.wchar_bytes);
  Call copy = {
      call.function, call.object->native, call.handle_type, call.metadata, call.data, call.size, "",
      call.event_id, call.name,           std::nullopt};
  if (call.data != nullptr) copy.bytes.assign(static_cast<const char*>(call.data), call.size);
  if (call.name != nullptr) copy.name = static_cast<const wchar_t*>(call.name);
  RecordedCalls* const self = static_cast<RecordedCalls*>(user_data);
  std::lock_guard lock(self->mutex_);
  self->calls_.push_back(std::move(copy));
}

BlockWriter& ProcessBlock() {
  return **BlockWriter::OfThisProcess(kDefaultBlockBytes);
}

EventIdState ResolveInBlock(uint64_t event_id, KeptMarker* marker) {
  const BlockWriter& block = ProcessBlock();
  const Result<BlockReader> reader = BlockReader::Open(std::span(block.data(), block.size_bytes()));
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  KeptMarker unused;
  return MarkerArenaReader(*reader).Resolve(event_id, 4 << 20,
                                            marker == nullptr ? &unused : marker);
}

std::string PayloadText(const KeptMarker& marker) {
  return std::string(reinterpret_cast<const char*>(marker.payload.data()), marker.payload.size());
}

}  // namespace cairn::annotations_test
