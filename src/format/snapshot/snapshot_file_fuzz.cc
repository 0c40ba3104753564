// SPDX-License-Identifier: Apache-2.0
//
// Any payloads in a good container: no crash, a consistent snapshot or an error. The container has a
// fuzzer of its own and checksums that a fuzzer cannot guess, so an input is a list of chunks: four
// bytes of type, a little-endian 16-bit size, the payload.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "format/file/byte_sink.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace {

class VectorSink : public cairn::ByteSink {
 public:
  explicit VectorSink(std::vector<std::byte>* bytes) : bytes_(bytes) {}
  cairn::Status Write(std::span<const std::byte> bytes) override {
    bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
    return cairn::Status();
  }
  void CutBack(uint64_t size_bytes) override { bytes_->resize(size_bytes); }
  cairn::Status Sync() override { return cairn::Status(); }
  cairn::Status Commit() override { return cairn::Status(); }

 private:
  std::vector<std::byte>* bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  std::vector<std::byte> file;
  Result<FileWriter> writer =
      FileWriter::CreateOn(std::make_unique<VectorSink>(&file), Compression::kNone);
  if (!writer.ok()) return 0;
  for (size_t at = 0; size - at >= 6;) {
    ChunkType type = 0;
    std::memcpy(&type, data + at, 4);
    size_t payload = data[at + 4] | data[at + 5] << 8;
    at += 6;
    payload = payload < size - at ? payload : size - at;
    // A type that the writer refuses makes no chunk.
    if (!writer->Append(type, std::as_bytes(std::span(data + at, payload))).ok()) break;
    at += payload;
  }
  if (!writer->Finish().ok()) return 0;
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return 0;
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  if (!snapshot.ok()) return 0;
  const std::string violation = FindInconsistency(*snapshot);
  if (!violation.empty()) {
    std::fprintf(stderr, "inconsistent snapshot: %s\n", violation.c_str());
    std::abort();
  }
  // What was read can be written, and reads back the same.
  const std::vector<std::byte> again = SnapshotFileBytes(*snapshot, Compression::kNone);
  const Result<FileReader> second = FileReader::FromBytes(again);
  if (!second.ok()) std::abort();
  const Result<Snapshot> copy = ReadSnapshot(*second);
  if (!copy.ok() || DumpSnapshot(*copy) != DumpSnapshot(*snapshot)) {
    std::fprintf(stderr, "%s----\n%s", DumpSnapshot(*snapshot).c_str(),
                 copy.ok() ? DumpSnapshot(*copy).c_str() : copy.status().message().c_str());
    std::abort();
  }
  return 0;
}
