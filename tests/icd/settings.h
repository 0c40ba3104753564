// SPDX-License-Identifier: Apache-2.0
//
// The environment variable CAIRN_ICD: what the test driver's device lacks, and how it runs.
#ifndef CAIRN_TESTS_ICD_SETTINGS_H_
#define CAIRN_TESTS_ICD_SETTINGS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace cairn::icd {

struct Settings {
  std::set<std::string, std::less<>> missing_extensions;
  bool no_vendor_binary = false;
  bool refuse_imports = false;   // the extension is there, and every import fails
  bool reuse_addresses = false;  // freed GPU addresses are given away again
  bool nvidia = false;           // says that it is NVIDIA's, by vendor and driver
  bool radv = false;             // says that it is Mesa's for AMD, by driver
  bool lazy = false;             // submitting takes no steps; only waiting and asking do
  bool dies = false;             // the process, when a device is made
  bool sticks = false;           // making a device never ends
  // Made when a work hangs; while it is there, making a device does not end. "": no such file.
  std::string sticks_after_hang;
  bool draws_stick = false;  // not making a device, but making a pipeline for draws
  uint32_t bottom_line_limit = 64;

  bool Has(std::string_view extension) const { return !missing_extensions.contains(extension); }
};

// Parses the comma-separated words that README.md lists. False with a message for an unknown one.
bool ParseSettings(std::string_view text, Settings* settings, std::string* error);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_SETTINGS_H_
