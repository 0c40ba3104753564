// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>

#include "icd/program_scenarios.h"

namespace cairn::icd {
namespace {

std::string Hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

int HitWith(ProgramDevice& device, const std::string& directive) {
  const std::string step = "icd: " + directive;
  return RunUntilLost(device,
                      Recorded(device, {"First", "|", step.c_str(), "Culprit", "|", "Last"}));
}

// The device is lost with nothing left to run.
int LoseIdle(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"icd: device-lost", "|"}, "Loss"));
}

int FaultOwned(ProgramDevice& device) {
  const ProgramBuffer before = device.CreateBuffer(4096, "Vertices");
  const ProgramBuffer hit = device.CreateBuffer(8192, "Particles");
  const ProgramBuffer behind = device.CreateBuffer(4096, "Indices");
  static_cast<void>(before);
  static_cast<void>(behind);
  return HitWith(device, "fault " + Hexadecimal(hit.address + 256) + " write");
}

int FaultFreed(ProgramDevice& device) {
  const ProgramBuffer kept = device.CreateBuffer(4096, "Kept");
  const ProgramBuffer freed = device.CreateBuffer(4096, "Freed");
  static_cast<void>(kept);
  device.Destroy(freed);
  return HitWith(device, "fault " + Hexadecimal(freed.address + 16) + " read");
}

// The buffer lives, its memory does not.
int FaultMemoryFreed(ProgramDevice& device) {
  const ProgramBuffer orphan = device.CreateBuffer(4096, "Orphan");
  device.FreeMemoryOf(orphan);
  return HitWith(device, "fault " + Hexadecimal(orphan.address + 16) + " read");
}

int FaultNeverMapped(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Nearest");
  return HitWith(device, "fault " + Hexadecimal(buffer.address + 0x8000) + " read precision 4096");
}

int FaultWithoutAddress(ProgramDevice& device) {
  return HitWith(device, "fault");
}

int VendorBinary(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"icd: vendor-info 7 0xabc page table walk",
                                                "icd: vendor-binary the bytes of the vendor",
                                                "icd: fault 0x10 execute", "Culprit"}));
}

int DeviceLost(ProgramDevice& device) {
  return RunUntilLost(
      device, Recorded(device, {"icd: duration 1000", "icd: device-lost after 20", "Culprit"}));
}

// The fault is hidden when it happens, and told when the device is lost for another reason.
int MaskedFault(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Scribbled on");
  const std::string fault = "icd: masked-fault " + Hexadecimal(buffer.address) + " write";
  return RunUntilLost(device,
                      Recorded(device, {fault.c_str(), "Scribbler", "|", "icd: duration 1000",
                                        "icd: device-lost after 20", "Culprit"}));
}

// The fault is hidden when it happens, and told when the device is lost with nothing left to run.
int MaskedFaultAtTheEnd(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Scribbled on");
  const std::string fault = "icd: masked-fault " + Hexadecimal(buffer.address) + " write";
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Add({"First", "|", fault.c_str(), "Scribbler", "|"});
  list.Copy("Copied", buffer);
  list.Barrier();
  list.End();
  return device.SubmitAndWait(device.graphics(), {list}) ? LoseIdle(device) : 2;
}

// One draw fetches from a buffer that was destroyed, and the GPU goes on, as an H100 did: it draws nothing, all that
// is behind it runs and finishes, and the device is lost then.
int MaskedFetch(ProgramDevice& device, bool of_indices) {
  const ProgramBuffer kept = device.CreateBuffer(4096, "Kept");
  const ProgramBuffer victim = device.CreateBuffer(4096, "Victim");
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.BeginRendering();
  list.BindVertices(kept);
  list.BindIndices(kept);
  list.DrawIndexed("Terrain");
  of_indices ? list.BindIndices(victim) : list.BindVertices(victim);
  list.Script("masked-fault " + Hexadecimal(victim.address + 16) + " read");
  list.DrawIndexed("Foliage");
  list.BindVertices(kept);
  list.BindIndices(kept);
  list.DrawIndexed("Rocks");
  list.EndRendering();
  list.Add({"|", "Lighting"});
  list.End();
  device.Destroy(victim);
  return device.SubmitAndWait(device.graphics(), {list}) ? LoseIdle(device) : 2;
}
int MaskedFetchOfVertices(ProgramDevice& device) {
  return MaskedFetch(device, false);
}
int MaskedFetchOfIndices(ProgramDevice& device) {
  return MaskedFetch(device, true);
}

