// SPDX-License-Identifier: Apache-2.0
//
// In a program of Vulkan: ends it as Task Manager would, behind its 50th vkQueueSubmit, whose work the GPU is given many
// times more: it is far from done.
#include <vulkan/vulkan_core.h>

#include "tests/windows/layered/replace_import.h"

namespace {

constexpr unsigned kLast = 50;
constexpr int kMore = 200;

PFN_vkQueueSubmit next = nullptr;
unsigned calls = 0;

VkResult VKAPI_CALL OnQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                  VkFence fence) {
  if (++calls < kLast) return next(queue, count, submits, fence);
  VkSubmitInfo work = submits[0];
  work.waitSemaphoreCount = 0;
  work.signalSemaphoreCount = 0;
  for (int i = 0; i < kMore; ++i) next(queue, 1, &work, VK_NULL_HANDLE);
  TerminateProcess(GetCurrentProcess(), 1);
  return VK_ERROR_DEVICE_LOST;
}

}  // namespace

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  return reason != DLL_PROCESS_ATTACH ||
         cairn::testing::ReplaceImport("vkQueueSubmit", &OnQueueSubmit, &next);
}
