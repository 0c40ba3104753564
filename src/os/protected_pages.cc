// SPDX-License-Identifier: Apache-2.0
#include "os/protected_pages.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "os/memory.h"

namespace cairn {

ProtectedPages::Range* ProtectedPages::Find(uintptr_t address) {
  const auto found = ranges_.upper_bound(address);
  if (found == ranges_.end() || found->second.pages.begin > address) return nullptr;
  return &found->second;
}

void ProtectedPages::UnprotectAll(Range* range) {
  const size_t count = (range->pages.end - range->pages.begin) / PageBytes();
  for (size_t i = 0; i < count; ++i) range->written[i].store(1, std::memory_order_relaxed);
  protect_(range->pages, /*writable=*/true);
}

bool ProtectedPages::NoteWrite(uintptr_t address) {
  // The limit of threads on their way to a handler. The fault may also be a mistake of the program,
  // so that retries must end.
  constexpr uint32_t kMostRetries = 1024;
  const std::lock_guard lock(lock_);
  if (Range* const range = Find(address)) {
    const uintptr_t page = address & ~(PageBytes() - 1);
    range->written[(page - range->pages.begin) / PageBytes()].store(1, std::memory_order_relaxed);
    // Each page with another protection than its neighbours may be a mapping of its own, of which a system
    // allows a process only so many.
    if (!protect_({page, page + PageBytes()}, /*writable=*/true)) UnprotectAll(range);
    return true;
  }
  const size_t count = std::min(given_up_count_, given_up_.size());
  for (size_t i = 0; i < count; ++i) {
    GivenUp& given_up = given_up_[i];
    if (address < given_up.pages.begin || address >= given_up.pages.end) continue;
    return ++given_up.retries < kMostRetries;
  }
  return false;
}

bool ProtectedPages::Add(PageRange pages) {
  const size_t count = (pages.end - pages.begin) / PageBytes();
  Range range{pages, std::make_unique<std::atomic<uint8_t>[]>(count)};
  const std::lock_guard lock(lock_);
  if (!protect_(pages, /*writable=*/false)) return false;
  ranges_.insert_or_assign(pages.end, std::move(range));
  return true;
}

// Returns the part `pages` of `range`, with its known writes.
ProtectedPages::Range ProtectedPages::Part(const Range& range, PageRange pages) {
  const size_t first = (pages.begin - range.pages.begin) / PageBytes();
  const size_t count = (pages.end - pages.begin) / PageBytes();
  Range part{pages, std::make_unique<std::atomic<uint8_t>[]>(count)};
  for (size_t i = 0; i < count; ++i) {
    part.written[i].store(range.written[first + i].load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
  }
  return part;
}

void ProtectedPages::Remove(PageRange pages) {
  const std::lock_guard lock(lock_);
  protect_(pages, /*writable=*/true);
  given_up_[given_up_count_++ % given_up_.size()] = {pages, 0};
  auto next = ranges_.upper_bound(pages.begin);
  while (next != ranges_.end() && next->second.pages.begin < pages.end) {
    const auto range = ranges_.extract(next++);
    const PageRange whole = range.mapped().pages;
    if (whole.begin < pages.begin) {
      ranges_.emplace(pages.begin, Part(range.mapped(), {whole.begin, pages.begin}));
    }
    if (pages.end < whole.end) {
      next = ranges_.emplace(whole.end, Part(range.mapped(), {pages.end, whole.end})).first;
    }
  }
}

void ProtectedPages::Collect(PageRange pages, std::vector<PageRange>* written) {
  const std::lock_guard lock(lock_);
  for (auto range = ranges_.upper_bound(pages.begin);
       range != ranges_.end() && range->second.pages.begin < pages.end; ++range) {
    CollectFrom(&range->second, pages, written);
  }
}

void ProtectedPages::CollectFrom(Range* range, PageRange pages, std::vector<PageRange>* written) {
  const uintptr_t begin = std::max(pages.begin, range->pages.begin);
  const uintptr_t end = std::min(pages.end, range->pages.end);
  const uintptr_t page_bytes = PageBytes();
  const auto is_written = [range, page_bytes](uintptr_t page) -> std::atomic<uint8_t>& {
    return range->written[(page - range->pages.begin) / page_bytes];
  };
  for (uintptr_t page = begin; page < end; page += page_bytes) {
    if (is_written(page).load(std::memory_order_relaxed) == 0) continue;
    const uintptr_t first = page;
    while (page < end && is_written(page).load(std::memory_order_relaxed) != 0) page += page_bytes;
    written->push_back({first, page});
    // Pages that cannot be protected again stay written, and are looked at each time.
    if (!protect_({first, page}, /*writable=*/false)) continue;
    for (uintptr_t i = first; i < page; i += page_bytes) {
      is_written(i).store(0, std::memory_order_relaxed);
    }
  }
}

}  // namespace cairn
