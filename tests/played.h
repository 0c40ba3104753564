// SPDX-License-Identifier: Apache-2.0
//
// For tests that play traces: some of samples, recorded on Linux (golden/played), and what they are played on.
#ifndef CAIRN_TESTS_PLAYED_H_
#define CAIRN_TESTS_PLAYED_H_

#include <string>

#include "harness.h"

namespace cairn::testing {

inline const std::string kPlayed = CAIRN_SOURCE_DIR "/tests/golden/played/";

// Returns why tests that play are skipped; "": they are not. On Windows only: not every Wine has a
// device of Direct3D 12.
inline const std::string& WhyNothingIsPlayed() {
#if defined(_WIN32)
  static const std::string why = [] {
    const CommandResult result =
        RunCommand({Program("cairn"), "replay", "--quiet", kPlayed + "triangle.cairn"}, {});
    const bool no_device = result.errors.find("no device with feature level") != std::string::npos;
    return no_device ? result.errors : std::string();
  }();
#else
  static const std::string why;
#endif
  return why;
}

// Returns the device's name in playbacks: the beginning of the name of LavapipeEnvironment()'s
// device, which DXGI invents under Wine, and the library.
inline std::string LavapipeName() {
#if defined(_WIN32)
  return "";
#else
  return "llvmpipe";
#endif
}
inline std::string Direct3D12Library() {
#if defined(_WIN32)
  return "d3d12.dll";
#else
  return "libvkd3d-utils.so.1";
#endif
}

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_PLAYED_H_
