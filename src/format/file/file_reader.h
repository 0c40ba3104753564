// SPDX-License-Identifier: Apache-2.0
//
// Reads a .cairn file (docs/formats/cairn-file.md), whole or damaged, finished or not:
//
//   Result<FileReader> reader = FileReader::Open("crash.cairn");
//   if (!reader.ok()) return reader.status();
//   for (size_t i = 0; i < reader->chunks().size(); ++i) {
//     if (reader->chunks()[i].type != kSnapshotChunk) continue;  // skip what is not known
//     Result<std::vector<std::byte>> payload = reader->Read(i);
//     ...
//   }
//   for (const Loss& loss : reader->losses()) Print(loss.reason);
//
// Nothing in the file is trusted: any bytes give either chunks and losses or an error.
#ifndef CAIRN_FORMAT_FILE_FILE_READER_H_
#define CAIRN_FORMAT_FILE_FILE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/file/byte_source.h"
#include "format/file/chunk.h"
#include "format/file/find_chunks.h"

namespace cairn {

// Selects how much Open reads.
enum class Check {
  kStructure,  // headers and index; a damaged payload is noticed by Read
  kPayloads,   // every payload's checksum too, so that losses() is complete
};

class FileReader {
 public:
  // Errors: kNotFound; kIo (not permitted, disk error); kInvalidArgument (a directory, a device);
  // kCorrupt (empty, not a .cairn file, or nothing readable in it); kUnsupported (written by a
  // newer major version). Each names the file (Status::WithFile).
  // A truncated or damaged file opens, with losses.
  static Result<FileReader> Open(const std::string& path, Check check = Check::kPayloads);

  // The same for a file's bytes in memory, which must outlive the reader.
  static Result<FileReader> FromBytes(std::span<const std::byte> bytes,
                                      Check check = Check::kPayloads);

  FileReader(FileReader&&) noexcept;
  FileReader& operator=(FileReader&&) noexcept;
  ~FileReader();

  // The file's version; {0, 0} when the file header is damaged.
  FileVersion version() const;

  // The size of the file when it was opened; it limits the memory that reading may use
  // (format/file/file_cost.h).
  uint64_t size_bytes() const;

  // The chunks in file order, without the index and without lost ones.
  const std::vector<ChunkInfo>& chunks() const;

  // The losses that Open found; empty for an intact file.
  const std::vector<Loss>& losses() const;

  // False when the end of the file is missing or damaged, so that the chunks had to be found by
  // scanning: the writer was interrupted, is still writing, or the file was cut.
  bool has_index() const;

  // The payload of chunks()[index], decoded: exactly raw_bytes bytes. Checks its checksum again.
  // May be called from several threads at once.
  // Errors: kInvalidArgument (index out of range), kCorrupt, kUnsupported (stored in a way that
  // this version does not know), kIo, kOutOfMemory.
  Result<std::vector<std::byte>> Read(size_t index) const;

 private:
  struct State;
  explicit FileReader(std::unique_ptr<State> state);
  static Result<FileReader> FromSource(std::unique_ptr<ByteSource> source, Check check);

  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_FILE_READER_H_
