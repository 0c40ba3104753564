// SPDX-License-Identifier: Apache-2.0
//
// ExactWork: around one command that gives work, in mode exact.
#ifndef CAIRN_APP_VULKAN_EXACT_WORK_H_
#define CAIRN_APP_VULKAN_EXACT_WORK_H_

#include <vulkan/vulkan_core.h>

#include "app/vulkan/exact.h"

namespace cairn {

enum class ExactKind : uint8_t {
  kInPass,  // only inside of render passes: a part of its own
  kWork,
  kSynchronisation,
};

class ExactWork {
 public:
  ExactWork(VkCommandBuffer commands, ExactKind kind)
      : commands_(*ExactCommandsOf(commands)), kind_(kind) {
    if (kind_ == ExactKind::kInPass) commands_.OpenPart();
  }
  ~ExactWork() {
    if (kind_ == ExactKind::kInPass) {
      commands_.ClosePart();
    } else {
      commands_.Serialise(kind_ == ExactKind::kWork ? ExactCommands::Behind::kWork
                                                    : ExactCommands::Behind::kSynchronisation);
    }
  }
  ExactWork(const ExactWork&) = delete;
  ExactWork& operator=(const ExactWork&) = delete;

  const DeviceFunctions& next() const { return commands_.next(); }

 private:
  ExactCommands& commands_;
  const ExactKind kind_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_WORK_H_
