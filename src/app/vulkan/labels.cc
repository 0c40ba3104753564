// SPDX-License-Identifier: Apache-2.0
//
// Labels of VK_EXT_debug_utils and VK_EXT_debug_marker: the tree of events that commands stand in.
#include <array>
#include <optional>
#include <type_traits>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/raw_marker_text.h"
#include "app/breadcrumbs/work_label.h"
#include "app/settings/log.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/intercept.h"
#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

// In a program that suspends dynamic render passes, labels before the first command write nothing:
// it may resume such a pass, and no write may come in between. The command's own write proves that
// the GPU got past the labels.
template <typename Function>
void NoteLabel(CommandBufferState& state, Function note) {
  CommandList& list = *state.open;
  const bool first = state.device->suspends_render_passes.load(std::memory_order_relaxed) &&
                     !state.in_render_pass && list.progress_value() == state.labels_only;
  if (first) list.SetSilent(true);
  Quietly([&] { note(list); });
  if (!first) return;
  state.labels_only = list.progress_value();
  UpdateSilence(state);
}

void BeginLabel(CommandBufferState& state, const char* name) {
  if (state.open == nullptr) return;
  // Counted also where the event finds no room: its end belongs to it.
  ++state.open_labels;
  // Inside a work label, an implementation of Direct3D 11 labels its own steps: they are part of
  // the work.
  if (state.work_label != 0) return;
  if (const auto work = WorkLabel::Read(name)) {
    state.announced_at = WorkPoint::kCount;  // its draw was left out
    // A recording of a deferred context has work in it.
    if (work->type != CAIRN_MARKER_EXECUTE_COMMAND_LIST) state.work_label = state.open_labels;
    NoteLabel(state, [&](CommandList& list) { list.BeginCommand(work->type, work->pipeline); });
    return;
  }
  NoteLabel(state, [name](CommandList& list) {
    list.BeginMarker(CAIRN_MARKER_PASS, name == nullptr ? "" : name, CAIRN_NAME_COPY);
  });
}

// Ignores a label that another command buffer began.
void EndLabel(CommandBufferState& state) {
  if (state.open == nullptr || state.open_labels == 0) return;
  const uint32_t ended = state.open_labels--;
  if (state.work_label != 0 && ended != state.work_label) return;
  state.work_label = 0;
  NoteLabel(state, [](CommandList& list) { list.EndMarker(); });
}

void InsertLabel(CommandBufferState& state, const char* name) {
  if (state.open == nullptr || state.work_label != 0) return;
  if (const auto work = WorkLabel::Read(name)) {
    state.announced_at = IsDraw(work->type)       ? WorkPoint::kGraphics
                         : IsDispatch(work->type) ? WorkPoint::kCompute
                                                  : WorkPoint::kCount;
    state.announced_type = work->type;
    state.announced_pipeline = work->pipeline;
    return;
  }
  // Labels of the implementation between the program's call and its command are ignored.
  if (state.announced_at != WorkPoint::kCount) return;
  NoteLabel(state, [name](CommandList& list) {
    list.BeginMarker(CAIRN_MARKER_SET_MARKER, name == nullptr ? "" : name, CAIRN_NAME_COPY);
    list.EndMarker();
  });
}

// Returns true if a raw marker can be written at this place.
bool TakesRawMarker(const CommandBufferState& state) {
  return state.open != nullptr && !state.open->silent() &&
         (state.device->raw_marker_method == WriteMethod::kVulkanBufferMarker ||
          !state.open->inside_render_pass());
}

// Returns true if the label is a raw marker of a program in Direct3D 11: writes it, and hides the
// label from others.
bool WriteRawMarker(CommandBufferState& state, const char* name) {
  if (state.device->raw_marker_method == WriteMethod::kNone || name == nullptr) return false;
  const std::optional<RawMarker> marker = ParseRawMarkerText(name);
  if (!marker) return false;
  CommandList* const noted_in =
      marker->index < state.device->noted_raw_markers ? state.open : nullptr;
  Quietly([&] {
    const Status status =
        TakesRawMarker(state)
            ? state.device->context->WriteRaw(state.handle, marker->where, marker->index,
                                              marker->value, noted_in)
            : Status(StatusCode::kUnsupported, "nothing can be written at its place");
    if (!status.ok()) LogOnce(LogLevel::kWarning, "raw marker", "raw marker: " + status.message());
  });
  return true;
}

const char* NameIn(const VkDebugUtilsLabelEXT& label) {
  return label.pLabelName;
}
const char* NameIn(const VkDebugMarkerMarkerInfoEXT& label) {
  return label.pMarkerName;
}

// The commands of both extensions.
template <auto kNext, typename Label>
VKAPI_ATTR void VKAPI_CALL CmdBegin(VkCommandBuffer commands, const Label* label) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BeginLabel(state, NameIn(*label));
  (state.vk->*kNext)(commands, label);
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL CmdEnd(VkCommandBuffer commands) {
  CommandBufferState& state = *CommandBufferOf(commands);
  (state.vk->*kNext)(commands);
  EndLabel(state);
}

template <auto kNext, typename Label>
VKAPI_ATTR void VKAPI_CALL CmdInsert(VkCommandBuffer commands, const Label* label) {
  CommandBufferState& state = *CommandBufferOf(commands);
  if (std::is_same_v<Label, VkDebugUtilsLabelEXT> && WriteRawMarker(state, NameIn(*label))) return;
  InsertLabel(state, NameIn(*label));
  (state.vk->*kNext)(commands, label);
}

}  // namespace

std::span<const Intercept> LabelIntercepts() {
  using Functions = DeviceFunctions;
  static const std::array intercepts = {
      InterceptOf<PFN_vkCmdBeginDebugUtilsLabelEXT>(
          "vkCmdBeginDebugUtilsLabelEXT", CmdBegin<&Functions::CmdBeginDebugUtilsLabelEXT>),
      InterceptOf<PFN_vkCmdEndDebugUtilsLabelEXT>("vkCmdEndDebugUtilsLabelEXT",
                                                  CmdEnd<&Functions::CmdEndDebugUtilsLabelEXT>),
      InterceptOf<PFN_vkCmdInsertDebugUtilsLabelEXT>(
          "vkCmdInsertDebugUtilsLabelEXT", CmdInsert<&Functions::CmdInsertDebugUtilsLabelEXT>),
      InterceptOf<PFN_vkCmdDebugMarkerBeginEXT>("vkCmdDebugMarkerBeginEXT",
                                                CmdBegin<&Functions::CmdDebugMarkerBeginEXT>),
      InterceptOf<PFN_vkCmdDebugMarkerEndEXT>("vkCmdDebugMarkerEndEXT",
                                              CmdEnd<&Functions::CmdDebugMarkerEndEXT>),
      InterceptOf<PFN_vkCmdDebugMarkerInsertEXT>("vkCmdDebugMarkerInsertEXT",
                                                 CmdInsert<&Functions::CmdDebugMarkerInsertEXT>),
  };
  return intercepts;
}

}  // namespace cairn
