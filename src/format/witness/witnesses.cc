// SPDX-License-Identifier: Apache-2.0
#include "format/witness/witnesses.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <span>
#include <utility>

#include "base/text.h"
#include "format/block/block.h"

namespace cairn {
namespace {

constexpr size_t kMostNameBytes = 32;
// 9999-12-31: what can be printed as a date.
constexpr uint64_t kMostSeconds = 253'402'300'799;

constexpr std::pair<const char*, HoldingBarrier> kBarrierWords[] = {
    {"none", HoldingBarrier::kNoWork},
    {"always", HoldingBarrier::kAlways},
    {"any", HoldingBarrier::kAny},
    {"stages", HoldingBarrier::kStages},
    {"execution", HoldingBarrier::kExecution},
    {"memory", HoldingBarrier::kMemory},
    {"never", HoldingBarrier::kNever}};
constexpr std::pair<const char*, WitnessOutcome> kOutcomeWords[] = {
    {"hung", WitnessOutcome::kHung},
    {"died", WitnessOutcome::kDied},
    {"lost", WitnessOutcome::kLost},
    {"refused", WitnessOutcome::kRefused},
    {"unseen", WitnessOutcome::kUnseen}};
constexpr std::pair<const char*, WitnessMethod> kMethodWords[] = {
    {"marker", WitnessMethod::kMarker}, {"fill", WitnessMethod::kFill}};
constexpr std::pair<const char*, WorkWitnesses FamilyWitnesses::*> kKinds[] = {
    {"dispatch", &FamilyWitnesses::dispatches},
    {"draw", &FamilyWitnesses::draws},
    {"copy", &FamilyWitnesses::copies}};
constexpr std::string_view kOtherWork = "+work";

// The value of a word, or null.
template <typename Words>
auto Find(const Words& words, std::string_view word) -> decltype(&words[0].second) {
  for (const auto& entry : words) {
    if (word == entry.first) return &entry.second;
  }
  return nullptr;
}

template <typename Words, typename Value>
const char* WordOf(const Words& words, Value value) {
  for (const auto& entry : words) {
    if (entry.second == value) return entry.first;
  }
  return "";
}

// Cuts off what stands before the next separator.
std::string_view Next(std::string_view* rest, char separator) {
  const size_t end = std::min(rest->find(separator), rest->size());
  const std::string_view word = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return word;
}

Status Corrupt(const char* what, std::string_view text) {
  return Status(StatusCode::kCorrupt,
                fmt::format("{} is '{}'", what, VisibleText(text.substr(0, 64))));
}

template <typename Number>
bool ParseNumber(std::string_view text, int base, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *number, base);
  // Each number has exactly one text.
  return error == std::errc() && stopped == end &&
         (text.size() == 1 || text[0] != '0' || base == 16);
}

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool ParseUuid(std::string_view text, std::array<uint8_t, 16>* uuid) {
  if (text.size() != 2 * uuid->size() || !IsLowerHex(text)) return false;
  for (size_t i = 0; i < uuid->size(); ++i) {
    if (!ParseNumber(text.substr(2 * i, 2), 16, &(*uuid)[i])) return false;
  }
  return true;
}

Status ParseKey(std::string_view* rest, WitnessKey* key) {
  if (const std::string_view word = Next(rest, ' '); !ParseUuid(word, &key->device_uuid)) {
    return Corrupt("the UUID of a device", word);
  }
  if (const std::string_view word = Next(rest, ' '); !ParseUuid(word, &key->driver_uuid)) {
    return Corrupt("the UUID of a driver", word);
  }
  const std::string_view version = Next(rest, ' ');
  if (version.size() != 8 || !IsLowerHex(version) ||
      !ParseNumber(version, 16, &key->driver_version)) {
    return Corrupt("the version of a driver", version);
  }
  const std::string_view name = Next(rest, ' ');
  key->driver_name = WitnessDriverName(name);
  return key->driver_name == name ? Status() : Corrupt("the name of a driver", name);
}

bool ParseWork(std::string_view text, WorkWitnesses* work) {
  if (text.ends_with(kOtherWork)) {
    work->other_work = true;
    text.remove_suffix(kOtherWork.size());
  }
  const HoldingBarrier* const barrier = Find(kBarrierWords, text);
  if (barrier == nullptr) return false;
  work->barrier = *barrier;
  return true;
}

Result<FamilyWitnesses> ParseFamily(std::string_view text) {
  FamilyWitnesses family;
  std::string_view rest = text;
  if (!ParseNumber(Next(&rest, ':'), 10, &family.family) || text.ends_with(':')) {
    return Corrupt("a family of queues", text);
  }
  size_t kind = 0;
  while (!rest.empty()) {
    const std::string_view part = Next(&rest, ':');
    const size_t equals = part.find('=');
    // In their order, each once.
    while (kind < std::size(kKinds) && part.substr(0, equals) != kKinds[kind].first) ++kind;
    if (kind == std::size(kKinds) || equals == std::string_view::npos ||
        !ParseWork(part.substr(equals + 1), &(family.*kKinds[kind].second))) {
      return Corrupt("a family of queues", text);
    }
    ++kind;
  }
  return family;
}

// `waits`: for this kind of work.
bool Holds(const WorkWitnesses& work, BarrierStrength strength, bool waits) {
  switch (work.barrier) {
    case HoldingBarrier::kNoWork:
    case HoldingBarrier::kAlways:
    case HoldingBarrier::kAny: return strength >= BarrierStrength::kSome;
    case HoldingBarrier::kStages:
      return strength >= BarrierStrength::kExecution ||
             (strength == BarrierStrength::kSome && waits);
    case HoldingBarrier::kExecution: return strength >= BarrierStrength::kExecution;
    case HoldingBarrier::kMemory: return strength >= BarrierStrength::kMemory;
    case HoldingBarrier::kNotMeasured:
    case HoldingBarrier::kNever: break;
  }
  return false;
}

uint8_t DrainsOf(const FamilyWitnesses& family, BarrierKind kind) {
  const auto holds = [&](const WorkWitnesses& work, uint8_t waits_for) {
    return Holds(work, kind.strength, (kind.waits_for & waits_for) != 0);
  };
  uint8_t drains = 0;
  if (holds(family.dispatches, kWaitsForDispatches)) drains |= kEventDrainsDispatches;
  if (holds(family.draws, kWaitsForDraws)) drains |= kEventDrainsDraws;
  if (drains == (kEventDrainsDispatches | kEventDrainsDraws) &&
      holds(family.copies, kWaitsForCopies)) {
    drains |= kEventDrainsOther;
  }
  return drains;
}

const char* WhyNothing(WitnessOutcome outcome) {
  switch (outcome) {
    case WitnessOutcome::kHung:
      return "the process that measured it made no progress, and was killed";
    case WitnessOutcome::kDied: return "the process that measured it died";
    case WitnessOutcome::kLost:
      return "the device was lost while it was measured, or its work did not end in time";
    case WitnessOutcome::kRefused:
      return "no device could be made to measure it, or none that writes words";
    case WitnessOutcome::kUnseen: return "other work kept the CPU from watching";
    case WitnessOutcome::kMeasured: break;
  }
  return "";
}

}  // namespace

