// SPDX-License-Identifier: Apache-2.0
//
// How calls of the application make time pass.
#ifndef CAIRN_TESTS_ICD_WAITING_H_
#define CAIRN_TESTS_ICD_WAITING_H_

#include "icd/objects.h"

namespace cairn::icd {

// Steps until `done` holds: VK_SUCCESS. VK_ERROR_DEVICE_LOST once the device is lost; VK_TIMEOUT when
// nothing moves any more, at once, however long the timeout: nothing ever would. Only an infinite
// timeout waits, for what other threads submit or signal. `timeout_ns` 0 takes no step unless the
// device is lazy, in which case it takes one.
template <typename Done>
VkResult StepUntil(Device* device, uint64_t timeout_ns, const Done& done) {
  VkResult result = VK_TIMEOUT;
  {
    std::unique_lock lock(device->mutex);
    while (true) {
      if (device->processor->lost()) {
        result = VK_ERROR_DEVICE_LOST;
        break;
      }
      if (done()) {
        result = VK_SUCCESS;
        break;
      }
      const bool moved = device->processor->Step();
      if (timeout_ns == 0) {
        if (device->processor->lost()) {
          result = VK_ERROR_DEVICE_LOST;
        } else if (done()) {
          result = VK_SUCCESS;
        }
        break;
      }
      if (moved) continue;
      if (timeout_ns != UINT64_MAX) break;
      device->changed.wait(lock);
    }
  }
  device->changed.notify_all();
  TellScriptedBindings(device);
  return result;
}

// After something was put into a queue or signalled by the host. Without Device::mutex.
void Proceed(Device* device);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_WAITING_H_
