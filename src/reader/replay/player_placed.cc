// SPDX-License-Identifier: Apache-2.0
//
// Placed resources on devices where they do not fit where they were placed: each gets a heap of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "reader/replay/allocation_questions.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The program asks how much memory a resource needs. So does the playback: one that needs more here would lie over
// its neighbour in the heap.
void PlayerImpl::AskAllocation(const Record& record, Method method) {
  constexpr size_t kMostAsked = 1 << 16;
  DeviceContext* const context = devices_.Find(record.object);
  if (context == nullptr || context->lost || asked_allocations_.size() >= kMostAsked) return;
  arena_.Reset();
  DecodeOptions options;
  options.wchar_bytes = library_.wchar_bytes;
  options.blobs = trace_;
  DecodedCall call;
  if (!DecodeArguments(Describe(method), record.body, options, &arena_, &call).ok()) return;
  const UINT count = *static_cast<const UINT*>(call.arguments[1]);
  const auto* const given = *static_cast<const D3D12_RESOURCE_DESC**>(call.arguments[2]);
  if (count != 1 || given == nullptr) return;
  // D3D12_RESOURCE_DESC1 begins with the fields of D3D12_RESOURCE_DESC.
  D3D12_RESOURCE_DESC desc;
  std::memcpy(&desc, given, sizeof(desc));
  if (IsFeedback(desc)) return;
  cost_.AddQuestion();
  asked_allocations_[record.number] = {method, KeyOf(desc),
                                       GetAllocationInfo(context->device.get(), desc)};
}

// `results`: behind ResultBody.
void PlayerImpl::CompareAllocation(uint64_t call, std::span<const std::byte> results) {
  constexpr size_t kMostLarger = 1 << 16;
  const auto found = asked_allocations_.find(call);
  if (found == asked_allocations_.end()) return;
  const AskedAllocation asked = std::move(found->second);
  asked_allocations_.erase(found);
  arena_.Reset();
  DecodeOptions options;
  options.wchar_bytes = library_.wchar_bytes;
  options.blobs = trace_;
  DecodedCall decoded;
  if (!DecodeResults(Describe(asked.method), results, options, &arena_, &decoded).ok() ||
      decoded.result == nullptr) {
    return;
  }
  D3D12_RESOURCE_ALLOCATION_INFO recorded = {};
  std::memcpy(&recorded, decoded.result, sizeof(recorded));
  if (asked.here.SizeInBytes == kRefusedBytes || recorded.SizeInBytes == kRefusedBytes) return;
  if (asked.here.SizeInBytes <= recorded.SizeInBytes) {
    larger_.erase(asked.key);
  } else if (larger_.size() < kMostLarger) {
    larger_.insert(asked.key);
  }
}

// Changes the heap and the offset of a resource that does not fit there.
Status PlayerImpl::GiveOwnHeap(CallInProgress* call) {
  const ReplayObject* const heap = call->ObjectAt(0);
  DeviceContext* const context = devices_.Find(call->object->device);
  const void* given = nullptr;
  for (size_t i = 0; i < call->info.parameters.size(); ++i) {
    const std::string_view type = call->info.parameters[i].type;
    if (type.starts_with("const D3D12_RESOURCE_DESC")) given = call->At<const void*>(i);
  }
  if (heap == nullptr || heap->chain != Chain::kID3D12Heap || context == nullptr ||
      given == nullptr) {
    return Status();
  }
  D3D12_RESOURCE_DESC desc;
  std::memcpy(&desc, given, sizeof(desc));
  if (IsFeedback(desc)) return Status();
  cost_.AddQuestion();
  const D3D12_RESOURCE_ALLOCATION_INFO here = GetAllocationInfo(context->device.get(), desc);
  if (here.SizeInBytes == kRefusedBytes || here.Alignment == 0) return Status();
  D3D12_HEAP_DESC own = GetDesc(heap->As<ID3D12Heap>());
  auto& offset = call->At<UINT64>(1);
  const uint64_t room = HeapRoom(own.SizeInBytes, offset);
  const bool fits = here.SizeInBytes <= room;
  // An offset that no device promises to take was taken when it was recorded.
  const bool is_lenient = offset % D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT != 0 &&
                          desc.Alignment != D3D12_SMALL_RESOURCE_PLACEMENT_ALIGNMENT;
  const bool is_aligned = is_lenient || offset % here.Alignment == 0;
  if (fits && is_aligned && !larger_.contains(KeyOf(desc))) return Status();
  own.SizeInBytes = here.SizeInBytes;
  own.Alignment = here.Alignment > D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
                      ? D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT
                      : D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
  cost_.AddMemory(own.SizeInBytes);
  CAIRN_RETURN_IF_ERROR(CheckCost());
  if (FAILED(context->device->CreateHeap(&own, __uuidof(ID3D12Heap), own_heap_.Receive())) ||
      !own_heap_) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("it needs {} bytes, alignment {}, on this device, and there is no "
                              "heap for it",
                              own.SizeInBytes, here.Alignment));
  }
  call->At<ID3D12Heap*>(0) = own_heap_.get();
  offset = 0;
  ++own_heaps_;
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