const FamilyWitnesses* DeviceWitnesses::Family(uint32_t family) const {
  const auto found =
      std::find_if(families.begin(), families.end(),
                   [family](const FamilyWitnesses& known) { return known.family == family; });
  return found == families.end() ? nullptr : &*found;
}

const DeviceWitnesses* WitnessSet::Find(const WitnessKey& key) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const DeviceWitnesses& known) { return known.key == key; });
  return found == devices.end() ? nullptr : &*found;
}

bool WitnessFlags::any() const {
  return *this != WitnessFlags();
}

std::string WitnessDriverName(std::string_view driver_name) {
  std::string name(driver_name.substr(0, kMostNameBytes));
  for (char& c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '.' && c != '-') c = '_';
  }
  return name.empty() ? "_" : name;
}

std::string FormatDeviceWitnesses(const DeviceWitnesses& device) {
  std::string text;
  AppendHex(std::as_bytes(std::span(device.key.device_uuid)), "", text);
  text += ' ';
  AppendHex(std::as_bytes(std::span(device.key.driver_uuid)), "", text);
  text += fmt::format(" {:08x} {} {} ", device.key.driver_version,
                      WitnessDriverName(device.key.driver_name),
                      std::min(device.measured_s, kMostSeconds));
  if (device.outcome != WitnessOutcome::kMeasured || device.method == WitnessMethod::kNone) {
    return text + (device.outcome == WitnessOutcome::kMeasured
                       ? "refused"
                       : WordOf(kOutcomeWords, device.outcome));
  }
  text += WordOf(kMethodWords, device.method);
  for (size_t i = 0; i < std::min(device.families.size(), kMostWitnessFamilies); ++i) {
    const FamilyWitnesses& family = device.families[i];
    text += fmt::format(" {}", family.family);
    for (const auto& [word, member] : kKinds) {
      const WorkWitnesses& work = family.*member;
      if (work.barrier == HoldingBarrier::kNotMeasured) continue;
      text += fmt::format(":{}={}{}", word, WordOf(kBarrierWords, work.barrier),
                          work.other_work ? kOtherWork : "");
    }
  }
  return text;
}

