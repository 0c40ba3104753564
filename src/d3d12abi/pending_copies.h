// SPDX-License-Identifier: Apache-2.0
//
// Tracks the bytes of buffers that the GPU was told to copy, and the moment from which they are
// there. For a capture, which compares them with those of a replay: bytes may be looked at from the
// moment that a fence says they are there until the next copy to the same place is submitted. Pure:
// no Direct3D object is touched.
//
//   ListCopies copies;                       one a command list; its recording fills it
//   copies.Add({.buffer = number, .offset_bytes = 0, .row_bytes = 256});
//   PendingCopies pending;                   one a device
//   pending.Execute(lists, queue, ...);      in the order of submissions on each queue
//   pending.Signal(queue, fence, 7);         what was submitted there before is done when it comes to 7
//   pending.Take(looked_at);
#ifndef CAIRN_D3D12ABI_PENDING_COPIES_H_
#define CAIRN_D3D12ABI_PENDING_COPIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace cairn {

// Rows of a buffer: one for a copy of bytes, those of a region for a copy of a texture.
struct CopiedRows {
  uint64_t buffer = 0;  // a number of the caller's choice
  uint64_t offset_bytes = 0;
  uint64_t row_bytes = 0;
  uint64_t row_pitch_bytes = 0;  // from row to row; 0 for one row
  uint32_t row_count = 1;
  // False: another run of the program finds other bytes there (times), so they cannot be compared.
  bool comparable = true;
  uint64_t source = 0;  // the resource that they come from; 0: none

  uint64_t end_bytes() const;
  friend bool operator==(const CopiedRows&, const CopiedRows&) = default;
};
// Returns true if a byte belongs to both. Rows of textures side by side in one buffer do not
// overlap.
bool Overlap(const CopiedRows& a, const CopiedRows& b);

// A texture as it is placed in a buffer, in blocks of its format.
struct PlacedTexture {
  uint64_t offset_bytes = 0;
  uint64_t row_pitch_bytes = 0;
  uint64_t block_bytes = 0;
  uint64_t rows_per_slice = 0;
};
struct BlockBox {
  uint64_t x = 0, y = 0, z = 0;
  uint64_t width = 0, height = 0, depth = 1;
};

// The copies of a command list into buffers, in order. Not thread-safe, like the list. Memory: 48
// bytes a copy, kMostRows at most. Throws nothing.
class ListCopies {
 public:
  static constexpr size_t kMostRows = 2048;

  void Reset() {
    rows_.clear();
    lost_ = false;
  }
  void Add(const CopiedRows& rows);
  // Boxes whose rows could not lie in any buffer are passed over.
  void AddBox(const CopiedRows& to, const PlacedTexture& texture, const BlockBox& box);
  std::span<const CopiedRows> rows() const { return rows_; }
  // Returns true if there were more copies, or no memory for them: the list may copy anywhere.
  bool lost() const { return lost_; }

 private:
  std::vector<CopiedRows> rows_;
  bool lost_ = false;
};

// The pending copies into the buffers of a device. Not thread-safe. Memory: 120 bytes a copy,
// kMostCopies at most; copies beyond are not followed.
class PendingCopies {
 public:
  static constexpr size_t kMostCopies = 2048;

  struct Copy {
    CopiedRows rows;
    uint64_t queue = 0;
    uint64_t fence = 0;  // 0: nothing says yet when it is done
    uint64_t fence_value = 0;
    bool reached = false;  // the fence said so
  };

  size_t size() const { return count_; }
  // Adds the copies of submitted lists. May throw std::bad_alloc: then the copies of some lists are
  // missing. `unpredictable(source)` returns true if the source's contents differ from run to run
  // by now.
  template <typename Unpredictable>
  void Execute(std::span<const ListCopies* const> lists, uint64_t queue,
               const Unpredictable& unpredictable) {
    for (const ListCopies* const list : lists) {
      for (const CopiedRows& rows : list->rows()) {
        Submit(rows, queue, rows.comparable && !unpredictable(rows.source));
      }
    }
  }
  // Records a signal. Do not call it for a value that the fence has already: it would prove
  // nothing.
  void Signal(uint64_t queue, uint64_t fence, uint64_t value);
  // Forgets a fence. The queue's next signal stands for the copies that waited for it.
  void ForgetFence(uint64_t fence);
  void ForgetBuffer(uint64_t buffer);
  void Clear();

  // Removes the copies for which `take(Copy&)` says so: before a submission, those that it writes over;
  // those of one buffer; all.
  template <typename Take>
  void TakeOverwritten(std::span<const ListCopies* const> lists, const Take& take) {
    for (const ListCopies* const list : lists) {
      for (const CopiedRows& rows : list->rows()) TakeOverlapping(rows, take);
    }
  }
  template <typename Take>
  void TakeFrom(uint64_t buffer, const Take& take) {
    const auto found = buffers_.find(buffer);
    if (found != buffers_.end()) TakeFrom(found->second, take);
  }
  template <typename Take>
  void TakeFromAll(const Take& take) {
    for (auto& [number, buffer] : buffers_) TakeFrom(buffer, take);
    std::erase_if(buffers_, [](const auto& entry) { return entry.second.copies.empty(); });
  }

 private:
  struct Buffer {
    std::map<uint64_t, Copy> copies;  // by offset: none overlaps another
    uint64_t longest_bytes = 0;       // from a first byte to the end, of all that ever were
  };

  template <typename Take>
  void TakeFrom(Buffer& buffer, const Take& take) {
    for (auto copy = buffer.copies.begin(); copy != buffer.copies.end();) {
      const bool taken = take(copy->second);
      count_ -= taken ? 1 : 0;
      copy = taken ? buffer.copies.erase(copy) : std::next(copy);
    }
  }
  template <typename Take>
  void TakeOverlapping(const CopiedRows& rows, const Take& take) {
    const auto found = buffers_.find(rows.buffer);
    if (found == buffers_.end()) return;
    Buffer& buffer = found->second;
    const uint64_t first = rows.offset_bytes - std::min(rows.offset_bytes, buffer.longest_bytes);
    const uint64_t end = rows.end_bytes();
    for (auto copy = buffer.copies.lower_bound(first);
         copy != buffer.copies.end() && copy->first < end;) {
      const bool taken = Overlap(copy->second.rows, rows) && take(copy->second);
      count_ -= taken ? 1 : 0;
      copy = taken ? buffer.copies.erase(copy) : std::next(copy);
    }
  }
  void Submit(const CopiedRows& rows, uint64_t queue, bool comparable);

  std::unordered_map<uint64_t, Buffer> buffers_;
  size_t count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_D3D12ABI_PENDING_COPIES_H_
