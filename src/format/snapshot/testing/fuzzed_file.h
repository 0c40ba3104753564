// SPDX-License-Identifier: Apache-2.0
//
// Makes the input of fuzzers of snapshot files. The container has checksums that a fuzzer cannot
// guess, so an input is a list of chunks: four bytes of type, a little-endian 16-bit size, the
// payload.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_FUZZED_FILE_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_FUZZED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "format/file/file_writer.h"
#include "format/file/testing/test_container.h"

namespace cairn {

// The bytes of a whole .cairn file with these chunks.
inline std::vector<std::byte> FuzzedFile(const uint8_t* data, size_t size) {
  MemoryFile file;
  Result<FileWriter> writer =
      FileWriter::CreateOn(std::make_unique<MemorySink>(file), Compression::kNone);
  if (!writer.ok()) std::abort();
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
  if (!writer->Finish().ok()) std::abort();
  return std::move(file.bytes);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_FUZZED_FILE_H_
