// SPDX-License-Identifier: Apache-2.0
//
// Waits of the program for events, which nobody sees: the trace says where they had ended at the latest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/capture/testing/queue_and_list.h"
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
  explicit Program(ID3D12Device* device) : device_(device), commands_(device) {
    EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), upload_.Receive(),
                           D3D12_HEAP_TYPE_UPLOAD),
              S_OK);
    void* data = nullptr;
    EXPECT_EQ(upload_->Map(0, nullptr, &data), S_OK);
    memory_ = static_cast<volatile unsigned char*>(data);
  }

  void Run() {
    const ComPtr<ID3D12Fence> fence = NewFence("");
    ID3D12CommandAllocator* const allocator = commands_.allocator.get();
    ID3D12CommandQueue* const queue = commands_.queue.get();
    numbers_[NumberOf(commands_.allocator)] = "";
    // Not there yet, then there before a reset; one record for both values.
    EXPECT_EQ(fence->SetEventOnCompletion(1, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(2, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(7, kEvent), S_OK);
    EXPECT_EQ(allocator->Reset(), S_OK);
    Reach(fence, 3);
    const D3D12_VIEWPORT viewport = {};
    commands_.list->RSSetViewports(1, &viewport);  // recorded by a list: needs no wait
    EXPECT_EQ(allocator->Reset(), S_OK);
    EXPECT_EQ(allocator->Reset(), S_OK);
    // There before the CPU writes: memory is recorded with the submission.
    Reach(fence, 7);
    memory_[5] = 1;
    queue->ExecuteCommandLists(0, nullptr);
    // A signal that is no step back leaves greater values to later ones.
    HoldFakeSignals(true);
    EXPECT_EQ(fence->SetEventOnCompletion(9, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(12, kEvent), S_OK);
    EXPECT_EQ(fence->SetEventOnCompletion(14, kEvent), S_OK);
    EXPECT_EQ(queue->Signal(fence.get(), 10), S_OK);
    EXPECT_EQ(queue->Signal(fence.get(), 13), S_OK);
    // The fence goes back before anybody looked: each value that it may have had.
    EXPECT_EQ(queue->Signal(fence.get(), 8), S_OK);
    HoldFakeSignals(false);
    Reach(fence, 14);
    EXPECT_EQ(allocator->Reset(), S_OK);
    // Without an event the call itself waits.
    EXPECT_EQ(fence->SetEventOnCompletion(20, {}), S_OK);
    Reach(fence, 20);
    EXPECT_EQ(allocator->Reset(), S_OK);
    // The fence ends first.
    EXPECT_EQ(fence->SetEventOnCompletion(30, kEvent), S_OK);
  }
  // Each fence has its value for itself, whichever of them the program waits for.
  void AwaitSeveral() {
    ComPtr<ID3D12Device1> device;
    EXPECT_EQ(device_->QueryInterface(__uuidof(ID3D12Device1), device.Receive()), S_OK);
    const ComPtr<ID3D12Fence> first = NewFence("first ");
    const ComPtr<ID3D12Fence> second = NewFence("second ");
    numbers_[AsWrapper(device_)->capture_number()] = "several ";
    ID3D12Fence* const fences[] = {first.get(), second.get()};
    for (const D3D12_MULTIPLE_FENCE_WAIT_FLAGS flags :
         {D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY}) {
      const bool any = flags == D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY;
      const UINT64 values[] = {any ? 3u : 1u, any ? 4u : 2u};
      EXPECT_EQ(device->SetEventOnMultipleFenceCompletion(fences, values, 2, flags, kEvent), S_OK);
      Reach(second, values[1]);
      EXPECT_EQ(commands_.allocator->Reset(), S_OK);
      Reach(first, values[0]);
      EXPECT_EQ(commands_.allocator->Reset(), S_OK);
    }
    EXPECT_EQ(device->SetEventOnMultipleFenceCompletion(fences, std::array<UINT64, 2>{9, 9}.data(),
                                                        2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, {}),
              S_OK);
  }
  // Fences of a lost device have the greatest value, which ends the waits; the GPU never came there.
  void LoseDevice() {
    constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();
    const ComPtr<ID3D12Fence> given = NewFence("given ");
    EXPECT_EQ(given->SetEventOnCompletion(kLost, kEvent), S_OK);
    EXPECT_EQ(commands_.queue->Signal(given.get(), kLost), S_OK);
    const ComPtr<ID3D12Fence> lost = NewFence("lost ");
    EXPECT_EQ(lost->SetEventOnCompletion(1, kEvent), S_OK);
    EXPECT_EQ(lost->SetEventOnCompletion(2, kEvent), S_OK);
    Reach(lost, 1);
    EXPECT_EQ(commands_.allocator->Reset(), S_OK);
    EXPECT_EQ(lost->SetEventOnCompletion(3, kEvent), S_OK);
    EXPECT_EQ(lost->SetEventOnCompletion(0, kEvent), S_OK);
    Reach(lost, kLost);
    EXPECT_EQ(commands_.allocator->Reset(), S_OK);
  }

  // The records that are about waits, and those that the waits may stand before, with the names of their objects.
  std::vector<std::string> Told(const std::vector<TestRecord>& records) const {
    std::vector<std::string> told;
    for (const TestRecord& record : records) {
      const bool follows = (record.header.flags & kRecordWaitFollowed) != 0;
      const auto method = static_cast<Method>(record.header.method);
      const auto name = numbers_.find(record.header.object);
      const auto tell = [&](const std::string& what) {
        if (name != numbers_.end()) told.push_back(name->second + what);
      };
      switch (record.header.kind) {
        case RecordKind::kFenceReached:
          tell((record.As<FenceReachedBody>().seen != 0 ? "reached " : "unseen ") +
               std::to_string(record.As<FenceReachedBody>().value));
          break;
        case RecordKind::kMemory: told.emplace_back("write"); break;
        case RecordKind::kObjectEnd: tell("end"); break;
        case RecordKind::kCall:
          if (method == Method::ID3D12Fence_SetEventOnCompletion ||
              method == Method::ID3D12Device1_SetEventOnMultipleFenceCompletion) {
            tell(follows ? "event" : "wait");
          }
          if (method == Method::ID3D12CommandAllocator_Reset) tell("reset");
          if (method == Method::ID3D12GraphicsCommandList_RSSetViewports) told.emplace_back("list");
          if (method == Method::ID3D12CommandQueue_Signal) told.emplace_back("signal");
          break;
        default: break;
      }
    }
    return told;
  }

 private:
  template <typename Interface>
  static uint64_t NumberOf(const ComPtr<Interface>& object) {
    return AsWrapper(object.get())->capture_number();
  }
  ComPtr<ID3D12Fence> NewFence(const char* name) {
    ComPtr<ID3D12Fence> fence = MakeFence(device_);
    numbers_[NumberOf(fence)] = name;
    return fence;
  }

  ID3D12Device* const device_;
  const QueueAndList commands_;
  ComPtr<ID3D12Resource> upload_;
  volatile unsigned char* memory_ = nullptr;
  std::map<uint64_t, std::string> numbers_;  // of what is told about
};

// A thread that waits for a fence, and then resets its allocator, again and again.
class Waiter {
 public:
  explicit Waiter(ID3D12Device* device)
      : fence_(MakeFence(device)), allocator_(MakeAllocator(device)) {
    fence_number_ = AsWrapper(fence_.get())->capture_number();
    allocator_number_ = AsWrapper(allocator_.get())->capture_number();
  }
  void Run() {
    for (uint64_t i = 1; i <= kTimes; ++i) {
      EXPECT_EQ(fence_->SetEventOnCompletion(i, kEvent), S_OK);
      Reach(fence_, i);
      EXPECT_EQ(allocator_->Reset(), S_OK);
    }
  }
  // Checks that each wait has ended between its call and what the thread did then, whoever looked.
  void Check(const std::vector<TestRecord>& records) const {
    uint64_t asked = 0, reached = 0, reset = 0;
    for (const TestRecord& record : records) {
      const auto method = static_cast<Method>(record.header.method);
      const bool is_call = record.header.kind == RecordKind::kCall;
      if (record.header.object == fence_number_ && is_call &&
          method == Method::ID3D12Fence_SetEventOnCompletion) {
        EXPECT_EQ(++asked, reset + 1);
      } else if (record.header.kind == RecordKind::kFenceReached &&
                 record.header.object == fence_number_) {
        const auto body = record.As<FenceReachedBody>();
        EXPECT_EQ(body.value, ++reached);
        EXPECT_EQ(body.value, asked);
        EXPECT_EQ(body.seen, 1u);
      } else if (record.header.object == allocator_number_ && is_call) {
        EXPECT_EQ(reached, ++reset);
      }
    }
    EXPECT_EQ(reset, kTimes);
  }

 private:
  static constexpr uint64_t kTimes = 200;

  const ComPtr<ID3D12Fence> fence_;
  const ComPtr<ID3D12CommandAllocator> allocator_;
  uint64_t fence_number_ = 0;
  uint64_t allocator_number_ = 0;
};

// The setting is read once in a process: one test.
TEST(EventWaits, AreRecordedBeforeAllThatTheProgramDoesAfterThem) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(CreateFakeDevice(), {});
  Program program(device.get());
  program.Run();
  program.AwaitSeveral();
  Waiter first(device.get()), second(device.get());
  std::thread other([&] { second.Run(); });
  first.Run();
  other.join();
  program.LoseDevice();
  const std::vector<TestRecord> records = watcher.Finish();
  EXPECT_THAT(program.Told(records),
              ElementsAre("event", "event", "event", "reset", "list", "reached 2", "reset", "reset",
                          "reached 7", "write", "event", "event", "event", "signal", "signal",
                          "unseen 9", "unseen 12", "signal", "reached 14", "reset", "wait", "reset",
                          "event", "unseen 30", "end",
                          // AwaitSeveral
                          "several event", "second reached 2", "reset", "first reached 1", "reset",
                          "several event", "second reached 4", "reset", "first reached 3", "reset",
                          "several wait", "second end", "first end",
                          // LoseDevice
                          "given event", "signal", "given reached 18446744073709551615",
                          "lost event", "lost event", "lost reached 1", "reset", "lost event",
                          "lost event", "lost reached 0", "lost unseen 2", "lost unseen 3", "reset",
                          "lost end", "given end"));
  first.Check(records);
  second.Check(records);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
