// SPDX-License-Identifier: Apache-2.0
//
// Placed resources on a device of our own that needs more memory for them than the one that was recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/testing/fake_names.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBlock = 65536;
constexpr char kRecorded[] = "Recorded";
constexpr char kOneNote[] =
    "this device is another one than the recorded one, and has memory of the replay's own for 1 "
    "placed resource";

class PlayerPlacedTest : public testing::Test {
 protected:
  PlayerPlacedTest() {
    queue_ = script_.CreateQueue();
    fence_ = script_.CreateFence();
    list_ = script_.CreateList();
    from_ = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, kBlock);
    to_ = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, kBlock);
  }
  void TearDown() override { SetFakeSizes(0, kBlock); }

  uint64_t CreateHeap(uint64_t size_bytes, D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT,
                      D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE) {
    D3D12_HEAP_DESC desc = {};
    desc.Flags = flags;
    desc.SizeInBytes = size_bytes;
    desc.Properties.Type = type;
    return script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc,
                          __uuidof(ID3D12Heap));
  }
  uint64_t Place(uint64_t heap, uint64_t offset, uint64_t size_bytes = kBlock) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes);
    created_.push_back(script_.Create(
        Method::ID3D12Device_CreatePlacedResource, Chain::kID3D12Resource, ObjectPointer(heap),
        offset, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource)));
    return created_.back();
  }
  void Ask(D3D12_RESOURCE_ALLOCATION_INFO told) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(kBlock);
    const Method method = Method::ID3D12Device_GetResourceAllocationInfo;
    const uint64_t call = script_.Call(method, script_.device, 0u, 1u, &desc);
    script_.Return(method, call, told, 0u, 1u, &desc);
  }
  void CopyWord(uint64_t to, uint64_t to_offset, uint64_t from, uint64_t from_offset) {
    script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list_, ObjectPointer(to),
                 to_offset, ObjectPointer(from), from_offset, uint64_t{4});
  }
  // The machine has that adapter alone. The program writes into all that were placed, in their order, and finds `found` in them then.
  void Play(const std::vector<uint8_t>& found, PlayerOptions options = {},
            std::string adapter = "Another") {
    options.list_adapters = [adapter] {
      return std::vector<Adapter>{{adapter, 1, 0x1234, adapter == kRecorded ? 0x5678u : 0x5679u}};
    };
    options.adapter = "0";
    for (size_t i = 0; i < created_.size(); ++i) {
      const std::vector<std::byte> word(4, static_cast<std::byte>(i + 1));
      script_.Write(from_, 4 * i, word);
      CopyWord(created_[i], 0, from_, 4 * i);
    }
    D3D12_RESOURCE_BARRIER barrier = {};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
    barrier.Aliasing.pResourceAfter = static_cast<ID3D12Resource*>(ObjectPointer(created_[0]));
    script_.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list_, 1u, &barrier);
    for (size_t i = 0; i < created_.size(); ++i) CopyWord(to_, 4 * i, created_[i], 0);
    script_.Close(list_);
    script_.Execute(queue_, list_);
    script_.Signal(queue_, fence_, 1);
    script_.Completed(fence_, 1);
    for (size_t i = 0; i < found.size(); ++i) {
      script_.ReadBack(to_, 4 * i, std::vector<std::byte>(4, std::byte{found[i]}));
    }
    options.validate = true;
    const int objects = FakeObjectCount();
    played_ = cairn::Play(&script_, std::move(options));
    EXPECT_EQ(FakeObjectCount(), objects);
  }
  // A resource whose creation had that result when it was recorded. Returns the call.
  uint64_t PlaceAs(uint64_t heap, const D3D12_RESOURCE_DESC& desc, HRESULT recorded) {
    const Method method = Method::ID3D12Device_CreatePlacedResource;
    void* none = nullptr;
    const uint64_t call =
        script_.Call(method, script_.device, ObjectPointer(heap), uint64_t{0}, &desc,
                     D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), &none);
    script_.Return(method, call, recorded, ObjectPointer(heap), uint64_t{0}, &desc,
                   D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), &none);
    return call;
  }
  void PlayOnAnother(PlayerOptions options) {
    options.list_adapters = [] { return std::vector<Adapter>{{"Another", 1, 0x1234, 0x5679}}; };
    options.adapter = "0";
    played_ = cairn::Play(&script_, std::move(options));
  }
  // A search ends at the call, without an answer.
  void ExpectUnclear(uint64_t call, const char* why) {
    PlayerOptions options;
    options.end_at_refusal = true;
    PlayOnAnother(std::move(options));
    EXPECT_EQ(played_.failure, PlayerFailure::kUnclear);
    EXPECT_EQ(played_.failed_call, call);
    EXPECT_THAT(played_.status.message(), HasSubstr(why));
  }
  void ExpectSame(size_t readbacks) {
    EXPECT_TRUE(played_.status.ok()) << played_.status.message();
    EXPECT_EQ(played_.result.skipped, 0u);
    EXPECT_EQ(played_.result.compared_readbacks, readbacks);
  }

  HostileScript script_{kRecorded};
  uint64_t queue_ = 0, fence_ = 0, list_ = 0, from_ = 0, to_ = 0;
  std::vector<uint64_t> created_;
  Played played_;
};

