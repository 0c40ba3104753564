// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/buffer_addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace cairn {
namespace {

constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kIdentifierBytes = sizeof(ShaderIdentifier);
// Size and offset of the address in D3D12_RAYTRACING_INSTANCE_DESC.
constexpr uint64_t kInstanceBytes = 64;
constexpr uint64_t kInstanceAddress = 56;
static_assert(sizeof(D3D12_RAYTRACING_INSTANCE_DESC) == kInstanceBytes);
static_assert(offsetof(D3D12_RAYTRACING_INSTANCE_DESC, AccelerationStructure) == kInstanceAddress);
// Sizes of D3D12_NODE_GPU_INPUT and D3D12_MULTI_NODE_GPU_INPUT, and where their addresses stand.
constexpr uint64_t kInputBytes = 24;
constexpr uint64_t kInputAddress = 8;
// Words that lie closer than this are read and written together.
constexpr uint64_t kMergeBytes = 256;
constexpr uint64_t kMostRunBytes = uint64_t{1} << 22;

// The tables of a D3D12_DISPATCH_RAYS_DESC: where address, size and stride stand; no stride: one record.
struct TableFields {
  uint32_t address;
  uint32_t size;
  uint32_t stride;
};
constexpr TableFields kTables[] = {
    {offsetof(D3D12_DISPATCH_RAYS_DESC, RayGenerationShaderRecord.StartAddress),
     offsetof(D3D12_DISPATCH_RAYS_DESC, RayGenerationShaderRecord.SizeInBytes), 0},
    {offsetof(D3D12_DISPATCH_RAYS_DESC, MissShaderTable.StartAddress),
     offsetof(D3D12_DISPATCH_RAYS_DESC, MissShaderTable.SizeInBytes),
     offsetof(D3D12_DISPATCH_RAYS_DESC, MissShaderTable.StrideInBytes)},
    {offsetof(D3D12_DISPATCH_RAYS_DESC, HitGroupTable.StartAddress),
     offsetof(D3D12_DISPATCH_RAYS_DESC, HitGroupTable.SizeInBytes),
     offsetof(D3D12_DISPATCH_RAYS_DESC, HitGroupTable.StrideInBytes)},
    {offsetof(D3D12_DISPATCH_RAYS_DESC, CallableShaderTable.StartAddress),
     offsetof(D3D12_DISPATCH_RAYS_DESC, CallableShaderTable.SizeInBytes),
     offsetof(D3D12_DISPATCH_RAYS_DESC, CallableShaderTable.StrideInBytes)},
};

uint64_t WordAt(const std::byte* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// `offset` + `count` * `stride` lies in `size`, without wrapping.
bool Fits(uint64_t offset, uint64_t count, uint64_t stride, uint64_t size) {
  return offset <= size && (stride == 0 || count <= (size - offset) / stride);
}

}  // namespace

IndirectLayout LayoutOfSignature(const D3D12_COMMAND_SIGNATURE_DESC& desc) {
  IndirectLayout layout;
  layout.stride_bytes = desc.ByteStride;
  if (desc.pArgumentDescs == nullptr) return layout;
  uint64_t offset = 0;
  for (UINT i = 0; i < desc.NumArgumentDescs && offset < desc.ByteStride; ++i) {
    const D3D12_INDIRECT_ARGUMENT_DESC& argument = desc.pArgumentDescs[i];
    uint64_t size = 0;
    bool address = false;
    uint32_t type;  // from a trace: perhaps none that these headers know
    std::memcpy(&type, &argument.Type, sizeof(type));
    switch (type) {
      case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW: size = sizeof(D3D12_DRAW_ARGUMENTS); break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED:
        size = sizeof(D3D12_DRAW_INDEXED_ARGUMENTS);
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH: size = sizeof(D3D12_DISPATCH_ARGUMENTS); break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_MESH:
        size = sizeof(D3D12_DISPATCH_MESH_ARGUMENTS);
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW:
        size = sizeof(D3D12_VERTEX_BUFFER_VIEW);
        address = true;
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW:
        size = sizeof(D3D12_INDEX_BUFFER_VIEW);
        address = true;
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT:
        size = uint64_t{argument.Constant.Num32BitValuesToSet} * sizeof(uint32_t);
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
      case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
      case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
        size = sizeof(D3D12_GPU_VIRTUAL_ADDRESS);
        address = true;
        break;
      case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS:
        size = sizeof(D3D12_DISPATCH_RAYS_DESC);
        if (offset + size <= desc.ByteStride) {
          layout.shader_tables.push_back(static_cast<uint32_t>(offset));
          for (const TableFields& table : kTables) {
            layout.addresses.push_back(static_cast<uint32_t>(offset + table.address));
          }
        }
        break;
      default: return layout;
    }
    if (address && offset + kWordBytes <= desc.ByteStride) {
      layout.addresses.push_back(static_cast<uint32_t>(offset));
    }
    offset += size;
  }
  return layout;
}

// ---- What lists do -------------------------------------------------------------------------------

void BufferAddresses::AddSignature(uint64_t object, IndirectLayout layout) {
  // Most have no addresses; those that have some are few.
  if (!layout.addresses.empty()) signatures_[object] = std::move(layout);
}

void BufferAddresses::AddIdentifier(const ShaderIdentifier& recorded,
                                    const ShaderIdentifier& real) {
  identifiers_[recorded] = real;
}

void BufferAddresses::Remove(uint64_t object) {
  signatures_.erase(object);
  lists_.erase(object);
  patched_places_.erase(patched_places_.lower_bound({object, 0}),
                        patched_places_.upper_bound({object, ~uint64_t{0}}));
}

void BufferAddresses::Reset(uint64_t list) {
  if (const auto found = lists_.find(list); found != lists_.end()) found->second.clear();
}

void BufferAddresses::Copy(uint64_t list, uint64_t to, uint64_t to_offset, uint64_t from,
                           uint64_t from_offset, uint64_t size_bytes) {
  lists_[list].push_back({Kind::kCopy, to, to_offset, size_bytes, from, from_offset});
}

void BufferAddresses::Indirect(uint64_t list, uint64_t signature, uint64_t buffer,
                               uint64_t offset_bytes, uint32_t max_count) {
  if (!signatures_.contains(signature)) return;
  lists_[list].push_back({Kind::kIndirect, buffer, offset_bytes, max_count, signature, 0});
}

void BufferAddresses::Instances(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                uint32_t count, bool pointers) {
  lists_[list].push_back(
      {pointers ? Kind::kInstancePointers : Kind::kInstances, buffer, offset_bytes, count, 0, 0});
}

void BufferAddresses::ShaderTable(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                  uint64_t size_bytes, uint64_t stride_bytes) {
  lists_[list].push_back({Kind::kShaderTable, buffer, offset_bytes, size_bytes, stride_bytes, 0});
}

void BufferAddresses::RootArguments(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                    uint64_t size_bytes, uint64_t stride_bytes) {
  lists_[list].push_back({Kind::kRootArguments, buffer, offset_bytes, size_bytes, stride_bytes, 0});
}

void BufferAddresses::NodeInput(uint64_t list, uint64_t buffer, uint64_t offset_bytes,
                                bool several) {
  lists_[list].push_back(
      {several ? Kind::kNodeInputs : Kind::kNodeInput, buffer, offset_bytes, 1, 0, 0});
}

bool BufferAddresses::NeedsPatch(std::span<const uint64_t> lists) const {
  for (const uint64_t list : lists) {
    const auto found = lists_.find(list);
    if (found == lists_.end()) continue;
    for (const Step& step : found->second) {
      if (step.kind != Kind::kCopy) return true;
    }
  }
  return false;
}

// ---- Which words ---------------------------------------------------------------------------------

// A copy that covers only a part of the bytes leaves them where they are.
BufferAddresses::PlaceKey BufferAddresses::SourceOf(std::span<const Step> before, PlaceKey place,
                                                    uint64_t size_bytes) {
  attempts_ += 1 + before.size() / kStepsOfAttempt;
  for (auto step = before.rbegin(); step != before.rend(); ++step) {
    if (step->kind != Kind::kCopy || step->buffer != place.first) continue;
    if (place.second < step->offset) continue;
    const uint64_t within = place.second - step->offset;
    if (within > step->count || size_bytes > step->count - within) continue;
    if (step->other_offset > std::numeric_limits<uint64_t>::max() - within) continue;
    place = {step->other, step->other_offset + within};
  }
  return place;
}

Status BufferAddresses::AddWord(std::span<const Step> before, PlaceKey place, WordKind kind,
                                Memory* memory, Words* words) {
  const uint64_t size = kind == WordKind::kIdentifier ? kIdentifierBytes : kWordBytes;
  if (attempts_ >= kMostWords) {
    return {StatusCode::kCorrupt,
            fmt::format("a submission reads more than {} addresses from buffers", kMostWords)};
  }
  place = SourceOf(before, place, size);
  if (!Fits(place.second, 1, size, memory->SizeOf(place.first))) return {};
  words->emplace(place, kind);
  return {};
}

// Words side by side are read at once: a read may wait for the GPU.
Result<std::vector<uint64_t>> BufferAddresses::RecordedAt(std::span<const PlaceKey> places,
                                                          Memory* memory) {
  std::vector<uint64_t> words;
  while (words.size() < places.size()) {
    const std::span<const PlaceKey> rest = places.subspan(words.size());
    const auto [buffer, offset] = rest.front();
    const uint64_t size = memory->SizeOf(buffer);
    uint64_t count = 0;
    while (count < rest.size() && Fits(offset, count + 1, kWordBytes, size) &&
           rest[count] == PlaceKey(buffer, offset + count * kWordBytes)) {
      ++count;
    }
    if (count == 0) {
      words.push_back(0);
      continue;
    }
    Result<std::vector<std::byte>> bytes = memory->Read(buffer, offset, count * kWordBytes);
    if (!bytes.ok()) return bytes.status();
    bytes->resize(count * kWordBytes);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t word = WordAt(bytes->data() + i * kWordBytes);
      const auto patched = patched_places_.find(rest[i]);
      const bool known = patched != patched_places_.end() && patched->second.real == word;
      words.push_back(known ? patched->second.recorded : word);
    }
  }
  return words;
}

