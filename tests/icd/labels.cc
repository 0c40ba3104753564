// SPDX-License-Identifier: Apache-2.0
//
// Debug labels: those that start with "icd:" are directives, all others are ignored. Names of objects
// are ignored.
#include <cstdio>

#include "icd/entry.h"
#include "icd/recording.h"

namespace cairn::icd {
namespace {

void RecordLabel(VkCommandBuffer commands, const char* label) {
  if (label == nullptr || !IsScript(label)) return;
  Command command;
  std::string error;
  if (ScriptCommand(label, &command, &error)) {
    Record(commands, std::move(command));
  } else {
    RecordError(commands, std::move(error));
  }
}

void VKAPI_CALL CmdInsertDebugUtilsLabelEXT(VkCommandBuffer commands,
                                            const VkDebugUtilsLabelEXT* label) {
  RecordLabel(commands, label->pLabelName);
}

void VKAPI_CALL CmdDebugMarkerInsertEXT(VkCommandBuffer commands,
                                        const VkDebugMarkerMarkerInfoEXT* marker) {
  RecordLabel(commands, marker->pMarkerName);
}

// A directive between two submissions.
void VKAPI_CALL QueueInsertDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT* label) {
  if (!IsScript(label->pLabelName)) return;
  Command command;
  std::string error;
  if (!ScriptCommand(label->pLabelName, &command, &error)) {
    std::fprintf(stderr, "cairn test driver: %s\n", error.c_str());
    return;
  }
  Device* device = Of(queue)->device;
  {
    std::lock_guard lock(device->mutex);
    device->processor->Enqueue(Of(queue)->number, std::move(command));
    if (!device->instance->settings.lazy) device->processor->Settle();
  }
  TellScriptedBindings(device);
}

#define CAIRN_ICD_IGNORED(name, extension) \
  CAIRN_ICD_NAMED(vk##name, Nothing<PFN_vk##name>::Call, extension)

const Entry kEntries[] = {
    CAIRN_ICD_EXTENSION(CmdInsertDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_EXTENSION(QueueInsertDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(CmdBeginDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(CmdEndDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(QueueBeginDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(QueueEndDebugUtilsLabelEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(SetDebugUtilsObjectNameEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(SetDebugUtilsObjectTagEXT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME),
    CAIRN_ICD_EXTENSION(CmdDebugMarkerInsertEXT, VK_EXT_DEBUG_MARKER_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(CmdDebugMarkerBeginEXT, VK_EXT_DEBUG_MARKER_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(CmdDebugMarkerEndEXT, VK_EXT_DEBUG_MARKER_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(DebugMarkerSetObjectNameEXT, VK_EXT_DEBUG_MARKER_EXTENSION_NAME),
    CAIRN_ICD_IGNORED(DebugMarkerSetObjectTagEXT, VK_EXT_DEBUG_MARKER_EXTENSION_NAME),
};

}  // namespace

bool ScriptCommand(std::string_view label, Command* command, std::string* error) {
  command->kind = CommandKind::kDirective;
  return ParseDirective(label, &command->directive, error);
}

std::span<const Entry> LabelEntries() {
  return kEntries;
}

}  // namespace cairn::icd
