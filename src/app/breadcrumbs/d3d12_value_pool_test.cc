// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_value_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "app/breadcrumbs/testing/d3d12_test_gpu.h"

namespace cairn {
namespace {

constexpr size_t kChunksPerBlock = kValueBlockBytes / kValueChunkBytes;

TEST(D3D12ValuePoolTest, ChunksAreDistinctAndGrowByBlocks) {
  const ComPtr<ID3D12Device> device = TestDevice();
  D3D12ValuePool pool(device.get());
  EXPECT_EQ(pool.block_count(), 0u);
  std::set<std::pair<ID3D12Resource*, uint64_t>> places;
  D3D12ValueChunk* chain = nullptr;
  for (size_t i = 0; i < kChunksPerBlock + 1; ++i) {
    D3D12ValueChunk* const chunk = pool.Take();
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(chunk->next, nullptr);
    EXPECT_LE(chunk->offset_bytes, kValueBlockBytes - kValueChunkBytes);
    places.insert({chunk->buffer, chunk->offset_bytes});
    chunk->values[0] = static_cast<uint32_t>(i);
    chunk->values[kValuesPerChunk - 1] = static_cast<uint32_t>(i);
    chunk->next = chain;
    chain = chunk;
  }
  EXPECT_EQ(places.size(), kChunksPerBlock + 1);
  EXPECT_EQ(pool.block_count(), 2u);
  pool.GiveBack(chain);
}

TEST(D3D12ValuePoolTest, ChunksGivenBackAreUsedAgain) {
  const ComPtr<ID3D12Device> device = TestDevice();
  D3D12ValuePool pool(device.get());
  for (int round = 0; round < 1000; ++round) {
    D3D12ValueChunk* const first = pool.Take();
    ASSERT_NE(first, nullptr);
    first->next = pool.Take();
    ASSERT_NE(first->next, nullptr);
    pool.GiveBack(first);
  }
  EXPECT_EQ(pool.block_count(), 1u);
  pool.GiveBack(nullptr);
}

TEST(D3D12ValuePoolTest, WhatWasGivenBackLastIsUsedLast) {
  const ComPtr<ID3D12Device> device = TestDevice();
  D3D12ValuePool pool(device.get());
  D3D12ValueChunk* const late = pool.Take();
  ASSERT_NE(late, nullptr);
  pool.GiveBack(late);
  for (size_t i = 0; i + 1 < kChunksPerBlock; ++i) EXPECT_NE(pool.Take(), late);
  EXPECT_EQ(pool.Take(), late);
  EXPECT_EQ(pool.block_count(), 1u);
}

}  // namespace
}  // namespace cairn
