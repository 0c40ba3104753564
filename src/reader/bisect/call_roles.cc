// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/call_roles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "cairn/marker_types.h"

#include "base/text.h"
#include "format/calls/call_builder.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

// More lists than these in one call are not a program's.
constexpr uint32_t kMostLists = 1u << 16;

ListCall Classify(const MethodInfo& info) {
  const std::string_view name = info.name;
  if (name == "ID3D12CommandQueue::ExecuteCommandLists") return ListCall::kExecute;
  const size_t colon = name.find(':');
  if (name.substr(0, colon).find("CommandList") == std::string_view::npos) return ListCall::kOther;
  const std::string_view method = name.substr(colon + 2);
  if (method == "Reset") return ListCall::kReset;
  if (method == "Close") return ListCall::kClose;
  if (method == "BeginEvent") return ListCall::kBeginEvent;
  if (method == "EndEvent") return ListCall::kEndEvent;
  if (method == "SetPipelineState" || method == "SetPipelineState1") return ListCall::kSetPipeline;
  if (method == "ExecuteBundle") return ListCall::kWork;
  const bool barrier =
      info.work == CAIRN_MARKER_RESOURCE_BARRIER || info.work == CAIRN_MARKER_BARRIER;
  return info.work == kNoWork || barrier ? ListCall::kOther : ListCall::kWork;
}

std::array<ListCall, kMethodCount> ClassifyAll() {
  std::array<ListCall, kMethodCount> calls{};
  for (uint32_t i = 0; i < kMethodCount; ++i) calls[i] = Classify(Describe(static_cast<Method>(i)));
  return calls;
}

template <typename T>
T ValueAt(const DecodedCall& call, size_t index) {
  T value;
  std::memcpy(&value, call.arguments[index], sizeof(value));
  return value;
}

}  // namespace

ListCall ListCallOf(Method method) {
  static const std::array<ListCall, kMethodCount> kCalls = ClassifyAll();
  return kCalls[static_cast<size_t>(method)];
}

Result<std::vector<uint64_t>> ExecutedLists(std::span<const std::byte> body, BlobSource* blobs) {
  Arena arena;
  DecodedCall call;
  DecodeOptions options;
  options.blobs = blobs;
  CAIRN_RETURN_IF_ERROR(DecodeArguments(Describe(Method::ID3D12CommandQueue_ExecuteCommandLists),
                                        body, options, &arena, &call));
  const auto count = ValueAt<uint32_t>(call, 0);
  const auto* const numbers = ValueAt<const uint64_t*>(call, 1);
  if (count > kMostLists || (count != 0 && numbers == nullptr)) {
    return Status(StatusCode::kCorrupt, "ExecuteCommandLists has no lists");
  }
  return std::vector<uint64_t>(numbers, numbers + count);
}

std::vector<std::byte> ExecuteBody(const std::vector<uint64_t>& lists) {
  return CallBuilder()
      .Call(Method::ID3D12CommandQueue_ExecuteCommandLists, lists.size(), lists.data())
      .bytes;
}

std::string EventText(Method method, std::span<const std::byte> body, BlobSource* blobs) {
  Arena arena;
  DecodedCall call;
  DecodeOptions options;
  options.blobs = blobs;
  if (!DecodeArguments(Describe(method), body, options, &arena, &call).ok()) return "";
  const auto* const data = ValueAt<const std::byte*>(call, 1);
  const size_t bytes = data == nullptr ? 0 : ValueAt<uint32_t>(call, 2);
  return VisibleText(PixText(ValueAt<uint32_t>(call, 0), {data, bytes}));
}

uint64_t PipelineOf(Method method, std::span<const std::byte> body, BlobSource* blobs) {
  Arena arena;
  DecodedCall call;
  DecodeOptions options;
  options.blobs = blobs;
  if (!DecodeArguments(Describe(method), body, options, &arena, &call).ok()) return 0;
  return ValueAt<uint64_t>(call, 0);
}

uint64_t BundleOf(std::span<const std::byte> body, BlobSource* blobs) {
  return PipelineOf(Method::ID3D12GraphicsCommandList_ExecuteBundle, body, blobs);
}

}  // namespace cairn
