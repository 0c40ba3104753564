// SPDX-License-Identifier: Apache-2.0
//
// The input of the hash that WitnessMachine() returns.
#ifndef CAIRN_CLI_WITNESS_MACHINE_H_
#define CAIRN_CLI_WITNESS_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/file.h"

namespace cairn::cli {

class Machine {
 public:
  // Adds the environment variables about drivers and devices.
  void AddEnvironment();
  void AddText(std::string_view kind, std::string_view text);
  // Adds the time of the file's last change, not its contents. Adds nothing if the file does not
  // exist.
  void AddFile(const FilePath& path);
  // Manifests of drivers: one, or all of a folder.
  void AddDriver(const FilePath& path);
  void AddDrivers(const FilePath& folder);

  // 0 without drivers.
  uint64_t hash() const;

 private:
  std::string text_;
  size_t driver_count_ = 0;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WITNESS_MACHINE_H_
