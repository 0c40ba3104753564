// SPDX-License-Identifier: Apache-2.0
//
// Chooses the adapter of this machine for each device of a trace: the one that the user asks for, or the most alike.
#ifndef CAIRN_READER_REPLAY_ADAPTER_CHOICE_H_
#define CAIRN_READER_REPLAY_ADAPTER_CHOICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12abi/adapters.h"

namespace cairn {

// The adapter of a device, as the trace tells it: bytes of a stranger.
struct RecordedAdapter {
  std::string name;  // "": not recorded
  std::optional<uint64_t> luid;
  std::optional<uint32_t> place;  // in the enumeration of the recording's machine
  uint32_t vendor_id = 0;         // of PCI; 0: unknown
  uint32_t device_id = 0;
  bool of_vulkan = false;  // as Adapter::of_vulkan

  bool known() const { return !name.empty() || luid.has_value() || place.has_value(); }
  auto operator<=>(const RecordedAdapter&) const = default;
};

// Finds the adapter that `wanted` names: its place in the list, in decimal digits, or a part of its name, in any case of
// ASCII letters. Errors: kInvalidArgument: there is no such place, no such name, or several adapters have it; the
// message lists all adapters.
Result<uint32_t> FindAdapter(const std::vector<Adapter>& adapters, std::string_view wanted);

// "0 \"NVIDIA H100\", 1 \"llvmpipe\""
std::string AdaptersInWords(const std::vector<Adapter>& adapters);

// Remembers which adapters of the recording stand for which of this machine: equal ones get the same, others different
// ones where there are enough. One thread.
class AdapterChoice {
 public:
  // `asked`: a place in `adapters` that all devices get; missing: each gets the most alike.
  explicit AdapterChoice(std::vector<Adapter> adapters, std::optional<uint32_t> asked = {})
      : adapters_(std::move(adapters)), asked_(asked) {}

  // Returns the place of the adapter for a device that was recorded on this one: with the same name, and if several
  // have it, that of them with the same LUID, else the one at the same place, else the first that stands for no other.
  // LUIDs change with each start of a machine, and places from one to another: a LUID alone counts only where a name is
  // unknown, a place alone never. Nothing: none is alike, and the implementation takes the one that it prefers.
  std::optional<uint32_t> Choose(const RecordedAdapter& recorded);

  const std::vector<Adapter>& adapters() const { return adapters_; }
  bool asked() const { return asked_.has_value(); }
  // True if the adapter at `place` has the recorded name or LUID, or if the recording tells neither.
  bool IsAlike(const RecordedAdapter& recorded, std::optional<uint32_t> place) const;
  // True if the device is known to be on an adapter of another kind than the recorded one: both have a name and
  // identifiers of PCI, and differ in both. A name alone changes with the driver. `place`: of its adapter; missing:
  // unknown.
  bool IsAnother(const RecordedAdapter& recorded, std::optional<uint32_t> place) const;
  // True if Choose gave `place` for an adapter of the recording that is known to be another one than this.
  bool IsShared(const RecordedAdapter& recorded, std::optional<uint32_t> place) const;

 private:
  bool IsTaken(uint32_t place) const;

  std::vector<Adapter> adapters_;
  std::optional<uint32_t> asked_;
  std::map<RecordedAdapter, std::optional<uint32_t>> chosen_;  // at most kMost
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_ADAPTER_CHOICE_H_
