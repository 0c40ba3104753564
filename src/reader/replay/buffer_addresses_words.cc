// SPDX-License-Identifier: Apache-2.0
//
// The words of buffers that are addresses, and the copies that bring them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>

#include "reader/replay/buffer_addresses.h"

namespace cairn {
namespace {

// Size and offset of the address in D3D12_RAYTRACING_INSTANCE_DESC.
constexpr uint64_t kInstanceBytes = 64;
constexpr uint64_t kInstanceAddress = 56;
static_assert(sizeof(D3D12_RAYTRACING_INSTANCE_DESC) == kInstanceBytes);
static_assert(offsetof(D3D12_RAYTRACING_INSTANCE_DESC, AccelerationStructure) == kInstanceAddress);
// Sizes of D3D12_NODE_GPU_INPUT and D3D12_MULTI_NODE_GPU_INPUT, and where their addresses stand.
constexpr uint64_t kInputBytes = 24;
constexpr uint64_t kInputAddress = 8;

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

// `offset` + `count` * `stride` lies in `size`, without wrapping.
bool Fits(uint64_t offset, uint64_t count, uint64_t stride, uint64_t size) {
  return offset <= size && (stride == 0 || count <= (size - offset) / stride);
}

// Returns how many commands of ExecuteIndirect are in a buffer of that size.
uint64_t CountCommands(const IndirectLayout& layout, uint64_t offset, uint64_t most,
                       uint64_t size) {
  if (layout.stride_bytes == 0 || offset > size) return 0;
  return std::min(most, (size - offset) / layout.stride_bytes);
}

}  // namespace

uint64_t CountRecords(uint64_t size_bytes, uint64_t stride_bytes) {
  const uint64_t stride = stride_bytes == 0 ? size_bytes : stride_bytes;
  constexpr uint64_t kLeast = sizeof(ShaderIdentifier);
  if (stride < kLeast || size_bytes < kLeast) return 0;
  return (size_bytes - kLeast) / stride + 1;
}

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
      // The GPU counts it: the buffer of arguments does not hold it.
      case kIncrementingConstant: break;
      default: layout.unknown_type = type; return layout;
    }
    layout.arguments.push_back(
        {type, static_cast<uint32_t>(offset),
         static_cast<uint32_t>(std::min<uint64_t>(size, desc.ByteStride - offset)),
         argument.VertexBuffer.Slot});
    if (address && offset + sizeof(D3D12_GPU_VIRTUAL_ADDRESS) <= desc.ByteStride) {
      layout.addresses.push_back(static_cast<uint32_t>(offset));
      if (type == D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW) {
        layout.structures.push_back(static_cast<uint32_t>(offset));
      }
    }
    offset += size;
  }
  return layout;
}

// ---- Where bytes come from -----------------------------------------------------------------------

Result<BufferAddresses::Timeline> BufferAddresses::TimelineOf(
    std::span<const uint64_t> lists) const {
  Timeline timeline;
  for (const uint64_t list : lists) {
    if (AddSteps(list, &timeline.steps)) continue;
    return Status(StatusCode::kCorrupt,
                  fmt::format("a submission has more than {} commands that read, write or copy "
                              "addresses",
                              kMostWords));
  }
  for (size_t i = 0; i < timeline.steps.size(); ++i) {
    const Step& step = timeline.steps[i];
    if (step.Consumes() || (step.kind == Kind::kCopy && step.buffer == kAnyBuffer)) continue;
    timeline.into[step.buffer].push_back(i);
  }
  return timeline;
}

// A copy that covers only a part of the bytes leaves them where they are.
BufferAddresses::PlaceKey BufferAddresses::SourceOf(const Timeline& timeline, size_t before,
                                                    PlaceKey place, uint64_t size_bytes,
                                                    Memory* memory,
                                                    std::optional<PlaceKey>* written) {
  const auto any = timeline.into.find(kAnyBuffer);
  uint64_t looked = 0;
  for (bool copied = true; copied;) {
    copied = false;
    const size_t end = before;
    const auto into = timeline.into.find(place.first);
    if (into != timeline.into.end()) {
      const std::vector<size_t>& all = into->second;
      auto next = std::lower_bound(all.begin(), all.end(), before);
      while (next != all.begin() && !copied) {
        const Step& step = timeline.steps[*--next];
        ++looked;
        if (step.kind == Kind::kShadersWrote) {
          if (!*written) *written = place;
          continue;
        }
        if (place.second < step.offset) continue;
        const uint64_t within = place.second - step.offset;
        if (within > step.count || size_bytes > step.count - within) continue;
        if (step.other_offset > std::numeric_limits<uint64_t>::max() - within) continue;
        copied = true;
        before = *next;
      }
    }
    if (!copied) before = 0;
    if (any != timeline.into.end() && !*written) {
      const std::vector<size_t>& all = any->second;
      const auto last = std::lower_bound(all.begin(), all.end(), end);
      if (last != all.begin() && *std::prev(last) >= before && memory->IsOfShaders(place.first)) {
        *written = place;
      }
    }
    if (!copied) break;
    const Step& step = timeline.steps[before];
    place = {step.other, step.other_offset + (place.second - step.offset)};
  }
  attempts_ += 1 + looked / kStepsOfAttempt;
  return place;
}

