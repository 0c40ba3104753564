// SPDX-License-Identifier: Apache-2.0
//
// A fault of why_program and of why_d3d12_program: each has a name, and a cause.
#ifndef CAIRN_TESTS_TRUTH_WHY_CAUSE_H_
#define CAIRN_TESTS_TRUTH_WHY_CAUSE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace cairn::truth::why {

// Devices on which it can come.
enum class Shows : uint8_t {
  kAnywhere,
  kOnGpu,  // lavapipe runs one thing after the other, keeps a pipeline as long as it needs it, and bounds descriptors
  kOnCpu,  // needs freed memory back with what was in it, or memory of the driver itself
};

// Code that is embedded in the program.
struct Shader {
  constexpr Shader() = default;
  template <size_t size>
  constexpr Shader(const unsigned char (&bytes)[size]) : code(bytes, size) {}

  std::span<const unsigned char> code;
};

// `Machine`: what it runs on; `Constants`: those of its shaders.
template <typename Machine, typename Constants>
struct FaultOf {
  const char* name;
  const char* what;  // one clause
  const char*
      experiment;  // of cairn why --json: the cause; "none": no experiment helps; "": it does not fail
  // Experiments that help, too, separated by commas: "" for none.
  const char* also = "";
  Shows shows = Shows::kAnywhere;
  bool scripted = false;  // the driver of tests/icd, which runs no shader, shows it as well
  void (*run)(Machine& machine, const FaultOf& fault) = nullptr;
  Shader culprit;  // has the loop that does not end, or the access that is out of bounds
  Constants constants;
  uint32_t special = 0;
  uint32_t loop_index = 0;  // its place among the loops of the shader
};

// In groups, as they are listed.
template <typename Fault>
struct GroupOf {
  const char* name;
  std::vector<Fault> faults;
};

// Null if there is none of that name.
template <typename Fault>
const Fault* FindFault(const std::vector<GroupOf<Fault>>& groups, const std::string& name) {
  for (const GroupOf<Fault>& group : groups) {
    for (const Fault& fault : group.faults) {
      if (name == fault.name) return &fault;
    }
  }
  return nullptr;
}

// Prints them as README.md says. `loop_of`: where the loop of a fault is, or "-".
template <typename Fault, typename LoopOf>
void ListFaults(const std::vector<GroupOf<Fault>>& groups, const LoopOf& loop_of) {
  constexpr const char* kShows[] = {"any", "gpu", "cpu"};
  const auto or_none = [](const char* text) { return *text == '\0' ? "-" : text; };
  for (const GroupOf<Fault>& group : groups) {
    for (const Fault& fault : group.faults) {
      std::printf("%s\t%s\t%s%s\t%s\t%s\t%s\t%s\n", fault.name, group.name,
                  kShows[static_cast<int>(fault.shows)], fault.scripted ? ",scripted" : "",
                  or_none(fault.experiment), or_none(fault.also), loop_of(fault).c_str(),
                  fault.what);
    }
  }
}

}  // namespace cairn::truth::why

#endif  // CAIRN_TESTS_TRUTH_WHY_CAUSE_H_
