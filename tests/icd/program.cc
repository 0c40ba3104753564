// SPDX-License-Identifier: Apache-2.0
//
// icd_program SCENARIO [--explicit]: does what tests/vulkan_pitfalls_test.cc and
// tests/vulkan_layer_icd_test.cc want to see in a report, and ends as the scenario says: killed by
// itself, with 1 after a lost device, or never, having said that it is ready.
#include <cstdio>
#include <cstring>

#include "icd/program_scenarios.h"

int main(int argc, char** argv) {
  const bool explicit_cairn = argc == 3 && std::strcmp(argv[2], "--explicit") == 0;
  if (argc < 2 || argc > 3 || (argc == 3 && !explicit_cairn)) {
    std::fprintf(stderr, "usage: icd_program SCENARIO [--explicit]\n");
    return 2;
  }
  const auto run = cairn::icd::FindScenario(argv[1]);
  if (run == nullptr) {
    std::fprintf(stderr, "icd_program: no scenario \"%s\"\n", argv[1]);
    return 2;
  }
  cairn::icd::ProgramDevice device(explicit_cairn);
  return run(device);
}