Result<uint64_t> BufferAddresses::RecordedAt(PlaceKey place, Memory* memory) {
  Result<std::vector<uint64_t>> words = RecordedAt(std::span<const PlaceKey>(&place, 1), memory);
  if (!words.ok()) return words.status();
  return words->front();
}

Status BufferAddresses::CollectTable(std::span<const Step> before, const Step& step, Memory* memory,
                                     Words* words) {
  const uint64_t stride = step.other == 0 ? step.count : step.other;
  if (stride < kIdentifierBytes || !Fits(step.offset, 1, step.count, memory->SizeOf(step.buffer))) {
    return {};
  }
  for (uint64_t record = 0; record + kIdentifierBytes <= step.count; record += stride) {
    const uint64_t at = step.offset + record;
    CAIRN_RETURN_IF_ERROR(AddWord(before, {step.buffer, at}, WordKind::kIdentifier, memory, words));
    // Any local root argument may be an address. Addresses have this alignment.
    const uint64_t end = std::min(stride, step.count - record);
    for (uint64_t word = kIdentifierBytes; word + kWordBytes <= end; word += kWordBytes) {
      CAIRN_RETURN_IF_ERROR(
          AddWord(before, {step.buffer, at + word}, WordKind::kAddressOrDescriptor, memory, words));
    }
    if (stride > step.count - record) break;
  }
  return {};
}

