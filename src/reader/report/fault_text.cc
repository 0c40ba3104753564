// SPDX-License-Identifier: Apache-2.0
#include "reader/report/fault_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

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
  out += "in ";
  AppendObject(snapshot, object, out);
  Format(out, " + {:#x} of {}", owner.offset, BytesInWords(object.size_bytes));
}

void AppendTime(int64_t ns, const char* what, std::string& out) {
  Format(out, "{} {} {}", DurationInWords(ns), ns < 0 ? "before" : "after", what);
}

void AppendOwner(const Snapshot& snapshot, const AddressOwner& owner, std::string& out) {
  const Object& object = snapshot.objects[owner.object];
  AppendPlace(snapshot, owner, out);
  if (!owner.exact) out += ", of which only the range of the address reaches in";
  if (object.state != ObjectState::kDestroyed) return;
  AppendHowItEnded(snapshot, object.kind, owner.destruction, out);
  const char* separator = " ";
  const auto append_time = [&](int64_t ns, const char* what) {
    if (ns == 0) return;
    out += separator;
    AppendTime(ns, what, out);
    separator = ", ";
  };
  append_time(owner.destroyed_after_fault_ns, "the fault was noticed");
  append_time(owner.destroyed_after_submission_ns, "the first unfinished submission");
  AppendDestroyedBy(snapshot, owner.destruction, out);
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
  AppendNeighbour(snapshot, verdict.below, "behind", out);
  AppendNeighbour(snapshot, verdict.above, "before", out);
}

}  // namespace

void AppendOwners(const Snapshot& snapshot, const FaultAddressVerdict& verdict, size_t most,
                  std::string& out) {
  switch (verdict.state) {
    case AddressState::kOwned: break;
    case AddressState::kFreed: out += "memory that was freed, "; break;
    case AddressState::kNeverMapped:
      out += "in no object that is known";
      AppendNeighbours(snapshot, verdict, out);
      break;
    case AddressState::kNoAddress: break;
  }
  const size_t limit = std::min(verdict.owners.size(), most);
  for (size_t i = 0; i < limit; ++i) {
    if (i != 0) out += "; or ";
    AppendOwner(snapshot, verdict.owners[i], out);
  }
  if (verdict.owner_count > limit) Format(out, "; … {} more", verdict.owner_count - limit);
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
  Format(out, " {} after submission {} of ", DurationInWords(freed.after_submission_ns),
         submission.number);
  AppendQueue(snapshot, submission.queue, out);
  AppendDestroyedBy(snapshot, freed.destruction, out);
}

void AppendCrashOwner(const Snapshot& snapshot, const AddressOwner& owner, std::string& out) {
  const Object& object = snapshot.objects[owner.object];
  AppendPlace(snapshot, owner, out);
  if (object.state != ObjectState::kDestroyed) return;
  AppendHowItEnded(snapshot, object.kind, owner.destruction, out);
  if (owner.destruction == kNone && owner.destroyed_after_fault_ns != 0) {
    out += ' ';
    AppendTime(owner.destroyed_after_fault_ns, "the crash was noticed", out);
  }
  AppendDestroyedBy(snapshot, owner.destruction, out);
}

}  // namespace cairn
