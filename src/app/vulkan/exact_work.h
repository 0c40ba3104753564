// SPDX-License-Identifier: Apache-2.0
//
// ExactWork: around one command that gives work, where DeviceState::exact is.
#ifndef CAIRN_APP_VULKAN_EXACT_WORK_H_
#define CAIRN_APP_VULKAN_EXACT_WORK_H_

#include <vulkan/vulkan_core.h>

#include "app/vulkan/exact.h"
#include "app/vulkan/experiment_counts.h"

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
    if (kind_ == ExactKind::kInPass) {
      commands_.OpenPart();
      // The render pass is the piece of work of an experiment.
      if (commands_.device().has_barriers_alone()) CountNotChanged();
    } else if (kind_ == ExactKind::kWork) {
      commands_.Precede();
    }
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
