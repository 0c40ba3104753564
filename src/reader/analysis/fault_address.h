// SPDX-License-Identifier: Apache-2.0
//
// Finds the owner of a faulting address: a living object, a destroyed one, or none.
#ifndef CAIRN_READER_ANALYSIS_FAULT_ADDRESS_H_
#define CAIRN_READER_ANALYSIS_FAULT_ADDRESS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/analysis.h"

namespace cairn {

enum class AddressState : uint8_t {
  kOwned,        // in an object that lives: the access is wrong, or its kind is
  kFreed,        // in none that lives, but in one that was destroyed
  kNeverMapped,  // in no object that is known
  kNoAddress,    // the driver gave none
};

// Both ends are part of it: the last byte of the address space has an address, and what is behind it none.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;
};
// Returns true if the object, alive or destroyed, has a GPU address.
inline bool HasGpuRange(const Object& object) {
  return object.state != ObjectState::kFree && object.gpu_address != 0 &&
         HasGpuAddresses(object.kind);
}
// Returns the address range of an object; empty if the object has no size.
AddressRange RangeOf(const Object& object);

struct AddressOwner {
  uint32_t object = kNone;  // into Snapshot::objects
  // The reported address lies in it. Otherwise only a part of the range that the address stands for does.
  bool exact = false;
  uint64_t offset = 0;  // of the address in it; where not exact of the first such byte
  // Destroyed ones: from when the fault was noticed, and from when the first submission that has not
  // finished was made, to the destruction; negative if it was destroyed before. 0 where no such time is known.
  int64_t destroyed_after_fault_ns = 0;
  int64_t destroyed_after_submission_ns = 0;
  uint32_t destruction = kNone;  // by whom; into Snapshot::destructions, kNone if that is not known
};

struct AddressNeighbour {
  uint32_t object = kNone;  // kNone: there is none on that side
  uint64_t distance = 0;    // bytes that lie between; 0: it is adjacent
};

struct FaultAddressVerdict {
  // Into Snapshot::faults and fault_addresses; kNone where the kernel names the address.
  uint32_t fault = kNone;
  uint32_t address = kNone;
  uint32_t kernel_line = kNone;  // into Snapshot::kernel_lines; kNone where the driver names it
  uint32_t incident = kNone;     // into Snapshot::incidents; kNone but for what the CPU accessed
  uint64_t given = 0;            // the address
  AddressState state = AddressState::kNoAddress;
  // The range that the address and its precision stand for.
  uint64_t first = 0;
  uint64_t last = 0;
  // Living objects first, among them the exact ones; then those destroyed most recently. Only the
  // first kMostOwners.
  std::vector<AddressOwner> owners;
  uint64_t owner_count = 0;
  // The nearest of all objects, those that live first; not found out where it is owned.
  AddressNeighbour below;
  AddressNeighbour above;
  // It lies in an object, or at most kNearBytes from one: a sentence about the crash names it.
  bool near_object = false;
};
// Other memory of the process lies farther away.
inline constexpr uint64_t kNearBytes = uint64_t{1} << 20;
inline constexpr size_t kMostOwners = 8;
// The most addresses that are judged: a driver reports a handful.
inline constexpr size_t kMostFaultAddressesJudged = 64;

// The owners of every address that a dump names.
struct FaultAddresses {
  std::vector<FaultAddressVerdict> of_drivers;  // for each address of each fault
  // For addresses in lines of the kernel's log that name this process or none. The kernel logs pages of 4 KiB.
  // Empty for a redacted snapshot.
  std::vector<FaultAddressVerdict> of_kernel;
  // For addresses at which the program died, where an implementation runs on the CPU and its GPU
  // addresses are those of the process (IsOfCpu). Crashes beside others say nothing of memory of the GPU.
  std::vector<FaultAddressVerdict> of_cpu;
};

// `analysis` is that of `snapshot`. Time is linear in the number of objects, for each address. Any
// snapshot whose indices are in range is safe.
FaultAddresses FindFaultAddresses(const Snapshot& snapshot, const Analysis& analysis);

// Returns true if the CPU does this device's work: lavapipe, SwiftShader, Direct3D's WARP. GPU
// addresses of such a device, as its buffer device addresses, are addresses of the process.
bool IsOfCpu(const Snapshot& snapshot, const Device& device);
// `faulted @ 0x7f3c_40a00000` (NVIDIA), `in page starting at address 0x0000800102800000` (amdgpu).
std::optional<uint64_t> AddressInKernelLine(std::string_view line);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_FAULT_ADDRESS_H_
