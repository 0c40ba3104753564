// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/pending_copies.h"

#include <new>

namespace cairn {

namespace {

// A limit above the size of any buffer, so that the sum of two sizes cannot overflow.
constexpr uint64_t kMostBytes = uint64_t{1} << 48;

bool FitsAnywhere(const CopiedRows& rows) {
  if (rows.row_bytes == 0 || rows.row_bytes > kMostBytes || rows.offset_bytes > kMostBytes) {
    return false;
  }
  if (rows.row_count == 0) return false;
  if (rows.row_count == 1) return true;
  return rows.row_pitch_bytes >= rows.row_bytes &&
         rows.row_pitch_bytes <= kMostBytes / rows.row_count;
}

}  // namespace

uint64_t CopiedRows::end_bytes() const {
  return offset_bytes + uint64_t{row_count - 1} * row_pitch_bytes + row_bytes;
}

bool Overlap(const CopiedRows& a, const CopiedRows& b) {
  if (a.buffer != b.buffer) return false;
  if (a.offset_bytes >= b.end_bytes() || b.offset_bytes >= a.end_bytes()) return false;
  const uint64_t pitch = a.row_pitch_bytes;
  if (a.row_count == 1 || b.row_count == 1 || pitch != b.row_pitch_bytes) return true;
  // The begin of rows of `a`, relative to rows of `b`.
  const uint64_t column = (a.offset_bytes + pitch - b.offset_bytes % pitch) % pitch;
  return column < b.row_bytes || column + a.row_bytes > pitch;
}

// ---- Lists ---------------------------------------------------------------------------------------

void ListCopies::Add(const CopiedRows& rows) {
  if (!FitsAnywhere(rows)) return;
  if (rows_.size() >= kMostRows) {
    lost_ = true;
    return;
  }
  try {
    rows_.push_back(rows);
  } catch (const std::bad_alloc&) {
    lost_ = true;
  }
}

void ListCopies::AddBox(const CopiedRows& to, const PlacedTexture& texture, const BlockBox& box) {
  // Beyond all limits of textures, and sums and products below fit.
  constexpr uint64_t kMostBlocks = uint64_t{1} << 15;
  constexpr uint64_t kMostPitch = uint64_t{1} << 32;
  for (const uint64_t blocks : {box.x, box.y, box.z, box.width, box.height, box.depth,
                                texture.block_bytes, texture.rows_per_slice}) {
    if (blocks > kMostBlocks) return;
  }
  if (texture.row_pitch_bytes > kMostPitch || texture.offset_bytes > kMostBytes) return;
  const uint64_t slice_bytes = texture.rows_per_slice * texture.row_pitch_bytes;
  const auto add = [&](uint64_t z, uint64_t row_count) {
    CopiedRows rows = to;
    rows.offset_bytes = texture.offset_bytes + z * slice_bytes + box.y * texture.row_pitch_bytes +
                        box.x * texture.block_bytes;
    rows.row_bytes = box.width * texture.block_bytes;
    rows.row_pitch_bytes = row_count == 1 ? 0 : texture.row_pitch_bytes;
    rows.row_count = static_cast<uint32_t>(row_count);
    Add(rows);
  };
  // Whole slices follow one another without a gap.
  if (box.y == 0 && box.height == texture.rows_per_slice) {
    add(box.z, box.height * box.depth);
    return;
  }
  for (uint64_t z = 0; z < box.depth; ++z) add(box.z + z, box.height);
}

// ---- Submissions ---------------------------------------------------------------------------------

void PendingCopies::Submit(const CopiedRows& rows, uint64_t queue, bool comparable) {
  TakeOverlapping(rows, [](const Copy&) { return true; });
  if (!comparable || count_ >= kMostCopies) return;
  Buffer& buffer = buffers_[rows.buffer];
  // A copy that began at the same byte was removed above.
  buffer.copies.try_emplace(rows.offset_bytes, Copy{.rows = rows, .queue = queue});
  buffer.longest_bytes = std::max(buffer.longest_bytes, rows.end_bytes() - rows.offset_bytes);
  ++count_;
}

void PendingCopies::Signal(uint64_t queue, uint64_t fence, uint64_t value) {
  for (auto& [number, buffer] : buffers_) {
    for (auto& [offset, copy] : buffer.copies) {
      if (copy.queue != queue || copy.fence != 0) continue;
      copy.fence = fence;
      copy.fence_value = value;
    }
  }
}

void PendingCopies::ForgetFence(uint64_t fence) {
  for (auto& [number, buffer] : buffers_) {
    for (auto& [offset, copy] : buffer.copies) {
      if (copy.fence == fence && !copy.reached) copy.fence = 0;
    }
  }
}

void PendingCopies::ForgetBuffer(uint64_t buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return;
  count_ -= found->second.copies.size();
  buffers_.erase(found);
}

void PendingCopies::Clear() {
  buffers_.clear();
  count_ = 0;
}

}  // namespace cairn
