// SPDX-License-Identifier: Apache-2.0
//
// The calls of a Vulkan program in the rings of its threads (app/recorder/call_ring.h), so that a report has the one
// that did not return, with its arguments. Functions that only answer (vkGet...) are not among them.
//
// Cost: vulkan_layer_bench, which records by functions that are noted.
#ifndef CAIRN_APP_VULKAN_NOTED_CALLS_H_
#define CAIRN_APP_VULKAN_NOTED_CALLS_H_

#include <vulkan/vulkan_core.h>

#include <string_view>

namespace cairn {

class BlockWriter;

// Records calls into this block from now on. Any thread.
void StartNotingCalls(BlockWriter* block);

// The function of that name, for devices with breadcrumbs: it notes the call and makes it, by `ours` if that is not
// null, otherwise by the device's DeviceFunctions. Null for a function whose calls are not noted.
PFN_vkVoidFunction FindNotedCall(std::string_view name, PFN_vkVoidFunction ours);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_NOTED_CALLS_H_
