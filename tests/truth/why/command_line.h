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
  std::string
      scripted;  // the library of tests/icd, which runs the program; "" for any other driver
};

// Ends the program with what is wrong, or with the help. `program`: its name; `device`: "Vulkan", for example.
Options ReadOptions(int argc, char** argv, const char* program, const char* device);
// Ends the program if it is no size.
Size ReadSize(const std::string& text);

// Does what the command line says; returns the exit code. `make_machine` returns a std::unique_ptr.
template <typename MakeMachine, typename Fault, typename LoopOf>
int RunFaults(const Options& options, const std::vector<GroupOf<Fault>>& groups,
              const LoopOf& loop_of, const MakeMachine& make_machine) {
  if (options.list) {
    ListFaults(groups, loop_of);
    return 0;
  }
  const Fault* fault = FindFault(groups, options.fault);
  if (fault == nullptr) End(2, "no fault \"" + options.fault + "\"; --list names them");
  const auto made = make_machine();
  auto& machine = *made;
  machine.SetLimit(options.limit_s);
  const bool is_scripted = !options.scripted.empty();
  if (options.size.empty()) {
    machine.Measure(options.seconds);
  } else {
    machine.SetSize(ReadSize(options.size));
  }
  if (options.measure) {
    const Size& size = machine.size();
    const char* const kind = is_scripted ? "scripted" : machine.on_cpu() ? "cpu" : "gpu";
    std::printf("%s %u,%u,%u\n", kind, size.groups, size.trips, size.crowd);
    return 0;
  }
  if (is_scripted && !fault->scripted) CannotShow("a scripted driver runs no shaders");
  if ((fault->shows == Shows::kOnGpu && machine.on_cpu()) ||
      (fault->shows == Shows::kOnCpu && !machine.on_cpu())) {
    CannotShow("this kind of device does not show it");
  }
  fault->run(machine, *fault);
  return 0;
}

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_COMMAND_LINE_H_
