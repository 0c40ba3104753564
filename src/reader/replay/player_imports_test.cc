// SPDX-License-Identifier: Apache-2.0
//
// Heaps over the program's memory: a replay has heaps of its own in their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "d3d12abi/testing/fake_device.h"
#include "format/calls/import_facts.h"
#include "reader/replay/player.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kHeapBytes = 65536;
constexpr uint64_t kBytes = 256;

std::vector<std::byte> Bytes(int value) {
  return std::vector<std::byte>(kBytes, static_cast<std::byte>(value));
}

ImportFacts FactsOfHeap() {
  ImportFacts facts = {};
  facts.source = static_cast<uint32_t>(ImportSource::kAddress);
  facts.place = 0x7f0000001000;
  facts.heap_type = D3D12_HEAP_TYPE_CUSTOM;
  facts.cpu_page_property = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
  facts.memory_pool = D3D12_MEMORY_POOL_L0;
  facts.heap_flags = D3D12_HEAP_FLAG_SHARED | D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER |
                     D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  facts.value = kHeapBytes;
  return facts;
}

class PlayerImportsTest : public testing::Test {
 protected:
  // Opens a heap with these facts. `calls` objects come of the one call.
  uint64_t Open(const ImportFacts& facts,
                Method method = Method::ID3D12Device3_OpenExistingHeapFromAddress,
                int objects = 1) {
    const void* const memory = this;
    void* place = nullptr;
    const uint64_t call =
        script_.Call(method, script_.device, memory, __uuidof(ID3D12Heap), &place);
    for (int i = 0; i < objects; ++i) {
      const ObjectBody body{script_.device, call, static_cast<uint32_t>(Chain::kID3D12Heap),
                            kImportFacts};
      script_.trace.Add(RecordKind::kObject, kHeap + static_cast<uint64_t>(i),
                        BodyBytes(body, BodyBytes(facts)));
    }
    place = ObjectPointer(kHeap);
    script_.Return(method, call, HRESULT{S_OK}, memory, __uuidof(ID3D12Heap), &place);
    return call;
  }
  // Places a buffer at the end of the heap, and writes and reads it twice.
  void UseHeap() {
    D3D12_RESOURCE_DESC desc = BufferDesc(kBytes);
    desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER;
    const uint64_t placed = script_.Create(
        Method::ID3D12Device_CreatePlacedResource, Chain::kID3D12Resource, ObjectPointer(kHeap),
        kHeapBytes - kBytes, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource));
    const uint64_t queue = script_.CreateQueue();
    const uint64_t list = script_.CreateList(script_.CreateAllocator());
    const uint64_t fence = script_.CreateFence();
    const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, kBytes);
    script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
                 uint64_t{0}, ObjectPointer(placed), uint64_t{0}, kBytes);
    script_.Close(list);
    for (const int value : {1, 2}) {
      script_.Write(placed, 0, Bytes(value));
      script_.Execute(queue, list);
      script_.Signal(queue, fence, static_cast<uint64_t>(value));
      script_.Completed(fence, static_cast<uint64_t>(value));
      script_.ReadBack(to, 0, Bytes(value));
    }
  }
  void Play(bool end_at_refusal = false) {
    EXPECT_TRUE(script_.ok) << "arguments that do not fit";
    PlayerOptions options;
    options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
    options.validate = validate_;
    options.wait_timeout_ns = 50'000'000;
    options.end_at_refusal = end_at_refusal;
    TraceReader trace = script_.trace.Open();
    Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
    ASSERT_TRUE(player.ok()) << player.status().message();
    status_ = (*player)->Run();
    result_ = (*player)->result();
    failure_ = (*player)->failure();
  }
  std::vector<std::string> LeftOut() const {
    std::vector<std::string> what;
    for (const auto& left_out : result_.left_out) what.push_back(left_out.what);
    return what;
  }

  static constexpr uint64_t kHeap = 1000;
  TestScript script_;
  bool validate_ = true;
  Status status_;
  PlayerResult result_;
  PlayerFailure failure_ = PlayerFailure::kNone;
};

