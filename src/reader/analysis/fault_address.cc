// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/fault_address.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "reader/analysis/submission_progress.h"

namespace cairn {
namespace {

// The aligned range of `precision` bytes, a power of two, in which the fault lies.
AddressRange RangeOf(const FaultAddress& address) {
  if (address.precision <= 1) return {address.address, address.address};
  constexpr uint64_t kLargest = uint64_t{1} << 63;
  const uint64_t rounded =
      address.precision > kLargest ? kLargest : std::bit_ceil(address.precision);
  const uint64_t mask = rounded - 1;
  return {address.address & ~mask, address.address | mask};
}

bool Contains(AddressRange range, uint64_t address) {
  return range.first <= address && address <= range.last;
}

// Wild accesses 4 GiB beside an object are common: an index of 32 bits.
constexpr uint64_t kFarthestOfCpu = uint64_t{16} << 30;

class AddressJudge {
 public:
  AddressJudge(const Snapshot& snapshot, const Analysis& analysis)
      : snapshot_(snapshot), analysis_(analysis) {}

  FaultAddressVerdict Judge(uint32_t fault_index, uint32_t address_index) {
    FaultAddressVerdict verdict;
    verdict.fault = fault_index;
    verdict.address = address_index;
    const Fault& fault = snapshot_.faults[fault_index];
    JudgeAddress(snapshot_.fault_addresses[address_index], {fault.device, fault.time_ns}, &verdict);
    return verdict;
  }

  FaultAddressVerdict JudgeCrash(uint32_t index) {
    const Incident& incident = snapshot_.incidents[index];
    const Process& process = snapshot_.process;
    const bool knows_time = process.start_monotonic_ns != 0 && incident.time_ns != 0;
    FaultAddressVerdict verdict;
    verdict.incident = index;
    of_cpu_ = true;
    JudgeAddress(
        {FaultAddressType::kInstructionUnknown, 0, incident.address, 0},
        {kNone,
         knows_time ? incident.time_ns - process.start_time_ns + process.start_monotonic_ns : 0},
        &verdict);
    of_cpu_ = false;
    // The process has other memory: what is far from all objects has nothing to do with them.
    for (AddressNeighbour* neighbour : {&verdict.below, &verdict.above}) {
      if (neighbour->distance > kFarthestOfCpu) *neighbour = {};
    }
    return verdict;
  }

  FaultAddressVerdict JudgeKernel(uint32_t line, uint64_t address) {
    constexpr uint64_t kPage = 4096;
    FaultAddressVerdict verdict;
    verdict.kernel_line = line;
    JudgeAddress({FaultAddressType::kInstructionUnknown, 0, address, kPage},
                 {kNone, snapshot_.kernel_lines[line].time_ns}, &verdict);
    return verdict;
  }

 private:
  struct Noticed {
    uint32_t device;
    uint64_t time_ns;
  };

  void JudgeAddress(const FaultAddress& address, const Noticed& fault,
                    FaultAddressVerdict* judged) {
    FaultAddressVerdict& verdict = *judged;
    verdict.given = address.address;
    if (address.type == FaultAddressType::kNone) return;
    Prepare();
    const AddressRange range = RangeOf(address);
    verdict.first = range.first;
    verdict.last = range.last;
    for (uint32_t i = 0; i < snapshot_.objects.size(); ++i) {
      const Object& object = snapshot_.objects[i];
      if (!HasGpuRange(object)) continue;
      if (object.device != fault.device && object.device != kNone && fault.device != kNone)
        continue;
      if (of_cpu_ &&
          (object.device == kNone || !IsOfCpu(snapshot_, snapshot_.devices[object.device]))) {
        continue;
      }
      Note(i, range, address.address, fault, &verdict);
    }
    SortOwners(&verdict);
    const bool owned = !verdict.owners.empty() && IsAlive(verdict.owners[0].object);
    verdict.state = owned                    ? AddressState::kOwned
                    : verdict.owners.empty() ? AddressState::kNeverMapped
                                             : AddressState::kFreed;
    if (owned) verdict.below = verdict.above = AddressNeighbour{};
    verdict.near_object = !verdict.owners.empty() || IsNear(verdict.below) || IsNear(verdict.above);
  }

