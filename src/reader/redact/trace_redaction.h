// SPDX-License-Identifier: Apache-2.0
//
// A copy of a trace that can be sent: cairn repack --redact.
#ifndef CAIRN_READER_REDACT_TRACE_REDACTION_H_
#define CAIRN_READER_REDACT_TRACE_REDACTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/status.h"
#include "format/file/file_writer.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"

namespace cairn {

struct RedactionOptions {
  bool shaders = false;
  bool contents = false;
  size_t chunk_bytes = kTraceChunkBytes;
  std::function<bool(uint64_t done, uint64_t total)> progress;  // as that of CopyOptions
};

struct RedactedTrace {
  CopiedTrace copied;
  uint64_t unread = 0;  // records that are left out, since nobody knows where their names are
};

// Copies the trace; names are replaced as in reports (reader/report/redact.h): those of objects, markers,
// threads, pipelines in libraries and shared handles, other private data, the program's path, its command
// line, and the application. A snapshot in the file is redacted as for a report. What the replay needs
// stays: calls, numbers, contents, shaders, and the texts by which Direct3D finds a part of a shader.
// `shaders`: shaders and these texts become hashes, and nothing plays the copy. `contents`: what the CPU
// wrote into resources, and what they held at first, becomes zeros, and hashes of images and of memory are
// left out. Chunks and kinds of records that this build does not know are left out.
// Appends to `to` and leaves finishing it to its owner. Memory: that of CopyTrace, 100 bytes for each hidden
// blob, and the decoded snapshot. Errors: those of CopyTrace and of WriteSnapshot.
Result<RedactedTrace> RedactTrace(TraceReader* from, const RedactionOptions& options,
                                  FileWriter* to);

}  // namespace cairn

#endif  // CAIRN_READER_REDACT_TRACE_REDACTION_H_