// Any of them may be an address. Addresses have this alignment in their record.
Status BufferAddresses::CollectArguments(std::span<const Step> before, const Step& step,
                                         Memory* memory, Words* words) {
  const uint64_t stride = step.other == 0 ? step.count : step.other;
  if (stride < kWordBytes || !Fits(step.offset, 1, step.count, memory->SizeOf(step.buffer))) {
    return {};
  }
  for (uint64_t record = 0; record < step.count; record += stride) {
    const uint64_t end = std::min(stride, step.count - record);
    for (uint64_t word = 0; word + kWordBytes <= end; word += kWordBytes) {
      const PlaceKey place = {step.buffer, step.offset + record + word};
      CAIRN_RETURN_IF_ERROR(AddWord(before, place, WordKind::kAddressOrDescriptor, memory, words));
    }
    if (stride > step.count - record) break;
  }
  return {};
}

Status BufferAddresses::CollectInputs(std::span<const Step> before, const Step& step,
                                      Memory* memory, Words* words) {
  if (!Fits(step.offset, 1, kInputBytes, memory->SizeOf(step.buffer))) return {};
  std::array<PlaceKey, kInputBytes / kWordBytes> fields;  // count with padding; address; stride
  for (size_t i = 0; i < fields.size(); ++i) {
    fields[i] = SourceOf(before, {step.buffer, step.offset + i * kWordBytes}, kWordBytes);
  }
  const Result<std::vector<uint64_t>> read = RecordedAt(fields, memory);
  if (!read.ok()) return read.status();
  CAIRN_RETURN_IF_ERROR(AddWord(before, {step.buffer, step.offset + kInputAddress},
                                WordKind::kAddress, memory, words));
  const std::optional<Memory::Place> inputs = memory->PlaceOf((*read)[1]);
  if (!inputs) return {};
  const uint64_t size = memory->SizeOf(inputs->buffer);
  const auto most = static_cast<uint32_t>((*read)[0]);
  const uint64_t stride = (*read)[2];
  uint64_t at = inputs->offset_bytes;
  for (uint32_t i = 0; i < most && Fits(at, 1, kInputBytes, size); ++i) {
    CAIRN_RETURN_IF_ERROR(
        AddWord(before, {inputs->buffer, at + kInputAddress}, WordKind::kAddress, memory, words));
    if (stride == 0 || stride > size - at) break;
    at += stride;
  }
  return {};
}