Result<DeviceWitnesses> ParseDeviceWitnesses(std::string_view text) {
  DeviceWitnesses device;
  std::string_view rest = text;
  CAIRN_RETURN_IF_ERROR(ParseKey(&rest, &device.key));
  if (const std::string_view word = Next(&rest, ' ');
      !ParseNumber(word, 10, &device.measured_s) || device.measured_s > kMostSeconds) {
    return Corrupt("the time of a measurement", word);
  }
  const std::string_view outcome = Next(&rest, ' ');
  if (text.ends_with(' ')) return Corrupt("what was measured", text);
  if (const WitnessOutcome* const known = Find(kOutcomeWords, outcome); known != nullptr) {
    device.outcome = *known;
    if (rest.empty()) return device;
    return Corrupt("what follows an outcome", rest);
  }
  const WitnessMethod* const method = Find(kMethodWords, outcome);
  if (method == nullptr) return Corrupt("the outcome of a measurement", outcome);
  device.outcome = WitnessOutcome::kMeasured;
  device.method = *method;
  while (!rest.empty()) {
    Result<FamilyWitnesses> family = ParseFamily(Next(&rest, ' '));
    if (!family.ok()) return family.status();
    if (device.Family(family->family) != nullptr ||
        device.families.size() == kMostWitnessFamilies) {
      return Corrupt("one family too many", fmt::format("{}", family->family));
    }
    device.families.push_back(*family);
  }
  return device;
}

std::string FormatWitnessSet(const WitnessSet& set) {
  if (set.off) return "off";
  if (!set.reason.empty()) {
    const std::string reason = VisibleText(set.reason);
    return "none " + std::string(Utf8Prefix(reason, kMostWitnessReasonBytes));
  }
  std::string text = fmt::format("{}", kWitnessVersion);
  for (size_t i = 0; i < std::min(set.devices.size(), kMostWitnessDevices); ++i) {
    const std::string device = FormatDeviceWitnesses(set.devices[i]);
    if (text.size() + 1 + device.size() > kMostWitnessTextBytes) break;
    text += ';';
    text += device;
  }
  return text;
}