// ---- Which words ---------------------------------------------------------------------------------

Status BufferAddresses::AddWord(const Timeline& timeline, size_t before, PlaceKey place,
                                WordKind kind, Memory* memory, Words* words) {
  constexpr size_t kMany = 65536;
  if (attempts_ >= kMostWords) {
    return {StatusCode::kCorrupt,
            fmt::format("a submission reads more than {} addresses from buffers", kMostWords)};
  }
  Word word = {place, kind};
  std::optional<PlaceKey> written;
  word.place = SourceOf(timeline, before, place, word.size(), memory, &written);
  if (IsNull(kind) &&
      (written || !Fits(word.place.second, 1, word.size(), memory->SizeOf(word.place.first)))) {
    missed_elements_ = true;
    return {};
  }
  if (written && kind != WordKind::kValue &&
      Fits(written->second, 1, word.size(), memory->SizeOf(written->first))) {
    written_.push_back({*written, kind});
  }
  if (!Fits(word.place.second, 1, word.size(), memory->SizeOf(word.place.first))) return {};
  words->push_back(word);
  // The same again and again takes no more memory.
  for (Words* const all : {words, &written_}) {
    if (all->size() >= kMany && std::has_single_bit(all->size())) Sort(all);
  }
  return {};
}

Status BufferAddresses::AddWords(const Timeline& timeline, size_t step, uint64_t first,
                                 uint64_t stride, uint64_t count, WordKind kind, Memory* memory,
                                 Words* words) {
  const uint64_t buffer = timeline.steps[step].buffer;
  for (uint64_t i = 0; i < count; ++i) {
    CAIRN_RETURN_IF_ERROR(
        AddWord(timeline, step, {buffer, first + i * stride}, kind, memory, words));
  }
  return {};
}

void BufferAddresses::NoteSharedNulls(const Words& words) {
  uint64_t buffer = 0;
  uint64_t null_end = 0;
  uint64_t kept_end = 0;
  for (const Word& word : words) {
    if (word.place.first != buffer) null_end = kept_end = 0;
    buffer = word.place.first;
    const bool is_null = IsNull(word.kind);
    if (word.place.second < (is_null ? kept_end : null_end)) missed_elements_ = true;
    uint64_t& end = is_null ? null_end : kept_end;
    end = std::max(end, word.place.second + word.size());
  }
}

void BufferAddresses::Sort(Words* words) {
  // A word that is only read may be one that is patched, too, and that one may become null.
  const auto rank = [](const Word& word) {
    if (IsNull(word.kind)) return 0;
    return word.kind == WordKind::kValue ? 2 : 1;
  };
  const auto less = [&](const Word& a, const Word& b) {
    const int a_rank = rank(a);
    const int b_rank = rank(b);
    return std::tie(a.place, a_rank) < std::tie(b.place, b_rank);
  };
  const auto sorted_end = std::is_sorted_until(words->begin(), words->end(), less);
  if (!std::is_sorted(sorted_end, words->end(), less)) {
    std::stable_sort(sorted_end, words->end(), less);
  }
  std::inplace_merge(words->begin(), sorted_end, words->end(), less);
  NoteSharedNulls(*words);
  const auto same = [](const Word& a, const Word& b) { return a.place == b.place; };
  words->erase(std::unique(words->begin(), words->end(), same), words->end());
}

Status BufferAddresses::CollectTable(const Timeline& timeline, size_t before, const Step& step,
                                     Memory* memory, Words* words) {
  const uint64_t stride = step.other == 0 ? step.count : step.other;
  if (stride < kIdentifierBytes || !Fits(step.offset, 1, step.count, memory->SizeOf(step.buffer))) {
    if (!step.kept.all() && CountRecords(step.count, step.other) != 0) missed_elements_ = true;
    return {};
  }
  uint64_t index = 0;
  for (uint64_t record = 0; record + kIdentifierBytes <= step.count; record += stride) {
    const uint64_t at = step.offset + record;
    const WordKind kind =
        step.kept.Has(index++) ? WordKind::kIdentifier : WordKind::kNullIdentifier;
    CAIRN_RETURN_IF_ERROR(AddWord(timeline, before, {step.buffer, at}, kind, memory, words));
    // Any local root argument may be an address. Addresses have this alignment.
    const uint64_t end = std::min(stride, step.count - record);
    for (uint64_t word = kIdentifierBytes; word + kWordBytes <= end; word += kWordBytes) {
      CAIRN_RETURN_IF_ERROR(AddWord(timeline, before, {step.buffer, at + word},
                                    WordKind::kAddressOrDescriptor, memory, words));
    }
    if (stride > step.count - record) break;
  }
  return {};
}

