// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "app/capture/stand_in.h"
#include "app/capture/write_tracker.h"

namespace cairn {
namespace {

// Programs rely on how Direct3D 12 places buffers.
constexpr uintptr_t kAlignment = 64 << 10;

// Into memory that is zero: what stays so is not touched, and costs nothing.
void CopyWhatIsNotZero(std::byte* to, const std::byte* from, size_t size) {
  static constexpr std::byte kZeros[4096] = {};
  for (size_t at = 0; at < size; at += sizeof(kZeros)) {
    const size_t piece = std::min(sizeof(kZeros), size - at);
    if (std::memcmp(from + at, kZeros, piece) != 0) std::memcpy(to + at, from + at, piece);
  }
}

}  // namespace

// userfaultfd is for ordinary memory only, and says so when a page is registered. That is undone at once:
// whoever touches the page meanwhile waits for it.
bool IsOrdinaryMemory(const void* place) {
  constexpr int kUserModeOnly = 1;
  const int userfault = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly));
  if (userfault < 0) return true;
  uffdio_api api{};
  api.api = UFFD_API;
  const uintptr_t page_bytes = PageBytes();
  uffdio_register range{};
  range.range = {reinterpret_cast<uintptr_t>(place) & ~(page_bytes - 1), page_bytes};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  const bool refused = ioctl(userfault, UFFDIO_API, &api) == 0 &&
                       ioctl(userfault, UFFDIO_REGISTER, &range) != 0 && errno == EINVAL;
  if (!refused) (void)ioctl(userfault, UFFDIO_UNREGISTER, &range.range);
  close(userfault);
  return !refused;
}

StandIns::~StandIns() {
  for (const auto& [real, block] : blocks_) munmap(block.reserved, block.reserved_bytes);
}

StandIns::Blocks::iterator StandIns::Find(std::byte* place) {
  const auto after = blocks_.upper_bound(place);
  if (after == blocks_.begin()) return blocks_.end();
  const auto found = std::prev(after);
  return place < found->first + found->second.bytes ? found : blocks_.end();
}

bool StandIns::Has(std::byte* place, size_t size) const {
  const auto found = const_cast<StandIns*>(this)->Find(place);
  return found != blocks_.end() && place + size <= found->first + found->second.bytes;
}

StandIns::Blocks::iterator StandIns::Make(std::byte* block, size_t bytes) {
  const auto next = blocks_.lower_bound(block);
  if (next != blocks_.end() && next->first < block + bytes) return blocks_.end();
  Block made;
  made.bytes = bytes;
  made.reserved_bytes = bytes + kAlignment;
  // Pages that are never touched cost nothing.
  made.reserved = mmap(nullptr, made.reserved_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made.reserved == MAP_FAILED) return blocks_.end();
  const auto reserved = reinterpret_cast<uintptr_t>(made.reserved);
  const uintptr_t shift = (reinterpret_cast<uintptr_t>(block) - reserved) & (kAlignment - 1);
  made.memory = static_cast<std::byte*>(made.reserved) + shift;
  return blocks_.emplace_hint(next, block, std::move(made));
}

void StandIns::Fill(std::byte* real, Block& block, size_t begin, size_t end) {
  size_t at = begin;
  auto next = block.filled.upper_bound(at);
  if (next != block.filled.begin()) at = std::max(at, std::prev(next)->second);
  while (at < end) {
    const size_t gap_end = next == block.filled.end() ? end : std::min(end, next->first);
    if (at < gap_end) CopyWhatIsNotZero(block.memory + at, real + at, gap_end - at);
    if (next == block.filled.end() || next->first >= end) break;
    at = std::max(gap_end, next->second);
    ++next;
  }
  // Whatever it touches becomes one range with it.
  auto first = block.filled.upper_bound(begin);
  if (first != block.filled.begin() && std::prev(first)->second >= begin) --first;
  while (first != block.filled.end() && first->first <= end) {
    begin = std::min(begin, first->first);
    end = std::max(end, first->second);
    first = block.filled.erase(first);
  }
  block.filled.emplace(begin, end);
}

std::byte* StandIns::Take(std::byte* place, size_t size, std::byte* block, size_t block_bytes) {
  auto found = Find(place);
  if (found == blocks_.end()) found = Make(block, block_bytes);
  if (found == blocks_.end()) return nullptr;
  const auto begin = static_cast<size_t>(place - found->first);
  if (place < found->first || begin + size > found->second.bytes) return nullptr;
  Fill(found->first, found->second, begin, begin + size);
  ++found->second.users;
  return found->second.memory + begin;
}

void StandIns::GiveBack(std::byte* place) {
  const auto found = Find(place);
  if (found == blocks_.end() || --found->second.users != 0) return;
  munmap(found->second.reserved, found->second.reserved_bytes);
  blocks_.erase(found);
}

}  // namespace cairn
