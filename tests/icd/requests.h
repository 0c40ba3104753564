// SPDX-License-Identifier: Apache-2.0
//
// What instances and devices were asked for, as it reached the driver: a line each in the file that the
// environment variable CAIRN_ICD_REQUESTS names, in the order of the calls.
#ifndef CAIRN_TESTS_ICD_REQUESTS_H_
#define CAIRN_TESTS_ICD_REQUESTS_H_

#include <vulkan/vulkan_core.h>

namespace cairn::icd {

void NoteRequest(const VkInstanceCreateInfo& info);
void NoteRequest(const VkDeviceCreateInfo& info);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_REQUESTS_H_