// Any of them may be an address. Addresses have this alignment in their record.
Status BufferAddresses::CollectArguments(const Timeline& timeline, size_t number, Memory* memory,
                                         Words* words) {
  const Step& step = timeline.steps[number];
  const uint64_t stride = step.other == 0 ? step.count : step.other;
  if (stride < kWordBytes || !Fits(step.offset, 1, step.count, memory->SizeOf(step.buffer))) {
    return {};
  }
  for (uint64_t record = 0; record < step.count; record += stride) {
    const uint64_t end = std::min(stride, step.count - record);
    CAIRN_RETURN_IF_ERROR(AddWords(timeline, number, step.offset + record, kWordBytes,
                                   end / kWordBytes, WordKind::kAddressOrDescriptor, memory,
                                   words));
    if (stride > step.count - record) break;
  }
  return {};
}

Status BufferAddresses::CollectIndirect(const Timeline& timeline, size_t number, Memory* memory,
                                        Words* words) {
  const Step& step = timeline.steps[number];
  const auto signature = signatures_.find(step.other);
  if (signature == signatures_.end()) return {};
  const IndirectLayout& layout = signature->second;
  const uint64_t count =
      CountCommands(layout, step.offset, step.count, memory->SizeOf(step.buffer));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t arguments = step.offset + i * layout.stride_bytes;
    for (const uint32_t address : layout.addresses) {
      const bool of_structure =
          std::binary_search(layout.structures.begin(), layout.structures.end(), address);
      CAIRN_RETURN_IF_ERROR(AddWord(timeline, number, {step.buffer, arguments + address},
                                    of_structure ? WordKind::kStructure : WordKind::kAddress,
                                    memory, words));
    }
    for (const uint32_t desc : layout.shader_tables) {
      for (const TableFields& table : kTables) {
        for (const uint32_t field : {table.size, table.stride}) {
          if (field == 0) continue;
          CAIRN_RETURN_IF_ERROR(AddWord(timeline, number, {step.buffer, arguments + desc + field},
                                        WordKind::kValue, memory, words));
        }
      }
    }
  }
  return {};
}

Status BufferAddresses::Collect(const Timeline& timeline, Memory* memory, Words* words) {
  for (size_t i = 0; i < timeline.steps.size(); ++i) {
    const Step& step = timeline.steps[i];
    const uint64_t size = step.Consumes() ? memory->SizeOf(step.buffer) : 0;
    switch (step.kind) {
      case Kind::kCopy:
      case Kind::kShadersWrote:
      case Kind::kBundle: break;
      case Kind::kIndirect:
        CAIRN_RETURN_IF_ERROR(CollectIndirect(timeline, i, memory, words));
        break;
      case Kind::kInstancePointers:
        if (step.offset > size) break;
        CAIRN_RETURN_IF_ERROR(AddWords(timeline, i, step.offset, kWordBytes,
                                       std::min(step.count, (size - step.offset) / kWordBytes),
                                       WordKind::kAddress, memory, words));
        break;
      case Kind::kShaderTable:
        CAIRN_RETURN_IF_ERROR(CollectTable(timeline, i, step, memory, words));
        break;
      case Kind::kRootArguments:
        CAIRN_RETURN_IF_ERROR(CollectArguments(timeline, i, memory, words));
        break;
      case Kind::kNodeInput:
      case Kind::kNodeInputs:
        if (!Fits(step.offset, 1, kInputBytes, size)) break;
        CAIRN_RETURN_IF_ERROR(AddWord(timeline, i, {step.buffer, step.offset + kInputAddress},
                                      WordKind::kAddress, memory, words));
        if (step.kind == Kind::kNodeInput) break;
        CAIRN_RETURN_IF_ERROR(AddWords(timeline, i, step.offset, kInputBytes - kWordBytes, 2,
                                       WordKind::kValue, memory, words));
        break;
      case Kind::kInstances: {
        const uint64_t there =
            step.offset > size ? 0 : std::min(step.count, (size - step.offset) / kInstanceBytes);
        if (!step.kept.all() && step.count != there) missed_elements_ = true;
        for (uint64_t k = 0; k < there; ++k) {
          const PlaceKey place = {step.buffer, step.offset + k * kInstanceBytes + kInstanceAddress};
          const WordKind kind = step.kept.Has(k) ? WordKind::kStructure : WordKind::kNullAddress;
          CAIRN_RETURN_IF_ERROR(AddWord(timeline, i, place, kind, memory, words));
        }
        break;
      }
    }
  }
  return {};
}

