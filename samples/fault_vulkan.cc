// SPDX-License-Identifier: Apache-2.0
//
// One dispatch stores through an address where nothing is. On lavapipe that is a SIGSEGV in a thread
// of the driver; an NVIDIA GPU loses its device after about a second.
#include <fmt/format.h>

#include "embedded/fault.comp.spv.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kWords = 1024;
// The first page of an address space is never mapped, but drivers place small null descriptors there;
// this is far from it and from everything that allocators hand out.
constexpr uint64_t kBadAddress = 0x00000bad'dead0000;

struct FaultConstants {
  uint32_t address_low;
  uint32_t address_high;
  uint32_t value;
};

FaultConstants Store(uint64_t address, uint32_t value) {
  return {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), value};
}

void Run(const sample::Options& options, uint64_t address) {
  sample::Device device("sample-fault-vulkan", options);
  const sample::Buffer buffer = device.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(device, buffer);
  const sample::Pipeline scatter = sample::CreateComputePipeline(
      device, "Scatter", {kFaultCompSpv, sizeof(kFaultCompSpv), "ScatterCS"}, buffer);
  const FaultConstants good = Store(buffer.address, 7);
  const FaultConstants bad = Store(address, 7);

  const sample::List list = device.BeginList(device.graphics(), "Main");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Prepare");
      sample::DispatchFill(list, "Clear", fill, {0, 0, kWords});
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Particles");
      sample::Dispatch(list, "Scatter to a buffer", scatter, &good, sizeof(good), 1);
      sample::Dispatch(list, "Scatter to nowhere", scatter, &bad, sizeof(bad), 1);
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Resolve");
      sample::DispatchFill(list, "Resolve", fill, {1, 0, kWords});
    }
  }
  device.EndList(list);
  fmt::print("sample-fault-vulkan: dispatch \"Scatter to nowhere\" stores at {:#x}\n", address);
  std::fflush(stdout);
  device.WaitOrReportLoss(device.Submit(device.graphics(), {list}), 10);
  fmt::print("sample-fault-vulkan: this device ignored the store\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Dispatches a store to an address where nothing is.");
  sample::Options options;
  sample::AddOptions(line, &options);
  uint64_t address = kBadAddress;
  line.Number("--address", &address, "where to store, a multiple of 4");
  line.Read(argc, argv);
  if (address % 4 != 0) sample::Fail("--address is no multiple of 4");
  Run(options, address);
  return 0;
}
