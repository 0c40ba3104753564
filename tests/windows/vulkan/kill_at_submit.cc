// SPDX-License-Identifier: Apache-2.0
//
// In a program of Vulkan: ends it as Task Manager would, behind its 50th vkQueueSubmit, while the GPU begins with that.
#include <vulkan/vulkan_core.h>

#include "tests/windows/layered/replace_import.h"

namespace {

constexpr unsigned kLast = 50;

PFN_vkQueueSubmit next = nullptr;
unsigned calls = 0;

VkResult VKAPI_CALL OnQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                  VkFence fence) {
  const VkResult result = next(queue, count, submits, fence);
  if (++calls == kLast) TerminateProcess(GetCurrentProcess(), 1);
  return result;
}

}  // namespace

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  return reason != DLL_PROCESS_ATTACH ||
         cairn::testing::ReplaceImport("vkQueueSubmit", &OnQueueSubmit, &next);
}
