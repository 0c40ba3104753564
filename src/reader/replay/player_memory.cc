// SPDX-License-Identifier: Apache-2.0
//
// The contents of memory: writes of the CPU, contents with which a recording began, data that the
// CPU read, and the images of frames.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "format/calls/readback_rows.h"
#include "os/clock.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

D3D12_HEAP_PROPERTIES HeapOf(ID3D12Resource* resource) {
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  // Reserved resources have no heap.
  if (FAILED(resource->GetHeapProperties(&heap, &flags))) heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  return heap;
}

D3D12_HEAP_TYPE HeapTypeOf(ID3D12Resource* resource) {
  return HeapOf(resource).Type;
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

// The first frame of a trace that began late may lie behind all of them.
bool IsAskedFor(const PlayerOptions& options, uint64_t frame) {
  return frame >= options.first_frame && frame < options.frame_end;
}

}  // namespace

Result<std::byte*> PlayerImpl::BufferMemory(ReplayObject* resource, bool* unmap) {
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
Status PlayerImpl::ReadBytes(const Record& record, Body* body, std::span<const std::byte>* bytes,
                             ReplayObject** object) {
  std::span<const std::byte> rest = record.body;
  Result<Body> head = DecodeBody<Body>(&rest);
  if (!head.ok()) return head.status();
  *body = *head;
  arena_.Reset();
  Result<std::span<const std::byte>> decoded = DecodeBytes(&rest, trace_, &arena_);
  if (!decoded.ok()) return decoded.status();
  *bytes = *decoded;
  *object = objects_.Find(record.object);
  if (*object == nullptr && objects_.IsAbsent(record.object)) return Status();
  if (*object != nullptr && (*object)->chain == Chain::kID3D12Resource) return Status();
  return Status(StatusCode::kCorrupt, fmt::format("there is no resource {} here", record.object));
}

Status PlayerImpl::OnMemory(const Record& record) {
  const auto leave_out = [&](const std::string& what) {
    log_.LeaveOut(record.number, what);
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
  if (!bytes.empty()) std::memcpy(*memory + body.offset_bytes, bytes.data(), bytes.size());
  if (unmap) object->As<ID3D12Resource>()->Unmap(0, nullptr);
  return Status();
}

Status PlayerImpl::ClearMemory(ReplayObject* object, const Pending& creation) {
  if (object->chain == Chain::kID3D12Heap) return ClearHeap(object);
  if (options_.validate_resources && creation.committed) {
    CAIRN_RETURN_IF_ERROR(ClearTexture(object, creation));
  }
  // A placed resource holds earlier data of the heap, in the recording and here.
  if (!creation.committed || object->chain != Chain::kID3D12Resource ||
      object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return Status();
  }
  return ClearBuffer(object->As<ID3D12Resource>(), devices_.Find(object->device),
                     static_cast<D3D12_RESOURCE_STATES>(creation.initial_state));
}

Status PlayerImpl::ClearHeap(ReplayObject* heap) {
  const D3D12_HEAP_DESC heap_desc = GetDesc(heap->As<ID3D12Heap>());
  DeviceContext* const context = devices_.Find(heap->device);
  if (context == nullptr || (heap_desc.Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0 ||
      !BeginsAsZeros(heap_desc.Properties)) {
    return Status();
  }
  cost_.AddMemory(heap_desc.SizeInBytes);
  CAIRN_RETURN_IF_ERROR(CheckCost());
  const D3D12_RESOURCE_DESC desc = BufferDesc(heap_desc.SizeInBytes);
  const D3D12_RESOURCE_STATES state = heap_desc.Properties.Type == D3D12_HEAP_TYPE_UPLOAD
                                          ? D3D12_RESOURCE_STATE_GENERIC_READ
                                          : D3D12_RESOURCE_STATE_COMMON;
  ComPtr<ID3D12Resource> all;
  if (FAILED(context->device->CreatePlacedResource(heap->As<ID3D12Heap>(), 0, &desc, state, nullptr,
                                                   __uuidof(ID3D12Resource), all.Receive()))) {
    log_.Note(
        "memory of heaps may not begin as zeros: this device places no buffer that fills one");
    return Status();
  }
  return ClearBuffer(all.get(), context, state);
}

bool PlayerImpl::BeginsAsZeros(const D3D12_HEAP_PROPERTIES& heap) const {
  return IsWritten(heap) || ((options_.clear_memory || options_.validate_resources) &&
                             heap.Type == D3D12_HEAP_TYPE_DEFAULT);
}

Status PlayerImpl::ClearBuffer(ID3D12Resource* buffer, DeviceContext* context,
                               D3D12_RESOURCE_STATES state) {
  const D3D12_HEAP_PROPERTIES heap = HeapOf(buffer);
  if (context == nullptr || !BeginsAsZeros(heap)) return Status();
  const uint64_t size_bytes = GetDesc(buffer).Width;
  if (IsWritten(heap)) {
    void* data = nullptr;
    const HRESULT result = buffer->Map(0, nullptr, &data);
    // Memory that others had taken may be free the next time.
    if (result == E_OUTOFMEMORY && options_.canary) {
      return log_.Fail(PlayerFailure::kUnclear, log_.record(),
                       "there is no memory to map a new buffer");
    }
    if (FAILED(result) || data == nullptr) {
      log_.Note(
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
    CAIRN_RETURN_IF_ERROR(devices_.CheckLoss(context));
    return status;
  }
  return Status();
}

Status PlayerImpl::OnReadback(const Record& record) {
  const auto not_compared = [&](const std::string& what) {
    log_.NotCompared(what);
    return Status();
  };
  if (!options_.validate || !IsAskedFor(options_, next_frame_)) return Status();
  std::span<const std::byte> rest = record.body;
  Result<ReadbackBody> body = DecodeBody<ReadbackBody>(&rest);
  if (!body.ok()) return not_compared(body.status().message());
  ReplayObject* const object = objects_.Find(record.object);
  if (object == nullptr && objects_.IsAbsent(record.object)) {
    return not_compared("the program read resources that could not be made here");
  }
  if (object == nullptr || object->chain != Chain::kID3D12Resource) {
    return not_compared(fmt::format("there is no resource {} here", record.object));
  }
  if (object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return not_compared("the program read mapped textures: how they lie in memory is the driver's");
  }
  if (body->subresource != 0 || !RowsLieIn(object->desc.Width, *body)) {
    return not_compared(fmt::format(
        "{} rows of {} bytes at {}, {} bytes apart, are read from a buffer of {}", body->row_count,
        body->row_bytes, body->offset_bytes, body->row_pitch_bytes, object->desc.Width));
  }
  if (waits_.fences().Reachable(body->fence, body->fence_value)) {
    const FenceValue written = {body->fence, body->fence_value};
    CAIRN_RETURN_IF_ERROR(waits_.Await({&written, 1}));
    if (log_.result().interrupted) return Status();
  }
  // A device that the program itself removed had done its work by then.
  if (devices_.IsLost(object->device)) return not_compared("memory of a lost device");
  bool unmap = false;
  Result<std::byte*> memory = BufferMemory(object, &unmap);
  if (!memory.ok()) return not_compared(memory.status().message());
  const auto matches = [&] {
    return HashRows(*memory, *body) == RowsHash{body->hash_low, body->hash_high};
  };
  bool same = matches();
  if (!same) {
    // The program may have waited in a way that no trace shows.
    CAIRN_RETURN_IF_ERROR(waits_.WaitForDevice(object->device));
    same = log_.result().interrupted || matches();
  }
  if (unmap) object->As<ID3D12Resource>()->Unmap(0, nullptr);
  if (!same && structure_sizes_.contains(record.object)) {
    log_.Note(kStructureSizes);
    return Status();
  }
  ++log_.result().compared_readbacks;
  if (same) return Status();
  return log_.Fail(
      PlayerFailure::kMismatch, record.number,
      fmt::format("{} bytes at {} of resource {} are not what the program read there",
                  body->row_bytes * body->row_count, body->offset_bytes, record.object),
      StatusCode::kUnsupported);
}

Status PlayerImpl::OnFrame(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
  if (!body.ok()) {
    log_.LeaveOut(record.number, "the end of a frame: " + body.status().message());
    return Status();
  }
  ++log_.result().frames;
  const bool compare = options_.validate && body->hashed != 0;
  const bool wanted = IsAskedFor(options_, body->frame) && (options_.images || compare);
  next_frame_ = body->frame + 1;
  if (wanted && compare && record.object == kNoObject) {
    log_.NotCompared("images of frames: the recorded one is of no resource");
  } else if (wanted && record.object != kNoObject) {
    Result<FrameImage> image = ReadImage(record.object, body->frame);
    if (!image.ok()) {
      if (log_.failed()) return image.status();
      if (compare) {
        log_.NotCompared("images of frames: " + image.status().message());
      } else {
        log_.LeaveOut(record.number, "images of frames: " + image.status().message());
      }
    } else if (compare && !log_.result().interrupted) {
      ++log_.result().compared_frames;
      if (image->hash_low != body->hash_low || image->hash_high != body->hash_high) {
        return log_.Fail(
            PlayerFailure::kMismatch, record.number,
            fmt::format("the image of frame {} is not the one that was recorded", body->frame));
      }
    }
    if (image.ok() && options_.images && options_.on_image) {
      options_.on_image(std::move(*image));
    }
  }
  for (const auto& [number, context] : devices_.all()) {
    CAIRN_RETURN_IF_ERROR(waits_.SweepEnded(context.get()));
  }
  frame_began_ns_ = body->time_ns;
  recorded_frame_ns_.reset();
  if (options_.mark_frames) CAIRN_RETURN_IF_ERROR(MarkFrame());
  if (options_.on_frame) options_.on_frame(body->frame);
  if (options_.original_pace) Pace(body->time_ns);
  if (body->frame + 1 >= options_.frame_end) stop_ = true;
  (void)log_.Interrupted();
  return Status();
}

uint64_t PlayerImpl::RecordedFrameNs() {
  if (recorded_frame_ns_) return *recorded_frame_ns_;
  recorded_frame_ns_ = 0;
  TraceCursor cursor(*trace_);
  if (frame_began_ns_ == 0 || !cursor.SeekNumber(log_.record()).ok()) return 0;
  Record record;
  while (cursor.Next(&record)) {
    if (record.kind != RecordKind::kFrame) continue;
    std::span<const std::byte> rest = record.body;
    const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
    if (body.ok() && body->time_ns > frame_began_ns_) {
      recorded_frame_ns_ = body->time_ns - frame_began_ns_;
    }
    break;
  }
  return *recorded_frame_ns_;
}

Status PlayerImpl::MarkFrame() {
  constexpr char kMark[] = "cairn:frame";
  for (const auto& [number, context] : devices_.all()) {
    if (context->lost) continue;
    Result<ID3D12CommandQueue*> queue = context->OwnQueue();
    if (!queue.ok()) return queue.status();
    (*queue)->SetMarker(1, kMark, sizeof(kMark));
  }
  return Status();
}

Result<FrameImage> PlayerImpl::ReadImage(uint64_t object, uint64_t frame) {
  ReplayObject* const texture = objects_.Find(object);
  if (texture == nullptr || texture->chain != Chain::kID3D12Resource) {
    return Status(StatusCode::kUnsupported, fmt::format("resource {} does not exist here", object));
  }
  DeviceContext* const context = devices_.Find(texture->device);
  if (context == nullptr) return Status(StatusCode::kUnsupported, "its device does not exist");
  CAIRN_RETURN_IF_ERROR(waits_.WaitForDevice(texture->device));
  if (context->lost) return Status(StatusCode::kUnsupported, "its device is lost");
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  Result<SubresourceBytes> bytes = context->Readback().Read(
      *queue, texture->As<ID3D12Resource>(), 0,
      static_cast<D3D12_RESOURCE_STATES>(context->states.State(object, 0)));
  if (!bytes.ok()) return bytes.status();
  FrameImage image;
  image.frame = frame;
  image.object = object;
  image.width = bytes->width;
  image.height = bytes->height;
  image.format = bytes->format;
  const XXH128_hash_t hash = XXH3_128bits(bytes->bytes.data(), bytes->bytes.size());
  image.hash_low = hash.low64;
  image.hash_high = hash.high64;
  image.pixels = std::move(bytes->bytes);
  return image;
}

// Sleeps until as much time has passed since the first frame as when it was recorded.
void PlayerImpl::Pace(uint64_t time_ns) {
  const uint64_t now_ns = MonotonicNs();
  if (pace_played_ns_ == 0) {
    pace_recorded_ns_ = time_ns;
    pace_played_ns_ = now_ns;
    return;
  }
  constexpr uint64_t kLongestPauseNs = uint64_t{10} * 1'000'000'000;
  const uint64_t recorded_ns = time_ns > pace_recorded_ns_ ? time_ns - pace_recorded_ns_ : 0;
  const uint64_t played_ns = now_ns - pace_played_ns_;
  if (recorded_ns <= played_ns) return;
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(std::min(recorded_ns - played_ns, kLongestPauseNs)));
}

// ---- Contents with which a recording began ----

Status PlayerImpl::OnContents(const Record& record) {
  ContentsBody body = {};
  std::span<const std::byte> bytes;
  ReplayObject* object = nullptr;
  Status status = ReadBytes(record, &body, &bytes, &object);
  DeviceContext* const context = object == nullptr ? nullptr : devices_.Find(object->device);
  if (status.ok() && (context == nullptr || context->lost)) return Status();
  if (status.ok()) status = WriteContents(object, context, body, bytes);
  if (status.ok() || log_.failed()) return status;
  if (status.code() == StatusCode::kDeviceLost) return devices_.Lose(context, status.message());
  log_.LeaveOut(record.number, "contents of resources: " + status.message());
  return Status();
}

Status PlayerImpl::WriteContents(ReplayObject* object, DeviceContext* context,
                                 const ContentsBody& body, std::span<const std::byte> bytes) {
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  TextureReadback& copies = context->Readback();
  auto* const resource = object->As<ID3D12Resource>();
  const auto state =
      static_cast<D3D12_RESOURCE_STATES>(context->states.State(object->number, body.subresource));
  if (object->desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
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
  Contents& contents = contents_[{object->number, body.subresource}];
  if (body.offset_bytes != contents.bytes.size() ||
      bytes.size() > body.total_bytes - std::min(body.total_bytes, body.offset_bytes)) {
    return Status(StatusCode::kCorrupt, "pieces of a texture do not fit together");
  }
  contents.bytes.insert(contents.bytes.end(), bytes.begin(), bytes.end());
  if (contents.bytes.size() < body.total_bytes) return Status();
  const Contents whole = std::move(contents);
  contents_.erase({object->number, body.subresource});
  CAIRN_RETURN_IF_ERROR(
      copies.Write(*queue, resource, body.subresource, state, body.row_pitch, whole.bytes));
  return Transition(object, context, body.subresource, body.state);
}

Status PlayerImpl::Transition(ReplayObject* object, DeviceContext* context, uint32_t subresource,
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