Status BufferAddresses::CollectIndirect(std::span<const Step> before, const Step& step,
                                        Memory* memory, Words* words) {
  const auto signature = signatures_.find(step.other);
  if (signature == signatures_.end()) return {};
  const IndirectLayout& layout = signature->second;
  const uint64_t size = memory->SizeOf(step.buffer);
  if (layout.stride_bytes == 0 || step.offset > size) return {};
  const uint64_t count = std::min(step.count, (size - step.offset) / layout.stride_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t arguments = step.offset + i * layout.stride_bytes;
    for (const uint32_t address : layout.addresses) {
      CAIRN_RETURN_IF_ERROR(
          AddWord(before, {step.buffer, arguments + address}, WordKind::kAddress, memory, words));
    }
    for (const uint32_t desc : layout.shader_tables) {
      for (const TableFields& table : kTables) {
        const auto field = [&](uint32_t offset) {
          const PlaceKey place = {step.buffer, arguments + desc + offset};
          return RecordedAt(SourceOf(before, place, kWordBytes), memory);
        };
        Result<uint64_t> address = field(table.address);
        Result<uint64_t> bytes = field(table.size);
        Result<uint64_t> stride = table.stride == 0 ? Result<uint64_t>(0) : field(table.stride);
        if (!address.ok() || !bytes.ok() || !stride.ok()) {
          return !address.ok() ? address.status() : !bytes.ok() ? bytes.status() : stride.status();
        }
        const std::optional<Memory::Place> place = memory->PlaceOf(*address);
        if (!place) continue;
        CAIRN_RETURN_IF_ERROR(CollectTable(
            before, {Kind::kShaderTable, place->buffer, place->offset_bytes, *bytes, *stride, 0},
            memory, words));
      }
    }
  }
  return {};
}

Status BufferAddresses::CollectPointed(std::span<const Step> before, const Step& step,
                                       Memory* memory, Words* words) {
  const uint64_t size = memory->SizeOf(step.buffer);
  if (step.offset > size) return {};
  const uint64_t count = std::min(step.count, (size - step.offset) / kWordBytes);
  for (uint64_t i = 0; i < count; ++i) {
    const PlaceKey pointer = {step.buffer, step.offset + i * kWordBytes};
    CAIRN_RETURN_IF_ERROR(AddWord(before, pointer, WordKind::kAddress, memory, words));
    Result<uint64_t> address = RecordedAt(SourceOf(before, pointer, kWordBytes), memory);
    if (!address.ok()) return address.status();
    const std::optional<Memory::Place> instance = memory->PlaceOf(*address);
    if (!instance) continue;
    CAIRN_RETURN_IF_ERROR(AddWord(before,
                                  {instance->buffer, instance->offset_bytes + kInstanceAddress},
                                  WordKind::kAddress, memory, words));
  }
  return {};
}

