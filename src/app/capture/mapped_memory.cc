// SPDX-License-Identifier: Apache-2.0
#include "app/capture/mapped_memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "app/capture/changed_bytes.h"
#include "app/capture/stand_in.h"
#include "app/settings/log.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/memory.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

constexpr const char* kTrackingVariable = kVariableOf<&LayerSettings::capture_tracking>;
constexpr char kCompareName[] = "compare (comparison with a copy)";
constexpr char kStandInName[] = "stand-in (memory of Cairn's own, copied before the GPU gets work)";

struct FreeMemory {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
// Zeroed; pages that are never touched cost nothing.
using Shadow = std::unique_ptr<std::byte[], FreeMemory>;

struct Mapping {
  std::byte* data = nullptr;  // where the program writes
  std::byte* real = nullptr;  // what `data` stands in for; null: nothing
  size_t size_bytes = 0;
  uint32_t maps = 0;
  bool written_by_others = false;
  bool unseen = true;  // nothing of it was compared since it was mapped
  Shadow shadow;       // the contents that were reported, or known before
  // Pages whose part of the shadow is invalid: their contents were known but not copied, or a
  // replay may not have their contents. Empty: none.
  std::vector<bool> uncopied;
};

// Larger mappings whose contents are known are not copied at once: the first changes are reported
// by whole pages.
constexpr size_t kMostCopiedAtOnce = 256u << 10;

// Pages that one or more mappings lie in.
struct Pages {
  uintptr_t end = 0;
  uint32_t mappings = 0;
  WriteTracker* tracker = nullptr;  // null: compared each time
};

PageRange PagesOf(const Mapping& mapping) {
  const auto begin = reinterpret_cast<uintptr_t>(mapping.data);
  const uintptr_t mask = PageBytes() - 1;
  return {begin & ~mask, (begin + mapping.size_bytes + mask) & ~mask};
}

PageRange WholePagesOf(const Mapping& mapping) {
  const auto begin = reinterpret_cast<uintptr_t>(mapping.data);
  const uintptr_t mask = PageBytes() - 1;
  const PageRange pages{(begin + mask) & ~mask, (begin + mapping.size_bytes) & ~mask};
  return pages.begin < pages.end ? pages : PageRange{pages.begin, pages.begin};
}

// Like TakeChangedBytes, for a mapping with pages that are not copied yet.
template <typename Tell>
void TakePages(Mapping& mapping, size_t first, size_t last, const Tell& tell) {
  const size_t lead = reinterpret_cast<uintptr_t>(mapping.data) & (PageBytes() - 1);
  while (first < last) {
    const size_t page = (lead + first) / PageBytes();
    size_t end = std::min(last, (page + 1) * PageBytes() - lead);
    if (!mapping.uncopied[page]) {
      TakeChangedBytes(mapping.data, mapping.shadow.get(), first, end, tell);
      first = end;
      continue;
    }
    size_t pages_end = page;
    while (pages_end < mapping.uncopied.size() && mapping.uncopied[pages_end] &&
           pages_end * PageBytes() < lead + last) {
      mapping.uncopied[pages_end++] = false;
    }
    end = std::min(last, pages_end * PageBytes() - lead);
    std::memcpy(mapping.shadow.get() + first, mapping.data + first, end - first);
    tell(first, end - first);
    first = end;
  }
}

bool IsZero(const std::byte* bytes, size_t size) {
  return size == 0 || (bytes[0] == std::byte{0} && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

// Memory that was used before, where the program may write zeros that the shadow has already.
void MarkPagesThatAreNotZero(Mapping& mapping) {
  const PageRange range = PagesOf(mapping);
  const size_t lead = reinterpret_cast<uintptr_t>(mapping.data) & (PageBytes() - 1);
  const size_t count = (range.end - range.begin) / PageBytes();
  for (size_t page = 0; page < count; ++page) {
    const size_t begin = page == 0 ? 0 : page * PageBytes() - lead;
    const size_t end = std::min(mapping.size_bytes, (page + 1) * PageBytes() - lead);
    if (IsZero(mapping.data + begin, end - begin)) continue;
    if (mapping.uncopied.empty()) mapping.uncopied.assign(count, false);
    mapping.uncopied[page] = true;
  }
}

}  // namespace

struct MappedMemory::State {
  using Key = std::pair<uint64_t, uint32_t>;

  // The trackers that are asked for, best first; made at the first mapping.
  void MakeTrackers();
  // Splits the entry of `pages` that `address` is in the middle of.
  void SplitAt(uintptr_t address);
  void AddPages(const Mapping& mapping);
  void AddGap(PageRange gap, PageRange whole);
  void Insert(PageRange range, WriteTracker* tracker);
  void RemovePages(PageRange range);
  // Collects the writes in `range`, in order.
  void CollectPages(PageRange range, std::vector<PageRange>* found);
  void ReportMapping(const Key& key, Mapping& mapping, const std::vector<PageRange>& found,
                     const Report& report);
  void ReportRange(PageRange range, const Report& report);
  void End(Mapping& mapping, const Report& report);
  void Begin(Mapping& mapping, bool known);
  bool WantsStandIn(const MappedPlace& place);
  // Returns true if a tracker finds writes at `data`, so that no copy is needed.
  bool CanTrack(std::byte* data);
  // False: the mapping gets none.
  bool BeginStandIn(Mapping& mapping, const MappedPlace& place);
  // Copies changes by others from the real memory.
  static void Refresh(Mapping& mapping);

  mutable std::mutex mutex;
  std::map<Key, Mapping> mappings;
  std::map<uintptr_t, Pages> pages;  // by begin
  std::vector<std::unique_ptr<WriteTracker>> trackers;
  bool has_trackers = false;
  bool stand_ins_only = false;  // asked for by hand
  bool stand_ins_if_needed = false;
  StandIns stand_ins;
  std::set<std::string_view> methods;  // that are in use
  std::vector<PageRange> written;      // kept for its memory
  std::atomic<uint64_t> mapped_bytes{0};
};

MappedMemory::MappedMemory() : state_(std::make_unique<State>()) {}

MappedMemory& MappedMemory::Get() {
  static MappedMemory& memory = *new MappedMemory;
  return memory;
}

void MappedMemory::State::MakeTrackers() {
  if (std::exchange(has_trackers, true)) return;
  const std::string wanted = *ReadSetting<&LayerSettings::capture_tracking>(OwnVariable);
  stand_ins_only = wanted == "stand-in";
  const bool by_kernel = wanted == kKernelWriteTracker;
  const bool by_faults = wanted == kFaultWriteTracker;
  const bool known = by_kernel || stand_ins_only || by_faults || wanted == "compare";
  stand_ins_if_needed = !known;
  if (!known && !wanted.empty()) {
    Log(LogLevel::kWarning, std::string(kTrackingVariable) + " is '" + wanted +
                                "', which is none of " + kKernelWriteTracker + ", stand-in, " +
                                kFaultWriteTracker + ", compare; the best that works is used");
  }
  std::unique_ptr<WriteTracker> tracker;
  if (!known || by_kernel || stand_ins_only) tracker = MakeKernelWriteTracker();
  if (by_faults) tracker = MakeFaultWriteTracker();
  if (tracker != nullptr) trackers.push_back(std::move(tracker));
  if ((by_kernel || by_faults) && trackers.empty()) {
    Log(LogLevel::kWarning,
        std::string(kTrackingVariable) + " asks for " + wanted +
            ", which does not work here; mapped memory is compared with a copy");
  }
}

void MappedMemory::State::SplitAt(uintptr_t address) {
  auto after = pages.upper_bound(address);
  if (after == pages.begin()) return;
  const auto entry = std::prev(after);
  if (entry->first == address || entry->second.end <= address) return;
  pages.emplace_hint(after, address, entry->second);
  entry->second.end = address;
}

void MappedMemory::State::Insert(PageRange range, WriteTracker* tracker) {
  if (range.begin >= range.end) return;
  methods.insert(tracker == nullptr ? kCompareName : tracker->Name());
  pages.emplace(range.begin, Pages{range.end, 1, tracker});
}

// `whole`: the pages that lie in the mapping from end to end.
void MappedMemory::State::AddGap(PageRange gap, PageRange whole) {
  for (const auto& tracker : trackers) {
    if (tracker->MayShareAPage()) {
      if (!tracker->Add(gap)) continue;
      Insert(gap, tracker.get());
      return;
    }
    const PageRange middle{std::max(gap.begin, whole.begin), std::min(gap.end, whole.end)};
    if (middle.begin >= middle.end || !tracker->Add(middle)) continue;
    Insert({gap.begin, middle.begin}, nullptr);
    Insert(middle, tracker.get());
    Insert({middle.end, gap.end}, nullptr);
    return;
  }
  Insert(gap, nullptr);
}

void MappedMemory::State::AddPages(const Mapping& mapping) {
  const PageRange range = PagesOf(mapping);
  SplitAt(range.begin);
  SplitAt(range.end);
  uintptr_t at = range.begin;
  while (at < range.end) {
    const auto next = pages.lower_bound(at);
    const uintptr_t gap_end = next == pages.end() ? range.end : std::min(range.end, next->first);
    if (at < gap_end) {
      AddGap({at, gap_end}, WholePagesOf(mapping));
      at = gap_end;
    } else {
      ++next->second.mappings;
      at = next->second.end;
    }
  }
}

void MappedMemory::State::RemovePages(PageRange range) {
  SplitAt(range.begin);
  SplitAt(range.end);
  auto entry = pages.lower_bound(range.begin);
  while (entry != pages.end() && entry->first < range.end) {
    if (--entry->second.mappings != 0) {
      ++entry;
      continue;
    }
    if (entry->second.tracker != nullptr) {
      entry->second.tracker->Remove({entry->first, entry->second.end});
    }
    entry = pages.erase(entry);
  }
}

void MappedMemory::State::CollectPages(PageRange range, std::vector<PageRange>* found) {
  auto entry = pages.upper_bound(range.begin);
  if (entry != pages.begin()) --entry;
  while (entry != pages.end() && entry->first < range.end) {
    // Neighbours that are tracked the same way cost one look.
    PageRange together{entry->first, entry->second.end};
    WriteTracker* const tracker = entry->second.tracker;
    for (++entry; entry != pages.end() && entry->first == together.end &&
                  entry->second.tracker == tracker && entry->first < range.end;
         ++entry) {
      together.end = entry->second.end;
    }
    if (together.end <= range.begin) continue;
    const size_t before = found->size();
    if (tracker != nullptr && tracker->Collect(together, found)) continue;
    found->resize(before);
    found->push_back(together);
  }
}

void MappedMemory::State::ReportMapping(const Key& key, Mapping& mapping,
                                        const std::vector<PageRange>& found, const Report& report) {
  const auto begin = reinterpret_cast<uintptr_t>(mapping.data);
  const uintptr_t end = begin + mapping.size_bytes;
  const auto tell = [&](size_t offset, size_t size) {
    if (mapping.real != nullptr) {
      std::memcpy(mapping.real + offset, mapping.shadow.get() + offset, size);
    }
    if (report) report(key.first, key.second, offset, {mapping.shadow.get() + offset, size});
  };
  if (std::exchange(mapping.unseen, false)) {
    if (mapping.uncopied.empty()) {
      TakeChangedBytes(mapping.data, mapping.shadow.get(), 0, mapping.size_bytes, tell);
    } else {
      TakePages(mapping, 0, mapping.size_bytes, tell);
      mapping.uncopied.clear();
    }
    return;
  }
  auto range = std::upper_bound(found.begin(), found.end(), begin,
                                [](uintptr_t at, const PageRange& r) { return at < r.end; });
  for (; range != found.end() && range->begin < end; ++range) {
    const size_t first = std::max(range->begin, begin) - begin;
    const size_t last = std::min(range->end, end) - begin;
    if (mapping.uncopied.empty()) {
      TakeChangedBytes(mapping.data, mapping.shadow.get(), first, last, tell);
    } else {
      TakePages(mapping, first, last, tell);
    }
  }
}

void MappedMemory::State::ReportRange(PageRange range, const Report& report) {
  written.clear();
  try {
    CollectPages(range, &written);
  } catch (const std::bad_alloc&) {
    // A stand-in's contents must reach the GPU: without this knowledge all pages are compared.
    written.clear();
    for (auto& [key, mapping] : mappings) mapping.unseen = true;
  }
  // Fence before the copies: later writes are found the next time.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (auto& [key, mapping] : mappings) {
    const PageRange mine = PagesOf(mapping);
    if (mine.begin < range.end && range.begin < mine.end) {
      ReportMapping(key, mapping, written, report);
    }
  }
}

void MappedMemory::State::Begin(Mapping& mapping, bool known) {
  AddPages(mapping);
  mapping.unseen = !known;
  mapped_bytes += mapping.size_bytes;
  if (!known) {
    MarkPagesThatAreNotZero(mapping);
    return;
  }
  const PageRange range = PagesOf(mapping);
  bool all_tracked = true;
  for (auto entry = pages.lower_bound(range.begin);
       entry != pages.end() && entry->first < range.end; ++entry) {
    all_tracked = all_tracked && entry->second.tracker != nullptr;
  }
  if (all_tracked && mapping.size_bytes > kMostCopiedAtOnce) {
    mapping.uncopied.assign((range.end - range.begin) / PageBytes(), true);
  } else {
    std::memcpy(mapping.shadow.get(), mapping.data, mapping.size_bytes);
  }
}

void MappedMemory::State::End(Mapping& mapping, const Report& report) {
  ReportRange(PagesOf(mapping), report);
  RemovePages(PagesOf(mapping));
  mapped_bytes -= mapping.size_bytes;
}

bool MappedMemory::State::CanTrack(std::byte* data) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data) & ~(PageBytes() - 1);
  auto known = pages.upper_bound(begin);
  if (known != pages.begin() && begin < (--known)->second.end) {
    return known->second.tracker != nullptr;
  }
  // If the kernel reports writes for no memory, memory is compared unless reading it is slow.
  if (trackers.empty()) return IsOrdinaryMemory(data);
  const PageRange page{begin, begin + PageBytes()};
  for (const auto& tracker : trackers) {
    if (!tracker->Add(page)) continue;
    tracker->Remove(page);
    return true;
  }
  return false;
}

