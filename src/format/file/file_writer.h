// SPDX-License-Identifier: Apache-2.0
//
// Writes a .cairn file (docs/formats/cairn-file.md). Appended chunks are readable whatever happens to the
// process afterwards:
//
//   Result<FileWriter> writer = FileWriter::Create("crash.cairn");
//   if (!writer.ok()) return writer.status();
//   CAIRN_RETURN_IF_ERROR(writer->Append(kSnapshotChunk, payload));
//   CAIRN_RETURN_IF_ERROR(writer->Finish());
//
// One thread at a time.
#ifndef CAIRN_FORMAT_FILE_FILE_WRITER_H_
#define CAIRN_FORMAT_FILE_FILE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "format/file/byte_sink.h"
#include "format/file/chunk.h"

namespace cairn {

enum class Compression {
  kNone,
  kZstd,       // level 1, and only where it makes a payload smaller
  kZstdSmall,  // several times smaller for records, ten times slower, and as fast to read
};

class FileWriter {
 public:
  // Writes to "`path`.part" until Finish() renames it to `path`, replacing an existing file.
  // "`path`.part" left by a writer that died is kept as "`path`.part.old".
  // Errors: kNotFound (no such folder), kInvalidArgument (another process is writing the file, or
  // `path` is a directory), kIo (not permitted, disk full), with path, reason and next step.
  // `space`: the file is made of that, where it is valid().
  static Result<FileWriter> Create(const std::string& path,
                                   Compression compression = Compression::kZstd,
                                   SpareSpace* space = nullptr);
  // Writes to `sink`, which gets its Commit() call from Finish().
  static Result<FileWriter> CreateOn(std::unique_ptr<ByteSink> sink,
                                     Compression compression = Compression::kZstd);

  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) noexcept;
  // Without Finish() the .part file stays, with every chunk that was appended; not without any.
  ~FileWriter();

  // Appends one chunk; on return its bytes are with the kernel, so they survive the death of this
  // process (for the death of the machine, see Sync).
  // `type`: four characters from 0x20 to 0x7E, not INDX; `payload`: at most kMaxChunkBytes.
  // Errors: kInvalidArgument (type, size, after Finish) leaves the file as it was; kUnsupported
  // when the file has kMaxChunkCount chunks; kIo when the bytes could not be written: the chunk is
  // cut off again where possible, and this and every later call return that same error.
  // Cost: BM_Append of cairnfile_bench.
  Status Append(ChunkType type, std::span<const std::byte> payload);

  // Returns once all appended chunks survive a crash of the machine.
  Status Sync();

  // Writes index and trailer, syncs, and gives the file its final name. The writer accepts nothing
  // afterwards. On an error the .part file stays readable.
  Status Finish();

  // Bytes written so far.
  uint64_t size_bytes() const;
  // Chunks appended so far.
  uint32_t chunk_count() const;

 private:
  struct State;
  explicit FileWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_FILE_WRITER_H_
