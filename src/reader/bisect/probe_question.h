// SPDX-License-Identifier: Apache-2.0
//
// The question to a probe of a trace (reader/bisect/trace_probe.h), as bytes on their way into its
// process.
#ifndef CAIRN_READER_BISECT_PROBE_QUESTION_H_
#define CAIRN_READER_BISECT_PROBE_QUESTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/bisect/bisect.h"
#include "reader/replay/device.h"

namespace cairn {

struct ProbeQuestion {
  std::string path;  // of the trace; at most kMaxTextBytes, as all texts
  PlayOn on;
  uint64_t hang_timeout_ns = 0;
  std::optional<DeviceFacts> device;  // on which it is to be played
  bool only_device = false;           // the play ends when the first device was made
  BisectQuestion leave;               // what is left out of the play
  BytesToRead read;                   // size_bytes 0: nothing

  static constexpr size_t kMaxTextBytes = 65536;
};

std::vector<std::byte> WriteProbeQuestion(const ProbeQuestion& question);
// kCorrupt for what WriteProbeQuestion does not write: cut, with more behind it, of kinds that there are not.
Result<ProbeQuestion> ReadProbeQuestion(std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROBE_QUESTION_H_