bool MappedMemory::State::WantsStandIn(const MappedPlace& place) {
  if (!place.may_stand_in) return false;
  auto* const data = static_cast<std::byte*>(place.data);
  if (stand_ins.Has(data, place.size_bytes)) return true;
  return place.track && (stand_ins_only || (stand_ins_if_needed && !CanTrack(data)));
}

bool MappedMemory::State::BeginStandIn(Mapping& mapping, const MappedPlace& place) {
  if (!WantsStandIn(place)) return false;
  auto* const data = static_cast<std::byte*>(place.data);
  const bool alone = place.block == nullptr;
  std::byte* const memory =
      stand_ins.Take(data, place.size_bytes, alone ? data : static_cast<std::byte*>(place.block),
                     alone ? place.size_bytes : place.block_bytes);
  if (memory == nullptr) return false;
  methods.insert(kStandInName);
  mapping.data = memory;
  mapping.real = data;
  return true;
}

void MappedMemory::State::Refresh(Mapping& mapping) {
  // Before the first look the copy does not show the real memory.
  if (mapping.real == nullptr || mapping.unseen || !mapping.uncopied.empty()) return;
  // Only what differs from the copy: the program may be writing other bytes meanwhile.
  TakeChangedBytes(mapping.real, mapping.shadow.get(), 0, mapping.size_bytes,
                   [&](size_t offset, size_t size) {
                     std::memcpy(mapping.data + offset, mapping.shadow.get() + offset, size);
                   });
}

