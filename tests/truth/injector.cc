// SPDX-License-Identifier: Apache-2.0
#include "truth/injector.h"

#include <algorithm>
#include <fstream>

namespace cairn::truth {
namespace {

// Far from what allocators hand out, and from the first page, where drivers place null descriptors.
constexpr uint64_t kFarAddress = 0x00000bad'dead0000;
constexpr uint64_t kLargePage = 2 << 20;
// Large enough for a mapping of its own, which goes when it is freed.
constexpr VkDeviceSize kVictimBytes = 64 << 20;
constexpr uint32_t kTheLane = 37;
// lavapipe leaves all loops of an invocation after 65,535 trips.
constexpr uint32_t kTripsOnCpu = 4096;
constexpr uint64_t kMostTrips = 1 << 26;
// With a clock the trips are but a second bound.
constexpr double kMoreTrips = 4;
constexpr uint64_t kMostGroups = 65535;
constexpr double kLongEnoughToMeasure = 0.05;

std::string ScriptFor(const Fault& fault, uint64_t address) {
  switch (fault.misdeed) {
    case Misdeed::kLong:
    case Misdeed::kEndless:
    case Misdeed::kAbsurdCount: return "hang";
    case Misdeed::kSlow: return "duration 50";
    case Misdeed::kStore:
    case Misdeed::kStoreToDestroyed: return "fault " + std::to_string(address) + " write";
    case Misdeed::kLoad:
    case Misdeed::kLoadFromDestroyed:
    case Misdeed::kFetchVertices:
    case Misdeed::kFetchIndices:
    case Misdeed::kFetchArguments: return "fault " + std::to_string(address) + " read";
    default: return "";
  }
}

}  // namespace

double Injector::Measure(bool draw, const Injection& injection) {
  return gpu_.Run(recorder_.RecordAlone(draw, injection, scratch_));
}

void Injector::MakeLast(double seconds, bool draw, bool vary_trips, Injection* injection) {
  if (gpu_.backend() == Backend::kScripted) return;
  if (std::ifstream file(measured_);
      file >> injection->trips >> injection->amount >> injection->ticks) {
    return;
  }
  const uint64_t most = vary_trips ? kMostTrips
                        : draw     ? 0x7FFFFFFF
                                   : kMostGroups * kMostGroups * kMostGroups;
  Injection probe = *injection;
  probe.event = VK_NULL_HANDLE;
  const auto set = [vary_trips](uint64_t amount, Injection* changed) {
    if (vary_trips) {
      changed->trips = static_cast<uint32_t>(amount);
    } else {
      changed->amount = amount;
    }
  };
  // Compile shaders now, if the driver compiles them at their first use.
  set(1, &probe);
  Measure(draw, probe);
  uint64_t amount = 1;
  double measured = 0;
  for (; amount < most; amount *= 4) {
    set(amount, &probe);
    measured = Measure(draw, probe);
    if (measured >= kLongEnoughToMeasure) break;
  }
  double wanted = static_cast<double>(amount) * seconds / measured;
  const bool tells_ticks = vary_trips && gpu_.has_clock();
  const double ticks = tells_ticks ? recorder_.TicksOf(scratch_) * seconds / measured : 0;
  if (measured < kLongEnoughToMeasure || (tells_ticks && ticks < 1)) {
    Fail("what was to be measured did not run");
  }
  if (tells_ticks) {
    injection->ticks = static_cast<uint32_t>(std::min(ticks, double{UINT32_MAX}));
    wanted *= kMoreTrips;
  }
  set(static_cast<uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(most))), injection);
  std::ofstream(measured_) << injection->trips << ' ' << injection->amount << ' '
                           << injection->ticks << '\n';
}

