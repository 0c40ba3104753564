// SPDX-License-Identifier: Apache-2.0
#include "app/api/compat_ffx_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/api/compat_ffx_marker_types.h"
#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "reader/analysis/analysis.h"

namespace cairn {
namespace {

// The marks of states.
constexpr char kFinished = 'X';
constexpr char kInFlight = '>';
constexpr char kNotStarted = ' ';

// The marks of markers: finished, in flight or not started.
class MarkerStates {
 public:
  MarkerStates(const Snapshot& snapshot, const Analysis& analysis, uint32_t device)
      : snapshot_(snapshot), analysis_(analysis) {
    // If a list was submitted several times, its last execution counts, as its last writes do in
    // the original.
    for (const Execution& execution : analysis.executions) {
      const Recording& recording = snapshot.recordings[execution.recording];
      if (recording.device == device) executions_[recording.recording_id] = &execution;
    }
  }

  char Of(const FfxMarker& marker) const {
    if (marker.sequence == 0) return kNotStarted;
    const auto found = executions_.find(marker.recording_id);
    // The slot was used again, so that the marker had finished.
    if (found == executions_.end()) return kFinished;
    const Execution& execution = *found->second;
    const uint32_t event =
        snapshot_.recordings[execution.recording].first_event + marker.sequence - 1;
    const std::span<const Scope> scopes =
        std::span(analysis_.scopes).subspan(execution.first_scope, execution.scope_count);
    const auto scope = std::lower_bound(
        scopes.begin(), scopes.end(), event,
        [](const Scope& candidate, uint32_t begin) { return candidate.event < begin; });
    return scope == scopes.end() || scope->event != event ? kNotStarted : Mark(scope->state);
  }

 private:
  static char Mark(WorkState state) {
    switch (state) {
      case WorkState::kCompleted: return kFinished;
      case WorkState::kInFlight: return kInFlight;
      case WorkState::kNotStarted:
      case WorkState::kUnknown: break;
    }
    return kNotStarted;
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  std::unordered_map<uint64_t, const Execution*> executions_;
};

void AppendPipeline(const FfxBreadcrumbsPipelineStateDescription& pipeline, std::string* text) {
  struct Stage {
    const char* tag;
    const char* name;
  };
  const Stage compute[] = {{"CS", pipeline.computeShader.pName}};
  const Stage rays[] = {{"RT", pipeline.rayTracingShader.pName}};
  const Stage graphics[] = {
      {"VS", pipeline.vertexShader.pName}, {"HS", pipeline.hullShader.pName},
      {"DS", pipeline.domainShader.pName}, {"GS", pipeline.geometryShader.pName},
      {"MS", pipeline.meshShader.pName},   {"AS", pipeline.amplificationShader.pName},
      {"PS", pipeline.pixelShader.pName},
  };
  std::span<const Stage> stages = graphics;
  const char* kind = "graphics ";
  if (compute[0].name != nullptr) {
    stages = compute;
    kind = "compute ";
  } else if (rays[0].name != nullptr) {
    stages = rays;
    kind = "ray tracing ";
  }
  std::string shaders;
  for (const Stage& stage : stages) {
    if (stage.name == nullptr) continue;
    shaders += fmt::format("{} {}: {}", shaders.empty() ? "" : " |", stage.tag, stage.name);
  }
  *text += fmt::format(", {}pipeline", shaders.empty() ? "" : kind);
  if (pipeline.name.pName != nullptr) *text += fmt::format(" \"{}\"", pipeline.name.pName);
  if (!shaders.empty()) *text += fmt::format(" [{} ]", shaders);
}

class StatusPrinter {
 public:
  StatusPrinter(const MarkerStates& states, const FfxPipelineLookup& pipelines, uint32_t flags,
                std::string* text)
      : states_(states), pipelines_(pipelines), flags_(flags), text_(*text) {}

  void PrintFrame(const FfxFrame& frame) {
    Append("<Frame {}>\n", frame.number());
    if (frame.list_count() == 0) text_ += " - No command lists\n";
    for (size_t i = 0; i < frame.list_count(); ++i) PrintList(frame.list(i), i + 1);
  }