TEST_F(PlayerPlacedTest, WhatFitsStaysAndSharesMemory) {
  Ask({kBlock, kBlock});
  const uint64_t heap = CreateHeap(2 * kBlock);
  Place(heap, 0);
  Place(heap, kBlock);
  Place(heap, 0);
  Play({3, 2, 3});
  ExpectSame(3);
  EXPECT_THAT(played_.result.notes, IsEmpty());
}

TEST_F(PlayerPlacedTest, WhatDoesNotFitTheHeapHasItsOwn) {
  const uint64_t heap = CreateHeap(2 * kBlock);
  Place(heap, 0);
  Place(heap, kBlock);
  SetFakeSizes(4096, kBlock);
  Play({1, 2});
  ExpectSame(2);
  EXPECT_THAT(played_.result.notes, ElementsAre(kOneNote));
}

TEST_F(PlayerPlacedTest, WhatNeedsAnotherAlignmentHasItsOwn) {
  const uint64_t heap = CreateHeap(4 * kBlock);
  Place(heap, 0);
  Place(heap, kBlock);
  SetFakeSizes(0, 2 * kBlock);
  Play({1, 2});
  ExpectSame(2);
  EXPECT_THAT(played_.result.notes, ElementsAre(kOneNote));
}

// Those that shared memory share it here.
TEST_F(PlayerPlacedTest, WhatMeetsItsNeighbourHasItsOwn) {
  Ask({kBlock, kBlock});
  const uint64_t heap = CreateHeap(4 * kBlock);
  Place(heap, 0);
  Place(heap, kBlock);
  Place(heap, 0);
  SetFakeSizes(4096, kBlock);
  Play({3, 2, 3});
  ExpectSame(3);
  EXPECT_EQ(played_.result.moved.resources, 1u);
  EXPECT_THAT(played_.result.notes, ElementsAre(kOneNote));
}

TEST_F(PlayerPlacedTest, NothingMovesOnTheRecordedDevice) {
  Ask({kBlock, kBlock});
  const uint64_t heap = CreateHeap(4 * kBlock);
  Place(heap, 0);
  Place(heap, kBlock);
  Place(heap, 3 * kBlock);
  SetFakeSizes(4096, kBlock);
  const int made = FakeHeapsMade();
  Play({}, {}, kRecorded);
  EXPECT_EQ(FakeHeapsMade() - made, 1);
  ASSERT_FALSE(played_.result.left_out.empty());
  EXPECT_THAT(played_.result.left_out[0].what, HasSubstr("this device refuses it with 0x80070057"));
  EXPECT_EQ(played_.result.moved.resources, 0u);
  EXPECT_THAT(played_.result.notes, IsEmpty());
}

// The program makes its own heap resident, and no other.
TEST_F(PlayerPlacedTest, OwnHeapsAreResident) {
  const uint64_t heap =
      CreateHeap(2 * kBlock, D3D12_HEAP_TYPE_DEFAULT,
                 D3D12_HEAP_FLAG_CREATE_NOT_RESIDENT | D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS);
  Place(heap, kBlock);
  SetFakeSizes(4096, kBlock);
  Play({1});
  ExpectSame(1);
  EXPECT_EQ(LastFakeHeapFlags(), uint32_t{D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS});
}

