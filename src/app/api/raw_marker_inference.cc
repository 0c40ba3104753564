// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/markers.h"

#include "app/api/errors.h"
#include "base/text.h"
#include "reader/analysis/raw_markers.h"
#include "reader/report/reason_text.h"

namespace cairn {
namespace {

RawCommandKind KindOf(CairnRawCommandKind kind) {
  switch (kind) {
    case CAIRN_RAW_TOP_MARKER: return RawCommandKind::kTopMarker;
    case CAIRN_RAW_BOTTOM_MARKER: return RawCommandKind::kBottomMarker;
    case CAIRN_RAW_WORK: break;
  }
  return RawCommandKind::kWork;
}

CairnRawState StateOf(WorkState state) {
  switch (state) {
    case WorkState::kNotStarted: return CAIRN_RAW_NOT_STARTED;
    case WorkState::kCompleted: return CAIRN_RAW_FINISHED;
    default: return CAIRN_RAW_MAY_RUN;
  }
}

void Fill(const RawWorkVerdict& work, CairnRawVerdict* verdict) {
  *verdict = {};
  verdict->command = work.command;
  verdict->state = StateOf(work.state);
  verdict->likely = work.state == WorkState::kInFlight && work.likely;
  const std::string words = RawReasonInWords(work.reason);
  const std::string_view reason = Utf8Prefix(words, CAIRN_RAW_REASON_BYTES - 1);
  std::memcpy(verdict->reason, reason.data(), reason.size());
}

}  // namespace
}  // namespace cairn

CairnResult cairnInferFromMarkers(const CairnRawCommand* commands, uint32_t command_count,
                                  const volatile uint64_t* slots, uint32_t slot_count,
                                  uint32_t bottom_line_limit, CairnRawVerdict* verdicts,
                                  uint32_t* verdict_count, uint32_t* consistent) {
  return cairn::Guarded([&] {
    if ((commands == nullptr && command_count != 0) || (slots == nullptr && slot_count != 0) ||
        verdict_count == nullptr || (verdicts == nullptr && *verdict_count != 0)) {
      return cairn::Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                         "the commands, the slots, the verdicts or verdict_count is NULL");
    }
    std::vector<cairn::RawCommand> program;
    program.reserve(command_count);
    cairn::RawSlots written;
    for (uint32_t i = 0; i < command_count; ++i) {
      const CairnRawCommand& command = commands[i];
      // Copies the program's value, which may be no value of the enumeration.
      uint32_t kind = 0;
      static_assert(sizeof(kind) == sizeof(command.kind));
      std::memcpy(&kind, &command.kind, sizeof(kind));
      if (kind > CAIRN_RAW_BOTTOM_MARKER) {
        return cairn::Fail(
            CAIRN_ERROR_INVALID_ARGUMENT,
            fmt::format("command {} of {} has the unknown kind {}", i, command_count, kind));
      }
      program.push_back({cairn::KindOf(command.kind), command.slot, command.value});
      if (command.kind != CAIRN_RAW_WORK && command.slot < slot_count &&
          !written.contains(command.slot)) {
        written.emplace(command.slot, slots[command.slot]);
      }
    }
    cairn::RawVerdict judged = cairn::InferFromRawMarkers(program, written, bottom_line_limit);
    cairn::AllowForLostStores(&judged);
    const size_t room = std::min<size_t>(*verdict_count, judged.works.size());
    for (size_t i = 0; i < room; ++i) cairn::Fill(judged.works[i], &verdicts[i]);
    *verdict_count = static_cast<uint32_t>(judged.works.size());
    if (consistent != nullptr) *consistent = judged.consistent;
    return CAIRN_OK;
  });
}
