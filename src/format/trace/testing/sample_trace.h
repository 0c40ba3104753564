// SPDX-License-Identifier: Apache-2.0
//
// The trace of docs/formats/trace-format.md's example, of the golden files and of the fuzzers' seeds.
#ifndef CAIRN_FORMAT_TRACE_TESTING_SAMPLE_TRACE_H_
#define CAIRN_FORMAT_TRACE_TESTING_SAMPLE_TRACE_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "d3d12gen/interfaces.h"
#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/trace_tables.h"

namespace cairn {

// Returns a table with only the given methods, so that a sample is short and its numbers differ
// from those of this build.
inline TraceTable SampleTable(std::span<const Method> methods, std::span<const Chain> chains) {
  const TraceTable all = MakeTraceTable({});
  TraceTable table;
  table.facts = SampleFacts();
  for (const Method method : methods)
    table.methods.push_back(all.methods[static_cast<size_t>(method)]);
  table.chains.push_back("");
  for (const Chain chain : chains) table.chains.push_back(all.chains[static_cast<size_t>(chain)]);
  return table;
}

inline constexpr Method kSampleMethods[] = {
    Method::ID3D12Object_SetName,
    Method::ID3D12Device_CreateFence,
    Method::ID3D12GraphicsCommandList_ResourceBarrier,
    Method::ID3D12GraphicsCommandList_DrawInstanced,
    Method::ID3D12CommandQueue_ExecuteCommandLists,
    Method::ID3D12CommandQueue_Signal,
    Method::ID3D12Fence_GetCompletedValue,
    Method::ID3D12Device_CreateRootSignature,
    Method::ID3D12Device_CreateGraphicsPipelineState,
    Method::ID3D12Device_CreateCommittedResource,
    Method::ID3D12Device5_CreateStateObject,
    Method::ID3D12GraphicsCommandList_IASetIndexBuffer,
    Method::ID3D12Device_CopyDescriptorsSimple,
};
inline constexpr Chain kSampleChains[] = {
    Chain::kID3D12Device,       Chain::kID3D12CommandQueue, Chain::kID3D12GraphicsCommandList,
    Chain::kID3D12Fence,        Chain::kID3D12Resource,     Chain::kID3D12DescriptorHeap,
    Chain::kID3D12RootSignature};

// Adds records whose methods and chains are numbered by kSampleMethods and kSampleChains.
class SampleTrace : public TestTrace {
 public:
  explicit SampleTrace(Compression compression)
      : TestTrace(compression, SampleTable(kSampleMethods, kSampleChains)) {}

