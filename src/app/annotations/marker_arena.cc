// SPDX-License-Identifier: Apache-2.0
#include "app/annotations/marker_arena.h"

#include <algorithm>
#include <cstring>

namespace cairn {
namespace {

constexpr uint32_t RoundUp(uint32_t bytes) {
  return (bytes + kMarkerAlignment - 1) / kMarkerAlignment * kMarkerAlignment;
}

bool Claim(ArenaRecord& record) {
  uint32_t expected = kEntryFree;
  return record.state.compare_exchange_strong(expected, kEntryPublished, std::memory_order_acq_rel);
}

bool HasEventIds(const ArenaRecord& record) {
  return record.is_queue != static_cast<uint32_t>(ArenaOwner::kQueueWithoutEventIds);
}

// Orders a change of generation or first_index before the pages change that it makes invalid, for
// readers in other processes.
void PublishBeforeReuse() {
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace

uint64_t NextUnkeptEventId() {
  static std::atomic<uint64_t> count{0};
  return MakeUnkeptEventId(count.fetch_add(1, std::memory_order_relaxed) + 1);
}

MarkerArena::MarkerArena(BlockWriter* block, Lifetime lifetime, const void* native)
    : block_(block), lifetime_(lifetime), native_(native) {}

MarkerArena::~MarkerArena() {
  if (record_ != nullptr) GiveBackEntry(generation_ == kMaxEventIdGeneration);
}

bool MarkerArena::TakeEntry() {
  ArenaRecord* arenas = block_ == nullptr ? nullptr : block_->arenas();
  if (arenas == nullptr) return false;
  std::atomic<uint32_t>& count = block_->header()->arena_count;
  // Fresh entries first: generations of used ones are worth saving.
  uint32_t entry = count.load(std::memory_order_relaxed);
  while (entry < kMaxArenas &&
         !count.compare_exchange_weak(entry, entry + 1, std::memory_order_acq_rel)) {
  }
  if (entry < kMaxArenas) {
    // Another thread that looks for used entries may have been faster.
    if (!Claim(arenas[entry])) return TakeEntry();
  } else {
    static std::atomic<uint32_t> next_to_look_at{0};
    uint32_t looked_at = 0;
    do {
      if (looked_at++ == kMaxArenas) return false;
      entry = next_to_look_at.fetch_add(1, std::memory_order_relaxed) % kMaxArenas;
    } while (!Claim(arenas[entry]));
  }
  record_ = &arenas[entry];
  entry_ = entry;
  generation_ = std::max(record_->generation.load(std::memory_order_relaxed), 1u);
  first_index_ = end_index_ = 0;
  record_->is_queue = static_cast<uint32_t>(lifetime_);
  record_->native_handle = reinterpret_cast<uintptr_t>(native_);
  record_->dropped.store(0, std::memory_order_relaxed);
  record_->generation.store(generation_, std::memory_order_release);
  return true;
}

void MarkerArena::GiveBackEntry(bool used_up) {
  // Larger than any EventID can carry: all EventIDs of a used-up entry are expired.
  record_->generation.store(generation_ + 1, std::memory_order_relaxed);
  PublishBeforeReuse();
  record_->end_index.store(0, std::memory_order_relaxed);
  record_->first_index.store(0, std::memory_order_relaxed);
  record_->first_directory_page.store(0, std::memory_order_relaxed);
  SetLiveBytes(0);
  record_->state.store(used_up ? kEntryRetired : kEntryFree, std::memory_order_release);
  record_ = nullptr;
  FreeChain(first_data_page_);
  FreeChain(first_directory_page_);
  data_ = nullptr;
  directory_ = nullptr;
  first_data_page_ = data_page_ = data_page_count_ = first_directory_page_ = 0;
  data_used_ = directory_used_ = 0;
}

// Both kinds of pages start with the index of the next one.
void MarkerArena::FreeChain(uint32_t first_page) {
  for (uint32_t page = first_page; page != 0;) {
    const uint32_t next = DataPage(page)->next_page.load(std::memory_order_relaxed);
    block_->FreePage(page);
    page = next;
  }
}

void MarkerArena::Reset() {
  if (record_ == nullptr || end_index_ == 0) return;
  if (generation_ == kMaxEventIdGeneration) {
    GiveBackEntry(true);
    return;
  }
  record_->generation.store(++generation_, std::memory_order_relaxed);
  PublishBeforeReuse();
  record_->end_index.store(0, std::memory_order_relaxed);
  record_->first_index.store(0, std::memory_order_relaxed);
  first_index_ = end_index_ = 0;
  SetLiveBytes(0);
  // The first pages stay: an allocator that is reset every frame allocates nothing.
  if (data_ != nullptr) {
    MarkerDataPage* first = DataPage(first_data_page_);
    FreeChain(first->next_page.load(std::memory_order_relaxed));
    first->next_page.store(0, std::memory_order_relaxed);
    data_ = first;
    data_page_ = first_data_page_;
    data_page_count_ = 1;
    data_used_ = 0;
  }
  if (directory_ != nullptr) {
    directory_ = DirectoryPage(first_directory_page_);
    FreeChain(directory_->next_page.load(std::memory_order_relaxed));
    directory_->next_page.store(0, std::memory_order_relaxed);
    directory_->first.store(0, std::memory_order_relaxed);
    directory_used_ = 0;
  }
}

uint64_t MarkerArena::Drop() {
  if (record_ != nullptr) record_->dropped.fetch_add(1, std::memory_order_relaxed);
  return NextUnkeptEventId();
}

bool MarkerArena::AddDirectoryPage() {
  const uint32_t page = block_->AllocatePage();
  if (page == 0) return false;
  MarkerDirectoryPage* added = DirectoryPage(page);
  added->next_page.store(0, std::memory_order_relaxed);
  added->first.store(end_index_, std::memory_order_relaxed);
  if (directory_ == nullptr) {
    first_directory_page_ = page;
    record_->first_directory_page.store(page, std::memory_order_release);
  } else {
    directory_->next_page.store(page, std::memory_order_release);
  }
  directory_ = added;
  directory_used_ = 0;
  return true;
}

bool MarkerArena::AddDataPage() {
  const uint32_t page = block_->AllocatePage();
  if (page == 0) return false;
  DataPage(page)->next_page.store(0, std::memory_order_relaxed);
  if (data_ == nullptr) {
    first_data_page_ = page;
  } else {
    data_->next_page.store(page, std::memory_order_release);
  }
  data_ = DataPage(page);
  data_page_ = page;
  data_used_ = 0;
  ++data_page_count_;
  return true;
}

uint64_t MarkerArena::Append(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size,
                             uint32_t submission) {
  if (end_index_ > kMaxEventIdIndex) {
    // No index is left. By their policies a queue drops the markers that it kept, and an allocator
    // waits for its reset.
    if (lifetime_ == Lifetime::kAllocator) return Drop();
    record_->dropped.fetch_add(end_index_ - first_index_, std::memory_order_relaxed);
    Reset();
  }
  if (record_ == nullptr && !TakeEntry()) return Drop();
  if (directory_ == nullptr || directory_used_ == kMarkersPerDirectoryPage) {
    if (!AddDirectoryPage()) return Drop();
  }
  const MarkerRecord marker = {metadata, size, data == nullptr ? 0 : size, submission};
  const uint32_t place = Store(kind, marker, data);
  if (MarkerPlacePage(place) == 0) record_->dropped.fetch_add(1, std::memory_order_relaxed);
  directory_->places[directory_used_++].store(place, std::memory_order_relaxed);
  const uint64_t event_id = MakeEventId(entry_, generation_, end_index_);
  record_->end_index.store(++end_index_, std::memory_order_release);
  return event_id;
}

uint32_t MarkerArena::Store(MarkerKind kind, const MarkerRecord& marker, const void* data) {
  const uint32_t room = data_ == nullptr ? 0 : kMarkerPageBytes - data_used_;
  if (marker.kept > room || sizeof(marker) > room - marker.kept) {
    return StoreOverPages(kind, marker, data);
  }
  const uint32_t offset = data_used_;
  std::memcpy(data_->bytes + offset, &marker, sizeof(marker));
  if (marker.kept != 0) std::memcpy(data_->bytes + offset + sizeof(marker), data, marker.kept);
  data_used_ = offset + sizeof(marker) + RoundUp(marker.kept);
  SetLiveBytes(live_bytes_ + marker.kept);
  return MakeMarkerPlace(data_page_, kind, offset);
}

uint32_t MarkerArena::StoreOverPages(MarkerKind kind, const MarkerRecord& marker,
                                     const void* data) {
  const uint32_t not_kept = MakeMarkerPlace(0, kind, 0);
  if (marker.kept > kMaxKeptBytes) return not_kept;
  if (lifetime_ != Lifetime::kAllocator) {
    constexpr uint32_t kQueueBytes = kQueueDataPages * kMarkerPageBytes;
    // The limit is a page less: a marker starts where the one before it ended.
    if (marker.kept > kQueueBytes - kMarkerPageBytes - sizeof(marker)) return not_kept;
    MakeRoom(marker.kept + sizeof(marker));
  }
  if ((data_ == nullptr || data_used_ == kMarkerPageBytes) && !AddDataPage()) return not_kept;
  MarkerDataPage* const start_data = data_;
  const uint32_t start_page = data_page_;
  const uint32_t start_offset = data_used_;
  const uint32_t start_count = data_page_count_;
  std::memcpy(data_->bytes + start_offset, &marker, sizeof(marker));
  data_used_ += sizeof(marker);
  const std::byte* from = static_cast<const std::byte*>(data);
  for (uint32_t left = marker.kept; left != 0;) {
    if (data_used_ == kMarkerPageBytes && !AddDataPage()) {
      // The block is full: as if nothing had been written.
      FreeChain(start_data->next_page.exchange(0, std::memory_order_relaxed));
      data_ = start_data;
      data_page_ = start_page;
      data_used_ = start_offset;
      data_page_count_ = start_count;
      return not_kept;
    }
    const uint32_t part = std::min(left, kMarkerPageBytes - data_used_);
    std::memcpy(data_->bytes + data_used_, from, part);
    data_used_ += RoundUp(part);
    from += part;
    left -= part;
  }
  SetLiveBytes(live_bytes_ + marker.kept);
  return MakeMarkerPlace(start_page, kind, start_offset);
}

void MarkerArena::MakeRoom(uint32_t bytes) {
  const uint32_t room = data_ == nullptr ? 0 : kMarkerPageBytes - data_used_;
  const uint32_t more_bytes = bytes > room ? bytes - room : 0;
  const uint32_t more_pages = (more_bytes + kMarkerPageBytes - 1) / kMarkerPageBytes;
  while (data_page_count_ + more_pages > kQueueDataPages && first_index_ < end_index_) DropOldest();
}

void MarkerArena::SkipPassedDirectoryPages() {
  while (first_directory_page_ != 0) {
    MarkerDirectoryPage* directory = DirectoryPage(first_directory_page_);
    const uint32_t first = directory->first.load(std::memory_order_relaxed);
    if (directory == directory_ || first_index_ - first < kMarkersPerDirectoryPage) return;
    const uint32_t freed = first_directory_page_;
    first_directory_page_ = directory->next_page.load(std::memory_order_relaxed);
    record_->first_directory_page.store(first_directory_page_, std::memory_order_release);
    block_->FreePage(freed);
  }
}

uint32_t MarkerArena::FirstNeededDataPage() const {
  const MarkerDirectoryPage* directory = DirectoryPage(first_directory_page_);
  for (uint32_t index = first_index_; index < end_index_; ++index) {
    uint32_t position = index - directory->first.load(std::memory_order_relaxed);
    if (position >= kMarkersPerDirectoryPage) {
      directory = DirectoryPage(directory->next_page.load(std::memory_order_relaxed));
      position = 0;
    }
    const uint32_t place = directory->places[position].load(std::memory_order_relaxed);
    if (MarkerPlacePage(place) != 0) return MarkerPlacePage(place);
  }
  return data_page_;
}

void MarkerArena::DropOldest() {
  SkipPassedDirectoryPages();
  const MarkerDirectoryPage* directory = DirectoryPage(first_directory_page_);
  const uint32_t position = first_index_ - directory->first.load(std::memory_order_relaxed);
  const uint32_t place = directory->places[position].load(std::memory_order_relaxed);
  record_->first_index.store(++first_index_, std::memory_order_relaxed);
  PublishBeforeReuse();
  if (MarkerPlacePage(place) == 0) return;  // was counted when it came
  record_->dropped.fetch_add(1, std::memory_order_relaxed);
  MarkerRecord oldest;
  std::memcpy(&oldest, DataPage(MarkerPlacePage(place))->bytes + MarkerPlaceOffset(place),
              sizeof(oldest));
  SetLiveBytes(live_bytes_ - oldest.kept);
  FreePagesBefore(FirstNeededDataPage());
}

void MarkerArena::FreePagesBefore(uint32_t page) {
  while (first_data_page_ != page) {
    const uint32_t freed = first_data_page_;
    first_data_page_ = DataPage(freed)->next_page.load(std::memory_order_relaxed);
    block_->FreePage(freed);
    --data_page_count_;
  }
}

uint64_t MarkerArena::LiveBytes(const BlockWriter& block) {
  uint64_t bytes = 0;
  const ArenaRecord* arenas = block.arenas();
  const uint32_t count = block.header()->arena_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; arenas != nullptr && i < count; ++i) {
    if (!HasEventIds(arenas[i])) continue;
    bytes += arenas[i].live_bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

uint32_t MarkerArena::EntriesInUse(const BlockWriter& block) {
  uint32_t entries = 0;
  const ArenaRecord* arenas = block.arenas();
  const uint32_t count = block.header()->arena_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; arenas != nullptr && i < count; ++i) {
    entries += arenas[i].state.load(std::memory_order_relaxed) == kEntryPublished &&
               HasEventIds(arenas[i]);
  }
  return entries;
}

}  // namespace cairn