// The words do not tell that the culprit began; a checkpoint of the driver does.
int LostTopAndDevice(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"First", "|", "icd: device-lost after 40",
                                                "icd: lose top", "icd: hang", "Culprit"}));
}

// Two works that must not run beside each other, and do.
int MissingBarrier(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"Before", "|", "icd: duration 40", "Writes",
                                                "icd: race", "Reads"}));
}

// Accesses that features of the device make harmless.
int BeyondVertices(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"Before", "|", "icd: miss buffer", "Reads"}));
}
int OutsideOfImage(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"Before", "|", "icd: miss image", "Reads"}));
}
int NullDescriptor(ProgramDevice& device) {
  return RunUntilLost(device, Recorded(device, {"Before", "|", "icd: miss descriptor", "Reads"}));
}

// The same on two queues. On a lazy device nothing runs before both are submitted.
int RacingQueues(ProgramDevice& device) {
  const ProgramList writes = Recorded(device, {"icd: duration 40", "Writes"});
  ProgramList reads = device.Begin(device.compute(), "Async");
  reads.Add({"Before", "|", "icd: race", "Reads"});
  reads.End();
  if (!device.Submit(device.graphics(), {writes}, {}, VK_NULL_HANDLE)) return 1;
  return device.SubmitAndWait(device.compute(), {reads}) ? 0 : 1;
}

// Nobody named the buffer: what it was made as has to tell which one it is.
int FaultUnnamed(ProgramDevice& device) {
  const ProgramBuffer hit = device.CreateBuffer(65536, "");
  return HitWith(device, "fault " + Hexadecimal(hit.address + 256) + " write");
}

// Submissions of the same pipeline end, one after the other; the last one does not.
int HangBehindOthers(ProgramDevice& device) {
  for (int i = 0; i < 5; ++i) {
    if (!device.SubmitAndWait(device.graphics(), {Recorded(device, {"Usual"}, "Before")})) return 1;
  }
  return Run(device, Recorded(device, {"icd: hang", "Culprit"}));
}

// More than the device has, twice, and then the device is lost.
int OutOfMemory(ProgramDevice& device) {
  const ProgramBuffer kept = device.CreateBuffer(1 << 20, "Kept");
  static_cast<void>(kept);
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  for (const VkDeviceSize size_bytes : {VkDeviceSize{5} << 30, VkDeviceSize{6} << 30}) {
    info.allocationSize = size_bytes;
    if (vkAllocateMemory(device.device(), &info, nullptr, &memory) !=
        VK_ERROR_OUT_OF_DEVICE_MEMORY) {
      return 2;
    }
  }
  return DeviceLost(device);
}

constexpr Scenario kScenarios[] = {
    {"fault-unnamed", FaultUnnamed},
    {"hang-behind-others", HangBehindOthers},
    {"out-of-memory", OutOfMemory},
    {"fault-owned", FaultOwned},
    {"fault-freed", FaultFreed},
    {"fault-memory-freed", FaultMemoryFreed},
    {"fault-never-mapped", FaultNeverMapped},
    {"fault-without-address", FaultWithoutAddress},
    {"beyond-vertices", BeyondVertices},
    {"missing-barrier", MissingBarrier},
    {"null-descriptor", NullDescriptor},
    {"outside-of-image", OutsideOfImage},
    {"racing-queues", RacingQueues},
    {"vendor-binary", VendorBinary},
    {"device-lost", DeviceLost},
    {"masked-fault", MaskedFault},
    {"masked-fault-at-the-end", MaskedFaultAtTheEnd},
    {"masked-fetch-of-vertices", MaskedFetchOfVertices},
    {"masked-fetch-of-indices", MaskedFetchOfIndices},
    {"lost-top-and-device", LostTopAndDevice},
};

}  // namespace

std::span<const Scenario> FaultScenarios() {
  return kScenarios;
}

}  // namespace cairn::icd
