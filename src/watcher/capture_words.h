// SPDX-License-Identifier: Apache-2.0
//
// The lines of `cairn run` about a capture when its program has ended.
#ifndef CAIRN_WATCHER_CAPTURE_WORDS_H_
#define CAIRN_WATCHER_CAPTURE_WORDS_H_

#include <string>

#include "base/status.h"
#include "watcher/trace_sink.h"

namespace cairn {

// "cairn: gears captured: 18,233 calls, 300 frames, 1.2 MiB: cairn info gears.cairn". `quoted_path`: for
// a shell's command line.
std::string CaptureInWords(const std::string& program, const std::string& quoted_path,
                           const Result<CaptureSummary>& summary);

}  // namespace cairn

#endif  // CAIRN_WATCHER_CAPTURE_WORDS_H_
