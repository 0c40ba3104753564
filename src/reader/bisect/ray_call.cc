// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/ray_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "format/calls/value_decoder.h"

namespace cairn {
namespace {

// Returns the argument of a call that has one of that type; null if the record is damaged.
template <typename T>
const T* OnlyPointer(const Record& record, Method method, TraceReader* trace, Arena* arena) {
  DecodedCall call;
  DecodeOptions options;
  options.blobs = trace;
  if (!DecodeArguments(Describe(method), record.body, options, arena, &call).ok()) return nullptr;
  const T* pointer = nullptr;
  std::memcpy(&pointer, call.arguments[0], sizeof(pointer));
  return pointer;
}

// From a trace: perhaps a value that the enumeration does not have.
template <typename Enumeration>
bool Is(const Enumeration& value, Enumeration wanted) {
  return std::memcmp(&value, &wanted, sizeof(value)) == 0;
}

// Collects the identifiers of exports, as GetShaderIdentifier returned them.
class ExportNames {
 public:
  explicit ExportNames(TraceReader* trace) : trace_(trace) {}

  void Look(const Record& record) {
    constexpr Method kMethod = Method::ID3D12StateObjectProperties_GetShaderIdentifier;
    if (trace_->MethodOf(record) != kMethod) return;
    arena_.Reset();
    if (record.kind == RecordKind::kCall) {
      const auto* const name = OnlyPointer<char16_t>(record, kMethod, trace_, &arena_);
      char text[kMostBytes];
      if (name == nullptr) return;
      const auto written = WriteUtf8({name, 2}, text);
      asked_[record.number] = std::string(written.text) + (written.cut ? "…" : "");
    } else if (record.kind == RecordKind::kResult) {
      OnResult(record);
    }
  }
  std::map<ShaderIdentifier, std::vector<std::string>> Take() { return std::move(names_); }

 private:
  static constexpr size_t kMostBytes = 256;

  void OnResult(const Record& record) {
    ResultBody body;
    if (record.body.size() < sizeof(body)) return;
    std::memcpy(&body, record.body.data(), sizeof(body));
    const auto asked = asked_.find(body.call);
    if (asked == asked_.end()) return;
    const std::string name = std::move(asked->second);
    asked_.erase(asked);
    DecodedCall call;
    DecodeOptions options;
    options.blobs = trace_;
    if (!DecodeResults(Describe(Method::ID3D12StateObjectProperties_GetShaderIdentifier),
                       record.body.subspan(sizeof(body)), options, &arena_, &call)
             .ok() ||
        call.result == nullptr) {
      return;
    }
    const void* bytes = nullptr;
    std::memcpy(&bytes, call.result, sizeof(bytes));
    if (bytes == nullptr) return;
    ShaderIdentifier identifier;
    std::memcpy(identifier.data(), bytes, sizeof(identifier));
    AddName(name, &names_[identifier]);
  }

  // Exports that are one shader may have one identifier.
  static void AddName(const std::string& name, std::vector<std::string>* names) {
    constexpr size_t kMostNames = 4;
    if (names->size() > kMostNames ||
        std::find(names->begin(), names->end(), name) != names->end()) {
      return;
    }
    names->push_back(names->size() == kMostNames ? "…" : name);
  }