  static bool IsNear(const AddressNeighbour& neighbour) {
    return neighbour.object != kNone && neighbour.distance <= kNearBytes;
  }

  bool IsAlive(uint32_t object) const {
    return snapshot_.objects[object].state == ObjectState::kAlive;
  }

  // Before the first address: mostly there is none.
  void Prepare() {
    if (prepared_) return;
    prepared_ = true;
    FindSubmissionTimes();
    FindDestructions();
  }

  // Finds the time of each device's first unfinished submission.
  void FindSubmissionTimes() {
    submission_times_.assign(snapshot_.devices.size(), 0);
    const std::vector<SubmissionProgress> progress = FindSubmissionProgress(snapshot_, analysis_);
    for (const Submission& submission : snapshot_.submissions) {
      if (submission.queue == kNone) continue;
      const uint32_t device = snapshot_.queues[submission.queue].device;
      if (device == kNone || submission.number <= progress[submission.queue].finished) continue;
      uint64_t& time = submission_times_[device];
      if (time == 0 || submission.time_ns < time) time = submission.time_ns;
    }
  }

  void Note(uint32_t index, AddressRange range, uint64_t address, const Noticed& fault,
            FaultAddressVerdict* verdict) {
    const Object& object = snapshot_.objects[index];
    if (object.size_bytes == 0) {
      NoteNeighbour(index, {object.gpu_address, object.gpu_address}, range, verdict);
      return;
    }
    const AddressRange of_object = RangeOf(object);
    if (of_object.last < range.first || of_object.first > range.last) {
      NoteNeighbour(index, of_object, range, verdict);
      return;
    }
    AddressOwner owner;
    owner.object = index;
    owner.exact = Contains(of_object, address);
    owner.offset =
        (owner.exact ? address : std::max(range.first, of_object.first)) - of_object.first;
    if (object.state == ObjectState::kDestroyed) {
      const uint32_t device = fault.device == kNone && of_cpu_ ? object.device : fault.device;
      const uint64_t submitted = device == kNone ? 0 : submission_times_[device];
      const auto since = [&object](uint64_t time) {
        return time == 0 ? 0 : static_cast<int64_t>(object.destroyed_ns - time);
      };
      owner.destroyed_after_fault_ns = since(fault.time_ns);
      owner.destroyed_after_submission_ns = since(submitted);
      owner.destruction = destructions_[index];
    }
    verdict->owners.push_back(owner);
  }

  void FindDestructions() {
    destructions_.assign(snapshot_.objects.size(), kNone);
    for (uint32_t i = 0; i < snapshot_.destructions.size(); ++i) {
      const uint32_t object = snapshot_.destructions[i].object;
      if (object != kNone) destructions_[object] = i;
    }
  }

  void NoteNeighbour(uint32_t index, AddressRange of_object, AddressRange range,
                     FaultAddressVerdict* verdict) {
    const auto note = [&](AddressNeighbour* neighbour, uint64_t distance) {
      const bool nearer =
          neighbour->object == kNone || distance < neighbour->distance ||
          (distance == neighbour->distance && IsAlive(index) && !IsAlive(neighbour->object));
      if (nearer) *neighbour = {index, distance};
    };
    if (of_object.last < range.first) {
      note(&verdict->below, range.first - of_object.last - 1);
    } else if (of_object.first > range.last) {
      note(&verdict->above, of_object.first - range.last - 1);
    }
  }

