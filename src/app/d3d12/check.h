// SPDX-License-Identifier: Apache-2.0
//
// CAIRN_CHECK=1: the layer checks itself while a program runs, and looks for objects that the program
// forgot. Findings go to stderr, each on a line that starts with "cairn check: "; the program's exit
// code is not touched.
//   - every wrapper that is passed to a call is the one that the registry knows for its real object;
//   - when an object ends, its real object has no reference left that nobody accounts for;
//   - when a device ends, none of its objects is alive; when the process ends, no device is;
//   - at the end of every device and of the process, one line sums up.
#ifndef CAIRN_APP_D3D12_CHECK_H_
#define CAIRN_APP_D3D12_CHECK_H_

#include <atomic>
#include <cstdint>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12Device;
class Wrapper;

// The results so far, in this process.
struct CheckCounts {
  std::atomic<uint64_t> unwraps{0};          // checked
  std::atomic<uint64_t> wrong_wrappers{0};   // the registry knows another wrapper, or none
  std::atomic<uint64_t> objects_ended{0};    // checked
  std::atomic<uint64_t> references_left{0};  // objects whose real object was still referenced
  std::atomic<uint64_t> leaked{0};           // objects alive when their device or the process ended
};

inline constinit std::atomic<bool> self_check_is_on{false};
inline bool SelfCheckIsOn() {
  return self_check_is_on.load(std::memory_order_relaxed);
}

// Called once, when the first device comes; afterwards nothing.
void StartSelfCheck();

const CheckCounts& SelfCheckCounts();

// All below do nothing but look, and are called only while the check is on.
void CheckUnwrap(const Wrapper& wrapper);
// `references_left`: what the last Release of the real object returned.
void CheckEnded(const Wrapper& wrapper, ULONG references_left);
// Call it before the device's real object is released.
void CheckDeviceEnds(const WrappedID3D12Device& device);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CHECK_H_
