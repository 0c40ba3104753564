// SPDX-License-Identifier: Apache-2.0
//
// What the files of recording functions share.
#ifndef CAIRN_TESTS_ICD_RECORDING_H_
#define CAIRN_TESTS_ICD_RECORDING_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "icd/objects.h"

namespace cairn::icd {

// Appends a command to what the buffer has recorded.
inline void Record(VkCommandBuffer commands, Command command) {
  Of(commands)->commands.push_back(std::move(command));
}

// Work of these kinds, with what it does at its end; may be empty.
inline void RecordWork(VkCommandBuffer commands, uint32_t kinds, std::function<void()> effect) {
  Command command;
  command.kind = CommandKind::kWork;
  command.work_kinds = kinds;
  command.effect = std::move(effect);
  Record(commands, std::move(command));
}

// Remembers the first mistake of a recording: vkEndCommandBuffer fails with it.
inline void RecordError(VkCommandBuffer commands, std::string error) {
  std::string& first = Of(commands)->error;
  if (first.empty()) first = std::move(error);
}

// The command of a label that is a directive. False with the message of ParseDirective.
bool ScriptCommand(std::string_view label, Command* command, std::string* error);

// True if a range lies in the buffer and the buffer has memory; a recording error otherwise.
bool CheckRange(VkCommandBuffer commands, const Buffer& buffer, VkDeviceSize offset,
                VkDeviceSize size_bytes, const char* function);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_RECORDING_H_
