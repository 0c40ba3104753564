// SPDX-License-Identifier: Apache-2.0
#include "reader/view/executed_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/text.h"
#include "reader/bisect/indirect_call.h"
#include "reader/bisect/ray_call.h"
#include "reader/view/creation_parts.h"
#include "reader/view/written_bytes.h"

namespace cairn::cli {
namespace {

// Most calls have none, which one look at the call shows.
bool MayHaveParts(TraceReader* trace, uint64_t call) {
  TraceCursor cursor(*trace);
  Record record;
  if (!cursor.SeekNumber(call).ok() || !cursor.Next(&record)) return false;
  const std::optional<Method> method = trace->MethodOf(record);
  return method == Method::ID3D12GraphicsCommandList_ExecuteIndirect ||
         method == Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure ||
         method == Method::ID3D12GraphicsCommandList4_DispatchRays;
}

Result<ObjectParts> PartsBefore(TraceReader* trace, uint64_t call) {
  CreationParts parts(trace);
  TraceCursor cursor(*trace);
  Record record;
  while (cursor.Next(&record) && record.number < call) parts.Look(record);
  CAIRN_RETURN_IF_ERROR(cursor.status());
  return parts.Take();
}

Result<std::optional<ExecutedParts>> CommandsOf(TraceReader* trace, uint64_t call,
                                                const IndirectCall& indirect) {
  ExecutedParts found;
  found.kind = "command";
  found.count = indirect.max_count;
  const Result<ObjectParts> made = PartsBefore(trace, call);
  if (!made.ok()) return made.status();
  if (const auto* const parts = made->SignatureOf(indirect.signature)) {
    found.made_of = InWords(*parts);
  }
  const uint64_t listed = std::min(found.count, ExecutedParts::kMostListed);
  std::vector<BytesToRead> wanted;
  for (uint64_t i = 0; i < listed; ++i) wanted.push_back(ArgumentsOf(indirect, i, 0));
  wanted.push_back(CountOf(indirect, 0));
  Result<WrittenBytes> written = ReadWrittenBytes(trace, call, wanted);
  if (!written.ok()) return written.status();
  found.executed_by = written->executed_by;
  const std::span<const std::byte> count_bytes = written->ranges.back().bytes;
  found.count_is_limit = indirect.count_buffer != 0 && count_bytes.size() != sizeof(uint32_t);
  if (count_bytes.size() == sizeof(uint32_t)) {
    uint32_t count = 0;
    std::memcpy(&count, count_bytes.data(), sizeof(count));
    found.count = std::min<uint64_t>(found.count, count);
  }
  for (uint64_t i = 0; i < std::min(listed, found.count); ++i) {
    const WrittenBytes::Range& range = written->ranges[i];
    const std::string words =
        range.bytes.empty() ? "" : CommandInWords(indirect.layout, range.bytes);
    found.parts.push_back(
        {fmt::format("command [{}]{}{}", i, words.empty() ? "" : ", ", words), range.unknown});
  }
  return std::optional(std::move(found));
}

// Parts that lie nowhere: their address is that of no buffer.
std::string WhyNowhere(const RayCall& rays) {
  return rays.pointers() ? "its place is behind a pointer: only a playback knows it"
                         : "its address is that of no buffer";
}

Result<std::optional<ExecutedParts>> RaysOf(TraceReader* trace, uint64_t call,
                                            uint64_t state_object, const RayCall& rays) {
  ExecutedParts found;
  const CallParts all = rays.PartsOf(call);
  found.kind = all.word;
  found.count = all.count;
  const bool is_dispatch = found.kind == "record";
  if (is_dispatch) {
    const Result<ObjectParts> made = PartsBefore(trace, call);
    if (!made.ok()) return made.status();
    if (const auto* const parts = made->StateObjectOf(state_object)) {
      found.made_of = InWords(*parts);
    }
  }
  std::vector<uint64_t> listed;
  std::vector<BytesToRead> wanted;
  for (const auto& [first, end] : rays.RangesOfTables()) {
    for (uint64_t i = first; i < end && i - first < ExecutedParts::kMostListed; ++i) {
      listed.push_back(i);
      wanted.push_back(rays.PlaceOf(i, 0));
    }
  }
  wanted.push_back(rays.PlaceOfRayGeneration());
  const Result<WrittenBytes> written = ReadWrittenBytes(trace, call, wanted);
  if (!written.ok()) return written.status();
  found.executed_by = written->executed_by;
  const auto add = [&](size_t index, std::string text) {
    std::string unknown = written->ranges[index].unknown;
    if (wanted[index].size_bytes == 0) unknown = WhyNowhere(rays);
    found.parts.push_back({std::move(text), std::move(unknown)});
  };
  const auto bytes_of = [&](size_t index) -> std::span<const std::byte> {
    return written->ranges[index].bytes;
  };
  if (is_dispatch) add(listed.size(), rays.RayGenerationInWords(bytes_of(listed.size())));
  for (size_t i = 0; i < listed.size(); ++i) {
    std::string words = rays.InWords(listed[i], bytes_of(i), written->state.get());
    if (!is_dispatch) {
      words = fmt::format("instance [{}]{}{}", listed[i], words.empty() ? "" : ", ", words);
    }
    add(i, std::move(words));
  }
  return std::optional(std::move(found));
}

}  // namespace

Result<std::optional<ExecutedParts>> FindExecutedParts(TraceReader* trace, uint64_t call,
                                                       uint64_t state_object) {
  if (!MayHaveParts(trace, call)) return std::optional<ExecutedParts>();
  const Result<IndirectCall> indirect = ReadIndirectCall(trace, call);
  if (indirect.ok()) return CommandsOf(trace, call, *indirect);
  if (indirect.status().code() != StatusCode::kNotFound) return indirect.status();
  const Result<RayCall> rays = RayCall::Read(trace, call, RayCall::Updates::kToo);
  if (rays.ok()) return RaysOf(trace, call, state_object, *rays);
  if (rays.status().code() != StatusCode::kNotFound) return rays.status();
  return std::optional<ExecutedParts>();
}

}  // namespace cairn::cli
