// SPDX-License-Identifier: Apache-2.0
#include "watcher/indirect_values.h"

#include <array>
#include <span>

#include "format/block/indirect_values.h"
#include "os/memory_of_process.h"

namespace cairn {

void ReadIndirectValues(ProcessId process, Snapshot* snapshot) {
  uint32_t left = kMostIndirectReads;
  for (size_t i = snapshot->events.size(); i-- > 0;) {
    Event& event = snapshot->events[i];
    if (event.kind != EventKind::kBind ||
        event.type != static_cast<uint16_t>(kIndirectHostAddress)) {
      continue;
    }
    Bind& bind = snapshot->binds[event.detail];
    std::array<uint32_t, 3> values = {};
    const bool read =
        left != 0 && bind.is_address &&
        ReadMemoryOfProcess(process, bind.value, std::as_writable_bytes(std::span(values)));
    if (left != 0) --left;
    if (read) event.type = static_cast<uint16_t>(kIndirectValues);
    bind.slot = values[0];
    bind.value = uint64_t{values[2]} << 32 | values[1];
  }
}

}  // namespace cairn