void* MappedMemory::Map(uint64_t object, uint32_t subresource, const MappedPlace& place) {
  if (place.data == nullptr || place.size_bytes == 0) return place.data;
  const std::lock_guard lock(state_->mutex);
  state_->MakeTrackers();
  if (!place.track && !state_->WantsStandIn(place)) return place.data;
  Mapping& mapping = state_->mappings[{object, subresource}];
  if (mapping.maps++ != 0) return mapping.real != nullptr ? mapping.data : place.data;
  if (mapping.real != nullptr) return mapping.data;
  mapping.shadow.reset(static_cast<std::byte*>(std::calloc(1, place.size_bytes)));
  if (mapping.shadow == nullptr) {
    state_->mappings.erase({object, subresource});
    LogOnce(LogLevel::kWarning, "mapped memory: no copy",
            "there is no memory to track what the program writes into " +
                std::to_string(place.size_bytes) + " mapped bytes: the capture misses it");
    return place.data;
  }
  mapping.data = static_cast<std::byte*>(place.data);
  mapping.size_bytes = place.size_bytes;
  if (state_->BeginStandIn(mapping, place)) has_stand_ins_.store(true, std::memory_order_relaxed);
  state_->Begin(mapping, place.known);
  return mapping.data;
}

void MappedMemory::Unmap(uint64_t object, uint32_t subresource, const Report& report) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->mappings.find({object, subresource});
  if (found == state_->mappings.end() || found->second.maps == 0) return;
  if (--found->second.maps != 0) return;
  if (found->second.real != nullptr) {
    state_->ReportRange(PagesOf(found->second), report);
    return;
  }
  state_->End(found->second, report);
  state_->mappings.erase(found);
}