  template <typename... Arguments>
  uint64_t Make(uint16_t method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder(number + 1);
    const CallBuilder::Body body = builder.Call(kSampleMethods[method], arguments...);
    AddBlobs(body);
    return Add(RecordKind::kCall, object, body.bytes, method);
  }
  template <typename Returned, typename... Arguments>
  uint64_t Gave(uint16_t method, uint64_t object, uint64_t call, const Returned& result,
                const Arguments&... arguments) {
    CallBuilder builder(number + 1);
    const CallBuilder::Body body =
        builder.Result(kSampleMethods[method], call, result, arguments...);
    AddBlobs(body);
    return Add(RecordKind::kResult, object, body.bytes, method);
  }
  // `chain`: place in kSampleChains, from 1.
  uint64_t Object(uint64_t object, uint32_t chain, uint64_t device, uint64_t creator = 0) {
    return Add(RecordKind::kObject, object,
               BodyBytes(ObjectBody{device, creator, chain, kNoFacts}));
  }
  const std::vector<std::byte>& Finish(std::span<const TraceThread> threads) {
    TestTrace::Finish(threads);
    return Bytes();
  }
  bool ok() const { return status().ok(); }
};

// A fence is made by one thread, and signalled by another, which the process does not survive: the
// worked example.
inline void FillSmallSample(SampleTrace* trace) {
  trace->Object(1, 1, 1);
  trace->Object(2, 2, 1);
  void* fence = ObjectPointer(3);
  const InterfaceGuid iid = {
      0x0a753dcf, 0xc4d8, 0x4b91, {0xad, 0xf6, 0xbe, 0x5a, 0x60, 0xd9, 0x5a, 0x76}};
  const uint64_t call = trace->Make(1, 1, 0u, 0u, iid, &fence);
  trace->Object(3, 4, 1, call);
  trace->Gave(1, 1, call, 0, 0u, 0u, iid, &fence);
  FrameBody frame{};
  frame.time_ns = 1'016'666'667;
  frame.how = static_cast<uint32_t>(FrameEndKind::kSubmissions);
  trace->Add(RecordKind::kFrame, 0, BodyBytes(frame));
  trace->thread = 1;
  trace->Make(5, 2, ObjectPointer(3), uint64_t{1});
}

// Adds a buffer, and the hash of its bytes when it ended.
inline void FillHashSample(SampleTrace* trace) {
  trace->Object(1, 1, 1);
  ResourceFacts buffer{};
  buffer.size_bytes = 0x10000;
  buffer.heap_type = 1;
  trace->Add(RecordKind::kObject, 4,
             BodyBytes(ObjectBody{1, 0, 5, kResourceFacts}, BodyBytes(buffer)));
  trace->Add(RecordKind::kResourceHash, 4, BodyBytes(ResourceHashBody{0, 0, 0x10000, 1, 2}));
  trace->Add(RecordKind::kObjectEnd, 4, {});
}

// One record of each kind up to kNote, two frames, equal bytes twice, a late start.
inline void FillLargeSample(SampleTrace* trace) {
  ByteWriter device;
  for (const uint32_t fact : {0x10005u, 0u, 4u, 0xb000u}) device.WriteU32(fact);
  for (const std::string_view text : {"llvmpipe", "Mesa", "game"}) {
    device.WriteU32(static_cast<uint32_t>(text.size()));
    device.WriteBytes(ToBytes(text));
  }
  trace->Add(RecordKind::kDevice, 1, device.bytes(), 0, kRecordRestores);
  trace->Object(1, 1, 1);
  trace->Object(2, 2, 1);
  trace->Object(3, 3, 1);
  ResourceFacts buffer{};
  buffer.gpu_address = 0x10000;
  buffer.size_bytes = 0x10000;
  buffer.heap_type = 2;
  trace->Add(RecordKind::kObject, 4,
             BodyBytes(ObjectBody{1, 0, 5, kResourceFacts}, BodyBytes(buffer)));
  trace->Add(RecordKind::kObject, 5,
             BodyBytes(ObjectBody{1, 0, 6, kDescriptorHeapFacts},
                       BodyBytes(DescriptorHeapFacts{0x500, 0x9000, 0, 1, 8, 32})));
  ByteWriter contents;
  contents.WriteU32(16);
  contents.WriteBytes(std::vector<std::byte>(16, std::byte{7}));
  trace->Add(RecordKind::kContents, 4, BodyBytes(ContentsBody{0, 0, 0, 0, 16}, contents.bytes()));
  trace->Add(RecordKind::kStart, 0, {});
  const NoteBody note{static_cast<uint32_t>(NoteKind::kTracking), 11};
  trace->Add(RecordKind::kNote, 0, BodyBytes(note, ToBytes("page faults")));
  const std::u16string_view name = u"Main";
  trace->Add(RecordKind::kCall, 3, BodyBytes(uint32_t{8}, std::as_bytes(std::span(name))), 0);
  const std::vector<std::byte> signature(5000, std::byte{0x42});
  const InterfaceGuid iid = {};
  for (uint64_t i = 0; i < 2; ++i) {
    void* made = ObjectPointer(10 + i);
    const uint64_t call =
        trace->Make(7, 1, 0u, signature.data(), uint64_t{signature.size()}, iid, &made);
    trace->Object(10 + i, 7, 1, call);
    trace->Gave(7, 1, call, 0, 0u, signature.data(), uint64_t{signature.size()}, iid, &made);
    trace->Make(3, 3, 3u, 1u, 0u, 0u);
    trace->Add(RecordKind::kMemory, 4, BodyBytes(MemoryBody{0, 0, 256 * i}, contents.bytes()));
    void* lists[] = {ObjectPointer(3)};
    trace->Make(4, 2, 1u, lists);
    trace->Add(
        RecordKind::kReadback, 4,
        BodyBytes(ReadbackBody{.row_count = 1, .row_bytes = 16, .hash_low = 1, .hash_high = 2}));
    FrameBody frame{100 + i,
                    1'000'000'000 + i * 16'666'667,
                    static_cast<uint32_t>(FrameEndKind::kPresent),
                    1,
                    3,
                    4 + i};
    trace->Add(RecordKind::kFrame, 4, BodyBytes(frame));
    trace->Flush();
  }
  trace->Add(RecordKind::kObjectEnd, 11, {});
  trace->Add(RecordKind::kStop, 0, {});
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TESTING_SAMPLE_TRACE_H_
