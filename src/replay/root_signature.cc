// SPDX-License-Identifier: Apache-2.0
#include "replay/root_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace cairn {

namespace {

constexpr uint32_t FourCc(const char (&text)[5]) {
  return static_cast<uint32_t>(text[0]) | static_cast<uint32_t>(text[1]) << 8 |
         static_cast<uint32_t>(text[2]) << 16 | static_cast<uint32_t>(text[3]) << 24;
}

// A root signature costs 64 words at most, and every parameter costs one. (No constants cost none.)
constexpr uint32_t kMostParameters = 64;
constexpr uint32_t kMostRanges = 1 << 16;
constexpr uint32_t kNoEnd = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kAppend = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kSamplerRange = 3;  // D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER

Status TooShort() {
  return Status(StatusCode::kCorrupt, "the root signature ends too early");
}

// Words anywhere in bytes that end.
class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::optional<uint32_t> At(uint64_t offset_bytes) const {
    if (offset_bytes > bytes_.size() || bytes_.size() - offset_bytes < sizeof(uint32_t)) return {};
    uint32_t word = 0;
    std::memcpy(&word, bytes_.data() + offset_bytes, sizeof(word));
    return word;
  }
  // Whether `count` words are there.
  bool Has(uint64_t offset_bytes, uint64_t count) const {
    return offset_bytes <= bytes_.size() &&
           count <= (bytes_.size() - offset_bytes) / sizeof(uint32_t);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// The part of the container that holds the root signature.
Result<std::span<const std::byte>> FindPart(const Words& blob) {
  constexpr uint64_t kCountOffset = 28;
  constexpr uint64_t kPartsOffset = 32;
  const std::optional<uint32_t> count = blob.At(kCountOffset);
  if (!count || *blob.At(0) != FourCc("DXBC")) {
    return Status(StatusCode::kCorrupt, "the root signature is in no container");
  }
  if (!blob.Has(kPartsOffset, *count)) return TooShort();
  for (uint32_t i = 0; i < *count; ++i) {
    const uint64_t part = *blob.At(kPartsOffset + uint64_t{i} * sizeof(uint32_t));
    const std::optional<uint32_t> name = blob.At(part);
    const std::optional<uint32_t> size = blob.At(part + sizeof(uint32_t));
    if (!name || !size) return TooShort();
    if (*name != FourCc("RTS0")) continue;
    const uint64_t begin = part + 2 * sizeof(uint32_t);
    if (*size > blob.bytes().size() - begin) return TooShort();
    return blob.bytes().subspan(begin, *size);
  }
  return Status(StatusCode::kCorrupt, "the container has no root signature");
}

Status ReadTable(const Words& part, uint64_t offset, uint32_t version, RootParameter* table) {
  if (!part.Has(offset, 2)) return TooShort();
  const uint32_t count = *part.At(offset);
  const uint64_t ranges = *part.At(offset + 4);
  const uint64_t words = version == 1 ? 5 : 6;  // flags stand before the offset since 1.1
  if (count > kMostRanges || !part.Has(ranges, count * words)) return TooShort();
  uint64_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t range = ranges + i * words * sizeof(uint32_t);
    const uint32_t descriptors = *part.At(range + 4);
    const uint32_t start = *part.At(range + (words - 1) * sizeof(uint32_t));
    if (*part.At(range) == kSamplerRange) table->samplers = true;
    if (start != kAppend) next = start;
    const bool has_end = descriptors != kNoEnd;
    if (has_end) next += descriptors;
    table->descriptors = std::max(table->descriptors, has_end ? next : next + 1);
  }
  return Status();
}

}  // namespace

const char* NameOf(RootParameter::Kind kind) {
  switch (kind) {
    case RootParameter::Kind::kTable: return "a descriptor table";
    case RootParameter::Kind::kConstants: return "constants";
    case RootParameter::Kind::kConstantBuffer: return "a constant buffer";
    case RootParameter::Kind::kShaderResource: return "a shader resource";
    case RootParameter::Kind::kUnordered: return "an unordered access view";
  }
  return "nothing";
}

Result<RootSignatureLayout> ParseRootSignature(std::span<const std::byte> blob) {
  const Result<std::span<const std::byte>> bytes = FindPart(Words(blob));
  if (!bytes.ok()) return bytes.status();
  const Words part(*bytes);
  if (!part.Has(0, 3)) return TooShort();
  const uint32_t version = *part.At(0);
  if (version < 1 || version > 3) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("root signatures of version {} are not known", version));
  }
  const uint32_t count = *part.At(4);
  const uint64_t offset = *part.At(8);
  if (count > kMostParameters) {
    return Status(StatusCode::kCorrupt, fmt::format("a root signature with {} parameters", count));
  }
  constexpr uint64_t kWords = 3;  // kind, who sees it, where its words are
  if (!part.Has(offset, count * kWords)) return TooShort();
  RootSignatureLayout layout;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t place = offset + i * kWords * sizeof(uint32_t);
    const uint32_t kind = *part.At(place);
    const uint64_t words = *part.At(place + 8);
    if (kind > static_cast<uint32_t>(RootParameter::Kind::kUnordered)) {
      return Status(StatusCode::kCorrupt, fmt::format("a root parameter of type {}", kind));
    }
    RootParameter parameter;
    parameter.kind = static_cast<RootParameter::Kind>(kind);
    if (parameter.kind == RootParameter::Kind::kTable) {
      CAIRN_RETURN_IF_ERROR(ReadTable(part, words, version, &parameter));
    } else if (parameter.kind == RootParameter::Kind::kConstants) {
      if (!part.Has(words, 3)) return TooShort();
      parameter.constants = *part.At(words + 8);
    }
    layout.parameters.push_back(parameter);
  }
  return layout;
}

}  // namespace cairn
