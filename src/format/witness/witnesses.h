// SPDX-License-Identifier: Apache-2.0
//
// Witnesses: behind which barriers the GPU comes to a write at the top of the pipe only once earlier work has
// ended. No specification promises it, so it is measured, by values, for each device, driver and family of queues,
// and told as text: in CAIRN_WITNESSES and in the user's cache.
//
//   set     = "off" | "none " REASON | VERSION *( ";" device )
//   device  = DEVICE-UUID " " DRIVER-UUID " " DRIVER-VERSION " " DRIVER-NAME " " TIME " " outcome
//   outcome = "hung" | "died" | "lost" | "refused" | "unseen" | method *( " " family )
//   method  = "marker" | "fill"                      what wrote: VK_AMD_buffer_marker, vkCmdFillBuffer
//   family  = INDEX [ ":dispatch=" what ] [ ":draw=" what ] [ ":copy=" what ]
//   what    = ( "none" | "always" | "any" | "stages" | "execution" | "memory" | "never" ) [ "+work" ]
//
// "1;00..01 00..02 12345678 NVIDIA 1795413690 marker 0:dispatch=any:draw=memory+work:copy=any 1:draw=none:copy=any"
#ifndef CAIRN_FORMAT_WITNESS_WITNESSES_H_
#define CAIRN_FORMAT_WITNESS_WITNESSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace cairn {

// Of the measurement: what another version measured counts for nothing.
inline constexpr uint32_t kWitnessVersion = 1;

// The weakest barrier that holds the GPU, when all stronger ones do, too. The order is from weak to strong.
enum class HoldingBarrier : uint8_t {
  kNotMeasured,
  kNoWork,     // the family takes no such work
  kAlways,     // it goes on only then anyway
  kAny,        // whichever it waits for, but not for nothing
  kStages,     // one that waits for a stage in which the work ends
  kExecution,  // from all stages to all
  kMemory,     // the same, of memory: all writes, for all
  kNever,      // none
};

// The measurement of one kind of work.
struct WorkWitnesses {
  HoldingBarrier barrier = HoldingBarrier::kNotMeasured;
  // Draws: so does a dispatch that follows.
  bool other_work = false;

  bool operator==(const WorkWitnesses&) const = default;
};

struct FamilyWitnesses {
  uint32_t family = 0;
  WorkWitnesses dispatches;
  WorkWitnesses draws;
  WorkWitnesses copies;

  bool operator==(const FamilyWitnesses&) const = default;
};

// Identifies the measured device. Another driver, or another version of it, is another device.
struct WitnessKey {
  std::array<uint8_t, 16> device_uuid{};
  std::array<uint8_t, 16> driver_uuid{};
  uint32_t driver_version = 0;
  std::string driver_name;  // WitnessDriverName

  bool operator==(const WitnessKey&) const = default;
};

enum class WitnessOutcome : uint8_t {
  kMeasured,
  kHung,     // the process that measured made no progress, and was killed
  kDied,     // it died
  kLost,     // the device was lost, or its work did not end in time
  kRefused,  // there was no device to be had, or no way to write a word
  kUnseen,   // other work kept the CPU from watching: it may be tried again
};

enum class WitnessMethod : uint8_t { kNone, kMarker, kFill };

struct DeviceWitnesses {
  WitnessKey key;
  uint64_t measured_s = 0;  // since 1970
  WitnessOutcome outcome = WitnessOutcome::kUnseen;
  WitnessMethod method = WitnessMethod::kNone;  // kMeasured only, as `families`
  std::vector<FamilyWitnesses> families;

  // Null for one that was not measured.
  const FamilyWitnesses* Family(uint32_t family) const;
  bool operator==(const DeviceWitnesses&) const = default;
};

// The measurements that a layer receives.
struct WitnessSet {
  bool off = false;    // by the user
  std::string reason;  // a clause: why there are no devices; "" if there are
  std::vector<DeviceWitnesses> devices;

  // Null if there is none.
  const DeviceWitnesses* Find(const WitnessKey& key) const;
  bool operator==(const WitnessSet&) const = default;
};

inline constexpr size_t kMostWitnessDevices = 32;
inline constexpr size_t kMostWitnessFamilies = 16;
inline constexpr size_t kMostWitnessTextBytes = 16384;  // of a set
inline constexpr size_t kMostWitnessReasonBytes = 200;

// One word of at most 32 characters: letters, digits and "._-"; others become "_".
std::string WitnessDriverName(std::string_view driver_name);

// `device` as one line of text without ';'.
std::string FormatDeviceWitnesses(const DeviceWitnesses& device);
// Parses the text of FormatDeviceWitnesses; returns kCorrupt, with the fault, for other text.
Result<DeviceWitnesses> ParseDeviceWitnesses(std::string_view text);

// Formats the set with as many devices as fit.
std::string FormatWitnessSet(const WitnessSet& set);
// kCorrupt as above, also for two entries of one device; kUnsupported for another version.
Result<WitnessSet> ParseWitnessSet(std::string_view text);

// "any barrier behind dispatches; barriers of memory for all stages and dispatches behind draws; ...; measured on
// 2026-11-23", of the family that takes most; or why there is nothing. A clause.
std::string DescribeWitnesses(const DeviceWitnesses& device);
// "any barrier", "no barrier", ..., for one kind of work.
std::string DescribeHolding(const WorkWitnesses& work);
// Returns true if a barrier or work was measured to hold.
bool HasWitnesses(const DeviceWitnesses& device);

// ---- What follows ---------------------------------------------------------------------------------

// The effect of a barrier, as it was measured.
enum class BarrierStrength : uint8_t { kNothing, kSome, kExecution, kMemory };
// The work whose last stages it waits for.
inline constexpr uint8_t kWaitsForDispatches = 1;
inline constexpr uint8_t kWaitsForDraws = 2;
inline constexpr uint8_t kWaitsForCopies = 4;
inline constexpr uint8_t kWaitsForAll = 7;
struct BarrierKind {
  BarrierStrength strength = BarrierStrength::kNothing;
  uint8_t waits_for = 0;

  bool operator==(const BarrierKind&) const = default;
};

// The facts of an end behind barriers, as kEventDrains... of format/block/block.h.
struct WitnessFlags {
  // The flags by strength and, in the lowest bits, by the work that the barrier waits for.
  std::array<uint8_t, 4 * (kWaitsForAll + 1)> barriers{};
  uint8_t dispatch = 0;  // a dispatch of at least one group

  uint8_t Of(BarrierKind kind) const { return barriers[Index(kind)]; }
  static size_t Index(BarrierKind kind) {
    return static_cast<size_t>(kind.strength) * (kWaitsForAll + 1) +
           (kind.waits_for & kWaitsForAll);
  }
  bool any() const;
  bool operator==(const WitnessFlags&) const = default;
};
// Work other than dispatches and draws counts as ended behind barriers that were measured to hold all three kinds.
WitnessFlags FlagsOf(const FamilyWitnesses& family);

}  // namespace cairn

#endif  // CAIRN_FORMAT_WITNESS_WITNESSES_H_