TEST_F(PlayerImportsTest, HeapOverTheProgramsMemoryPlaysWithWhatItWrote) {
  Open(FactsOfHeap());
  UseHeap();
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_EQ(result_.compared_readbacks, 2u);
}

TEST_F(PlayerImportsTest, HeapOverAFileMappingToo) {
  ImportFacts facts = FactsOfHeap();
  facts.source = static_cast<uint32_t>(ImportSource::kFileMapping);
  Open(facts, Method::ID3D12Device3_OpenExistingHeapFromFileMapping);
  UseHeap();
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_EQ(result_.compared_readbacks, 2u);
}

TEST_F(PlayerImportsTest, HeapThatThisDeviceRefuses) {
  ImportFacts facts = FactsOfHeap();
  facts.value = uint64_t{65} << 20;
  Open(facts);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(),
              ElementsAre(HasSubstr("OpenExistingHeapFromAddress: this device refuses a heap of "
                                    "68157440 bytes in its place with 0x8007000E")));
  Play(/*end_at_refusal=*/true);
  EXPECT_EQ(failure_, PlayerFailure::kUnclear) << "there was no memory";
}

TEST_F(PlayerImportsTest, FactsThatMeanNothingReachNoDevice) {
  const auto left_out = [](void (*change)(ImportFacts*)) {
    PlayerImportsTest_FactsThatMeanNothingReachNoDevice_Test other;
    ImportFacts facts = FactsOfHeap();
    change(&facts);
    other.Open(facts);
    other.UseHeap();
    other.validate_ = false;  // nothing can be the same
    other.Play();
    EXPECT_TRUE(other.status_.ok()) << other.status_.message();
    return other.LeftOut().empty() ? std::string() : other.LeftOut().front();
  };
  for (void (*const change)(ImportFacts*) :
       {+[](ImportFacts* facts) { facts->heap_type = 77; },
        +[](ImportFacts* facts) { facts->heap_type = 0; },
        +[](ImportFacts* facts) { facts->cpu_page_property = 4; },
        +[](ImportFacts* facts) { facts->memory_pool = 0x80000000; },
        +[](ImportFacts* facts) { facts->memory_pool = 0; },
        +[](ImportFacts* facts) { facts->heap_type = D3D12_HEAP_TYPE_UPLOAD; },
        +[](ImportFacts* facts) { facts->value = 0; }}) {
    EXPECT_THAT(left_out(change), HasSubstr("a heap of "));
  }
  EXPECT_THAT(left_out([](ImportFacts* facts) { facts->value = ~uint64_t{0}; }),
              HasSubstr("this device refuses"));
}

TEST_F(PlayerImportsTest, OneCallOpensOneHeap) {
  const uint64_t call =
      Open(FactsOfHeap(), Method::ID3D12Device3_OpenExistingHeapFromAddress, /*objects=*/2);
  UseHeap();
  Play();
  EXPECT_THAT(LeftOut(),
              ElementsAre(HasSubstr("call " + std::to_string(call) + " made an object already")));
  EXPECT_EQ(result_.compared_readbacks, 2u);
}

TEST_F(PlayerImportsTest, FactsThatAreCutOff) {
  const Method method = Method::ID3D12Device3_OpenExistingHeapFromAddress;
  const void* const memory = this;
  void* place = nullptr;
  const uint64_t call = script_.Call(method, script_.device, memory, __uuidof(ID3D12Heap), &place);
  std::vector<std::byte> body = BodyBytes(
      ObjectBody{script_.device, call, static_cast<uint32_t>(Chain::kID3D12Heap), kImportFacts},
      BodyBytes(FactsOfHeap()));
  body.pop_back();
  script_.trace.Add(RecordKind::kObject, kHeap, body);
  UseHeap();
  validate_ = false;
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_FALSE(LeftOut().empty());
}

}  // namespace
}  // namespace cairn
