// SPDX-License-Identifier: Apache-2.0
//
// cairn witness-probe: measures behind which barriers the GPUs of this machine wait, for cairn run, which is told
// through memory. Not for people.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "app/breadcrumbs/vulkan_witness_probe.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "cli/witness_status.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/clock.h"

namespace cairn::cli {
namespace {

constexpr char kWitnessProbeExamples[] =
    "Examples:\n"
    "  cairn run -- ./game   starts it, once for each device and driver";

class Teller final : public WitnessListener {
 public:
  Teller(WitnessStatus* status, uint64_t now_s)
      : status_(status), now_s_(now_s), known_(status->Read()) {}

  bool Wants(const WitnessKey& key) override {
    return std::none_of(known_.begin(), known_.end(),
                        [&](const DeviceWitnesses& known) { return known.key == key; });
  }
  // What stays if this is the last that is heard.
  void OnBegin(const WitnessKey& key) override {
    DeviceWitnesses device;
    device.key = key;
    device.measured_s = now_s_;
    device.outcome = WitnessOutcome::kHung;
    status_->Add(device);
  }
  void OnProgress() override { ++status_->steps; }
  void OnEnd(const DeviceWitnesses& device) override {
    status_->Add(device);
    known_.push_back(device);
  }

 private:
  WitnessStatus* const status_;
  const uint64_t now_s_;
  std::vector<DeviceWitnesses> known_;
};

int ProbeWitnesses() {
  Result<ChildStatus<WitnessStatus>> status = ChildStatus<WitnessStatus>::OfThisProcess();
  if (!status.ok()) {
    PrintError("witness-probe", "cairn run starts it; say cairn run -- PROGRAM");
    return kExitUsage;
  }
  // Its death is no surprise.
  LeaveNoDump();
  const uint64_t now_s = RealtimeNs() / 1'000'000'000;
  Teller teller(&**status, now_s);
  const Status measured = MeasureAllWitnesses(now_s, &teller);
  // A device that was lost may never be done with what it was given: nothing is destroyed.
  std::_Exit(measured.ok() || measured.code() == StatusCode::kNotFound ? 0 : kExitFailed);
}

}  // namespace

Verb AddWitnessProbeVerb(CLI::App& root) {
  Command command(root, "witness-probe", "Measures barriers for cairn run.", "cairn witness-probe",
                  kWitnessProbeExamples);
  command.Hide();
  return {command.app(), ProbeWitnesses};
}

}  // namespace cairn::cli
