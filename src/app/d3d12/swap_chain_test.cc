// SPDX-License-Identifier: Apache-2.0
//
// Swap chains that an implementation makes for a queue, on one of our own: counts, images, and what reaches
// the implementation. Compiled for both calling conventions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/testing/test_recorder.h"
#include "app/d3d12/testing/test_swap_chain.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

class SwapChainTest : public testing::Test {
 protected:
  SwapChainTest() {
    real_device_ = CreateFakeDevice();
    *device_.Receive() = WrapDevice(real_device_, {});
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    device_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive());
    ID3D12CommandQueue* const real_queue = RealObject(queue_.get());
    real_factory_ = std::make_unique<SwapChainFactory>(real_queue, real_device_);
    grown_ = std::make_unique<Grown>(
        real_queue, Chain::kID3D12CommandQueue, [this](const InterfaceInfo& wanted) -> void* {
          const bool is = wanted.chain == Chain::kIDXGIVkSwapChainFactory;
          return is ? real_factory_.get() : nullptr;
        });
    DXGI_SWAP_CHAIN_DESC1 swap_desc = {};
    swap_desc.Width = 64;
    auto factory = queue_.As<IDXGIVkSwapChainFactory>();
    EXPECT_EQ(factory->CreateSwapChain(surfaces(), &swap_desc,
                                       reinterpret_cast<IDXGIVkSwapChain**>(swap_chain_.Receive())),
              S_OK);
    real_ = real_factory_->made[0].get();
  }
  ~SwapChainTest() override {
    swap_chain_ = {};
    queue_ = {};
    device_ = {};
    grown_ = nullptr;
    EXPECT_EQ(real_->references, 0u);
    EXPECT_EQ(FakeObjectCount(), 0) << "the layer gave everything back";
    EXPECT_EQ(Wrappers().size(), 0u);
  }

  // The program's own object; it is not called here.
  IDXGIVkSurfaceFactory* surfaces() {
    return static_cast<IDXGIVkSurfaceFactory*>(surfaces_.object());
  }
  ComPtr<ID3D12Resource> Image(UINT index) {
    ComPtr<ID3D12Resource> image;
    EXPECT_EQ(swap_chain_->GetImage(index, __uuidof(ID3D12Resource), image.Receive()), S_OK);
    return image;
  }

  Recorder surfaces_;
  ID3D12Device* real_device_ = nullptr;
  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  std::unique_ptr<SwapChainFactory> real_factory_;
  std::unique_ptr<Grown> grown_;
  ComPtr<IDXGIVkSwapChain> swap_chain_;
  SwapChain* real_ = nullptr;
};

TEST_F(SwapChainTest, HasAWrapperAndCountsWithItsQueue) {
  EXPECT_EQ(RealObject(static_cast<IUnknown*>(swap_chain_.get())), real_);
  EXPECT_EQ(real_factory_->surfaces_seen, surfaces()) << "the program's own object";
  EXPECT_EQ(swap_chain_.As<IDXGIVkSwapChain2>().get(), swap_chain_.get());
  EXPECT_EQ(CountOf(swap_chain_.get()), 1u);
  EXPECT_EQ(CountOf(queue_.get()), 2u) << "the swap chain's";
  EXPECT_EQ(CountOf(device_.get()), 2u) << "the queue's";
  // The swap chain alone keeps the queue and the device.
  ComPtr<ID3D12Device> device = device_;
  queue_ = {};
  device_ = {};
  EXPECT_EQ(CountOf(device.get()), 2u);
  device = {};
  ASSERT_EQ(swap_chain_->GetDevice(__uuidof(ID3D12Device), device.Receive()), S_OK);
  EXPECT_EQ(RealObject(device.get()), real_device_);
  EXPECT_NE(device.get(), real_device_);
  device = {};
  EXPECT_EQ(swap_chain_.Detach()->Release(), 0u);
}

