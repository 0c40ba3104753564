// SPDX-License-Identifier: Apache-2.0
//
// Heaps over the program's memory, and what it opened from handles: a replay has objects of its own in their place.
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

TEST_F(PlayerImportsTest, HeapThatCpuAndGpuWriteIsNoCorruption) {
  ImportFacts facts = FactsOfHeap();
  facts.heap_type = 5;  // D3D12_HEAP_TYPE_GPU_UPLOAD
  facts.cpu_page_property = D3D12_CPU_PAGE_PROPERTY_UNKNOWN;
  facts.memory_pool = D3D12_MEMORY_POOL_UNKNOWN;
  Open(facts);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  for (const std::string& what : LeftOut()) EXPECT_THAT(what, HasSubstr("this device refuses"));
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

// ---- Handles ----

class PlayerHandlesTest : public PlayerImportsTest {
 protected:
  // The device `script_.device` opens an object from a handle.
  uint64_t OpenHandle(Chain chain, uint64_t original, uint64_t value = 0) {
    const Method method = Method::ID3D12Device_OpenSharedHandle;
    void* place = nullptr;
    const uint64_t call =
        script_.Call(method, script_.device, nullptr, __uuidof(ID3D12Fence), &place);
    ImportFacts import = {};
    import.source = static_cast<uint32_t>(ImportSource::kHandle);
    import.original = original;
    import.value = value;
    const uint64_t opened = kHeap;
    ObjectBody body = {script_.device, call, static_cast<uint32_t>(chain), kImportFacts};
    std::vector<std::byte> facts = BodyBytes(import);
    if (chain == Chain::kID3D12Resource) {
      body.facts = kResourceFacts;
      ResourceFacts resource = {};
      resource.size_bytes = kBytes;
      const D3D12_RESOURCE_DESC desc = BufferDesc(kBytes);
      std::memcpy(resource.desc, &desc, sizeof(desc));
      facts = BodyBytes(resource, facts);
    }
    script_.trace.Add(RecordKind::kObject, opened, BodyBytes(body, facts));
    place = ObjectPointer(opened);
    script_.Return(method, call, HRESULT{S_OK}, nullptr, __uuidof(ID3D12Fence), &place);
    return opened;
  }
  void AddDevice(uint64_t number) {
    std::vector<std::byte> bytes = BodyBytes(DeviceBody{0, 0, 4, D3D_FEATURE_LEVEL_11_0});
    bytes.resize(bytes.size() + 3 * sizeof(uint32_t));  // three empty texts
    script_.trace.Add(RecordKind::kDevice, number, bytes);
    script_.trace.Object(number, Chain::kID3D12Device, number);
  }
  // Copies the buffer, which is to hold these bytes.
  void ExpectContents(uint64_t buffer, int value) {
    const uint64_t queue = script_.CreateQueue();
    const uint64_t list = script_.CreateList(script_.CreateAllocator());
    const uint64_t fence = script_.CreateFence();
    const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, kBytes);
    script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
                 uint64_t{0}, ObjectPointer(buffer), uint64_t{0}, kBytes);
    script_.Close(list);
    script_.Execute(queue, list);
    script_.Signal(queue, fence, 1);
    script_.Completed(fence, 1);
    script_.ReadBack(to, 0, Bytes(value));
  }
  void AddContents(uint64_t buffer, int value) {
    const ContentsBody body = {0, 0, 0, 0, kBytes};
    const std::vector<std::byte> bytes = Bytes(value);
    script_.trace.Add(RecordKind::kContents, buffer,
                      BodyBytes(body, BodyBytes(static_cast<uint32_t>(bytes.size()), bytes)));
  }
};