// ---- What stands behind addresses ----------------------------------------------------------------

Status BufferAddresses::CollectIndirectTables(const Timeline& timeline, size_t number,
                                              Memory* memory, const Words& values, Words* words) {
  const Step& step = timeline.steps[number];
  const auto signature = signatures_.find(step.other);
  if (signature == signatures_.end()) return {};
  const IndirectLayout& layout = signature->second;
  if (layout.shader_tables.empty()) return {};
  const uint64_t count =
      CountCommands(layout, step.offset, step.count, memory->SizeOf(step.buffer));
  for (uint64_t i = 0; i < count; ++i) {
    for (const uint32_t desc : layout.shader_tables) {
      for (const TableFields& table : kTables) {
        const auto field = [&](uint32_t offset) {
          const uint64_t at = step.offset + i * layout.stride_bytes + desc + offset;
          return RecordedAt(timeline, number, {step.buffer, at}, memory, values);
        };
        const std::optional<Memory::Place> place = memory->PlaceOf(field(table.address));
        if (!place) continue;
        const uint64_t stride = table.stride == 0 ? 0 : field(table.stride);
        CAIRN_RETURN_IF_ERROR(CollectTable(
            timeline, number,
            {Kind::kShaderTable, place->buffer, place->offset_bytes, field(table.size), stride, 0},
            memory, words));
      }
    }
  }
  return {};
}

Status BufferAddresses::CollectInputs(const Timeline& timeline, size_t number, Memory* memory,
                                      const Words& values, Words* words) {
  const Step& step = timeline.steps[number];
  if (!Fits(step.offset, 1, kInputBytes, memory->SizeOf(step.buffer))) return {};
  const auto field = [&](uint64_t index) {  // count with padding; address; stride
    return RecordedAt(timeline, number, {step.buffer, step.offset + index * kWordBytes}, memory,
                      values);
  };
  const std::optional<Memory::Place> inputs = memory->PlaceOf(field(1));
  if (!inputs) return {};
  const uint64_t size = memory->SizeOf(inputs->buffer);
  const auto most = static_cast<uint32_t>(field(0));
  const uint64_t stride = field(2);
  uint64_t at = inputs->offset_bytes;
  for (uint32_t i = 0; i < most && Fits(at, 1, kInputBytes, size); ++i) {
    CAIRN_RETURN_IF_ERROR(AddWord(timeline, number, {inputs->buffer, at + kInputAddress},
                                  WordKind::kAddress, memory, words));
    if (stride == 0 || stride > size - at) break;
    at += stride;
  }
  return {};
}

Status BufferAddresses::CollectPointed(const Timeline& timeline, size_t number, Memory* memory,
                                       const Words& values, Words* words) {
  const Step& step = timeline.steps[number];
  const uint64_t size = memory->SizeOf(step.buffer);
  const uint64_t count =
      step.offset > size ? 0 : std::min(step.count, (size - step.offset) / kWordBytes);
  if (!step.kept.all() && step.count != count) missed_elements_ = true;
  for (uint64_t i = 0; i < count; ++i) {
    const WordKind kind = step.kept.Has(i) ? WordKind::kStructure : WordKind::kNullAddress;
    const PlaceKey pointer = {step.buffer, step.offset + i * kWordBytes};
    const std::optional<Memory::Place> instance =
        memory->PlaceOf(RecordedAt(timeline, number, pointer, memory, values));
    if (!instance) {
      if (IsNull(kind)) missed_elements_ = true;
      continue;
    }
    CAIRN_RETURN_IF_ERROR(AddWord(timeline, number,
                                  {instance->buffer, instance->offset_bytes + kInstanceAddress},
                                  kind, memory, words));
  }
  return {};
}

Status BufferAddresses::CollectBehind(const Timeline& timeline, Memory* memory, const Words& values,
                                      Words* words) {
  for (size_t i = 0; i < timeline.steps.size(); ++i) {
    Status status;
    switch (timeline.steps[i].kind) {
      case Kind::kIndirect:
        status = CollectIndirectTables(timeline, i, memory, values, words);
        break;
      case Kind::kInstancePointers:
        status = CollectPointed(timeline, i, memory, values, words);
        break;
      case Kind::kNodeInputs: status = CollectInputs(timeline, i, memory, values, words); break;
      default: break;
    }
    CAIRN_RETURN_IF_ERROR(status);
  }
  return {};
}

}  // namespace cairn
