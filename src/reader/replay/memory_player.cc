// SPDX-License-Identifier: Apache-2.0
//
// Writes into memory.
#include "reader/replay/memory_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "reader/replay/replay_regions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

D3D12_HEAP_PROPERTIES HeapOf(ID3D12Resource* resource, D3D12_HEAP_FLAGS* flags) {
  D3D12_HEAP_PROPERTIES heap = {};
  // Reserved resources have no heap.
  if (FAILED(resource->GetHeapProperties(&heap, flags))) heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  return heap;
}

D3D12_HEAP_TYPE HeapTypeOf(ID3D12Resource* resource) {
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  return HeapOf(resource, &flags).Type;
}

// D3D12_HEAP_TYPE_GPU_UPLOAD: newer than the headers.
constexpr auto kHeapTypeGpuUpload = static_cast<D3D12_HEAP_TYPE>(5);

// Memory of which a recording has what the CPU wrote.
bool IsWritten(const D3D12_HEAP_PROPERTIES& heap) {
  if (heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == kHeapTypeGpuUpload) return true;
  if (heap.Type != D3D12_HEAP_TYPE_CUSTOM) return false;
  return heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
         heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
}

}  // namespace

Result<std::byte*> MemoryPlayer::BufferMemory(ReplayObject* resource, bool* unmap) {
  *unmap = false;
  const auto mapping = resource->maps.find(0);
  if (mapping != resource->maps.end() && mapping->second.data != nullptr) {
    return mapping->second.data;
  }
  void* data = nullptr;
  const HRESULT result = resource->As<ID3D12Resource>()->Map(0, nullptr, &data);
  if (FAILED(result) || data == nullptr) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("resource {} cannot be mapped: 0x{:08X}", resource->number,
                              static_cast<uint32_t>(result)));
  }
  *unmap = true;
  return static_cast<std::byte*>(data);
}

// Reads the head and the bytes of records with bytes for a resource. `object` becomes null if the
// object could not be made here, and there is nothing to do.
template <typename Body>
Status MemoryPlayer::ReadBytes(const Record& record, Body* body, std::span<const std::byte>* bytes,
                               ReplayObject** object) {
  std::span<const std::byte> rest = record.body;
  Result<Body> head = DecodeBody<Body>(&rest);
  if (!head.ok()) return head.status();
  *body = *head;
  arena_.Reset();
  Result<std::span<const std::byte>> decoded = DecodeBytes(&rest, blobs_, &arena_);
  if (!decoded.ok()) return decoded.status();
  *bytes = *decoded;
  *object = objects_->Find(record.object);
  if (*object == nullptr && objects_->IsAbsent(record.object)) return Status();
  if (*object != nullptr && (*object)->chain == Chain::kID3D12Resource) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("there is no resource {} here", record.object));
}

Status MemoryPlayer::Write(const Record& record) {
  const auto leave_out = [&](const std::string& what) {
    log_->LeaveOut(record.number, what);
    return Status();
  };
  MemoryBody body = {};
  std::span<const std::byte> bytes;
  ReplayObject* object = nullptr;
  const Status read = ReadBytes(record, &body, &bytes, &object);
  if (!read.ok()) return leave_out(read.message());
  if (object == nullptr) return Status();
  if (object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return leave_out("writes into mapped textures: how they lie in memory is the driver's");
  }
  if (body.subresource != 0 || body.offset_bytes > object->desc.Width ||
      bytes.size() > object->desc.Width - body.offset_bytes) {
    return leave_out(fmt::format("{} bytes at {} are written into a buffer of {}", bytes.size(),
                                 body.offset_bytes, object->desc.Width));
  }
  // The GPU's writes are repeated, not copied.
  if (HeapTypeOf(object->As<ID3D12Resource>()) == D3D12_HEAP_TYPE_READBACK) return Status();
  bool unmap = false;
  Result<std::byte*> memory = BufferMemory(object, &unmap);
  if (!memory.ok()) return leave_out(memory.status().message());
  addresses_->Overwrite(record.object, body.offset_bytes, bytes.size(),
                        [&](uint64_t offset, std::span<const std::byte> recorded) {
                          std::memcpy(*memory + offset, recorded.data(), recorded.size());
                        });
  if (!bytes.empty()) std::memcpy(*memory + body.offset_bytes, bytes.data(), bytes.size());
  if (unmap) object->As<ID3D12Resource>()->Unmap(0, nullptr);
  return Status();
}

Status MemoryPlayer::Clear(ReplayObject* object, uint32_t initial_state, bool committed) {
  if (object->chain == Chain::kID3D12Heap) return ClearHeap(object);
  if (options_.validate_resources && committed) {
    CAIRN_RETURN_IF_ERROR(ClearTexture(object, initial_state));
  }
  // A placed resource holds earlier data of the heap, in the recording and here.
  if (!committed || object->chain != Chain::kID3D12Resource ||
      object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return Status();
  }
  return ClearBuffer(object->As<ID3D12Resource>(), devices_->Find(object->device),
                     static_cast<D3D12_RESOURCE_STATES>(initial_state));
}

