// SPDX-License-Identifier: Apache-2.0
//
// Records of a swap chain that an implementation makes for a queue, and of resources that were made
// elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/testing/test_recorder.h"
#include "app/d3d12/testing/test_swap_chain.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

ID3D12Device* maker;

HRESULT STDMETHODCALLTYPE MakeResource(void*, const D3D12_RESOURCE_DESC1* desc, UINT64,
                                       ID3D12Resource** resource) {
  return CreateBuffer(maker, desc->Width, __uuidof(ID3D12Resource),
                      reinterpret_cast<void**>(resource));
}

std::vector<std::string> Unsupported(const std::vector<TestRecord>& records) {
  std::vector<std::string> texts;
  for (const TestRecord& record : records) {
    if (record.header.kind != RecordKind::kNote) continue;
    const auto note = record.As<NoteBody>();
    if (note.kind != static_cast<uint32_t>(NoteKind::kUnsupported)) continue;
    texts.emplace_back(reinterpret_cast<const char*>(record.body.data()) + sizeof(note),
                       note.text_bytes);
  }
  return texts;
}

// The setting is read once in a process: one test.
TEST(SwapChainCapture, ImagesComeFromNoCallAndAPresentEndsAFrame) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ID3D12Device* const real_device = CreateFakeDevice();
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(real_device, {});
  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  ASSERT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()), S_OK);
  SwapChainFactory factory(RealObject(queue.get()), real_device);
  auto grown = std::make_unique<Grown>(
      RealObject(queue.get()), Chain::kID3D12CommandQueue, [&](const InterfaceInfo& wanted) {
        return wanted.chain == Chain::kIDXGIVkSwapChainFactory ? &factory : nullptr;
      });
  Recorder extension;
  extension.Set(Method::ID3D12DeviceExt1_CreateResourceFromBorrowedHandle, &MakeResource);
  Recorder interop;
  maker = real_device;
  auto grown_device = std::make_unique<Grown>(
      real_device, Chain::kID3D12Device, [&](const InterfaceInfo& wanted) -> void* {
        if (wanted.chain == Chain::kID3D12DeviceExt) return extension.object();
        return wanted.chain == Chain::kID3D12DXVKInteropDevice ? interop.object() : nullptr;
      });
  uint64_t image_number = 0;
  uint64_t borrowed_number = 0;
  {
    D3D12_RESOURCE_DESC1 buffer_desc = {};
    buffer_desc.Width = 256;
    ComPtr<ID3D12Resource> borrowed;
    ASSERT_EQ(device.As<ID3D12DeviceExt1>()->CreateResourceFromBorrowedHandle(
                  &buffer_desc, 1, reinterpret_cast<ID3D12Resource**>(borrowed.Receive())),
              S_OK);
    borrowed_number = AsWrapper(borrowed.get())->capture_number();
    // A call that fails adds no note: nothing was shared.
    HANDLE handle = nullptr;
    EXPECT_TRUE(FAILED(device->CreateSharedHandle(queue.get(), nullptr, 0, L"Shared", &handle)));
    const auto locks = device.As<ID3D12DXVKInteropDevice>();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(locks->LockCommandQueue(queue.get()), S_OK);
      EXPECT_EQ(locks->UnlockCommandQueue(queue.get()), S_OK);
    }
    ComPtr<IDXGIVkSwapChain> swap_chain;
    DXGI_SWAP_CHAIN_DESC1 swap_desc = {};
    swap_desc.Width = 64;
    ASSERT_EQ(queue.As<IDXGIVkSwapChainFactory>()->CreateSwapChain(
                  nullptr, &swap_desc, reinterpret_cast<IDXGIVkSwapChain**>(swap_chain.Receive())),
              S_OK);
    ComPtr<ID3D12Resource> image;
    ASSERT_EQ(swap_chain->GetImage(0, __uuidof(ID3D12Resource), image.Receive()), S_OK);
    image_number = AsWrapper(image.get())->capture_number();
    EXPECT_EQ(swap_chain->Present(1, 1, nullptr), S_OK);  // a test: nothing is shown
    EXPECT_EQ(swap_chain->Present(1, 0, nullptr), S_OK);
  }
  queue = {};
  device = {};
  grown = nullptr;
  grown_device = nullptr;

  size_t images = 0;
  size_t frames = 0;
  size_t presents = 0;
  const std::vector<TestRecord> records = watcher.Finish();
  for (const TestRecord& record : records) {
    if (record.header.kind == RecordKind::kFrame) ++frames;
    if (record.header.kind == RecordKind::kCall &&
        static_cast<Method>(record.header.method) == Method::IDXGIVkSwapChain_Present) {
      ++presents;
    }
    const bool is_borrowed = record.header.object == borrowed_number;
    if (record.header.kind != RecordKind::kObject) continue;
    if (record.header.object != image_number && !is_borrowed) continue;
    ++images;
    EXPECT_EQ(record.As<ObjectBody>().creator, 0u);
    const auto facts = record.As<ResourceFacts>(sizeof(ObjectBody));
    EXPECT_EQ(facts.is_image, 1u);
    D3D12_RESOURCE_DESC noted;
    static_assert(sizeof(noted) == sizeof(facts.desc));
    std::memcpy(&noted, facts.desc, sizeof(noted));
    EXPECT_EQ(noted.Width, is_borrowed ? 256u : 64u);
  }
  EXPECT_EQ(images, 2u);
  EXPECT_EQ(presents, 2u);
  EXPECT_EQ(frames, 1u);
  // Each reason once, however often.
  EXPECT_THAT(Unsupported(records),
              testing::ElementsAre(testing::HasSubstr("Vulkan image or buffer"),
                                   testing::HasSubstr("Vulkan queue")));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