  TraceReader* const trace_;
  Arena arena_;
  std::unordered_map<uint64_t, std::string> asked_;  // by call
  std::map<ShaderIdentifier, std::vector<std::string>> names_;
};

}  // namespace

bool RayCall::TakeBuild(const Record& record, TraceReader* trace, Updates updates) {
  Arena arena;
  const auto* const desc = OnlyPointer<D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC>(
      record, Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure, trace,
      &arena);
  if (desc == nullptr ||
      !Is(desc->Inputs.Type, D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL)) {
    return false;
  }
  uint32_t flags = 0;
  std::memcpy(&flags, &desc->Inputs.Flags, sizeof(flags));
  const bool is_update =
      (flags & D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE) != 0;
  if (is_update && updates == Updates::kNone) return false;
  is_build_ = true;
  pointers_ = Is(desc->Inputs.DescsLayout, D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS);
  tables_ = {{"", desc->Inputs.NumDescs, sizeof(D3D12_RAYTRACING_INSTANCE_DESC),
              desc->Inputs.InstanceDescs}};
  return true;
}

bool RayCall::TakeDispatch(const Record& record, TraceReader* trace) {
  Arena arena;
  const auto* const desc = OnlyPointer<D3D12_DISPATCH_RAYS_DESC>(
      record, Method::ID3D12GraphicsCommandList4_DispatchRays, trace, &arena);
  if (desc == nullptr) return false;
  ray_generation_ = {"ray generation", 1, 0, desc->RayGenerationShaderRecord.StartAddress};
  const auto add = [this](const char* word, const auto& table) {
    tables_.push_back({word, CountRecords(table.SizeInBytes, table.StrideInBytes),
                       table.StrideInBytes, table.StartAddress});
  };
  add("miss", desc->MissShaderTable);
  add("hit group", desc->HitGroupTable);
  add("callable", desc->CallableShaderTable);
  return true;
}

Result<RayCall> RayCall::Read(TraceReader* trace, uint64_t number, Updates updates) {
  RayCall ray;
  ray.state_ = std::make_unique<TraceState>(*trace);
  ExportNames names(trace);
  TraceCursor cursor(*trace);
  Record record;
  bool found = false;
  while (cursor.Next(&record) && record.number <= number) {
    (void)ray.state_->Apply(record);
    names.Look(record);
    if (record.number != number || record.kind != RecordKind::kCall) continue;
    const std::optional<Method> method = trace->MethodOf(record);
    if (method == Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure) {
      found = ray.TakeBuild(record, trace, updates);
    } else if (method == Method::ID3D12GraphicsCommandList4_DispatchRays) {
      found = ray.TakeDispatch(record, trace);
    }
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  if (!found) {
    return Status(StatusCode::kNotFound,
                  fmt::format("call {} reads no instances and no records", number));
  }
  ray.exports_ = names.Take();
  return ray;
}

CallParts RayCall::PartsOf(uint64_t call) const {
  CallParts parts;
  parts.call = call;
  parts.word = is_build_ ? "instance" : "record";
  for (const Table& table : tables_) {
    // Sizes in a trace may be anything; so many records are in no buffer.
    constexpr uint64_t kMost = uint64_t{1} << 40;
    parts.count += std::min(table.count, kMost);
  }
  return parts;
}

const RayCall::Table* RayCall::TableOf(uint64_t part, uint64_t* index) const {
  *index = part;
  for (const Table& table : tables_) {
    if (*index < table.count) return &table;
    *index -= table.count;
  }
  return nullptr;
}

BytesToRead RayCall::PlaceOf(uint64_t part, uint64_t submission) const {
  uint64_t index = 0;
  const Table* const table = TableOf(part, &index);
  if (table == nullptr || pointers_) return {};
  return PlaceIn(*table, index, submission);
}

BytesToRead RayCall::PlaceIn(const Table& table, uint64_t index, uint64_t submission) const {
  const std::optional<AddressMap::Place> place = state_->gpu_addresses().Find(table.address);
  if (!place) return {};
  const uint64_t most = std::numeric_limits<uint64_t>::max() - place->offset_bytes;
  if (table.stride_bytes != 0 && index > most / table.stride_bytes) return {};
  return {submission, place->object, place->offset_bytes + index * table.stride_bytes,
          is_build_ ? sizeof(D3D12_RAYTRACING_INSTANCE_DESC) : sizeof(ShaderIdentifier)};
}

std::vector<std::pair<uint64_t, uint64_t>> RayCall::RangesOfTables() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t first = 0;
  for (const Table& table : tables_) {
    const uint64_t end = first + std::min(table.count, ~uint64_t{0} - first);
    ranges.emplace_back(first, end);
    first = end;
  }
  return ranges;
}

BytesToRead RayCall::PlaceOfRayGeneration() const {
  return ray_generation_.count == 0 ? BytesToRead() : PlaceIn(ray_generation_, 0, 0);
}

std::string RayCall::RayGenerationInWords(std::span<const std::byte> bytes) const {
  const std::string record = RecordInWords(bytes);
  return fmt::format("{}{}{}", ray_generation_.word, record.empty() ? "" : ", ", record);
}

namespace {

// "at (1, 0, 2.5)", and that axes are not those of the bottom level. Numbers that are none are shown as they are.
std::string TransformInWords(const float (&rows)[3][4]) {
  constexpr float kIdentity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::string text = fmt::format("at ({}, {}, {})", rows[0][3], rows[1][3], rows[2][3]);
  bool is_identity = true;
  bool is_finite = true;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      is_identity = is_identity && rows[row][column] == kIdentity[row][column];
      is_finite = is_finite && std::isfinite(rows[row][column]);
    }
  }
  if (!is_finite) return text + ", with axes that are not finite";
  return is_identity ? text : text + ", turned or scaled";
}

}  // namespace

std::string RayCall::InstanceInWords(std::span<const std::byte> bytes, const TraceState& buffers) {
  D3D12_RAYTRACING_INSTANCE_DESC instance;
  if (bytes.size() != sizeof(instance)) return "";
  std::memcpy(&instance, bytes.data(), sizeof(instance));
  std::string bottom = buffers.GpuAddress(instance.AccelerationStructure);
  if (bottom.empty()) {
    bottom = fmt::format("at 0x{:x}, where no buffer is", instance.AccelerationStructure);
  }
  return fmt::format("InstanceID {}, InstanceMask 0x{:x}, hit groups from {}, bottom level {}, {}",
                     static_cast<uint32_t>(instance.InstanceID),
                     static_cast<uint32_t>(instance.InstanceMask),
                     static_cast<uint32_t>(instance.InstanceContributionToHitGroupIndex), bottom,
                     TransformInWords(instance.Transform));
}

std::string RayCall::RecordInWords(std::span<const std::byte> bytes) const {
  ShaderIdentifier identifier;
  if (bytes.size() != sizeof(identifier)) return "";
  std::memcpy(identifier.data(), bytes.data(), sizeof(identifier));
  if (identifier == ShaderIdentifier{}) return "no shader";
  const auto found = exports_.find(identifier);
  if (found == exports_.end()) return "an identifier that GetShaderIdentifier did not return";
  std::string text = "export";
  for (size_t i = 0; i < found->second.size(); ++i) {
    text += fmt::format("{} \"{}\"", i == 0 ? "" : " or", VisibleText(found->second[i]));
  }
  return text;
}

std::string RayCall::InWords(uint64_t part, std::span<const std::byte> bytes,
                             const TraceState* buffers) const {
  uint64_t index = 0;
  const Table* const table = TableOf(part, &index);
  if (table == nullptr) return "";
  if (is_build_) return InstanceInWords(bytes, buffers == nullptr ? *state_ : *buffers);
  const std::string record = RecordInWords(bytes);
  return fmt::format("{} [{}]{}{}", table->word, GroupedDigits(index), record.empty() ? "" : ", ",
                     record);
}

}  // namespace cairn
