// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/queue_labels.h"

#include <algorithm>
#include <cstring>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "format/pix/pix_event.h"

namespace cairn {

void QueueLabels::Keep(MarkerKind kind, const char* name, uint64_t submission) {
  const char* const text = name == nullptr ? "" : name;
  const size_t size = std::min<size_t>(std::strlen(text) + 1, MarkerArena::kMaxKeptBytes);
  arena_.Append(kind, kPixMetadataAnsi, text, static_cast<uint32_t>(size),
                static_cast<uint32_t>(submission));
}

void QueueLabels::Begin(const char* name, uint64_t submission) {
  Keep(MarkerKind::kBeginEvent, name, submission);
  ++open_;
}

void QueueLabels::End(uint64_t submission) {
  if (open_ == 0) return;
  --open_;
  arena_.Append(MarkerKind::kEndEvent, 0, nullptr, 0, static_cast<uint32_t>(submission));
}

void QueueLabels::Insert(const char* name, uint64_t submission) {
  Keep(MarkerKind::kSetMarker, name, submission);
}

namespace {

template <typename Change>
void Note(VkQueue queue, const DeviceState& device, Change change) {
  Quietly([&] {
    QueueObjects& noted = device.objects->QueueOf(queue);
    const std::lock_guard lock(noted.mutex);
    change(noted.labels, noted.submissions);
  });
}

void VKAPI_CALL QueueBeginDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT* label) {
  const DeviceState& device = *QueueOf(queue)->device;
  Note(queue, device, [&](QueueLabels& labels, uint64_t submissions) {
    labels.Begin(label->pLabelName, submissions);
  });
  device.vk.QueueBeginDebugUtilsLabelEXT(queue, label);
}

void VKAPI_CALL QueueEndDebugUtilsLabelEXT(VkQueue queue) {
  const DeviceState& device = *QueueOf(queue)->device;
  device.vk.QueueEndDebugUtilsLabelEXT(queue);
  Note(queue, device, [&](QueueLabels& labels, uint64_t submissions) { labels.End(submissions); });
}

void VKAPI_CALL QueueInsertDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT* label) {
  const DeviceState& device = *QueueOf(queue)->device;
  Note(queue, device, [&](QueueLabels& labels, uint64_t submissions) {
    labels.Insert(label->pLabelName, submissions);
  });
  device.vk.QueueInsertDebugUtilsLabelEXT(queue, label);
}

}  // namespace

std::span<const Intercept> QueueLabelIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkQueueBeginDebugUtilsLabelEXT>("vkQueueBeginDebugUtilsLabelEXT",
                                                      QueueBeginDebugUtilsLabelEXT),
      InterceptOf<PFN_vkQueueEndDebugUtilsLabelEXT>("vkQueueEndDebugUtilsLabelEXT",
                                                    QueueEndDebugUtilsLabelEXT),
      InterceptOf<PFN_vkQueueInsertDebugUtilsLabelEXT>("vkQueueInsertDebugUtilsLabelEXT",
                                                       QueueInsertDebugUtilsLabelEXT),
  };
  return kTable;
}

}  // namespace cairn
