// SPDX-License-Identifier: Apache-2.0
//
// For tests, fuzzers and benchmarks: a trace in memory from records.
//
//   TestTrace test;
//   const uint64_t call = test.Make(Method::ID3D12Device_CreateFence, device, 0, 0, iid, &fence);
//   test.Object(fence, Chain::kID3D12Fence, device, call);
//   test.Gave(call, S_OK, 0, 0, iid, &fence);      arguments and results as CallBuilder takes them
//   TraceReader trace = test.Open();     `test` must outlive it
#ifndef CAIRN_FORMAT_TRACE_TESTING_TEST_TRACE_H_
#define CAIRN_FORMAT_TRACE_TESTING_TEST_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "format/calls/call_builder.h"
#include "format/file/testing/test_container.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"
#include "format/trace/trace_writer.h"

namespace cairn {

// The bytes of a plain struct, with others behind them.
template <typename Body>
std::vector<std::byte> BodyBytes(const Body& body, std::span<const std::byte> rest = {}) {
  std::vector<std::byte> bytes(sizeof(body));
  std::memcpy(bytes.data(), &body, sizeof(body));
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

inline TraceFacts SampleFacts() {
  TraceFacts facts;
  facts.program = "/games/game";
  facts.command_line = "game --fast";
  facts.library_version = "0.1.0";
  facts.process_id = 4711;
  facts.start_realtime_ns = 1'700'000'000'000'000'000;
  facts.start_monotonic_ns = 1'000'000'000;
  return facts;
}

class TestTrace {
 public:
  explicit TestTrace(Compression compression = Compression::kZstd,
                     size_t chunk_bytes = kTraceChunkBytes)
      : TestTrace(compression, MakeTraceTable(SampleFacts()), chunk_bytes) {}
  // With this table instead of this build's.
  TestTrace(Compression compression, const TraceTable& table, size_t chunk_bytes = kTraceChunkBytes)
      : sink_(std::make_unique<MemoryFile>()) {
    Result<FileWriter> file =
        FileWriter::CreateOn(std::make_unique<MemorySink>(*sink_), compression);
    file_ = std::make_unique<FileWriter>(std::move(file).value());
    writer_ = std::make_unique<TraceWriter>(file_.get(), chunk_bytes);
    Keep(writer_->Begin(table));
  }

  // Appends a record and returns its number. status() has the writer's error.
  uint64_t Add(RecordKind kind, uint64_t object, std::span<const std::byte> body,
               uint16_t method = 0, uint8_t flags = 0) {
    Record record;
    record.kind = kind;
    record.flags = flags;
    record.method = method;
    record.thread = thread;
    record.number = ++number;
    record.object = object;
    record.body = body;
    Keep(writer_->Add(record));
    return record.number;
  }
  uint64_t Call(Method method, uint64_t object, std::span<const std::byte> arguments = {}) {
    last_method_ = static_cast<uint16_t>(method);
    last_object_ = object;
    return Add(RecordKind::kCall, object, arguments, last_method_);
  }
  // Adds the result of the last call, unless `method` and `object` are given.
  uint64_t Return(uint64_t call, std::span<const std::byte> results = {}) {
    return Add(RecordKind::kResult, last_object_, BodyBytes(ResultBody{call}, results),
               last_method_);
  }
  // The same from values (format/calls/call_builder.h), with the blobs that they need in front.
  template <typename... Arguments>
  uint64_t Make(Method method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder(number + 1);
    const CallBuilder::Body body = builder.Call(method, arguments...);
    AddBlobs(body);
    return Call(method, object, body.bytes);
  }
  template <typename Returned, typename... Arguments>
  uint64_t Gave(uint64_t call, const Returned& result, const Arguments&... arguments) {
    CallBuilder builder(number + 1);
    const CallBuilder::Body body =
        builder.Result(static_cast<Method>(last_method_), call, result, arguments...);
    AddBlobs(body);
    return Add(RecordKind::kResult, last_object_, body.bytes, last_method_);
  }
  uint64_t Object(uint64_t object, Chain chain, uint64_t device, uint64_t creator = 0) {
    return Add(RecordKind::kObject, object,
               BodyBytes(ObjectBody{device, creator, static_cast<uint32_t>(chain), kNoFacts}));
  }
  uint64_t Resource(uint64_t object, uint64_t device, uint64_t creator,
                    const ResourceFacts& facts) {
    const ObjectBody body{device, creator, static_cast<uint32_t>(Chain::kID3D12Resource),
                          kResourceFacts};
    return Add(RecordKind::kObject, object, BodyBytes(body, BodyBytes(facts)));
  }
  uint64_t DescriptorHeap(uint64_t object, uint64_t device, uint64_t creator,
                          const DescriptorHeapFacts& facts) {
    const ObjectBody body{device, creator, static_cast<uint32_t>(Chain::kID3D12DescriptorHeap),
                          kDescriptorHeapFacts};
    return Add(RecordKind::kObject, object, BodyBytes(body, BodyBytes(facts)));
  }
  uint64_t ObjectEnd(uint64_t object) { return Add(RecordKind::kObjectEnd, object, {}); }
  uint64_t Blob(std::span<const std::byte> bytes) {
    return Add(RecordKind::kBlob, 0,
               BodyBytes(BlobBody{static_cast<uint32_t>(bytes.size()), 0}, bytes));
  }
  // Frames are counted.
  uint64_t Frame(FrameEndKind how = FrameEndKind::kPresent, uint64_t image = 0) {
    FrameBody body{};
    body.frame = frame++;
    body.time_ns = body.frame * 16'666'667;
    body.how = static_cast<uint32_t>(how);
    return Add(RecordKind::kFrame, image, BodyBytes(body));
  }
  uint64_t Note(NoteKind kind, std::string_view text) {
    const NoteBody body{static_cast<uint32_t>(kind), static_cast<uint32_t>(text.size())};
    return Add(RecordKind::kNote, 0, BodyBytes(body, std::as_bytes(std::span(text))));
  }

  void Flush() { Keep(writer_->Flush()); }
  // The end, the index and the container's. Open() and Bytes() do it if that did not happen.
  void Finish(std::span<const TraceThread> threads = {}) {
    if (finished_) return;
    finished_ = true;
    Keep(writer_->Finish(threads));
    Keep(file_->Finish());
  }
  const std::vector<std::byte>& Bytes() {
    Finish();
    return sink_->bytes;
  }
  // The bytes written so far: a recording that was cut here.
  const std::vector<std::byte>& BytesSoFar() const { return sink_->bytes; }
  Result<TraceReader> TryOpen() { return TraceReader::FromBytes(Bytes()); }
  TraceReader Open() { return std::move(TryOpen()).value(); }

  // The first error.
  const Status& status() const { return status_; }
  TraceWriter& writer() { return *writer_; }
  FileWriter& file() { return *file_; }

  // Fields of the next record; may be changed.
  uint64_t number = 0;  // of the last record
  uint32_t thread = 0;
  uint64_t frame = 0;

 protected:
  void AddBlobs(const CallBuilder::Body& body) {
    if (!body.ok) Keep(Status(StatusCode::kInvalidArgument, "the values do not fit the method"));
    for (const CallBuilder::Blob& blob : body.blobs) Add(RecordKind::kBlob, 0, blob.body);
  }

 private:
  void Keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  std::unique_ptr<MemoryFile> sink_;
  std::unique_ptr<FileWriter> file_;
  std::unique_ptr<TraceWriter> writer_;
  bool finished_ = false;
  uint16_t last_method_ = 0;
  uint64_t last_object_ = 0;
  Status status_;
};

// All records with copies of their bodies; blobs have their bytes behind BlobBody.
struct KeptRecord {
  Record record;
  std::vector<std::byte> body;
  uint64_t frame = 0;
};

inline std::vector<KeptRecord> ReadRest(TraceReader& trace, TraceCursor& cursor) {
  std::vector<KeptRecord> records;
  Record record;
  while (cursor.Next(&record)) {
    KeptRecord& kept = records.emplace_back();
    kept.body.assign(record.body.begin(), record.body.end());
    if (record.kind == RecordKind::kBlob) {
      const Result<std::span<const std::byte>> bytes = trace.Blob(record.number);
      if (bytes.ok()) kept.body.insert(kept.body.end(), bytes->begin(), bytes->end());
    }
    kept.record = record;
    kept.record.body = kept.body;
    kept.frame = cursor.frame();
  }
  return records;
}

inline std::vector<KeptRecord> ReadAll(TraceReader& trace) {
  TraceCursor cursor(trace);
  return ReadRest(trace, cursor);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TESTING_TEST_TRACE_H_
