// SPDX-License-Identifier: Apache-2.0
//
// The input of trace_reader_fuzz: chunks, which are put into a file with right checksums.
#ifndef CAIRN_FORMAT_TRACE_TESTING_TRACE_FUZZ_INPUT_H_
#define CAIRN_FORMAT_TRACE_TESTING_TRACE_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/file/file_reader.h"
#include "format/file/testing/test_container.h"
#include "format/trace/trace_writer.h"

namespace cairn {

inline constexpr ChunkType kFuzzedChunks[] = {kTraceTableChunk, kTraceRecordChunk,
                                              kTraceBlobChunk,  kTraceIndexChunk,
                                              kTraceEndChunk,   MakeChunkType("xOTH")};

// For each chunk: u8 place in kFuzzedChunks, u16 size, payload.
inline std::vector<std::byte> FileFromFuzzInput(std::span<const std::byte> input) {
  ContainerBuilder file;
  std::vector<ChunkInfo> chunks;
  while (input.size() >= 3) {
    const size_t type = static_cast<size_t>(input[0]) % std::size(kFuzzedChunks);
    const size_t size = std::min(static_cast<size_t>(input[1]) | static_cast<size_t>(input[2]) << 8,
                                 input.size() - 3);
    chunks.push_back(file.AddRaw(kFuzzedChunks[type], input.subspan(3, size)));
    input = input.subspan(3 + size);
  }
  file.AddIndex(chunks);
  file.AddTrailer(static_cast<uint32_t>(chunks.size()));
  return {file.bytes().begin(), file.bytes().end()};
}

// Makes a fuzzer's input from a file without compression, so that offsets stay equal.
inline std::vector<std::byte> FuzzInputFromFile(std::span<const std::byte> file) {
  std::vector<std::byte> input;
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return input;
  for (size_t i = 0; i < reader->chunks().size(); ++i) {
    const Result<std::vector<std::byte>> payload = reader->Read(i);
    if (!payload.ok() || payload->size() > 0xFFFF) continue;
    size_t type = 0;
    while (type + 1 < std::size(kFuzzedChunks) && kFuzzedChunks[type] != reader->chunks()[i].type) {
      ++type;
    }
    input.push_back(static_cast<std::byte>(type));
    input.push_back(static_cast<std::byte>(payload->size()));
    input.push_back(static_cast<std::byte>(payload->size() >> 8));
    input.insert(input.end(), payload->begin(), payload->end());
  }
  return input;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TESTING_TRACE_FUZZ_INPUT_H_
