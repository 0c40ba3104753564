// SPDX-License-Identifier: Apache-2.0
#include "format/calls/readback_rows.h"

#include <xxhash.h>

#include <memory>
#include <new>

namespace cairn {

bool RowsLieIn(uint64_t buffer_bytes, const ReadbackBody& rows) {
  if (rows.row_count == 0 || rows.row_bytes == 0) return false;
  if (rows.offset_bytes > buffer_bytes || rows.row_bytes > buffer_bytes - rows.offset_bytes) {
    return false;
  }
  if (rows.row_count == 1) return true;
  const uint64_t left = buffer_bytes - rows.offset_bytes - rows.row_bytes;
  return rows.row_pitch_bytes >= rows.row_bytes &&
         rows.row_pitch_bytes <= left / (rows.row_count - 1);
}

RowsHash HashRows(const std::byte* buffer, const ReadbackBody& rows) {
  const std::byte* const first = buffer + rows.offset_bytes;
  if (rows.row_count == 1) {
    const XXH128_hash_t hash = XXH3_128bits(first, rows.row_bytes);
    return {hash.low64, hash.high64};
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (uint32_t row = 0; row < rows.row_count; ++row) {
    XXH3_128bits_update(state.get(), first + row * rows.row_pitch_bytes, rows.row_bytes);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.low64, hash.high64};
}

}  // namespace cairn