Result<WitnessSet> ParseWitnessSet(std::string_view text) {
  constexpr std::string_view kNone = "none ";
  WitnessSet set;
  if (text.size() > kMostWitnessTextBytes) {
    return Status(StatusCode::kCorrupt, fmt::format("it has {} bytes, of at most {}", text.size(),
                                                    kMostWitnessTextBytes));
  }
  if (text == "off") {
    set.off = true;
    return set;
  }
  if (text.starts_with(kNone)) {
    set.reason = text.substr(kNone.size());
    if (!set.reason.empty() && set.reason.size() <= kMostWitnessReasonBytes &&
        IsVisibleText(set.reason)) {
      return set;
    }
    return Corrupt("the reason", set.reason);
  }
  std::string_view rest = text;
  uint32_t version = 0;
  if (const std::string_view word = Next(&rest, ';');
      !ParseNumber(word, 10, &version) || text.ends_with(';')) {
    return Corrupt("the version of the measurement", word);
  }
  if (version != kWitnessVersion) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("another version of Cairn measured it: {}, not {}", version, kWitnessVersion));
  }
  while (!rest.empty()) {
    Result<DeviceWitnesses> device = ParseDeviceWitnesses(Next(&rest, ';'));
    if (!device.ok()) return device.status();
    if (set.Find(device->key) != nullptr || set.devices.size() == kMostWitnessDevices) {
      return Corrupt("one device too many", FormatDeviceWitnesses(*device));
    }
    set.devices.push_back(std::move(*device));
  }
  return set;
}

std::string DescribeHolding(const WorkWitnesses& work) {
  const char* words = "";
  switch (work.barrier) {
    case HoldingBarrier::kAlways: return "any barrier, or none";
    case HoldingBarrier::kAny: words = "any barrier"; break;
    case HoldingBarrier::kStages: words = "barriers for their stages"; break;
    case HoldingBarrier::kExecution: words = "barriers for all stages"; break;
    case HoldingBarrier::kMemory: words = "barriers of memory for all stages"; break;
    case HoldingBarrier::kNever: return work.other_work ? "dispatches" : "nothing";
    case HoldingBarrier::kNotMeasured: return "not measured";
    case HoldingBarrier::kNoWork: return "there are none";
  }
  return fmt::format("{}{}", words, work.other_work ? " and dispatches" : "");
}

std::string DescribeWitnesses(const DeviceWitnesses& device) {
  const std::string date =
      fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(device.measured_s)));
  if (device.outcome != WitnessOutcome::kMeasured) {
    return fmt::format("not known: {}, on {}", WhyNothing(device.outcome), date);
  }
  const FamilyWitnesses* most = nullptr;
  const auto count = [](const FamilyWitnesses& family) {
    return std::count_if(std::begin(kKinds), std::end(kKinds), [&](const auto& kind) {
      return (family.*kind.second).barrier > HoldingBarrier::kNoWork;
    });
  };
  for (const FamilyWitnesses& family : device.families) {
    if (most == nullptr || count(family) > count(*most)) most = &family;
  }
  if (most == nullptr) return fmt::format("no family of queues was measured, on {}", date);
  return fmt::format("{} behind dispatches; {} behind draws; {} behind copies; measured on {}",
                     DescribeHolding(most->dispatches), DescribeHolding(most->draws),
                     DescribeHolding(most->copies), date);
}

bool HasWitnesses(const DeviceWitnesses& device) {
  return std::any_of(device.families.begin(), device.families.end(),
                     [](const FamilyWitnesses& family) { return FlagsOf(family).any(); });
}

WitnessFlags FlagsOf(const FamilyWitnesses& family) {
  WitnessFlags flags;
  // A family with neither of them would prove nothing.
  const auto is_measured = [](const WorkWitnesses& work) {
    return work.barrier != HoldingBarrier::kNotMeasured && work.barrier != HoldingBarrier::kNoWork;
  };
  if (!is_measured(family.dispatches) && !is_measured(family.draws) &&
      !is_measured(family.copies)) {
    return flags;
  }
  for (const BarrierStrength strength :
       {BarrierStrength::kSome, BarrierStrength::kExecution, BarrierStrength::kMemory}) {
    for (uint8_t waits_for = 0; waits_for <= kWaitsForAll; ++waits_for) {
      const BarrierKind kind = {strength, waits_for};
      flags.barriers[WitnessFlags::Index(kind)] = DrainsOf(family, kind);
    }
  }
  if (family.draws.other_work) flags.dispatch = kEventDrainsDraws;
  return flags;
}

}  // namespace cairn
