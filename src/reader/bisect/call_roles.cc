// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/call_roles.h"

#include <cstring>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/call_builder.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

// More lists than these in one call are not a program's.
constexpr uint32_t kMostLists = 1u << 16;

template <typename T>
T ValueAt(const DecodedCall& call, size_t index) {
  T value;
  std::memcpy(&value, call.arguments[index], sizeof(value));
  return value;
}

}  // namespace

bool CanBeLeftOut(Method method) {
  const CallRole& role = RoleOf(method);
  return role.role == Role::kWork || role.role == Role::kBundle;
}

bool MayDraw(Method method) {
  switch (method) {
    case Method::ID3D12GraphicsCommandList_DrawInstanced:
    case Method::ID3D12GraphicsCommandList_DrawIndexedInstanced:
    case Method::ID3D12GraphicsCommandList_ExecuteIndirect:
    case Method::ID3D12GraphicsCommandList4_DispatchRays:
    case Method::ID3D12GraphicsCommandList6_DispatchMesh:
    case Method::ID3D12GraphicsCommandList10_DispatchGraph: return true;
    default: return false;
  }
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

uint64_t BundleOf(Method method, std::span<const std::byte> body, BlobSource* blobs) {
  Arena arena;
  DecodedCall call;
  DecodeOptions options;
  options.blobs = blobs;
  if (!DecodeArguments(Describe(method), body, options, &arena, &call).ok()) return 0;
  return ValueAt<uint64_t>(call, static_cast<size_t>(RoleOf(method).object));
}

}  // namespace cairn
