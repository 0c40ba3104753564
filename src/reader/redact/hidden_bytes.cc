// SPDX-License-Identifier: Apache-2.0
#include "reader/redact/hidden_bytes.h"

#include <algorithm>
#include <cstring>

#include "format/calls/record.h"
#include "format/calls/value_shape.h"

namespace cairn {
namespace {

void Overwrite(std::span<std::byte> bytes, std::string_view text, uint64_t kept_bytes) {
  bytes = bytes.subspan(std::min<uint64_t>(kept_bytes, bytes.size()));
  std::ranges::fill(bytes, std::byte{0});
  const size_t written = std::min(text.size(), bytes.size());
  if (written != 0) std::memcpy(bytes.data(), text.data(), written);
}

}  // namespace

void HiddenBytes::Hide(std::span<std::byte> value, std::string_view text, uint64_t kept_bytes) {
  constexpr size_t kHeadBytes = sizeof(uint32_t) + sizeof(uint64_t) + sizeof(uint32_t);
  if (value.size() < sizeof(uint32_t)) return;
  const auto size = Load<uint32_t>(value.data());
  if (size == kNullBytes) return;
  if (size != kBytesInBlobs) {
    const std::span<std::byte> bytes = value.subspan(sizeof(uint32_t));
    return Overwrite(bytes.first(std::min<size_t>(size, bytes.size())), text, kept_bytes);
  }
  if (value.size() < kHeadBytes) return;
  const auto parts = Load<uint32_t>(value.data() + kHeadBytes - sizeof(uint32_t));
  const std::span<const std::byte> numbers = value.subspan(kHeadBytes);
  for (size_t i = 0; i < std::min<size_t>(parts, numbers.size() / sizeof(uint64_t)); ++i) {
    const auto number = Load<uint64_t>(numbers.data() + i * sizeof(uint64_t));
    const uint64_t before = i * uint64_t{kMaxBlobBytes};
    const uint64_t kept = kept_bytes > before ? kept_bytes - before : 0;
    const auto [blob, is_new] = blobs_.try_emplace(number, Blob{"", kept});
    // Several values may share a blob.
    blob->second.kept_bytes = std::min(blob->second.kept_bytes, kept);
    if (i == 0) blob->second.text = text;
  }
}

void HiddenBytes::HideBlob(uint64_t number, std::span<std::byte> bytes) const {
  const auto hidden = blobs_.find(number);
  if (hidden == blobs_.end()) return;
  Overwrite(bytes, hidden->second.text, hidden->second.kept_bytes);
}

}  // namespace cairn
