// SPDX-License-Identifier: Apache-2.0
#include "app/api/print_status.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "cairn/breadcrumbs.h"

#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "reader/analysis/findings.h"
#include "reader/report/text.h"

namespace cairn {

Status PrintStatus(Context& context, uint32_t print_flags, char** text, size_t* size_bytes) {
  context.Mirror();
  const BlockWriter& block = *context.block();
  Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block.data(), block.size_bytes()), RealtimeNs());
  if (!snapshot.ok()) return snapshot.status();
  const Findings findings = AnalyseDump(*snapshot, context.index());
  const std::string report = TextReport(*snapshot, findings, {.print_flags = print_flags});
  CallbackMemory memory = context.TextMemory();
  char* copy = static_cast<char*>(memory.Allocate(report.size() + 1));
  if (copy == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  "the allocation callback gave no memory for a status of " +
                      std::to_string(report.size() + 1) + " bytes");
  }
  std::memcpy(copy, report.c_str(), report.size() + 1);
  *text = copy;
  *size_bytes = report.size();
  return Status();
}

}  // namespace cairn