void Injector::Access(Injection* injection) {
  injection->lane = fault_.lanes == Lanes::kAll      ? Constants::kAllLanes
                    : fault_.stage == Stage::kVertex ? 1
                                                     : kTheLane;
  injection->stage = fault_.stage == Stage::kVertex ? 1 : 0;
  switch (fault_.where) {
    case Where::kFar: injection->address = kFarAddress; break;
    case Where::kNull: injection->address = 0; break;
    case Where::kNear:
      if (gpu_.backend() == Backend::kCpu) {
        injection->address = end_of_words_;  // where notes.h keeps a gap
        break;
      }
      victim_ = gpu_.CreateBuffer(kLargePage, false, "Victim");
      injection->address = victim_.address + kLargePage;
      break;
    default:
      victim_ = gpu_.CreateBuffer(kVictimBytes, false, "Victim");
      injection->address = victim_.address + 4096;
  }
}

void Injector::Prepare(bool draw, Injection* injection) {
  const bool cpu = gpu_.backend() == Backend::kCpu;
  switch (fault_.misdeed) {
    case Misdeed::kStore:
    case Misdeed::kLoad:
      injection->misdeed = fault_.misdeed == Misdeed::kStore ? Constants::kStore : Constants::kLoad;
      Access(injection);
      break;
    case Misdeed::kStoreToDestroyed:
    case Misdeed::kLoadFromDestroyed:
      injection->misdeed = fault_.misdeed == Misdeed::kStoreToDestroyed ? Constants::kStoreToSet
                                                                        : Constants::kLoadFromSet;
      Access(injection);
      injection->set = gpu_.CreateSet(victim_);
      break;
    case Misdeed::kFetchVertices:
      Access(injection);
      injection->vertices = victim_.buffer;
      break;
    case Misdeed::kFetchIndices:
      Access(injection);
      injection->indices = victim_.buffer;
      break;
    case Misdeed::kFetchArguments:
      Access(injection);
      injection->arguments = victim_.buffer;
      break;
    case Misdeed::kLong:
    case Misdeed::kSlow:
    case Misdeed::kEndless: {
      const bool endless = fault_.misdeed == Misdeed::kEndless;
      injection->misdeed = endless ? Constants::kWait : Constants::kLoop;
      if (endless) injection->address = gpu_.CreateBuffer(65536, true, "Never written").address;
      injection->trips = kTripsOnCpu;
      const double seconds = endless                            ? durations_.endless_s
                             : fault_.misdeed == Misdeed::kSlow ? durations_.slow_s
                                                                : durations_.long_s;
      MakeLast(seconds, draw, !cpu, injection);
      break;
    }
    case Misdeed::kAbsurdCount: MakeLast(durations_.long_s, draw, false, injection); break;
    case Misdeed::kWaitForEvent: {
      const VkEventCreateInfo info = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
      Check(vkCreateEvent(gpu_.device(), &info, nullptr, &injection->event), "vkCreateEvent");
      gpu_.Name(VK_OBJECT_TYPE_EVENT, (uint64_t)injection->event, "Never set");
      break;
    }
    default: break;
  }
  injection->directive = ScriptFor(fault_, injection->address);
}

void Injector::PrepareNeighbour(double share, Injection* injection) {
  const bool cpu = gpu_.backend() == Backend::kCpu;
  injection->misdeed = Constants::kLoop;
  injection->trips = kTripsOnCpu;
  MakeLast(durations_.slow_s, false, !cpu, injection);
  const auto part = [share](auto whole) { return static_cast<decltype(whole)>(share * whole); };
  injection->trips = cpu ? injection->trips : part(injection->trips);
  injection->ticks = part(injection->ticks);
  injection->amount = std::max<uint64_t>(cpu ? part(injection->amount) : injection->amount, 1);
  injection->directive = "duration " + std::to_string(static_cast<int>(50 * share));
}

void Injector::DestroyVictim() {
  const bool wanted =
      fault_.where == Where::kFreed || fault_.misdeed == Misdeed::kStoreToDestroyed ||
      fault_.misdeed == Misdeed::kLoadFromDestroyed || fault_.misdeed == Misdeed::kFetchVertices ||
      fault_.misdeed == Misdeed::kFetchIndices || fault_.misdeed == Misdeed::kFetchArguments;
  if (wanted) gpu_.Destroy(victim_);
}

}  // namespace cairn::truth
