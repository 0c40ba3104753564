// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cli/witness_machine.h"
#include "cli/witnesses.h"
#include "os/environment.h"
#include "os/registered_drivers.h"

namespace cairn::cli {

const char kNoWitnessCache[] = "LOCALAPPDATA names no folder to keep it in";

std::string CacheFolder() {
  const char* const folder = OwnVariable("LOCALAPPDATA");
  if (folder == nullptr || !FilePath(folder).is_absolute()) return "";
  return TextOfPath(FilePath(folder) / "cairn");
}

uint64_t WitnessMachine() {
  Machine machine;
  machine.AddEnvironment();
  for (const VulkanDriver& driver : RegisteredVulkanDrivers()) {
    machine.AddText(driver.device, driver.version);
    machine.AddDriver(driver.manifest);
  }
  return machine.hash();
}

}  // namespace cairn::cli
