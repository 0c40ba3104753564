// SPDX-License-Identifier: Apache-2.0
//
// The faults of why_program, by name, and their causes, which are known because we made them.
#ifndef CAIRN_TESTS_TRUTH_WHY_FAULTS_H_
#define CAIRN_TESTS_TRUTH_WHY_FAULTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "truth/why/machine.h"

namespace cairn::truth::why {

// Devices on which it can come.
enum class Shows : uint8_t {
  kAnywhere,
  kOnGpu,  // lavapipe runs one thing after the other, and keeps a pipeline as long as it needs it
  kOnCpu,  // needs freed memory back with what was in it, or memory of the driver itself
};

struct Fault {
  const char* name;
  const char* what;  // one clause
  const char*
      experiment;  // of cairn why --json: the cause; "none": no experiment helps; "": it does not fail
  // Experiments that help, too, separated by commas: "" for none.
  const char* also = "";
  Shows shows = Shows::kAnywhere;
  void (*run)(Machine& machine, const Fault& fault) = nullptr;
  Shader loop = {};  // has the loop that does not end
  Constants constants = {};
  uint32_t special = 0;
};

// In groups, as they are listed.
struct Group {
  const char* name;
  std::vector<Fault> faults;
};
const std::vector<Group>& Groups();
// Null if there is none of that name.
const Fault* FindFault(const std::string& name);

std::vector<Fault> LoopFaults();
std::vector<Fault> LifetimeFaults();
std::vector<Fault> MemoryFaults();
std::vector<Fault> RaceFaults();
std::vector<Fault> OtherFaults();
std::vector<Fault> HealthyPrograms();

// "file:line" of the line that ends with "// culprit" in the source that the SPIR-V holds, and "-" if there is none.
std::string CulpritLine(Shader shader);

// The device has too few queues, for example: ends the program with 77.
[[noreturn]] void CannotShow(const char* why);

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_FAULTS_H_
