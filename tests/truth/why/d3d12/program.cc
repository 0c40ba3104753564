// SPDX-License-Identifier: Apache-2.0
//
// why_d3d12_program: why_program (../program.cc), of Direct3D 12 on libvkd3d.
#include <memory>

#include "truth/why/command_line.h"
#include "truth/why/d3d12/faults.h"

int main(int argc, char** argv) {
  using namespace cairn::truth::why;
  const Options options = ReadOptions(argc, argv, "why_d3d12_program", "Direct3D 12");
  return RunFaults(options, d3d12::Groups(), d3d12::LoopOf,
                   [] { return std::make_unique<d3d12::Machine>(); });
}
