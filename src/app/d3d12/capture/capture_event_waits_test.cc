// SPDX-License-Identifier: Apache-2.0
//
// Waits of the program for events, which nobody sees: the trace says where they had ended at the latest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12gen/methods.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using testing::ElementsAre;

constexpr uint32_t kBytes = 4096;
HANDLE const kEvent = reinterpret_cast<HANDLE>(uintptr_t{0x40});

// The GPU comes to this value, unseen by the layer.
void Reach(const ComPtr<ID3D12Fence>& fence, uint64_t value) {
  static_cast<ID3D12Fence*>(AsWrapper(fence.get())->real_pointer())->Signal(value);
}

class Program {
 public:
  explicit Program(ID3D12Device* device) : device_(device) {
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    EXPECT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
              S_OK);
    EXPECT_EQ(
        device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                       __uuidof(ID3D12CommandAllocator), allocator_.Receive()),
        S_OK);
    EXPECT_EQ(
        device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator_.get(), nullptr,
                                  __uuidof(ID3D12GraphicsCommandList), list_.Receive()),
        S_OK);
    EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), upload_.Receive(),
                           D3D12_HEAP_TYPE_UPLOAD),
              S_OK);
    void* data = nullptr;
    EXPECT_EQ(upload_->Map(0, nullptr, &data), S_OK);
    memory_ = static_cast<volatile unsigned char*>(data);
  }

  ComPtr<ID3D12Fence> MakeFence() const {
    ComPtr<ID3D12Fence> fence;
    EXPECT_EQ(
        device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
        S_OK);
    return fence;
  }
  void Run() {
    const ComPtr<ID3D12Fence> fence = MakeFence();
    fence_number_ = AsWrapper(fence.get())->capture_number();
    // Not there yet, then there before a reset; one record for both values.
    EXPECT_EQ(fence->SetEventOnCompletion(1, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(2, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(7, kEvent), S_OK);
    EXPECT_EQ(allocator_->Reset(), S_OK);
    Reach(fence, 3);
    const D3D12_VIEWPORT viewport = {};
    list_->RSSetViewports(1, &viewport);  // recorded by a list: needs no wait
    EXPECT_EQ(allocator_->Reset(), S_OK);
    EXPECT_EQ(allocator_->Reset(), S_OK);
    // There before the CPU writes: memory is recorded with the submission.
    Reach(fence, 7);
    memory_[5] = 1;
    queue_->ExecuteCommandLists(0, nullptr);
    // A signal that is no step back leaves greater values to later ones.
    HoldFakeSignals(true);
    EXPECT_EQ(fence->SetEventOnCompletion(9, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(12, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(14, kEvent), S_OK);
    EXPECT_EQ(queue_->Signal(fence.get(), 10), S_OK);
    EXPECT_EQ(queue_->Signal(fence.get(), 13), S_OK);
    // The fence goes back before anybody looked: each value that it may have had.
    EXPECT_EQ(queue_->Signal(fence.get(), 8), S_OK);
    HoldFakeSignals(false);
    Reach(fence, 14);
    EXPECT_EQ(allocator_->Reset(), S_OK);
    // Without an event the call itself waits.
    EXPECT_EQ(fence->SetEventOnCompletion(20, {}), S_OK);
    Reach(fence, 20);
    EXPECT_EQ(allocator_->Reset(), S_OK);
    // The fence ends first.
    EXPECT_EQ(fence->SetEventOnCompletion(30, kEvent), S_OK);
  }

  // The records that are about waits, and those that the waits may stand before.
  std::vector<std::string> Told(const std::vector<TestRecord>& records) const {
    std::vector<std::string> told;
    for (const TestRecord& record : records) {
      const bool follows = (record.header.flags & kRecordWaitFollowed) != 0;
      const auto method = static_cast<Method>(record.header.method);
      switch (record.header.kind) {
        case RecordKind::kFenceReached:
          EXPECT_EQ(record.header.object, fence_number_);
          told.push_back((record.As<FenceReachedBody>().seen != 0 ? "reached " : "unseen ") +
                         std::to_string(record.As<FenceReachedBody>().value));
          break;
        case RecordKind::kMemory: told.emplace_back("write"); break;
        case RecordKind::kObjectEnd:
          if (record.header.object == fence_number_) told.emplace_back("end");
          break;
        case RecordKind::kCall:
          if (method == Method::ID3D12Fence_SetEventOnCompletion) {
            told.emplace_back(follows ? "event" : "wait");
          }
          if (method == Method::ID3D12CommandAllocator_Reset) told.emplace_back("reset");
          if (method == Method::ID3D12GraphicsCommandList_RSSetViewports) told.emplace_back("list");
          if (method == Method::ID3D12CommandQueue_Signal) told.emplace_back("signal");
          break;
        default: break;
      }
    }
    return told;
  }

 private:
  ID3D12Device* const device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12Resource> upload_;
  volatile unsigned char* memory_ = nullptr;
  uint64_t fence_number_ = 0;
};

// The setting is read once in a process: one test.
TEST(EventWaits, AreRecordedBeforeAllThatTheProgramDoesAfterThem) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(CreateFakeDevice(), {});
  Program program(device.get());
  program.Run();
  EXPECT_THAT(program.Told(watcher.Finish()),
              ElementsAre("event", "event", "event", "reset", "list", "reached 2", "reset", "reset",
                          "reached 7", "write", "event", "event", "event", "signal", "signal",
                          "unseen 9", "unseen 12", "signal", "reached 14", "reset", "wait", "reset",
                          "event", "unseen 30", "end"));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
