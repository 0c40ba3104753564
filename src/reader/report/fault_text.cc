// SPDX-License-Identifier: Apache-2.0
#include "reader/report/fault_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "format/snapshot/object_kinds.h"
#include "reader/report/describe.h"
#include "reader/report/destruction_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

template <typename... Arguments>
void Format(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

void AppendPlace(const Snapshot& snapshot, const AddressOwner& owner, std::string& out) {
  const Object& object = snapshot.objects[owner.object];
  AppendObject(snapshot, object, out);
  Format(out, " + {:#x} of {}", owner.offset, BytesInWords(object.size_bytes));
}

// `tell_alive`: several may own the address, and some of them are destroyed.
void AppendOwner(const Snapshot& snapshot, const AddressOwner& owner, bool tell_alive,
                 std::string& out) {
  const Object& object = snapshot.objects[owner.object];
  AppendPlace(snapshot, owner, out);
  if (!owner.exact) out += ", of which only the range of the address reaches in";
  if (object.state != ObjectState::kDestroyed) {
    if (tell_alive) out += ", alive";
    return;
  }
  AppendHowItEnded(snapshot, object.kind, owner.destruction, out);
  // One time, and one moment that it counts from.
  const int64_t after_fault_ns = owner.destroyed_after_fault_ns;
  const int64_t after_submission_ns = owner.destroyed_after_submission_ns;
  std::string moment;
  if (after_fault_ns != 0) {
    moment = MomentInWords(after_fault_ns, "the fault was noticed");
    if (after_submission_ns > 0) moment += ", while submitted work was unfinished";
  } else if (after_submission_ns != 0) {
    moment = MomentInWords(after_submission_ns, "the first unfinished submission");
  }
  AppendDestroyedBy(snapshot, owner.destruction, moment, out);
}

// Each begins with a comma.
void AppendNeighbour(const Snapshot& snapshot, const AddressNeighbour& neighbour, const char* where,
                     std::string& out) {
  if (neighbour.object == kNone) return;
  const Object& object = snapshot.objects[neighbour.object];
  Format(out, ", {} {} ", neighbour.distance == 0 ? "right" : BytesInWords(neighbour.distance),
         where);
  AppendObject(snapshot, object, out);
  if (object.state == ObjectState::kDestroyed) out += " (destroyed)";
}

void AppendNeighbours(const Snapshot& snapshot, const FaultAddressVerdict& verdict,
                      std::string& out) {
  AppendNeighbour(snapshot, verdict.below, "past the end of", out);
  AppendNeighbour(snapshot, verdict.above, "before", out);
}

bool IsBefore(const Object& first, const Object& second) {
  return first.destroyed_ns != 0 && first.destroyed_ns <= second.created_ns;
}

// Returns how another object that had the address belongs to the first one, which is bound to one memory at most.
std::string_view RelationTo(const Object& first, const Object& other, bool* has_memory) {
  if (IsBefore(first, other)) return "at the same address later: ";
  if (IsBefore(other, first)) return "at the same address earlier: ";
  const bool is_memory = other.kind == kVulkanMemoryKind && first.kind != kVulkanMemoryKind;
  if (!is_memory || std::exchange(*has_memory, true)) return "at the same address, too: ";
  return "its memory: ";
}

// Freed memory explains a fault better than what lives there now; a resource says more than the memory that it is
// bound to.
std::vector<const AddressOwner*> LikelyOwnersFirst(const Snapshot& snapshot,
                                                   const FaultAddressVerdict& verdict) {
  std::vector<const AddressOwner*> owners;
  for (const AddressOwner& owner : verdict.owners) owners.push_back(&owner);
  const auto rank = [&snapshot](const AddressOwner* owner) {
    const Object& object = snapshot.objects[owner->object];
    return std::pair(object.state != ObjectState::kDestroyed, object.kind == kVulkanMemoryKind);
  };
  std::stable_sort(
      owners.begin(), owners.end(),
      [&rank](const AddressOwner* a, const AddressOwner* b) { return rank(a) < rank(b); });
  return owners;
}

}  // namespace

std::vector<std::string> OwnersInWords(const Snapshot& snapshot, const FaultAddressVerdict& verdict,
                                       size_t most) {
  std::vector<std::string> lines;
  if (verdict.state == AddressState::kNeverMapped) {
    lines.emplace_back("in no object that is known");
    AppendNeighbours(snapshot, verdict, lines.back());
  }
  const std::vector<const AddressOwner*> owners = LikelyOwnersFirst(snapshot, verdict);
  const bool any_destroyed =
      !owners.empty() && snapshot.objects[owners.front()->object].state == ObjectState::kDestroyed;
  bool has_memory = false;
  for (const AddressOwner* owner : owners) {
    if (lines.size() == most) break;
    const bool is_first = owner == owners.front();
    std::string& line = lines.emplace_back();
    if (is_first) {
      line = verdict.state == AddressState::kFreed ? "memory that was freed, in " : "in ";
    } else {
      line = RelationTo(snapshot.objects[owners.front()->object], snapshot.objects[owner->object],
                        &has_memory);
    }
    AppendOwner(snapshot, *owner, any_destroyed, line);
  }
  if (verdict.owner_count > most) {
    lines.push_back(fmt::format("… {} more", verdict.owner_count - most));
  }
  return lines;
}

void AppendOwners(const Snapshot& snapshot, const FaultAddressVerdict& verdict, size_t most,
                  std::string& out) {
  Format(out, "{}", fmt::join(OwnersInWords(snapshot, verdict, most), "; "));
}

void AppendAround(const Snapshot& snapshot, const FaultAddressVerdict& verdict, std::string& out) {
  if (verdict.state != AddressState::kFreed) return;
  const size_t begin = out.size();
  AppendNeighbours(snapshot, verdict, out);
  if (out.size() != begin) out.erase(begin, 2);
}

void AppendFreedInFlight(const Snapshot& snapshot, const FreedInFlight& freed, std::string& out) {
  const Object& object = snapshot.objects[freed.object];
  const Submission& submission = snapshot.submissions[freed.submission];
  AppendObject(snapshot, object, out);
  Format(out, " ({} at {:#x})", BytesInWords(object.size_bytes), object.gpu_address);
  AppendHowItEnded(snapshot, object.kind, freed.destruction, out);
  std::string moment =
      MomentInWords(freed.after_submission_ns, fmt::format("submission {} of ", submission.number));
  AppendQueue(snapshot, submission.queue, moment);
  AppendDestroyedBy(snapshot, freed.destruction, moment, out);
}

void AppendCrashOwner(const Snapshot& snapshot, const AddressOwner& owner, std::string& out) {
  const Object& object = snapshot.objects[owner.object];
  out += "in ";
  AppendPlace(snapshot, owner, out);
  if (object.state != ObjectState::kDestroyed) return;
  AppendHowItEnded(snapshot, object.kind, owner.destruction, out);
  std::string moment;
  if (owner.destruction == kNone && owner.destroyed_after_fault_ns != 0) {
    moment = MomentInWords(owner.destroyed_after_fault_ns, "the crash was noticed");
  }
  AppendDestroyedBy(snapshot, owner.destruction, moment, out);
}

}  // namespace cairn