// Memory that the CPU writes begins as zeros: the made-up device's does not.
TEST_F(PlayerPlacedTest, UploadMemoryBeginsAsZeros) {
  const uint64_t heap = CreateHeap(2 * kBlock, D3D12_HEAP_TYPE_UPLOAD);
  const uint64_t placed = Place(heap, kBlock);
  SetFakeSizes(0, 2 * kBlock);
  CopyWord(to_, 4, placed, 128);
  Play({1, 0});
  ExpectSame(2);
  EXPECT_THAT(played_.result.notes, ElementsAre(kOneNote));
}

TEST_F(PlayerPlacedTest, ResourcesEndWithTheirHeaps) {
  const uint64_t heap = CreateHeap(kBlock);
  SetFakeSizes(4096, kBlock);
  for (int i = 0; i < 300; ++i) {
    script_.trace.Add(RecordKind::kObjectEnd, Place(heap, 0), {});
    created_.clear();
    // The playback gives ended objects back by the thousand.
    for (int k = 0; k < 20; ++k) {
      script_.trace.Add(RecordKind::kObjectEnd, script_.CreateAllocator(), {});
    }
  }
  Place(heap, 0);
  Play({1});
  ExpectSame(1);  // made-up devices have 16 MiB in all
}

TEST_F(PlayerPlacedTest, MemoryThatIsNotThereIsSaid) {
  const uint64_t heap = CreateHeap(kBlock);
  Place(heap, 0);
  SetFakeSizes(uint64_t{17} << 20, kBlock);
  Play({});
  EXPECT_TRUE(played_.status.ok()) << played_.status.message();
  ASSERT_FALSE(played_.result.left_out.empty());
  EXPECT_THAT(played_.result.left_out[0].what,
              HasSubstr("it needs 17891328 bytes, alignment 65536, on this device"));
  EXPECT_THAT(played_.result.notes, IsEmpty());
}

// A search does not take a lack of memory for an answer, nor a call that failed when it was recorded.
TEST_F(PlayerPlacedTest, MemoryThatIsNotThereIsNoRefusal) {
  const uint64_t heap = CreateHeap(kBlock);
  PlaceAs(heap, BufferDesc(kBlock), E_OUTOFMEMORY);
  const uint64_t call = PlaceAs(heap, BufferDesc(kBlock), S_OK);
  SetFakeSizes(uint64_t{17} << 20, kBlock);
  ExpectUnclear(call, "it needs 17891328 bytes");
}

// The device takes the resource nowhere in such a heap, and has no memory for another one.
TEST_F(PlayerPlacedTest, MemoryForWhatWasRefusedIsNoRefusalEither) {
  constexpr uint64_t kMore = uint64_t{9} << 20;
  const uint64_t heap = CreateHeap(kMore);
  const uint64_t call =
      PlaceAs(heap, BufferDesc(kMore, D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER), S_OK);
  ExpectUnclear(call, "0x8007000E");
}

TEST_F(PlayerPlacedTest, AHeapThatIsOfNoUseEndsWithTheCall) {
  const uint64_t heap = CreateHeap(kBlock);
  const int made = FakeHeapsMade();
  const uint64_t call =
      PlaceAs(heap, BufferDesc(kBlock, D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER), E_INVALIDARG);
  const uint64_t next = script_.Call(Method::ID3D12Fence_Signal, fence_, uint64_t{1});
  std::map<uint64_t, int> alive;
  PlayerOptions options;
  options.on_call = [&alive](uint64_t number) { alive[number] = FakeObjectCount(); };
  PlayOnAnother(std::move(options));
  EXPECT_EQ(FakeHeapsMade() - made, 2);
  EXPECT_EQ(alive[call], alive[next]);
}

TEST_F(PlayerPlacedTest, MemoryIsBounded) {
  const uint64_t heap = CreateHeap(kBlock);
  Place(heap, 0);
  SetFakeSizes(uint64_t{2} << 30, kBlock);
  PlayerOptions options;
  options.most_cost_ns = PlayCost::MostNs(1 << 20);
  Play({}, std::move(options));
  EXPECT_THAT(played_.status.message(), HasSubstr("asks for more work than a file of"));
}

}  // namespace
}  // namespace cairn