void MappedMemory::Forget(uint64_t object, const Report& report) {
  const std::lock_guard lock(state_->mutex);
  auto found = state_->mappings.lower_bound({object, 0});
  while (found != state_->mappings.end() && found->first.first == object) {
    state_->End(found->second, report);
    if (found->second.real != nullptr) state_->stand_ins.GiveBack(found->second.real);
    found = state_->mappings.erase(found);
  }
}

void MappedMemory::ForgetAll() {
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->mappings, [&](const auto& entry) {
    const Mapping& mapping = entry.second;
    if (mapping.real != nullptr) return false;
    state_->RemovePages(PagesOf(mapping));
    state_->mapped_bytes -= mapping.size_bytes;
    return true;
  });
}

void MappedMemory::Flush(const Report& report) {
  const std::lock_guard lock(state_->mutex);
  state_->ReportRange({0, ~uintptr_t{0}}, report);
}

void MappedMemory::Refresh(uint64_t object) {
  const std::lock_guard lock(state_->mutex);
  auto found = state_->mappings.lower_bound({object, 0});
  for (; found != state_->mappings.end() && found->first.first == object; ++found) {
    State::Refresh(found->second);
  }
}

void MappedMemory::NoteWrittenByOthers(uint64_t object) {
  const std::lock_guard lock(state_->mutex);
  auto found = state_->mappings.lower_bound({object, 0});
  for (; found != state_->mappings.end() && found->first.first == object; ++found) {
    if (found->second.real == nullptr) continue;
    found->second.written_by_others = true;
    written_by_others_.store(true, std::memory_order_relaxed);
  }
}

void MappedMemory::RefreshWritten() {
  const std::lock_guard lock(state_->mutex);
  for (auto& [key, mapping] : state_->mappings) {
    if (mapping.written_by_others) State::Refresh(mapping);
  }
}

std::string MappedMemory::Method() const {
  const std::lock_guard lock(state_->mutex);
  std::string text;
  for (const std::string_view method : state_->methods) {
    if (!text.empty()) text += ", ";
    text += method;
  }
  return text;
}

uint64_t MappedMemory::mapped_bytes() const {
  return state_->mapped_bytes;
}

}  // namespace cairn
