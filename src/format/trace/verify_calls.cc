// SPDX-License-Identifier: Apache-2.0
#include "format/trace/verify_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/roles.h"
#include "format/calls/object_text.h"

namespace cairn {
namespace {

constexpr uint32_t kFenceFlagsOfOthers = 1 | 2;    // D3D12_FENCE_FLAG_SHARED, ..._CROSS_ADAPTER
constexpr uint64_t kRemovedDevice = ~uint64_t{0};  // what a fence of one has reached
constexpr size_t kViewBytes = 16;                  // of an index, vertex or constant buffer view

// D3D12_INDEX_BUFFER_VIEW, D3D12_VERTEX_BUFFER_VIEW and D3D12_CONSTANT_BUFFER_VIEW_DESC begin like this.
struct BufferView {
  uint64_t address;
  uint32_t size_bytes;
  uint32_t other;
};
static_assert(sizeof(BufferView) == kViewBytes);

// Interfaces that objects of several chains have, such as ID3D12CommandList, are declared as none.
bool IsOfKind(const TracedObject& object, Chain declared) {
  return declared == Chain::kNone || object.chain == Chain::kNone || object.chain == declared;
}

}  // namespace

template <typename T>
T CallVerifier::Argument(size_t index) const {
  T value;
  std::memcpy(&value, decoded_.arguments[index], sizeof(value));
  return value;
}

template <typename T>
T CallVerifier::Element(size_t argument, size_t index) const {
  const std::byte* const array = Argument<const std::byte*>(argument);
  T value;
  std::memcpy(&value, array + index * sizeof(T), sizeof(value));
  return value;
}

Result<std::span<const std::byte>> CallVerifier::Bytes(std::span<const std::byte>* rest) {
  arena_.Reset();
  return DecodeBytes(rest, &trace_, &arena_);
}

bool CallVerifier::Decode(const Record& record, Method method, std::span<const std::byte> body,
                          bool results) {
  record_ = record.number;
  arena_.Reset();
  decoded_ = {};
  DecodeOptions options;
  options.visitor = this;
  options.blobs = &trace_;
  const MethodInfo& info = Describe(method);
  const Status status = results ? DecodeResults(info, body, options, &arena_, &decoded_)
                                : DecodeArguments(info, body, options, &arena_, &decoded_);
  if (status.ok()) return true;
  findings_.Unread(VerifyRule::kCall, record.number, status, fmt::format("{}: ", info.name));
  return false;
}

bool CallVerifier::LookAtCall(const Record& record, Method method) {
  if (!Decode(record, method, record.body, /*results=*/false)) return false;
  LookAtRanges(method);
  LookAtFences(record, method);
  return true;
}

void CallVerifier::LookAtResult(const Record& record, uint64_t call, Method method) {
  if (!Decode(record, method, record.body.subspan(sizeof(ResultBody)), /*results=*/true)) return;
  new_fences_.erase(call);
  if (method != Method::ID3D12Fence_GetCompletedValue || decoded_.result == nullptr) return;
  uint64_t value = 0;
  std::memcpy(&value, decoded_.result, sizeof(value));
  const auto fence = fences_.find(record.object);
  if (fence == fences_.end() || fence->second.shared || value == kRemovedDevice) return;
  if (value > fence->second.greatest) {
    findings_.Error(VerifyRule::kFence, record.number,
                    fmt::format("{} has reached {}, and was signalled up to {}",
                                state_.Object(record.object), value, fence->second.greatest));
  }
}

void CallVerifier::LookAtObject(const TracedObject& object) {
  if (object.chain != Chain::kID3D12Fence) return;
  Fence& fence = fences_[object.number];
  const auto made = new_fences_.find(object.creator);
  if (made != new_fences_.end()) {
    fence.greatest = made->second.value;
    fence.shared = made->second.shared;
  } else {
    fence.shared = true;  // from a handle, or before the beginning: what it has is not known
  }
}

void CallVerifier::LookAtEnd() {
  // A program that died may have died before it signalled.
  const Severity severity = state_.alive_count() == 0 ? Severity::kWarning : Severity::kNote;
  std::vector<std::pair<uint64_t, uint64_t>> waits;
  for (const auto& [object, fence] : fences_) {
    if (!fence.shared && fence.awaited > fence.greatest)
      waits.emplace_back(fence.wait_call, object);
  }
  std::sort(waits.begin(), waits.end());
  for (const auto& [call, object] : waits) {
    const Fence& fence = fences_[object];
    findings_.Add(VerifyRule::kFence, severity, call,
                  fmt::format("a queue waits until {} has {}, and it is signalled up to {}",
                              state_.Object(object), fence.awaited, fence.greatest));
  }
}

Status CallVerifier::Object(Chain declared, uint64_t* place) {
  if (*place == kNoObject || *place == kForeignObject) return Status();
  const TracedObject* object = state_.Find(*place);
  if (object == nullptr) {
    findings_.Error(VerifyRule::kObject, record_, fmt::format("object {} was never made", *place));
  } else if (object->ended != 0) {
    findings_.Error(
        VerifyRule::kObject, record_,
        fmt::format("{} was destroyed at record {}", state_.Object(*place), object->ended));
  } else if (!IsOfKind(*object, declared)) {
    findings_.Error(VerifyRule::kObject, record_,
                    fmt::format("{} stands where a {} belongs", state_.Object(*place),
                                ObjectKindText(declared)));
  }
  return Status();
}

Status CallVerifier::GpuAddress(uint64_t* place) {
  if (*place != 0 && !state_.gpu_addresses().Find(*place).has_value()) {
    findings_.Warning(VerifyRule::kAddress, record_,
                      fmt::format("the address {:#x} is in no living buffer", *place));
  }
  return Status();
}

void CallVerifier::LookAtDescriptor(std::optional<TraceState::Descriptor> place, uint64_t handle,
                                    const char* kind) {
  if (handle == 0) return;
  if (!place.has_value()) {
    findings_.Warning(VerifyRule::kDescriptor, record_,
                      fmt::format("the {} descriptor {:#x} is in no living heap", kind, handle));
    return;
  }
  const DescriptorHeapFacts& heap = *state_.Find(place->heap)->heap;
  const uint64_t start = *kind == 'C' ? heap.cpu_start : heap.gpu_start;
  if ((handle - start) % heap.increment_bytes != 0) {
    findings_.Warning(VerifyRule::kDescriptor, record_,
                      fmt::format("the {} descriptor {:#x} is between two of {}", kind, handle,
                                  state_.Object(place->heap)));
  }
}

Status CallVerifier::CpuDescriptor(uint64_t* place) {
  LookAtDescriptor(state_.CpuDescriptorAt(*place), *place, "CPU");
  return Status();
}

Status CallVerifier::GpuDescriptor(uint64_t* place) {
  LookAtDescriptor(state_.GpuDescriptorAt(*place), *place, "GPU");
  return Status();
}

void CallVerifier::LookAtRange(uint64_t address, uint64_t size_bytes, const char* what) {
  const auto place = state_.gpu_addresses().Find(address);
  if (!place.has_value()) return;  // said already
  const uint64_t room = state_.Find(place->object)->resource->size_bytes - place->offset_bytes;
  if (size_bytes > room) {
    findings_.Warning(VerifyRule::kAddress, record_,
                      fmt::format("the {} of {} bytes at {} ends {} bytes behind it", what,
                                  size_bytes, state_.GpuAddress(address), size_bytes - room));
  }
}

void CallVerifier::LookAtBufferRange(uint64_t resource, uint64_t offset, uint64_t size_bytes) {
  const TracedObject* object = state_.Find(resource);
  if (object == nullptr || !object->resource.has_value()) return;
  const uint64_t size = object->resource->size_bytes;
  if (size != 0 && (offset > size || size_bytes > size - offset)) {
    findings_.Warning(VerifyRule::kAddress, record_,
                      fmt::format("{} bytes from {} on are copied, and {} has {}", size_bytes,
                                  offset, state_.Object(resource), size));
  }
}

void CallVerifier::LookAtDescriptors(uint64_t handle, uint64_t count) {
  const auto place = state_.CpuDescriptorAt(handle);
  if (!place.has_value()) return;  // said already
  const uint64_t room = state_.Find(place->heap)->heap->count - place->index;
  if (count > room) {
    findings_.Warning(VerifyRule::kDescriptor, record_,
                      fmt::format("{} descriptors from {} on end {} behind the heap", count,
                                  state_.CpuDescriptor(handle), count - room));
  }
}

void CallVerifier::LookAtDescriptorRanges(size_t count_argument, size_t starts_argument,
                                          size_t sizes_argument) {
  if (IsNull(starts_argument)) return;
  const uint32_t count = Argument<uint32_t>(count_argument);
  for (uint32_t i = 0; i < count; ++i) {
    LookAtDescriptors(Element<uint64_t>(starts_argument, i),
                      IsNull(sizes_argument) ? 1 : Element<uint32_t>(sizes_argument, i));
  }
}

// Checks arguments that give an address and the number of bytes used from there.
void CallVerifier::LookAtRanges(Method method) {
  switch (method) {
    case Method::ID3D12GraphicsCommandList_IASetIndexBuffer:
    case Method::ID3D12Device_CreateConstantBufferView: {
      if (IsNull(0)) return;
      const auto view = Element<BufferView>(0, 0);
      LookAtRange(view.address, view.size_bytes,
                  method == Method::ID3D12Device_CreateConstantBufferView ? "constant buffer view"
                                                                          : "index buffer view");
      return;
    }
    case Method::ID3D12GraphicsCommandList_IASetVertexBuffers: {
      if (IsNull(2)) return;
      for (uint32_t i = 0; i < Argument<uint32_t>(1); ++i) {
        const auto view = Element<BufferView>(2, i);
        LookAtRange(view.address, view.size_bytes, "vertex buffer view");
      }
      return;
    }
    case Method::ID3D12GraphicsCommandList_CopyBufferRegion:
      LookAtBufferRange(Argument<uint64_t>(0), Argument<uint64_t>(1), Argument<uint64_t>(4));
      LookAtBufferRange(Argument<uint64_t>(2), Argument<uint64_t>(3), Argument<uint64_t>(4));
      return;
    case Method::ID3D12GraphicsCommandList_OMSetRenderTargets:
      if (Argument<uint32_t>(2) != 0 && !IsNull(1) && Argument<uint32_t>(0) != 0) {
        LookAtDescriptors(Element<uint64_t>(1, 0), Argument<uint32_t>(0));
      }
      return;
    case Method::ID3D12Device_CopyDescriptorsSimple:
      LookAtDescriptors(Argument<uint64_t>(1), Argument<uint32_t>(0));
      LookAtDescriptors(Argument<uint64_t>(2), Argument<uint32_t>(0));
      return;
    case Method::ID3D12Device_CopyDescriptors:
      LookAtDescriptorRanges(0, 1, 2);
      LookAtDescriptorRanges(3, 4, 5);
      return;
    default: return;
  }
}

void CallVerifier::Signal(uint64_t fence, uint64_t value) {
  const auto found = fences_.find(fence);
  if (found != fences_.end()) found->second.greatest = std::max(found->second.greatest, value);
}

void CallVerifier::LookAtFences(const Record& record, Method method) {
  const CallRole& role = RoleOf(method);
  if (role.signals) {
    const bool own = role.object == kNoParameter;
    return Signal(own ? record.object : Argument<uint64_t>(static_cast<size_t>(role.object)),
                  Argument<uint64_t>(static_cast<size_t>(role.value)));
  }
  switch (method) {
    case Method::ID3D12Device_CreateFence:
      new_fences_[record.number] = {Argument<uint64_t>(0),
                                    (Argument<uint32_t>(1) & kFenceFlagsOfOthers) != 0};
      return;
    case Method::ID3D12CommandQueue_Wait: {
      const auto fence = fences_.find(Argument<uint64_t>(0));
      const uint64_t value = Argument<uint64_t>(1);
      if (fence != fences_.end() && value > fence->second.awaited) {
        fence->second.awaited = value;
        fence->second.wait_call = record.number;
      }
      return;
    }
    default: return;
  }
}

}  // namespace cairn
