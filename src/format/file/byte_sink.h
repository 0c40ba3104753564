// SPDX-License-Identifier: Apache-2.0
//
// The target of a FileWriter's bytes. Only front to back: a sink may be a pipe or a device.
#ifndef CAIRN_FORMAT_FILE_BYTE_SINK_H_
#define CAIRN_FORMAT_FILE_BYTE_SINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "os/spare_space.h"

namespace cairn {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Appends all bytes or fails; after a failure an unknown part of them may have arrived.
  virtual Status Write(std::span<const std::byte> bytes) = 0;
  // Drops everything after the first `size_bytes` bytes, as far as the sink can do that.
  virtual void CutBack(uint64_t size_bytes) = 0;
  // Returns once the bytes written so far survive a crash of the machine.
  virtual Status Sync() = 0;
  // Like Sync, and gives the file its final name.
  virtual Status Commit() = 0;
  // Deletes the output, which holds nothing worth keeping. The last call.
  virtual void Discard() {}
};

// Writes to "`path`.part" and renames to `path` in Commit, replacing an existing file. A .part file
// left by a writer that died is kept as "`path`.part.old"; one that is being written by another
// process is refused. A `path` that is a character device, such as /dev/null, is written directly.
// Errors: kInvalidArgument (being written by another process; a directory, pipe, socket or disk),
// kNotFound, kIo, each with path, reason and next step.
// `space`: the file is made of that, where it is valid().
Result<std::unique_ptr<ByteSink>> OpenFileSink(const std::string& path,
                                               SpareSpace* space = nullptr);

// Returns Ok if "`path`.part" can be used: it does not exist, or is a leftover that OpenFileSink
// can keep. Changes nothing. Errors: as above.
Status CheckFileSink(const std::string& path);

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_BYTE_SINK_H_
