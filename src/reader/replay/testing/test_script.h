// SPDX-License-Identifier: Apache-2.0
//
// For tests and the fuzzer: traces of small programs, call by call. Objects get numbers from 1 on.
//
//   TestScript script;
//   const uint64_t queue = script.CreateQueue();
//   ...
//   TraceReader trace = script.trace.Open();
#ifndef CAIRN_READER_REPLAY_TESTING_TEST_SCRIPT_H_
#define CAIRN_READER_REPLAY_TESTING_TEST_SCRIPT_H_

#include <xxhash.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/d3d12_api.h"
#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class TestScript {
 public:
  // Begins with a device. `gpu`: the recorded name of its adapter.
  explicit TestScript(std::string_view gpu = {}) { AddDevice(gpu); }

  // Another device, that of what is created from now on.
  void AddDevice(std::string_view gpu) {
    device = next_object_++;
    const DeviceBody body = {0x1234, 0x5678, 4, D3D_FEATURE_LEVEL_11_0};
    std::vector<std::byte> bytes = BodyBytes(
        body, BodyBytes(static_cast<uint32_t>(gpu.size()), std::as_bytes(std::span(gpu))));
    bytes.resize(bytes.size() + 2 * sizeof(uint32_t));  // two empty texts
    trace.Add(RecordKind::kDevice, device, bytes);
    trace.Object(device, Chain::kID3D12Device, device);
  }

  // Adds a call without results, or whose results are not needed.
  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    const CallBuilder::Body body = builder.Call(method, arguments...);
    ok = ok && body.ok && body.blobs.empty();
    return trace.Call(method, object, body.bytes);
  }
  template <typename Returned, typename... Arguments>
  void Return(Method method, uint64_t call, const Returned& result, const Arguments&... arguments) {
    const CallBuilder::Body body = builder.Result(method, call, result, arguments...);
    ok = ok && body.ok && body.blobs.empty();
    trace.Add(RecordKind::kResult, device, body.bytes, static_cast<uint16_t>(method));
  }

  uint64_t CreateQueue() {
    D3D12_COMMAND_QUEUE_DESC desc = {};
    return Create(Method::ID3D12Device_CreateCommandQueue, Chain::kID3D12CommandQueue, &desc,
                  __uuidof(ID3D12CommandQueue));
  }
  uint64_t CreateAllocator() {
    return Create(Method::ID3D12Device_CreateCommandAllocator, Chain::kID3D12CommandAllocator,
                  D3D12_COMMAND_LIST_TYPE_DIRECT, __uuidof(ID3D12CommandAllocator));
  }
  uint64_t CreateList(uint64_t allocator) {
    return Create(Method::ID3D12Device_CreateCommandList, Chain::kID3D12GraphicsCommandList, 0u,
                  D3D12_COMMAND_LIST_TYPE_DIRECT, ObjectPointer(allocator), nullptr,
                  __uuidof(ID3D12GraphicsCommandList));
  }
  uint64_t CreateFence(uint64_t value = 0) {
    return Create(Method::ID3D12Device_CreateFence, Chain::kID3D12Fence, value,
                  D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence));
  }
  uint64_t CreateBuffer(D3D12_HEAP_TYPE type, uint64_t size_bytes) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = type;
    const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes);
    const D3D12_RESOURCE_STATES state =
        type == D3D12_HEAP_TYPE_UPLOAD     ? D3D12_RESOURCE_STATE_GENERIC_READ
        : type == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
                                           : D3D12_RESOURCE_STATE_COMMON;
    const uint64_t object = next_object_++;
    const Method method = Method::ID3D12Device_CreateCommittedResource;
    void* place = nullptr;
    const uint64_t call = Call(method, device, &heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                               __uuidof(ID3D12Resource), &place);
    ResourceFacts facts = {};
    facts.gpu_address = AddressOf(object);
    facts.size_bytes = size_bytes;
    facts.heap_type = type;
    std::memcpy(facts.desc, &desc, sizeof(desc));
    trace.Resource(object, device, call, facts);
    place = ObjectPointer(object);
    Return(method, call, HRESULT{S_OK}, &heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
           __uuidof(ID3D12Resource), &place);
    return object;
  }
  // Returns the address of a buffer in the recorded process.
  static uint64_t AddressOf(uint64_t buffer) { return 0x70'0000'0000 + (buffer << 24); }

  void Close(uint64_t list) {
    const Method method = Method::ID3D12GraphicsCommandList_Close;
    const uint64_t call = Call(method, list);
    Return(method, call, HRESULT{S_OK});
  }
  uint64_t Execute(uint64_t queue, uint64_t list) {
    void* lists[] = {ObjectPointer(list)};
    return Call(Method::ID3D12CommandQueue_ExecuteCommandLists, queue, 1u, lists);
  }
  void Signal(uint64_t queue, uint64_t fence, uint64_t value) {
    const Method method = Method::ID3D12CommandQueue_Signal;
    const uint64_t call = Call(method, queue, ObjectPointer(fence), value);
    Return(method, call, HRESULT{S_OK}, ObjectPointer(fence), value);
  }
  // The same, for the state at the beginning.
  void RestoreSignal(uint64_t queue, uint64_t fence, uint64_t value) {
    const Method method = Method::ID3D12CommandQueue_Signal;
    const CallBuilder::Body body = builder.Call(method, ObjectPointer(fence), value);
    ok = ok && body.ok && body.blobs.empty();
    trace.Add(RecordKind::kCall, queue, body.bytes, static_cast<uint16_t>(method), kRecordRestores);
  }
  // A program that gets an event, and waits for it unseen. `followed`: the trace says where it had waited (Reached).
  uint64_t AskForEvent(uint64_t fence, uint64_t value, bool followed) {
    const Method method = Method::ID3D12Fence_SetEventOnCompletion;
    void* const event = reinterpret_cast<void*>(uintptr_t{77});
    const CallBuilder::Body body = builder.Call(method, value, event);
    ok = ok && body.ok && body.blobs.empty();
    const uint64_t call =
        trace.Add(RecordKind::kCall, fence, body.bytes, static_cast<uint16_t>(method),
                  followed ? kRecordWaitFollowed : uint8_t{0});
    Return(method, call, HRESULT{S_OK}, value, event);
    return call;
  }
  uint64_t Reached(uint64_t fence, uint64_t value) {
    return trace.Add(RecordKind::kFenceReached, fence, BodyBytes(FenceReachedBody{value, 1}));
  }
  void Completed(uint64_t fence, uint64_t value) {
    const Method method = Method::ID3D12Fence_GetCompletedValue;
    const uint64_t call = Call(method, fence);
    Return(method, call, value);
  }
  void Write(uint64_t buffer, uint64_t offset_bytes, std::span<const std::byte> bytes) {
    std::vector<std::byte> body = BodyBytes(MemoryBody{0, 0, offset_bytes},
                                            BodyBytes(static_cast<uint32_t>(bytes.size()), bytes));
    trace.Add(RecordKind::kMemory, buffer, body);
  }
  uint64_t ReadBack(uint64_t buffer, uint64_t offset_bytes, std::span<const std::byte> bytes) {
    ReadbackBody body = {.row_count = 1, .offset_bytes = offset_bytes, .row_bytes = bytes.size()};
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    body.hash_low = hash.low64;
    body.hash_high = hash.high64;
    return trace.Add(RecordKind::kReadback, buffer, BodyBytes(body));
  }

  uint64_t Hash(uint64_t resource, std::span<const std::byte> bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    const ResourceHashBody body = {0, 0, bytes.size(), hash.low64, hash.high64};
    return trace.Add(RecordKind::kResourceHash, resource, BodyBytes(body));
  }

  template <typename... Arguments>
  uint64_t Create(Method method, Chain chain, const Arguments&... arguments) {
    return CreateBy(device, method, chain, arguments...);
  }
  template <typename... Arguments>
  uint64_t CreateBy(uint64_t creator, Method method, Chain chain, const Arguments&... arguments) {
    const uint64_t object = next_object_++;
    void* place = nullptr;
    const uint64_t call = Call(method, creator, arguments..., &place);
    trace.Object(object, chain, device, call);
    place = ObjectPointer(object);
    Return(method, call, HRESULT{S_OK}, arguments..., &place);
    return object;
  }

  TestTrace trace;
  CallBuilder builder;
  uint64_t device = 0;
  bool ok = true;  // all arguments fitted their methods

 private:
  uint64_t next_object_ = 1;
};

// A program that copies what the CPU wrote into one buffer to another one, and reads it there.
struct CopyProgram {
  uint64_t queue, allocator, list, fence, from, to;
  uint64_t execute = 0;   // the call
  uint64_t readback = 0;  // the record
  explicit CopyProgram(TestScript* script, std::span<const std::byte> bytes,
                       std::span<const std::byte> expected) {
    queue = script->CreateQueue();
    allocator = script->CreateAllocator();
    list = script->CreateList(allocator);
    fence = script->CreateFence();
    from = script->CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
    to = script->CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
    script->Write(from, 256, bytes);
    script->Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
                 uint64_t{512}, ObjectPointer(from), uint64_t{256}, uint64_t{bytes.size()});
    script->Close(list);
    execute = script->Execute(queue, list);
    script->Signal(queue, fence, 1);
    script->Completed(fence, 1);
    readback = script->ReadBack(to, 512, expected);
    script->trace.Frame(FrameEndKind::kEnd);
  }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_TESTING_TEST_SCRIPT_H_
