// SPDX-License-Identifier: Apache-2.0
//
// The command line of why_program and of why_d3d12_program.
#ifndef CAIRN_TESTS_TRUTH_WHY_COMMAND_LINE_H_
#define CAIRN_TESTS_TRUTH_WHY_COMMAND_LINE_H_

#include <cstdio>
#include <string>
#include <vector>

#include "truth/why/cause.h"
#include "truth/why/size.h"

namespace cairn::truth::why {

// The device is lost, for example. Nothing is destroyed: a device that hangs may never let it be.
[[noreturn]] void End(int code, const std::string& why);
// The device has too few queues, for example: ends the program with 77.
[[noreturn]] void CannotShow(const char* why);

struct Options {
  std::string fault = "healthy";
  bool list = false;
  bool measure = false;
  double seconds = 12;
  double limit_s = 60;
  std::string size;
};

// Ends the program with what is wrong, or with the help. `program`: its name; `device`: "Vulkan", for example.
Options ReadOptions(int argc, char** argv, const char* program, const char* device);
// Ends the program if it is no size.
Size ReadSize(const std::string& text);

// Does what the command line says; returns the exit code.
template <typename Machine, typename Fault, typename LoopOf>
int RunFaults(const Options& options, const std::vector<GroupOf<Fault>>& groups,
              const LoopOf& loop_of) {
  if (options.list) {
    ListFaults(groups, loop_of);
    return 0;
  }
  const Fault* fault = FindFault(groups, options.fault);
  if (fault == nullptr) End(2, "no fault \"" + options.fault + "\"; --list names them");
  Machine machine;
  machine.SetLimit(options.limit_s);
  if (options.size.empty()) {
    machine.Measure(options.seconds);
  } else {
    machine.SetSize(ReadSize(options.size));
  }
  if (options.measure) {
    const Size& size = machine.size();
    std::printf("%s %u,%u,%u\n", machine.on_cpu() ? "cpu" : "gpu", size.groups, size.trips,
                size.crowd);
    return 0;
  }
  if ((fault->shows == Shows::kOnGpu && machine.on_cpu()) ||
      (fault->shows == Shows::kOnCpu && !machine.on_cpu())) {
    CannotShow("this kind of device does not show it");
  }
  fault->run(machine, *fault);
  return 0;
}

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_COMMAND_LINE_H_
