// SPDX-License-Identifier: Apache-2.0
//
// For tests of what a replay refuses: traces with textures, heaps and root signatures, played on the fake
// device.
#ifndef CAIRN_READER_REPLAY_TESTING_PLAYER_HOSTILE_SCRIPT_H_
#define CAIRN_READER_REPLAY_TESTING_PLAYER_HOSTILE_SCRIPT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/testing/fake_device.h"
#include "reader/replay/player.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

inline D3D12_RESOURCE_DESC TextureDesc(uint32_t width, uint32_t height, uint16_t mips = 1,
                                       uint16_t slices = 1,
                                       DXGI_FORMAT format = DXGI_FORMAT_R8G8B8A8_UNORM) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = width;
  desc.Height = height;
  desc.DepthOrArraySize = slices;
  desc.MipLevels = mips;
  desc.Format = format;
  desc.SampleDesc.Count = 1;
  return desc;
}

class HostileScript : public TestScript {
 public:
  using TestScript::TestScript;

  uint64_t CreateTexture(const D3D12_RESOURCE_DESC& desc, bool reserved = false) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_DEFAULT;
    const uint64_t object = next_++;
    void* place = nullptr;
    const uint64_t call =
        reserved ? Call(Method::ID3D12Device_CreateReservedResource, device, &desc,
                        D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), &place)
                 : Call(Method::ID3D12Device_CreateCommittedResource, device, &heap,
                        D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                        __uuidof(ID3D12Resource), &place);
    trace.Resource(object, device, call, ResourceFacts{});
    return object;
  }
  uint64_t CreateList() { return TestScript::CreateList(CreateAllocator()); }
  using TestScript::CreateList;

  // `again`: the number of an object that has ended.
  uint64_t CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE type, uint32_t count, uint64_t again = 0) {
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = type;
    desc.NumDescriptors = count;
    const bool visible = type < D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
    if (visible) desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    const uint64_t object = again != 0 ? again : next_++;
    void* place = nullptr;
    const uint64_t call = Call(Method::ID3D12Device_CreateDescriptorHeap, device, &desc,
                               __uuidof(ID3D12DescriptorHeap), &place);
    DescriptorHeapFacts facts = {};
    facts.cpu_start = Cpu(object, 0).ptr;
    facts.gpu_start = visible ? Gpu(object, 0).ptr : 0;
    facts.type = type;
    facts.count = count;
    facts.increment_bytes = kIncrementBytes;
    trace.DescriptorHeap(object, device, call, facts);
    return object;
  }
  // Return handles as the recorded process saw them.
  static D3D12_CPU_DESCRIPTOR_HANDLE Cpu(uint64_t heap, uint32_t index) {
    return {static_cast<SIZE_T>(heap * 0x100000 + uint64_t{index} * kIncrementBytes)};
  }
  static D3D12_GPU_DESCRIPTOR_HANDLE Gpu(uint64_t heap, uint32_t index) {
    return {heap * 0x10000000 + uint64_t{index} * kIncrementBytes};
  }

  uint64_t CreateQueries(D3D12_QUERY_HEAP_TYPE type, uint32_t count) {
    D3D12_QUERY_HEAP_DESC desc = {};
    desc.Type = type;
    desc.Count = count;
    return Create(Method::ID3D12Device_CreateQueryHeap, Chain::kID3D12QueryHeap, &desc,
                  __uuidof(ID3D12QueryHeap));
  }

  // Words of a root signature, as they are serialized.
  static std::vector<std::byte> Container(std::vector<uint32_t> part) {
    const auto bytes = static_cast<uint32_t>(part.size() * sizeof(uint32_t));
    std::vector<uint32_t> words = {0x43425844,     0, 0,  0,          0,    1,
                                   36 + 8 + bytes, 1, 36, 0x30535452, bytes};
    words.insert(words.end(), part.begin(), part.end());
    const auto* const begin = reinterpret_cast<const std::byte*>(words.data());
    return {begin, begin + words.size() * sizeof(uint32_t)};
  }
  // Version 1.0. Parameters: 0: a table of `descriptors` views, 1: four constants, 2: a constant buffer,
  // 3: a table of one sampler.
  static std::vector<std::byte> RootSignature(uint32_t descriptors = 2) {
    return Container({
        1, 4,           24,  0, 0, 0,  // version, parameters and where they are, samplers, flags
        0, 0,           72,            // a table
        1, 0,           100,           // constants
        2, 0,           112,           // a constant buffer
        0, 0,           120,           // a table
        1, 80,                         // 72: one range, at 80
        0, descriptors, 0,   0, 0,     // 80
        0, 0,           4,             // 100: register, space, how many
        0, 0,                          // 112: register, space
        1, 128,                        // 120: one range, at 128
        3, 1,           0,   0, 0,     // 128
    });
  }
  uint64_t CreateRootSignature(const std::vector<std::byte>& blob, uint64_t* call = nullptr) {
    const uint64_t object = next_++;
    void* place = nullptr;
    const uint64_t made = Call(Method::ID3D12Device_CreateRootSignature, device, 0u,
                               static_cast<const void*>(blob.data()), SIZE_T{blob.size()},
                               __uuidof(ID3D12RootSignature), &place);
    trace.Object(object, Chain::kID3D12RootSignature, device, made);
    if (call != nullptr) *call = made;
    return object;
  }

  static constexpr uint32_t kIncrementBytes = 24;

 private:
  uint64_t next_ = 100;
};

struct Played {
  Status status;
  PlayerFailure failure = PlayerFailure::kNone;
  uint64_t failed_call = 0;
  PlayerResult result;
};

// Plays the script on the fake device, or what options.create_device makes.
inline Played Play(TestScript* script, PlayerOptions options = {}) {
  EXPECT_TRUE(script->ok) << "arguments that do not fit";
  EXPECT_TRUE(script->trace.status().ok()) << script->trace.status().message();
  if (!options.create_device) {
    options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  }
  TraceReader trace = script->trace.Open();
  Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
  Played played;
  if (!player.ok()) {
    ADD_FAILURE() << player.status().message();
    return played;
  }
  played.status = (*player)->Run();
  played.failure = (*player)->failure();
  played.failed_call = (*player)->failed_call();
  played.result = (*player)->result();
  return played;
}

// A harmful call is skipped, and the rest is played: a warning names the first such call or record.
inline void ExpectRefused(TestScript* script, uint64_t number, const std::string& gist) {
  const Played played = Play(script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(
      played.result.left_out,
      testing::Contains(testing::AllOf(testing::Field(&LeftOut::first, number),
                                       testing::Field(&LeftOut::what, testing::HasSubstr(gist)))));
  EXPECT_EQ(FakeObjectCount(), 0);
}

// The call would do nothing, or cannot be made: a warning says so.
inline void ExpectLeftOut(TestScript* script, const std::string& gist) {
  const Played played = Play(script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 1u);
  EXPECT_THAT(played.result.left_out,
              testing::ElementsAre(testing::Field(&LeftOut::what, testing::HasSubstr(gist))));
  EXPECT_EQ(FakeObjectCount(), 0);
}

inline void ExpectPlayed(TestScript* script) {
  const Played played = Play(script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.notes, testing::IsEmpty());
  EXPECT_EQ(played.result.skipped, 0u);
  EXPECT_EQ(FakeObjectCount(), 0);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_PLAYER_HOSTILE_SCRIPT_H_
