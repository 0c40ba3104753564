// SPDX-License-Identifier: Apache-2.0
//
// A trace as large as wanted that takes little of a disk: each frame stands behind a `BLOB` chunk of zeros, which is a
// hole of the file where the file system has holes. For tests, and for make-sparse-trace.
#ifndef CAIRN_FORMAT_TRACE_TESTING_SPARSE_TRACE_H_
#define CAIRN_FORMAT_TRACE_TESTING_SPARSE_TRACE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/file/byte_sink.h"
#include "format/file/file_writer.h"
#include "format/trace/trace_writer.h"

namespace cairn {

inline constexpr uint32_t kSparseTraceCalls = 100;  // of a frame

// Passes over zeros in place of writing them. The last bytes of a .cairn file are none.
class SparseSink : public ByteSink {
 public:
  explicit SparseSink(const std::string& path) : file_(path, std::ios::binary) {}

  Status Write(std::span<const std::byte> bytes) override {
    constexpr std::array<std::byte, 4096> kZeros{};
    while (!bytes.empty()) {
      const std::span<const std::byte> block = bytes.first(std::min(bytes.size(), kZeros.size()));
      const auto size = static_cast<std::streamsize>(block.size());
      if (std::memcmp(block.data(), kZeros.data(), block.size()) == 0) {
        file_.seekp(size, std::ios::cur);
      } else {
        file_.write(reinterpret_cast<const char*>(block.data()), size);
      }
      bytes = bytes.subspan(block.size());
    }
    return file_.good() ? Status() : Status(StatusCode::kIo, "the sparse trace cannot be written");
  }
  void CutBack(uint64_t) override {}
  Status Sync() override { return {}; }
  Status Commit() override {
    file_.close();
    return {};
  }

 private:
  std::ofstream file_;
};

// `hole_bytes`: of each frame, at most kMaxChunkBytes.
inline Status WriteSparseTrace(const std::string& path, uint64_t frame_count, size_t hole_bytes) {
  Result<FileWriter> file =
      FileWriter::CreateOn(std::make_unique<SparseSink>(path), Compression::kNone);
  if (!file.ok()) return file.status();
  TraceWriter writer(&*file);
  CAIRN_RETURN_IF_ERROR(writer.Begin(TraceFacts{}));
  const std::vector<std::byte> hole(hole_bytes);
  Record record;
  for (uint64_t frame = 0; frame < frame_count; ++frame) {
    CAIRN_RETURN_IF_ERROR(writer.Flush());
    CAIRN_RETURN_IF_ERROR(file->Append(kTraceBlobChunk, hole));
    for (uint32_t i = 0; i < kSparseTraceCalls; ++i) {
      const uint32_t arguments[4] = {3 * (1 + i), static_cast<uint32_t>(frame + 1), 0, 0};
      record.kind = RecordKind::kCall;
      record.method = static_cast<uint16_t>(Method::ID3D12GraphicsCommandList_DrawInstanced);
      record.object = 10;
      ++record.number;
      record.body = std::as_bytes(std::span(arguments));
      CAIRN_RETURN_IF_ERROR(writer.Add(record));
    }
    FrameBody body{};
    body.frame = frame;
    record.kind = RecordKind::kFrame;
    record.method = 0;
    record.object = 0;
    ++record.number;
    record.body = std::as_bytes(std::span(&body, 1));
    CAIRN_RETURN_IF_ERROR(writer.Add(record));
  }
  CAIRN_RETURN_IF_ERROR(writer.Finish({}));
  return file->Finish();
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TESTING_SPARSE_TRACE_H_
