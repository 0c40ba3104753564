// SPDX-License-Identifier: Apache-2.0
//
// why_program: fails in one way, chosen by name, whose cause is known. It knows nothing of Cairn. README.md.
#include <memory>

#include "truth/why/command_line.h"
#include "truth/why/faults.h"

int main(int argc, char** argv) {
  using namespace cairn::truth::why;
  const Options options = ReadOptions(argc, argv, "why_program", "Vulkan");
  return RunFaults(
      options, Groups(), [](const Fault& fault) { return CulpritLine(fault.culprit); },
      [&] { return std::make_unique<Machine>(options.scripted); });
}
