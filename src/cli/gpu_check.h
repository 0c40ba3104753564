// SPDX-License-Identifier: Apache-2.0
//
// Checks that the GPUs of this machine are free, for searches that make them fail. The work of a
// killed program may run on a GPU for minutes, and other work waits for it: a program that runs
// meanwhile fails, and a search would take the work that it has just left in for the culprit.
#ifndef CAIRN_CLI_GPU_CHECK_H_
#define CAIRN_CLI_GPU_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/status.h"

namespace cairn::cli {

class GpuCheck {
 public:
  // `most_ns`: how long GPUs may take to be well again; 0: nothing is checked. Calls `keep_on`
  // several times a second; false ends a wait. Calls `waits` when a wait gets long, with a text for
  // the user.
  GpuCheck(uint64_t most_ns, std::function<bool()> keep_on,
           std::function<void(const std::string&)> waits)
      : most_ns_(most_ns), keep_on_(std::move(keep_on)), waits_(std::move(waits)) {}

  // Before each run: waits until each Vulkan device of the machine has finished a dispatch, and a draw if what is run
  // draws, if the run before failed; before the first run in any case. Behind a fault of memory or a hang on a GPU of NVIDIA
  // draws of all processes may hang for minutes, and dispatches not. Where the first time tells nothing (there is no such device, or
  // the process for it cannot be made) no later run is waited for. Errors: kUnsupported: a GPU does not get well,
  // with the next step; kInterrupted.
  Status BeforeRun();
  void RunFailed() { due_ = true; }
  // Says that the runs do more than dispatch. Until then BeforeRun() tries only dispatches.
  void RunDraws() { draws_ = true; }

 private:
  enum class Health : uint8_t { kWell, kIll, kUnknown };
  Result<Health> Ask(uint64_t until_ns, bool first);
  std::string Words(const char* what, bool first) const;

  const uint64_t most_ns_;
  const std::function<bool()> keep_on_;
  const std::function<void(const std::string&)> waits_;
  bool first_ = true;
  bool draws_ = false;
  bool due_ = true;
  bool off_ = false;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_GPU_CHECK_H_