TEST_F(SwapChainTest, WhatTheRealOneRefusesOrLeavesAloneStaysSo) {
  const auto factory = queue_.As<IDXGIVkSwapChainFactory>();
  const DXGI_SWAP_CHAIN_DESC1 empty = {};
  auto* const untouched = reinterpret_cast<IDXGIVkSwapChain*>(0x10);
  IDXGIVkSwapChain* made = untouched;
  EXPECT_EQ(factory->CreateSwapChain(surfaces(), &empty, &made), E_INVALIDARG);
  EXPECT_EQ(made, untouched);
  EXPECT_EQ(factory->CreateSwapChain(surfaces(), nullptr, &made), S_OK);
  EXPECT_EQ(made, untouched);
  EXPECT_EQ(factory->CreateSwapChain(surfaces(), nullptr, nullptr), S_OK);
  void* image = untouched;
  EXPECT_EQ(swap_chain_->GetImage(7, __uuidof(ID3D12Resource), &image), E_INVALIDARG);
  EXPECT_EQ(image, untouched);
  EXPECT_EQ(swap_chain_->GetImage(0, __uuidof(ID3D12Resource), nullptr), E_POINTER);
  EXPECT_EQ(swap_chain_->GetDevice(__uuidof(ID3D12Device), nullptr), E_POINTER);
  EXPECT_EQ(swap_chain_->GetImage(0, __uuidof(ID3D12Fence), &image), E_NOINTERFACE);
  void* adapter = nullptr;
  EXPECT_EQ(swap_chain_->GetAdapter(__uuidof(IUnknown), &adapter), S_OK);
  EXPECT_EQ(adapter, real_->adapter());
}

TEST_F(SwapChainTest, AnImageKeepsItsWrapper) {
  ComPtr<ID3D12Resource> image = Image(0);
  EXPECT_EQ(RealObject(image.get()), real_->images[0].get());
  EXPECT_NE(image.get(), real_->images[0].get());
  EXPECT_NE(Image(1).get(), image.get());
  EXPECT_EQ(CountOf(image.get()), 1u);
  EXPECT_EQ(CountOf(device_.get()), 3u);
  image->SetName(L"back buffer");
  const void* const first = image.get();
  const uint64_t number = AsWrapper(image.get())->capture_number();
  // Without a reference of the program it lives on, and counts nowhere.
  EXPECT_EQ(image.Detach()->Release(), 0u);
  EXPECT_EQ(CountOf(device_.get()), 2u);
  image = Image(0);
  EXPECT_EQ(image.get(), first);
  EXPECT_EQ(CountOf(image.get()), 1u);
  EXPECT_EQ(CountOf(device_.get()), 3u);
  EXPECT_EQ(AsWrapper(image.get())->capture_number(), number);
  EXPECT_EQ(AsWrapper(image.get())->Name(), "back buffer");
}

TEST_F(SwapChainTest, NewImagesTakeThePlaceOfOldOnes) {
  ComPtr<ID3D12Resource> old = Image(0);
  DXGI_SWAP_CHAIN_DESC1 desc = {};
  IUnknown* const queues[] = {queue_.get(), queue_.get()};
  // The number of queues must be the number of images.
  EXPECT_EQ(swap_chain_->ChangeProperties(&desc, nullptr, queues), E_INVALIDARG);
  IUnknown* const real_queue = RealObject(static_cast<IUnknown*>(queue_.get()));
  EXPECT_THAT(real_->queues_seen, testing::ElementsAre(real_queue, real_queue));
  EXPECT_EQ(Image(0).get(), old.get()) << "nothing changed";
  Image(1);
  desc.Width = 128;
  desc.BufferCount = 2;
  EXPECT_EQ(swap_chain_->ChangeProperties(&desc, nullptr, queues), DXGI_ERROR_INVALID_CALL)
      << "the program has an image";
  EXPECT_EQ(Image(0).get(), old.get());
  EXPECT_EQ(RealObject(Image(1).get()), real_->images[1].get());
  const size_t wrappers = Wrappers().size();
  old = {};
  EXPECT_EQ(Wrappers().size(), wrappers) << "the swap chain has it";
  EXPECT_EQ(swap_chain_->ChangeProperties(&desc, nullptr, queues), S_OK);
  EXPECT_THAT(real_->queues_seen, testing::ElementsAre(real_queue, real_queue));
  EXPECT_EQ(Wrappers().size(), wrappers - 2);
  EXPECT_EQ(RealObject(Image(0).get()), real_->images[0].get());
  // A count that no swap chain has: the array, which may be shorter, is not read.
  desc.BufferCount = 4000000000u;
  EXPECT_EQ(swap_chain_->ChangeProperties(&desc, nullptr, queues), S_OK);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
