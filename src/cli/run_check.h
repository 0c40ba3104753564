// SPDX-License-Identifier: Apache-2.0
//
// Runs this program itself under cairn run, to see how breadcrumbs are recorded on the Direct3D 12 devices of this machine. The layers find other ways than a program that calls libcairn on its own.
#ifndef CAIRN_CLI_RUN_CHECK_H_
#define CAIRN_CLI_RUN_CHECK_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "format/block/block.h"

namespace cairn::cli {

struct DeviceOfRun {
  std::string name;
  WriteMethod method = WriteMethod::kNone;
  WordMemory memory = WordMemory::kNone;
};

// Starts "cairn run -- cairn selftest --api d3d12", and returns the Direct3D 12 devices in its dump. Takes as long as
// the self-test of these devices, 30 s at most. Errors: kUnsupported in builds whose layers other programs
// cannot load; kIo and others where the run did not end well.
Result<std::vector<DeviceOfRun>> TryD3D12Run();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_RUN_CHECK_H_