TEST_F(PlayerHandlesTest, FenceThatADeviceSharesWithAnotherIsOneFence) {
  const uint64_t first = script_.device;
  const uint64_t fence = script_.CreateFence();
  const uint64_t first_queue = script_.CreateQueue();
  AddDevice(2000);
  script_.device = 2000;
  const uint64_t opened = OpenHandle(Chain::kID3D12Fence, fence);
  const uint64_t queue = script_.CreateQueue();
  const uint64_t done = script_.CreateFence();
  const Method wait = Method::ID3D12CommandQueue_Wait;
  const uint64_t call = script_.Call(wait, queue, ObjectPointer(opened), uint64_t{3});
  script_.Return(wait, call, HRESULT{S_OK}, ObjectPointer(opened), uint64_t{3});
  script_.Signal(queue, done, 1);
  script_.device = first;
  script_.Signal(first_queue, fence, 3);
  script_.Completed(opened, 3);
  script_.Completed(done, 1);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(PlayerHandlesTest, FenceOfAnotherProcessHasItsValue) {
  const uint64_t opened = OpenHandle(Chain::kID3D12Fence, 0, 6);
  script_.Completed(opened, 6);
  script_.Signal(script_.CreateQueue(), opened, 7);
  script_.Completed(opened, 7);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_THAT(result_.notes,
              ElementsAre(HasSubstr("is one of its own here: what others signal is not seen")));
}

TEST_F(PlayerHandlesTest, BufferOfAnotherProcessHasWhatItHeld) {
  const uint64_t opened = OpenHandle(Chain::kID3D12Resource, 0);
  AddContents(opened, 9);
  ExpectContents(opened, 9);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_EQ(result_.compared_readbacks, 1u);
  EXPECT_THAT(result_.notes,
              ElementsAre(HasSubstr("is one of its own here: what others write is not seen")));
}

// The made-up device gives out the same object, which cannot have two numbers.
TEST_F(PlayerHandlesTest, BufferThatCannotBeSharedHasWhatItHeld) {
  const uint64_t original = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kBytes);
  const uint64_t opened = OpenHandle(Chain::kID3D12Resource, original);
  AddContents(opened, 8);
  ExpectContents(opened, 8);
  Play();
  EXPECT_TRUE(status_.ok()) << status_.message();
  EXPECT_THAT(LeftOut(), IsEmpty());
  EXPECT_EQ(result_.compared_readbacks, 1u);
  EXPECT_EQ(result_.notes.size(), 1u);
}

TEST_F(PlayerHandlesTest, OriginalsThatAreNoneHarmNothing) {
  const uint64_t queue = script_.CreateQueue();
  for (const uint64_t original : {kHeap, uint64_t{77}, queue, script_.device, kForeignObject}) {
    PlayerHandlesTest_OriginalsThatAreNoneHarmNothing_Test other;
    other.script_.CreateQueue();
    const uint64_t opened = other.OpenHandle(Chain::kID3D12Fence, original, 2);
    other.script_.Completed(opened, 2);
    other.Play();
    EXPECT_TRUE(other.status_.ok()) << other.status_.message();
    EXPECT_THAT(other.LeftOut(), IsEmpty());
    EXPECT_EQ(other.result_.notes.size(), 1u);
  }
  // An object that cannot be opened.
  OpenHandle(Chain::kID3D12CommandQueue, 0);
  Play();
  EXPECT_THAT(LeftOut(), ElementsAre(HasSubstr("no replay has what it opens")));
}

// Facts say which device an object is of, and may lie.
TEST_F(PlayerHandlesTest, OriginalsOfDevicesThatAreNoneAreNotShared) {
  const uint64_t device = script_.device;
  const uint64_t queue = script_.CreateQueue();
  for (const uint64_t liar : {queue, uint64_t{77}, uint64_t{0}}) {
    PlayerHandlesTest_OriginalsOfDevicesThatAreNoneAreNotShared_Test other;
    ASSERT_EQ(other.script_.CreateQueue(), queue);
    const Method method = Method::ID3D12Device_CreateFence;
    void* place = nullptr;
    const uint64_t call = other.script_.Call(method, device, uint64_t{0}, D3D12_FENCE_FLAG_NONE,
                                             __uuidof(ID3D12Fence), &place);
    other.script_.trace.Object(500, Chain::kID3D12Fence, liar, call);
    const uint64_t opened = other.OpenHandle(Chain::kID3D12Fence, 500, 2);
    other.script_.Completed(opened, 2);
    other.Play();
    EXPECT_TRUE(other.status_.ok()) << other.status_.message();
    EXPECT_THAT(other.LeftOut(), IsEmpty());
    EXPECT_THAT(other.result_.notes, ElementsAre(HasSubstr("is one of its own here")));
  }
}

}  // namespace
}  // namespace cairn
