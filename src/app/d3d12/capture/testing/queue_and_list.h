// SPDX-License-Identifier: Apache-2.0
//
// For tests: a queue, and a list that can be recorded.
#ifndef CAIRN_APP_D3D12_CAPTURE_TESTING_QUEUE_AND_LIST_H_
#define CAIRN_APP_D3D12_CAPTURE_TESTING_QUEUE_AND_LIST_H_

#include <gtest/gtest.h>

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

inline ComPtr<ID3D12CommandAllocator> MakeAllocator(ID3D12Device* device) {
  ComPtr<ID3D12CommandAllocator> allocator;
  EXPECT_EQ(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                           __uuidof(ID3D12CommandAllocator), allocator.Receive()),
            S_OK);
  return allocator;
}

struct QueueAndList {
  explicit QueueAndList(ID3D12Device* device) : allocator(MakeAllocator(device)) {
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    EXPECT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
              S_OK);
    EXPECT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                        __uuidof(ID3D12GraphicsCommandList), list.Receive()),
              S_OK);
  }

  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
};

inline ComPtr<ID3D12Fence> MakeFence(ID3D12Device* device,
                                     D3D12_FENCE_FLAGS flags = D3D12_FENCE_FLAG_NONE) {
  ComPtr<ID3D12Fence> fence;
  EXPECT_EQ(device->CreateFence(0, flags, __uuidof(ID3D12Fence), fence.Receive()), S_OK);
  return fence;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_TESTING_QUEUE_AND_LIST_H_