  void SortOwners(FaultAddressVerdict* verdict) const {
    std::vector<AddressOwner>& owners = verdict->owners;
    std::sort(owners.begin(), owners.end(), [this](const AddressOwner& a, const AddressOwner& b) {
      const auto key = [this](const AddressOwner& owner) {
        const Object& object = snapshot_.objects[owner.object];
        const bool alive = object.state == ObjectState::kAlive;
        // Sorts living objects first, among them exact ones, then the youngest, whose ranges are
        // the narrowest guess.
        return std::tuple(!alive, alive && !owner.exact, alive ? 0 : ~object.destroyed_ns,
                          !owner.exact, ~object.created_ns, ~object.serial, owner.object);
      };
      return key(a) < key(b);
    });
    verdict->owner_count = owners.size();
    if (owners.size() > kMostOwners) owners.resize(kMostOwners);
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  bool prepared_ = false;
  bool of_cpu_ = false;                     // it is the CPU that faulted
  std::vector<uint32_t> destructions_;      // by object
  std::vector<uint64_t> submission_times_;  // by device; 0: none is unfinished
};

using Verdicts = std::vector<FaultAddressVerdict>;

Verdicts JudgeDrivers(const Snapshot& snapshot, AddressJudge& judge) {
  Verdicts verdicts;
  for (uint32_t fault = 0; fault < snapshot.faults.size(); ++fault) {
    for (uint32_t i = 0; i < snapshot.faults[fault].address_count; ++i) {
      if (verdicts.size() == kMostFaultAddressesJudged) return verdicts;
      verdicts.push_back(judge.Judge(fault, snapshot.faults[fault].first_address + i));
    }
  }
  return verdicts;
}

Verdicts JudgeKernelLog(const Snapshot& snapshot, AddressJudge& judge) {
  Verdicts verdicts;
  for (uint32_t i = 0; i < snapshot.kernel_lines.size(); ++i) {
    if (verdicts.size() == kMostFaultAddressesJudged) return verdicts;
    const auto address = AddressInKernelLine(snapshot.Text(snapshot.kernel_lines[i].text));
    if (address) verdicts.push_back(judge.JudgeKernel(i, *address));
  }
  return verdicts;
}

Verdicts JudgeCrashes(const Snapshot& snapshot, AddressJudge& judge) {
  Verdicts verdicts;
  const bool any = std::any_of(snapshot.devices.begin(), snapshot.devices.end(),
                               [&](const Device& device) { return IsOfCpu(snapshot, device); });
  if (!any) return verdicts;
  for (uint32_t i = 0; i < snapshot.incidents.size(); ++i) {
    if (verdicts.size() == kMostFaultAddressesJudged) return verdicts;
    const Incident& incident = snapshot.incidents[i];
    if (incident.kind != IncidentKind::kSignal || incident.address == 0) continue;
    verdicts.push_back(judge.JudgeCrash(i));
  }
  return verdicts;
}

}  // namespace

AddressRange RangeOf(const Object& object) {
  const uint64_t more = std::min(object.size_bytes - 1, UINT64_MAX - object.gpu_address);
  return {object.gpu_address, object.gpu_address + more};
}

bool IsOfCpu(const Snapshot& snapshot, const Device& device) {
  constexpr uint32_t kMicrosoft = 0x1414, kWarp = 0x8c;
  if (device.vendor_id == kMicrosoft && device.device_id == kWarp) return true;
  // Compare the name: Mesa's number is shared by drivers of hardware, and Wine gives others.
  const std::string_view name = snapshot.Text(device.name);
  for (const std::string_view known : {"llvmpipe", "SwiftShader", "Microsoft Basic Render"}) {
    if (name.find(known) != std::string_view::npos) return true;
  }
  return false;
}

std::optional<uint64_t> AddressInKernelLine(std::string_view line) {
  constexpr std::string_view kBefore[] = {"faulted @ 0x", "at address 0x"};
  for (const std::string_view before : kBefore) {
    const size_t at = line.find(before);
    if (at == std::string_view::npos) continue;
    uint64_t address = 0;
    uint32_t digits = 0;
    for (const char c : line.substr(at + before.size())) {
      if (c == '_') continue;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0 || ++digits > 16) break;
      address = address << 4 | static_cast<uint64_t>(digit);
    }
    if (digits != 0 && digits <= 16) return address;
  }
  return std::nullopt;
}

FaultAddresses FindFaultAddresses(const Snapshot& snapshot, const Analysis& analysis) {
  AddressJudge judge(snapshot, analysis);
  FaultAddresses found;
  found.of_drivers = JudgeDrivers(snapshot, judge);
  found.of_kernel = JudgeKernelLog(snapshot, judge);
  found.of_cpu = JudgeCrashes(snapshot, judge);
  return found;
}

}  // namespace cairn