Status BufferAddresses::Collect(std::span<const Step> steps, Memory* memory, Words* words) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::span<const Step> before = steps.first(i);
    switch (step.kind) {
      case Kind::kCopy: break;
      case Kind::kIndirect:
        CAIRN_RETURN_IF_ERROR(CollectIndirect(before, step, memory, words));
        break;
      case Kind::kInstancePointers:
        CAIRN_RETURN_IF_ERROR(CollectPointed(before, step, memory, words));
        break;
      case Kind::kShaderTable:
        CAIRN_RETURN_IF_ERROR(CollectTable(before, step, memory, words));
        break;
      case Kind::kRootArguments:
        CAIRN_RETURN_IF_ERROR(CollectArguments(before, step, memory, words));
        break;
      case Kind::kNodeInput:
        if (!Fits(step.offset, 1, kInputBytes, memory->SizeOf(step.buffer))) break;
        CAIRN_RETURN_IF_ERROR(AddWord(before, {step.buffer, step.offset + kInputAddress},
                                      WordKind::kAddress, memory, words));
        break;
      case Kind::kNodeInputs:
        CAIRN_RETURN_IF_ERROR(CollectInputs(before, step, memory, words));
        break;
      case Kind::kInstances: {
        const uint64_t size = memory->SizeOf(step.buffer);
        if (step.offset > size) break;
        const uint64_t count = std::min(step.count, (size - step.offset) / kInstanceBytes);
        for (uint64_t k = 0; k < count; ++k) {
          CAIRN_RETURN_IF_ERROR(
              AddWord(before, {step.buffer, step.offset + k * kInstanceBytes + kInstanceAddress},
                      WordKind::kAddress, memory, words));
        }
        break;
      }
    }
  }
  return {};
}

// ---- Patching ------------------------------------------------------------------------------------

bool BufferAddresses::PatchWord(PlaceKey place, WordKind kind, std::byte* bytes, Memory* memory) {
  if (kind == WordKind::kIdentifier) {
    ShaderIdentifier identifier;
    std::memcpy(identifier.data(), bytes, kIdentifierBytes);
    const auto found = identifiers_.find(identifier);
    if (found == identifiers_.end() || found->second == identifier) return false;
    std::memcpy(bytes, found->second.data(), kIdentifierBytes);
    return true;
  }
  const uint64_t word = WordAt(bytes);
  // Patched before, and not written since: recorded and real addresses may overlap.
  const auto known = patched_places_.find(place);
  if (known != patched_places_.end() && known->second.real == word) return false;
  if (word == 0) return false;
  std::optional<uint64_t> real = memory->RealAddress(word);
  if (!real && kind == WordKind::kAddressOrDescriptor) real = memory->RealDescriptor(word);
  if (!real || *real == word) {
    if (known != patched_places_.end()) patched_places_.erase(known);
    return false;
  }
  patched_places_[place] = {word, *real};
  std::memcpy(bytes, &*real, sizeof(*real));
  return true;
}

// Words of one buffer that lie close together.
Status BufferAddresses::PatchRun(Words::const_iterator first, Words::const_iterator last,
                                 Memory* memory) {
  const uint64_t buffer = first->first.first;
  const uint64_t begin = first->first.second;
  uint64_t end = begin;
  for (auto word = first; word != last; ++word) {
    const uint64_t size = word->second == WordKind::kIdentifier ? kIdentifierBytes : kWordBytes;
    end = std::max(end, word->first.second + size);
  }
  Result<std::vector<std::byte>> bytes = memory->Read(buffer, begin, end - begin);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != end - begin) return {StatusCode::kInternal, "a buffer was read in part"};
  uint64_t changed_begin = end;
  uint64_t changed_end = begin;
  for (auto word = first; word != last; ++word) {
    const uint64_t at = word->first.second;
    const uint64_t size = word->second == WordKind::kIdentifier ? kIdentifierBytes : kWordBytes;
    if (!PatchWord(word->first, word->second, bytes->data() + (at - begin), memory)) continue;
    ++patched_;
    changed_begin = std::min(changed_begin, at);
    changed_end = std::max(changed_end, at + size);
  }
  if (changed_begin >= changed_end) return {};
  return memory->Write(
      buffer, changed_begin,
      std::span(*bytes).subspan(changed_begin - begin, changed_end - changed_begin));
}

Status BufferAddresses::Patch(std::span<const uint64_t> lists, Memory* memory) {
  if (!NeedsPatch(lists)) return {};
  std::vector<Step> steps;
  for (const uint64_t list : lists) {
    const auto found = lists_.find(list);
    if (found != lists_.end()) {
      steps.insert(steps.end(), found->second.begin(), found->second.end());
    }
  }
  Words words;
  attempts_ = 0;
  CAIRN_RETURN_IF_ERROR(Collect(steps, memory, &words));
  for (auto first = words.begin(); first != words.end();) {
    auto last = std::next(first);
    uint64_t end = first->first.second;
    while (last != words.end() && last->first.first == first->first.first &&
           last->first.second - end <= kMergeBytes &&
           last->first.second - first->first.second <= kMostRunBytes) {
      end = last->first.second;
      ++last;
    }
    CAIRN_RETURN_IF_ERROR(PatchRun(first, last, memory));
    first = last;
  }
  return {};
}

}  // namespace cairn