// A recording with hashes did the same (app/d3d12/capture/resource_hashes.h).
Status MemoryPlayer::ClearTexture(ReplayObject* texture, uint32_t initial_state) {
  constexpr uint64_t kMostTexels = uint64_t{64} << 20;  // larger ones have no hash
  if (texture->chain != Chain::kID3D12Resource || IsBuffer(*texture)) return Status();
  DeviceContext* const context = devices_->Find(texture->device);
  const D3D12_RESOURCE_DESC& desc = texture->desc;
  if (context == nullptr || desc.SampleDesc.Count > 1 ||
      desc.Width * desc.Height * desc.DepthOrArraySize > kMostTexels) {
    return Status();
  }
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  const Status status = context->Readback().WriteZeros(
      *queue, texture->As<ID3D12Resource>(), static_cast<D3D12_RESOURCE_STATES>(initial_state));
  if (status.ok()) return Status();
  not_cleared_.insert(texture->number);
  return devices_->CheckLoss(context);
}

Status MemoryPlayer::ClearHeap(ReplayObject* heap) {
  const D3D12_HEAP_DESC heap_desc = GetDesc(heap->As<ID3D12Heap>());
  DeviceContext* const context = devices_->Find(heap->device);
  if (context == nullptr || (heap_desc.Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0 ||
      !BeginsAsZeros(heap_desc.Properties, heap_desc.Flags)) {
    return Status();
  }
  cost_->AddMemory(heap_desc.SizeInBytes);
  CAIRN_RETURN_IF_ERROR(check_cost_());
  const D3D12_RESOURCE_DESC desc = BufferDesc(heap_desc.SizeInBytes);
  const D3D12_RESOURCE_STATES state = heap_desc.Properties.Type == D3D12_HEAP_TYPE_UPLOAD
                                          ? D3D12_RESOURCE_STATE_GENERIC_READ
                                          : D3D12_RESOURCE_STATE_COMMON;
  ComPtr<ID3D12Resource> all;
  if (FAILED(context->device->CreatePlacedResource(heap->As<ID3D12Heap>(), 0, &desc, state, nullptr,
                                                   __uuidof(ID3D12Resource), all.Receive()))) {
    log_->Note(
        "memory of heaps may not begin as zeros: this device places no buffer that fills one");
    return Status();
  }
  return ClearBuffer(all.get(), context, state);
}

bool MemoryPlayer::BeginsAsZeros(const D3D12_HEAP_PROPERTIES& heap, D3D12_HEAP_FLAGS flags) const {
  if (IsWritten(heap)) return true;
  if (heap.Type != D3D12_HEAP_TYPE_DEFAULT) return false;
  if (options_.validate_resources || options_.new_memory == NewMemory::kZeros) return true;
  return options_.new_memory == NewMemory::kPromisedZeros &&
         (flags & D3D12_HEAP_FLAG_CREATE_NOT_ZEROED) == 0;
}

Status MemoryPlayer::ClearBuffer(ID3D12Resource* buffer, DeviceContext* context,
                                 D3D12_RESOURCE_STATES state) {
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  const D3D12_HEAP_PROPERTIES heap = HeapOf(buffer, &flags);
  if (context == nullptr || !BeginsAsZeros(heap, flags)) return Status();
  const uint64_t size_bytes = GetDesc(buffer).Width;
  if (IsWritten(heap)) {
    void* data = nullptr;
    const HRESULT result = buffer->Map(0, nullptr, &data);
    // Memory that others had taken may be free the next time.
    if (result == E_OUTOFMEMORY && options_.canary) {
      return log_->Fail(PlayerFailure::kUnclear, log_->record(),
                        "there is no memory to map a new buffer");
    }
    if (FAILED(result) || data == nullptr) {
      log_->Note(
          fmt::format("memory of buffers may not begin as zeros: this device maps one not, with "
                      "0x{:08X}",
                      static_cast<uint32_t>(result)));
      return Status();
    }
    std::memset(data, 0, size_bytes);
    buffer->Unmap(0, nullptr);
    return Status();
  }
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  constexpr uint64_t kPieceBytes = uint64_t{16} << 20;
  const std::vector<std::byte> zeros(std::min(size_bytes, kPieceBytes));
  for (uint64_t offset = 0; offset < size_bytes; offset += kPieceBytes) {
    const Status status = context->Readback().WriteBuffer(
        *queue, buffer, offset, std::span(zeros).first(std::min(size_bytes - offset, kPieceBytes)),
        state);
    if (status.ok()) continue;
    // Acceleration structures are not read before they are built.
    if (status.code() == StatusCode::kUnsupported) return Status();
    CAIRN_RETURN_IF_ERROR(devices_->CheckLoss(context));
    return status;
  }
  return Status();
}

// ---- Contents with which a recording began ----

// Contents of an object that shares its memory with another one come as that one's, or, if that one is of a device that a
// recording did not read, as its own.
Status MemoryPlayer::WriteContents(const Record& record) {
  ContentsBody body = {};
  std::span<const std::byte> bytes;
  ReplayObject* object = nullptr;
  Status status = ReadBytes(record, &body, &bytes, &object);
  DeviceContext* const context = object == nullptr ? nullptr : devices_->Find(object->device);
  if (status.ok() &&
      (context == nullptr || context->lost || with_contents_.contains(object->created.shares))) {
    return Status();
  }
  if (status.ok()) status = WriteContents(object, context, body, bytes);
  if (status.ok()) with_contents_.insert(record.object);
  if (status.ok() || log_->failed()) return status;
  if (status.code() == StatusCode::kDeviceLost) return devices_->Lose(context, status.message());
  log_->LeaveOut(record.number, "contents of resources: " + status.message());
  return Status();
}

Status MemoryPlayer::WriteContents(ReplayObject* object, DeviceContext* context,
                                   const ContentsBody& body, std::span<const std::byte> bytes) {
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  TextureReadback& copies = context->Readback();
  auto* const resource = object->As<ID3D12Resource>();
  const auto state =
      static_cast<D3D12_RESOURCE_STATES>(context->states.State(object->number, body.subresource));
  if (object->desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    // No part of an address is left behind: contents are whole.
    addresses_->Overwrite(object->number, body.offset_bytes, bytes.size(),
                          [](uint64_t, std::span<const std::byte>) {});
    CAIRN_RETURN_IF_ERROR(copies.WriteBuffer(*queue, resource, body.offset_bytes, bytes, state));
    return Transition(object, context, body.subresource, body.state);
  }
  // A copy without what nothing looks at: only the state counts.
  if (bytes.data() == nullptr) return Transition(object, context, body.subresource, body.state);
  const Result<SubresourceLayout> layout =
      LayoutOf(context->device.get(), object->desc, body.subresource);
  if (!layout.ok()) return layout.status();
  if (body.total_bytes > layout->total_bytes && body.total_bytes > layout->packed_bytes()) {
    return Status(StatusCode::kCorrupt, fmt::format("{} bytes for a subresource of {}",
                                                    body.total_bytes, layout->total_bytes));
  }
  std::vector<std::byte>& contents = contents_[{object->number, body.subresource}];
  if (body.offset_bytes != contents.size() ||
      bytes.size() > body.total_bytes - std::min(body.total_bytes, body.offset_bytes)) {
    return Status(StatusCode::kCorrupt, "pieces of a texture do not fit together");
  }
  contents.insert(contents.end(), bytes.begin(), bytes.end());
  if (contents.size() < body.total_bytes) return Status();
  const std::vector<std::byte> whole = std::move(contents);
  contents_.erase({object->number, body.subresource});
  CAIRN_RETURN_IF_ERROR(
      copies.Write(*queue, resource, body.subresource, state, body.row_pitch, whole));
  return Transition(object, context, body.subresource, body.state);
}

Status MemoryPlayer::Transition(ReplayObject* object, DeviceContext* context, uint32_t subresource,
                                uint32_t state) {
  auto* const resource = object->As<ID3D12Resource>();
  const uint32_t before = context->states.State(object->number, subresource);
  const D3D12_HEAP_TYPE heap = HeapTypeOf(resource);
  // Memory that the CPU can access stays in the state of its heap.
  if (before == state || heap == D3D12_HEAP_TYPE_UPLOAD || heap == D3D12_HEAP_TYPE_READBACK) {
    return Status();
  }
  if (context->barriers == nullptr) {
    context->barriers = std::make_unique<OneShotList>(context->device.get());
  }
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  Result<ID3D12GraphicsCommandList*> list = context->barriers->Begin(*queue);
  if (!list.ok()) return list.status();
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition.pResource = resource;
  barrier.Transition.Subresource = subresource;
  barrier.Transition.StateBefore = static_cast<D3D12_RESOURCE_STATES>(before);
  barrier.Transition.StateAfter = static_cast<D3D12_RESOURCE_STATES>(state);
  (*list)->ResourceBarrier(1, &barrier);
  CAIRN_RETURN_IF_ERROR(context->barriers->Run(
      *queue, std::chrono::milliseconds(options_.wait_timeout_ns / 1'000'000)));
  ListStates states;
  states.Transition(object->number, subresource, state);
  const ListStates* const executed = &states;
  context->states.Execute({&executed, 1}, /*copy_queue=*/false);
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
