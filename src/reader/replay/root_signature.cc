// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/root_signature.h"

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
  // Returns true if `count` words are there.
  bool Has(uint64_t offset_bytes, uint64_t count) const {
    return offset_bytes <= bytes_.size() &&
           count <= (bytes_.size() - offset_bytes) / sizeof(uint32_t);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// The first part of the container with that name.
std::optional<std::span<const std::byte>> FindPart(const Words& blob, uint32_t name) {
  constexpr uint64_t kCountOffset = 28;
  constexpr uint64_t kPartsOffset = 32;
  const std::optional<uint32_t> count = blob.At(kCountOffset);
  if (!count || !blob.Has(kPartsOffset, *count)) return {};
  for (uint32_t i = 0; i < *count; ++i) {
    const uint64_t part = *blob.At(kPartsOffset + uint64_t{i} * sizeof(uint32_t));
    const std::optional<uint32_t> found = blob.At(part);
    const std::optional<uint32_t> size = blob.At(part + sizeof(uint32_t));
    if (!found || !size) return {};
    if (*found != name) continue;
    const uint64_t begin = part + 2 * sizeof(uint32_t);
    if (*size > blob.bytes().size() - begin) return {};
    return blob.bytes().subspan(begin, *size);
  }
  return {};
}

// A table of a library's runtime data: its bytes, by type.
enum class LibraryTable : uint32_t { kRawBytes = 5, kSubobjects = 6 };

std::optional<std::span<const std::byte>> FindTable(const Words& data, LibraryTable type) {
  constexpr uint32_t kVersion = 0x10;
  constexpr uint64_t kOffsets = 8;
  if (!data.Has(0, 2) || *data.At(0) != kVersion) return {};
  const uint32_t count = *data.At(4);
  if (!data.Has(kOffsets, count)) return {};
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t table = *data.At(kOffsets + uint64_t{i} * sizeof(uint32_t));
    if (!data.Has(table, 2)) return {};
    const uint64_t size = *data.At(table + sizeof(uint32_t));
    const uint64_t begin = table + 2 * sizeof(uint32_t);
    if (size > data.bytes().size() - begin) return {};
    if (*data.At(table) == static_cast<uint32_t>(type)) return data.bytes().subspan(begin, size);
  }
  return {};
}

// The global root signature that a library declares, which has to be the only one.
Result<std::span<const std::byte>> FindInLibrary(const Words& data) {
  constexpr uint32_t kGlobalRootSignature = 1;
  constexpr uint64_t kFirstRecord = 8;
  constexpr uint64_t kRecordWords = 4;  // kind, name, where its bytes are, how many
  const Status none(StatusCode::kCorrupt, "the library declares no global root signature");
  const auto subobjects = FindTable(data, LibraryTable::kSubobjects);
  const auto raw = FindTable(data, LibraryTable::kRawBytes);
  if (!subobjects || !raw) return none;
  const Words records(*subobjects);
  if (!records.Has(0, 2)) return TooShort();
  const uint32_t count = *records.At(0);
  const uint64_t stride = *records.At(4);
  if (stride < kRecordWords * sizeof(uint32_t)) return TooShort();
  std::optional<std::span<const std::byte>> found;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t record = kFirstRecord + i * stride;
    if (!records.Has(record, kRecordWords)) return TooShort();
    if (*records.At(record) != kGlobalRootSignature) continue;
    if (found) {
      return Status(StatusCode::kCorrupt, "the library declares several global root signatures");
    }
    const uint64_t begin = *records.At(record + 8);
    const uint64_t size = *records.At(record + 12);
    if (begin > raw->size() || size > raw->size() - begin) return TooShort();
    found = raw->subspan(begin, size);
  }
  if (!found) return none;
  return *found;
}

// Returns the root signature: a part of its own, or the declaration of a library of shaders.
Result<std::span<const std::byte>> FindRootSignature(const Words& blob) {
  const std::optional<uint32_t> magic = blob.At(0);
  if (!magic || *magic != FourCc("DXBC")) {
    return Status(StatusCode::kCorrupt, "the root signature is in no container");
  }
  if (const auto part = FindPart(blob, FourCc("RTS0"))) return *part;
  if (const auto library = FindPart(blob, FourCc("RDAT"))) return FindInLibrary(Words(*library));
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
  const Result<std::span<const std::byte>> bytes = FindRootSignature(Words(blob));
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

Status CheckParameter(const RootSignatureLayout& layout, uint64_t index, RootParameter::Kind kind) {
  if (index >= layout.parameters.size()) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("root parameter {} of a root signature that has {}", index,
                              layout.parameters.size()));
  }
  const RootParameter::Kind is = layout.parameters[index].kind;
  if (is == kind) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("root parameter {} is {}, not {}", index, NameOf(is), NameOf(kind)));
}

Status CheckConstants(const RootParameter& parameter, uint64_t first, uint64_t count) {
  if (first <= parameter.constants && count <= parameter.constants - first) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("{} root constants from {} on, where there are {}", count, first,
                            parameter.constants));
}

}  // namespace cairn