 private:
  template <typename... Arguments>
  void Append(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  bool Has(uint32_t flag) const { return (flags_ & flag) != 0; }
  // Returns true if the children of a node with this mark are not printed.
  bool Collapses(char mark) const {
    return (mark == kFinished && !Has(FFX_BREADCRUMBS_PRINT_FINISHED_NODES)) ||
           (mark == kNotStarted && !Has(FFX_BREADCRUMBS_PRINT_NOT_STARTED_NODES));
  }

  // The last marker that began decides; if it did not begin, the first.
  static char MarkOfList(const std::vector<char>& marks) {
    if (marks.empty()) return kNotStarted;
    if (marks.back() != kNotStarted) return marks.back();
    return marks.front() == kNotStarted ? kNotStarted : kInFlight;
  }

  void PrintList(const FfxList& list, size_t number) {
    std::vector<char> marks;
    marks.reserve(list.markers.size());
    for (const FfxMarker& marker : list.markers) marks.push_back(states_.Of(marker));
    const char mark = MarkOfList(marks);
    Append(" - [{}] Queue type <{}>, submission no. {}, command list {}", mark, list.queue_type,
           list.submission_index, number);
    if (list.name != nullptr) Append(": \"{}\"", list.name);
    text_ += '\n';
    if ((mark == kFinished && !Has(FFX_BREADCRUMBS_PRINT_FINISHED_LISTS)) ||
        (mark == kNotStarted && !Has(FFX_BREADCRUMBS_PRINT_NOT_STARTED_LISTS))) {
      return;
    }
    PrintTree(list, marks);
  }

  void PrintTree(const FfxList& list, const std::vector<char>& marks) {
    const std::vector<bool> followed = FindFollowed(list);
    std::vector<bool> open;  // of each level around: whether a sibling follows
    uint32_t shown_depth = UINT32_MAX;
    uint32_t ordinal = 0;
    FfxBreadcrumbsMarkerType type = FFX_BREADCRUMBS_MARKER_PASS;
    for (size_t i = 0; i < list.markers.size(); ++i) {
      const FfxMarker& marker = list.markers[i];
      // Ordinals begin again at another level, and behind another type.
      const bool same_level = i != 0 && list.markers[i - 1].depth == marker.depth;
      if (!same_level || marker.type != type) ordinal = 0;
      type = marker.type;
      const bool deeper = i != 0 && marker.depth > list.markers[i - 1].depth;
      shown_depth = ShownDepth(shown_depth, marker.depth, marks[i], deeper);
      open.resize(marker.depth);
      if (marker.depth <= shown_depth) {
        text_ += "  ";
        for (const bool line : open) text_ += line ? "  │" : "   ";
        Append("  {}─[{}] ", followed[i] ? "├" : "└", marks[i]);
        const bool same_next =
            i + 1 < list.markers.size() && list.markers[i + 1].type == marker.type;
        PrintMarker(marker, ordinal != 0 || same_next, &ordinal);
      }
      open.push_back(followed[i]);
    }
  }

  // Returns, for each marker, true if another marker of its level follows it in the same parent.
  static std::vector<bool> FindFollowed(const FfxList& list) {
    std::vector<bool> followed(list.markers.size());
    std::vector<bool> seen;  // by depth, from behind
    for (size_t i = list.markers.size(); i-- > 0;) {
      const uint32_t depth = list.markers[i].depth;
      const bool known = depth < seen.size() && seen[depth];
      followed[i] = known;
      seen.resize(depth + 1);
      seen[depth] = true;
    }
    return followed;
  }

  // Returns the depth from which nodes are omitted after this marker.
  uint32_t ShownDepth(uint32_t shown, uint32_t depth, char mark, bool deeper) const {
    if (deeper) return shown == UINT32_MAX && Collapses(mark) ? depth : shown;
    if (shown == UINT32_MAX) return Collapses(mark) ? depth : shown;
    if (shown > depth) return mark == kInFlight ? UINT32_MAX : depth;
    return shown == depth && mark == kInFlight ? UINT32_MAX : shown;
  }

  void PrintMarker(const FfxMarker& marker, bool numbered, uint32_t* ordinal) {
    if (marker.type == FFX_BREADCRUMBS_MARKER_PASS) {
      text_ += marker.name;
    } else {
      text_ += FfxMarkerTypeName(marker.type);
      if (numbered) Append(" {}", ++*ordinal);
      if (marker.name != nullptr) Append(": \"{}\"", marker.name);
    }
    const FfxBreadcrumbsPipelineStateDescription* pipeline =
        marker.pipeline == nullptr ? nullptr : pipelines_(marker.pipeline);
    if (pipeline != nullptr) AppendPipeline(*pipeline, &text_);
    text_ += '\n';
  }

  const MarkerStates& states_;
  const FfxPipelineLookup& pipelines_;
  uint32_t flags_;
  std::string& text_;
};

void AppendDevice(const Snapshot& snapshot, const Device& device, std::string* text) {
  *text += fmt::format(
      "[DEVICE]\n    Name: {}\n    Driver: {}\n    VendorId: 0x{:X}\n    DeviceId: 0x{:X}\n",
      snapshot.Text(device.name), snapshot.Text(device.driver), device.vendor_id, device.device_id);
}

}  // namespace

Status AppendFfxStatus(Context& context, const FfxHistory& history,
                       const FfxPipelineLookup& pipelines, const FfxStatusOptions& options,
                       std::string* text) {
  context.Mirror();
  const BlockWriter& block = *context.block();
  const Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block.data(), block.size_bytes()), RealtimeNs());
  if (!snapshot.ok()) return snapshot.status();
  const Analysis analysis = Analyse(*snapshot);
  const uint32_t index = context.index();
  if (options.has_device_info && index < snapshot->devices.size()) {
    AppendDevice(*snapshot, snapshot->devices[index], text);
  }
  *text += "[BREADCRUMBS]\n";
  const MarkerStates states(*snapshot, analysis, index);
  StatusPrinter printer(states, pipelines, options.flags, text);
  history.VisitFrames([&printer](const FfxFrame& frame) { printer.PrintFrame(frame); });
  return Status();
}

}  // namespace cairn
