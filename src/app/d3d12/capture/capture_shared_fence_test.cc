// SPDX-License-Identifier: Apache-2.0
//
// Fences that others could signal: as long as nobody does, what the program reads behind them is hashed as ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/capture/testing/queue_and_list.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/testing/fake_device.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kBytes = 256;

// Copies, and reads what was copied when the fence says that it is there.
class Reader {
 public:
  explicit Reader(ID3D12Device* device) : commands_(device) {
    EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), source_.Receive()), S_OK);
    EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), copy_.Receive(),
                           D3D12_HEAP_TYPE_READBACK),
              S_OK);
    commands_.list->CopyBufferRegion(copy_.get(), 0, source_.get(), 0, kBytes);
    EXPECT_EQ(commands_.list->Close(), S_OK);
  }

  void Read(ID3D12Fence* fence, UINT64 value) {
    ID3D12CommandList* const list = commands_.list.get();
    commands_.queue->ExecuteCommandLists(1, &list);
    EXPECT_EQ(commands_.queue->Signal(fence, value), S_OK);
    EXPECT_GE(fence->GetCompletedValue(), value);
    void* data = nullptr;
    EXPECT_EQ(copy_->Map(0, nullptr, &data), S_OK);
    copy_->Unmap(0, nullptr);
  }

 private:
  const QueueAndList commands_;
  ComPtr<ID3D12Resource> source_, copy_;
};

uint64_t NumberOf(const ComPtr<ID3D12Fence>& fence) {
  return AsWrapper(fence.get())->capture_number();
}

// "FENCE VALUE" of each copy that was hashed, as far as the fence is named; notes.
std::vector<std::string> Told(const std::vector<TestRecord>& records,
                              const std::map<uint64_t, std::string>& names) {
  std::vector<std::string> told;
  for (const TestRecord& record : records) {
    if (record.header.kind == RecordKind::kReadback) {
      const auto body = record.As<ReadbackBody>();
      told.push_back(names.at(body.fence) + " " + std::to_string(body.fence_value));
    } else if (record.header.kind == RecordKind::kNote &&
               record.As<NoteBody>().kind == static_cast<uint32_t>(NoteKind::kUnsupported)) {
      told.emplace_back(reinterpret_cast<const char*>(record.body.data()) + sizeof(NoteBody),
                        record.As<NoteBody>().text_bytes);
    }
  }
  return told;
}

// The setting is read once in a process: one test.
TEST(SharedFenceCapture, AFenceThatNobodyElseSignalsIsOneLikeOthers) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(CreateFakeDevice(), {});
  std::map<uint64_t, std::string> names;
  {
    Reader reader(device.get());
    const ComPtr<ID3D12Fence> shareable = MakeFence(device.get(), D3D12_FENCE_FLAG_SHARED);
    const ComPtr<ID3D12Fence> signalled = MakeFence(device.get(), D3D12_FENCE_FLAG_SHARED);
    const ComPtr<ID3D12Fence> opened = MakeFence(device.get(), D3D12_FENCE_FLAG_SHARED);
    names = {{NumberOf(shareable), "shareable"},
             {NumberOf(signalled), "signalled"},
             {NumberOf(opened), "opened"}};
    HANDLE handle = {};
    ComPtr<ID3D12Fence> none;
    EXPECT_EQ(device->OpenSharedHandle(handle, __uuidof(ID3D12Fence), none.Receive()), E_INVALIDARG)
        << "and nothing is told of it";
    reader.Read(shareable.get(), 1);
    EXPECT_EQ(device->CreateSharedHandle(shareable.get(), nullptr, 0, nullptr, &handle), S_OK);
    reader.Read(shareable.get(), 2);

    EXPECT_EQ(device->CreateSharedHandle(signalled.get(), nullptr, 0, nullptr, &handle), S_OK);
    reader.Read(signalled.get(), 1);
    // Another process signals the fence, unseen by the layer.
    static_cast<ID3D12Fence*>(AsWrapper(signalled.get())->real_pointer())->Signal(7);
    EXPECT_EQ(signalled->GetCompletedValue(), 7u);
    reader.Read(signalled.get(), 8);

    EXPECT_EQ(device->CreateSharedHandle(opened.get(), nullptr, 0, nullptr, &handle), S_OK);
    reader.Read(opened.get(), 1);
    ComPtr<ID3D12Fence> second;
    EXPECT_EQ(device->OpenSharedHandle(handle, __uuidof(ID3D12Fence), second.Receive()), S_OK);
    reader.Read(opened.get(), 2);

    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(CreateBuffer(device.get(), kBytes, __uuidof(ID3D12Resource), buffer.Receive()), S_OK);
    // The first one is never opened; the second may be, by its name.
    const auto* const name = L"Shared";
    EXPECT_EQ(device->CreateSharedHandle(buffer.get(), nullptr, 0, nullptr, &handle), S_OK);
    EXPECT_EQ(device->CreateSharedHandle(buffer.get(), nullptr, 0, name, &handle), S_OK);
  }
  device = {};
  EXPECT_THAT(Told(watcher.Finish(), names),
              ElementsAre("shareable 1", "shareable 2", "signalled 1", "opened 1",
                          HasSubstr("an object was shared under a name")));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
