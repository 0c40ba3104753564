// SPDX-License-Identifier: Apache-2.0
//
// An event for ID3D12Fence::SetEventOnCompletion. In a file named for the operating system.
#ifndef CAIRN_SAMPLES_WAIT_EVENT_H_
#define CAIRN_SAMPLES_WAIT_EVENT_H_

#include <cstdint>

namespace sample {

class WaitEvent {
 public:
  WaitEvent();
  ~WaitEvent();
  WaitEvent(const WaitEvent&) = delete;
  WaitEvent& operator=(const WaitEvent&) = delete;

  // On Linux a descriptor of eventfd(2), as a natively built vkd3d-proton takes it.
  void* handle() const { return reinterpret_cast<void*>(handle_); }
  // Waits until it is set, and resets it. Returns false after that time.
  bool Wait(uint32_t timeout_ms) const;

 private:
  intptr_t handle_;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_WAIT_EVENT_H_
