// SPDX-License-Identifier: Apache-2.0
//
// A dispatch that takes as many seconds as asked on whatever device this is, and always ends: for the
// samples that pretend to hang.
#ifndef CAIRN_SAMPLES_VULKAN_SLOW_WORK_H_
#define CAIRN_SAMPLES_VULKAN_SLOW_WORK_H_

#include "vulkan_work.h"

namespace sample {

// hang.comp: every thread runs `trips` trips of 64 rounds.
struct SlowConstants {
  uint32_t trips;
  uint32_t seed;
};
struct SlowWork {
  Pipeline pipeline;
  SlowConstants constants = {};
  uint32_t group_count = 0;
};

// Measures the device with short dispatches (under a second in all on most devices), then sizes the
// work. `seconds` is 0.1 to 600. The bounds of the shader and of dispatches cap the result.
SlowWork CreateSlowWork(Device& device, const char* name, double seconds);

}  // namespace sample

#endif  // CAIRN_SAMPLES_VULKAN_SLOW_WORK_H_
