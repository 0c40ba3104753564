// SPDX-License-Identifier: Apache-2.0
#include "cli/run_check.h"

#include <fmt/format.h>

#include <utility>

#include "cli/layer.h"
#include "format/file/file_reader.h"
#include "format/snapshot/snapshot_file.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/this_process.h"
#include "reader/serve/private_folder.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMostNs = 30 * kSecondNs;
constexpr uint64_t kMostKillNs = 2 * kSecondNs;

Status WaitForRun(Child child) {
  const uint64_t until_ns = MonotonicNs() + kMostNs;
  while (!child.WaitForEnd(kSecondNs)) {
    if (MonotonicNs() < until_ns) continue;
    if (!KillAndWait(child, kMostKillNs)) new Child(std::move(child));  // it is stuck in a driver
    return Status(StatusCode::kIo,
                  fmt::format("a run of this program did not end in {} s", kMostNs / kSecondNs));
  }
  const ProcessEnd end = child.End();
  if (end.kind == EndKind::kExited && end.value == 0) return Status();
  return Status(StatusCode::kIo,
                fmt::format("a run of this program ended with {} {}",
                            end.kind == EndKind::kExited ? "code" : "signal", end.value));
}

}  // namespace

Result<std::vector<DeviceOfRun>> TryD3D12Run() {
  if (IsNotForOtherPrograms()) {
    return Status(StatusCode::kUnsupported,
                  "a build with sanitizers; other programs cannot load its libraries");
  }
  Result<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string dump = TextOfPath(folder->path() / "run.cairn");
  Result<Child> child = Child::Start(
      {.purpose = "a run",
       .arguments = {"run", "--quiet", "--no-witnesses", "--hang-timeout", "0", "--dump-on-exit",
                     "-o", dump, "--", OwnProgramPath(), "selftest", "--api", "d3d12", "--alone"},
       .silent = true});
  if (!child.ok()) return child.status();
  CAIRN_RETURN_IF_ERROR(WaitForRun(std::move(*child)));
  const Result<FileReader> reader = FileReader::Open(dump);
  if (!reader.ok()) return reader.status();
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  if (!snapshot.ok()) return snapshot.status();
  std::vector<DeviceOfRun> devices;
  for (const Device& device : snapshot->devices) {
    if (device.api != Api::kD3D12) continue;
    devices.push_back({std::string(snapshot->Text(device.name)), device.method, device.memory});
  }
  return devices;
}

}  // namespace cairn::cli
