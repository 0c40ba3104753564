// SPDX-License-Identifier: Apache-2.0
#include "d3d12/device_capture.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "base/clock.h"
#include "capture/mapped_memory.h"
#include "d3d12/command_queue.h"
#include "d3d12/device.h"
#include "d3d12abi/aggregates.h"
#include "settings/log.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Of the process: a present ends the frame of all devices.
constinit std::atomic<uint64_t> next_frame{0};

// How long the GPU may take for what was submitted, when a recording begins late.
constexpr std::chrono::seconds kIdleLimit(5);
// Buffers are read in pieces of this size.
constexpr uint64_t kContentsPieceBytes = uint64_t{4} << 20;

template <typename Body>
std::span<const std::byte> BytesOf(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

uint32_t SubresourceOf(const D3D12_RENDER_TARGET_VIEW_DESC& view,
                       const D3D12_RESOURCE_DESC& resource) {
  const auto at = [&](uint32_t mip, uint32_t slice) { return mip + slice * resource.MipLevels; };
  switch (view.ViewDimension) {
    case D3D12_RTV_DIMENSION_TEXTURE1D: return view.Texture1D.MipSlice;
    case D3D12_RTV_DIMENSION_TEXTURE1DARRAY:
      return at(view.Texture1DArray.MipSlice, view.Texture1DArray.FirstArraySlice);
    case D3D12_RTV_DIMENSION_TEXTURE2D: return view.Texture2D.MipSlice;
    case D3D12_RTV_DIMENSION_TEXTURE2DARRAY:
      return at(view.Texture2DArray.MipSlice, view.Texture2DArray.FirstArraySlice);
    case D3D12_RTV_DIMENSION_TEXTURE2DMSARRAY: return at(0, view.Texture2DMSArray.FirstArraySlice);
    case D3D12_RTV_DIMENSION_TEXTURE3D: return view.Texture3D.MipSlice;
    default: return 0;
  }
}

uint32_t SubresourceCount(const D3D12_RESOURCE_DESC& desc) {
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  return desc.MipLevels * (volume ? 1u : desc.DepthOrArraySize) * PlaneCount(desc.Format);
}

}  // namespace

// ---- Objects -------------------------------------------------------------------------------------

void DeviceCapture::AddResource(const Wrapper& wrapper, const CapturedResource& resource) {
  const D3D12_RESOURCE_DESC& desc = resource.desc;
  StatefulResource stateful;
  stateful.initial_state = resource.initial_state;
  stateful.mips = std::max<uint32_t>(desc.MipLevels, 1);
  stateful.array_size =
      desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D ? 1 : desc.DepthOrArraySize;
  stateful.planes = PlaneCount(desc.Format);
  stateful.buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  stateful.simultaneous_access = (desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_SIMULTANEOUS_ACCESS) != 0;
  stateful.is_image = resource.is_image;
  stateful.present_state = resource.present_state;
  states_.Add(wrapper.capture_number(), stateful);
  const std::lock_guard lock(objects_mutex_);
  resources_[wrapper.capture_number()] = {static_cast<ID3D12Resource*>(wrapper.real_pointer()),
                                          resource.is_image};
}

void DeviceCapture::RemoveResource(const Wrapper& wrapper) {
  const uint64_t number = wrapper.capture_number();
  if (!shows_images() && states_.LastTarget().object == number) {
    EndFrame(FrameEndKind::kEnd, QueueToLook().get());
  }
  states_.Remove(number);
  const std::lock_guard lock(objects_mutex_);
  resources_.erase(number);
}

void DeviceCapture::AddQueue(WrappedID3D12CommandQueue* queue) try {
  const std::lock_guard lock(queues_mutex_);
  queues_.push_back(queue);
} catch (const std::bad_alloc&) {
  // A late start does not wait for it.
}

void DeviceCapture::RemoveQueue(WrappedID3D12CommandQueue* queue) {
  const std::lock_guard lock(queues_mutex_);
  std::erase(queues_, queue);
}

ComPtr<ID3D12Resource> DeviceCapture::Find(uint64_t number) const {
  const std::lock_guard lock(objects_mutex_);
  const auto found = resources_.find(number);
  return found == resources_.end() ? ComPtr<ID3D12Resource>() : ComPtr(found->second.real);
}

ID3D12CommandQueue* DeviceCapture::AnyQueueLocked() const {
  const auto is_direct = [](const WrappedID3D12CommandQueue* queue) {
    return GetDesc(static_cast<ID3D12CommandQueue*>(queue->real_pointer())).Type ==
           D3D12_COMMAND_LIST_TYPE_DIRECT;
  };
  const auto found = std::find_if(queues_.begin(), queues_.end(), is_direct);
  return found == queues_.end() ? nullptr
                                : static_cast<ID3D12CommandQueue*>((*found)->real_pointer());
}

ComPtr<ID3D12CommandQueue> DeviceCapture::QueueToLook() {
  {
    const std::lock_guard lock(queues_mutex_);
    if (ID3D12CommandQueue* const queue = AnyQueueLocked(); queue != nullptr) {
      return ComPtr(queue);
    }
  }
  // The program has released its queues: their work is done.
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  const HRESULT result =
      real_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
  return FAILED(result) ? ComPtr<ID3D12CommandQueue>() : queue;
}

// ---- Render targets ------------------------------------------------------------------------------

void DeviceCapture::SetTarget(uint64_t handle, const Wrapper* resource,
                              const D3D12_RENDER_TARGET_VIEW_DESC* desc) {
  uint32_t number = 0;
  uint32_t subresource = 0;
  if (resource != nullptr) {
    number = static_cast<uint32_t>(resource->capture_number());
    if (desc != nullptr) {
      subresource =
          SubresourceOf(*desc, GetDesc(static_cast<ID3D12Resource*>(resource->real_pointer())));
    }
  }
  target_numbers_.Set(handle, number);
  target_subresources_.Set(handle, subresource + 1);
}

void DeviceCapture::NoteTarget(ListStates* list, uint64_t handle) const {
  const uint32_t number = target_numbers_.Get(handle);
  const uint32_t subresource = target_subresources_.Get(handle);
  if (number != 0 && subresource != 0) list->Target(number, subresource - 1);
}

// ---- Frames --------------------------------------------------------------------------------------

void DeviceCapture::Executed(std::span<const ListStates* const> lists, bool copy_queue) try {
  states_.Execute(lists, copy_queue);
  submissions_.fetch_add(1, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  // States are those of before: an image may be read in a wrong one.
}

void DeviceCapture::Submitted(ID3D12CommandQueue* queue) {
  if (!counts_submissions_.load(std::memory_order_relaxed)) return;
  const uint64_t since = submissions_.load(std::memory_order_relaxed) -
                         frame_submissions_.load(std::memory_order_relaxed);
  if (since >= WrappedID3D12Device::kSubmissionsPerFrame)
    EndFrame(FrameEndKind::kSubmissions, queue);
}

DeviceCapture::Shown DeviceCapture::Look(const Capture& capture, ID3D12CommandQueue* queue,
                                         uint64_t object, uint32_t subresource) {
  Shown shown;
  shown.object = object;
  if (object == 0 || queue == nullptr || !capture.hash_frames() || !capture.on()) return shown;
  const ComPtr<ID3D12Resource> image = Find(object);
  if (!image) return shown;
  const auto state = static_cast<D3D12_RESOURCE_STATES>(states_.State(object, subresource));
  const Result<SubresourceBytes> pixels = readback_.Read(queue, image.get(), subresource, state);
  if (!pixels.ok()) {
    const std::string text = "frames have no hash: " + pixels.status().message();
    LogOnce(LogLevel::kWarning, "hash_frames", text);
    return shown;
  }
  const XXH128_hash_t hash = XXH3_128bits(pixels->bytes.data(), pixels->bytes.size());
  shown.hashed = true;
  shown.hash_low = hash.low64;
  shown.hash_high = hash.high64;
  return shown;
}

void DeviceCapture::BeforePresent(ID3D12CommandQueue* queue) try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return;
  const std::lock_guard lock(frame_mutex_);
  // A program takes the queue for other reasons, too.
  const uint64_t submitted = submissions_.load(std::memory_order_relaxed);
  const uint64_t image = states_.LastPresented();
  if (image == 0 || submitted == frame_submissions_.load(std::memory_order_relaxed)) return;
  presenting_ = Look(*capture, queue, image, 0);
} catch (const std::bad_alloc&) {
  // The frame has no hash.
}

void DeviceCapture::EndFrame(FrameEndKind how, ID3D12CommandQueue* queue) try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return;
  const std::lock_guard lock(frame_mutex_);
  const uint64_t submitted = submissions_.load(std::memory_order_relaxed);
  const bool empty = submitted == frame_submissions_.exchange(submitted, std::memory_order_relaxed);
  if (how == FrameEndKind::kPresent || how == FrameEndKind::kMarker) {
    counts_submissions_.store(false, std::memory_order_relaxed);
  }
  // A present without work shows an image again; anything else ends only what has begun.
  if (empty && how != FrameEndKind::kPresent) return;
  Shown shown = std::exchange(presenting_, {});
  if (how == FrameEndKind::kPresent) {
    if (shown.object == 0) shown.object = states_.LastPresented();
  } else {
    const ResourceStates::LastTargetPlace target = states_.LastTarget();
    // Its first subresource, whichever was drawn into: that is what a replay looks at.
    ComPtr<ID3D12CommandQueue> any;
    if (queue == nullptr && how == FrameEndKind::kMarker) any = QueueToLook();
    shown = Look(*capture, queue != nullptr ? queue : any.get(), target.object, 0);
  }
  WriteFrame(*capture, how, shown);
} catch (const std::bad_alloc&) {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "the end of a frame was not recorded: no memory");
  }
}

void DeviceCapture::WriteFrame(Capture& capture, FrameEndKind how, const Shown& shown) {
  FrameBody body = {};
  body.frame = next_frame.fetch_add(1, std::memory_order_relaxed);
  body.time_ns = MonotonicNs();
  body.how = static_cast<uint32_t>(how);
  body.hashed = shown.hashed ? 1 : 0;
  body.hash_low = shown.hash_low;
  body.hash_high = shown.hash_high;
  capture.Put(RecordKind::kFrame, shown.object, BytesOf(body));
  if (capture.FrameEnded(body.frame) != Capture::AtFrame::kStart) return;
  // Who presents has taken the queue from vkd3d, and holds its lock: nothing can be copied now.
  if (how == FrameEndKind::kPresent) {
    start_pending_.store(true, std::memory_order_relaxed);
  } else {
    StartLate(capture);
  }
}

void DeviceCapture::StartIfPending() try {
  if (!start_pending_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(frame_mutex_);
  Capture* const capture = Capture::Active();
  if (start_pending_.exchange(false, std::memory_order_relaxed) && capture != nullptr) {
    StartLate(*capture);
  }
} catch (const std::bad_alloc&) {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "the recording could not begin: no memory");
  }
}

// ---- A late start --------------------------------------------------------------------------------

void DeviceCapture::StartLate(Capture& capture) {
  const std::lock_guard lock(queues_mutex_);
  // Nothing is submitted, and no order between queues changes, until it is all written.
  std::vector<std::unique_lock<std::mutex>> held;
  for (WrappedID3D12CommandQueue* const queue : queues_) held.emplace_back(queue->capture_mutex());
  const Status idle = WaitForAllQueues();
  if (!idle.ok()) {
    capture.PutNote(NoteKind::kIncomplete,
                    "the GPU was at work when the recording began: " + idle.message());
  }
  // What was written to mapped memory so far is part of the contents; what comes after this is not.
  MappedMemory::Get().Flush([](uint64_t, uint32_t, uint64_t, std::span<const std::byte>) {});
  WriteAllContents(capture, AnyQueueLocked());
  capture.Started();
}

Status DeviceCapture::WaitForAllQueues() {
  for (const WrappedID3D12CommandQueue* const queue : queues_) {
    auto* const real = static_cast<ID3D12CommandQueue*>(queue->real_pointer());
    OneShotList nothing(real_);
    const Result<ID3D12GraphicsCommandList*> list = nothing.Begin(real);
    if (!list.ok()) return list.status();
    CAIRN_RETURN_IF_ERROR(nothing.Run(real, kIdleLimit));
  }
  return Status();
}

void DeviceCapture::WriteAllContents(Capture& capture, ID3D12CommandQueue* queue) {
  std::vector<std::pair<uint64_t, ComPtr<ID3D12Resource>>> resources;
  {
    const std::lock_guard lock(objects_mutex_);
    for (const auto& [number, known] : resources_) {
      // Images of swap chains may be on their way to the screen; programs draw all of them anew.
      if (!known.is_image) resources.emplace_back(number, ComPtr(known.real));
    }
  }
  std::sort(resources.begin(), resources.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [number, real] : resources) {
    const Status status = WriteContents(capture, queue, number, real.get());
    if (status.ok()) continue;
    capture.PutNote(NoteKind::kIncomplete,
                    "what resource #" + std::to_string(number) +
                        " held when the recording began is not known: " + status.message());
  }
}

Status DeviceCapture::WriteContents(Capture& capture, ID3D12CommandQueue* queue, uint64_t number,
                                    ID3D12Resource* real) {
  if (queue == nullptr) return Status(StatusCode::kUnsupported, "the device has no direct queue");
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  ContentsBody body = {};
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    body.state = states_.State(number, 0);
    body.total_bytes = desc.Width;
    const auto state = static_cast<D3D12_RESOURCE_STATES>(body.state);
    for (uint64_t offset = 0; offset < desc.Width; offset += kContentsPieceBytes) {
      const uint64_t size = std::min(kContentsPieceBytes, desc.Width - offset);
      const Result<std::vector<std::byte>> bytes =
          readback_.ReadBuffer(queue, real, offset, size, state);
      if (!bytes.ok()) return bytes.status();
      body.offset_bytes = offset;
      capture.PutBytes(RecordKind::kContents, number, BytesOf(body), *bytes);
    }
    return Status();
  }
  for (uint32_t i = 0; i < SubresourceCount(desc); ++i) {
    body.subresource = i;
    body.state = states_.State(number, i);
    const Result<SubresourceBytes> pixels =
        readback_.Read(queue, real, i, static_cast<D3D12_RESOURCE_STATES>(body.state));
    if (!pixels.ok()) return pixels.status();
    body.row_pitch = pixels->row_bytes;
    body.total_bytes = pixels->bytes.size();
    capture.PutBytes(RecordKind::kContents, number, BytesOf(body), pixels->bytes);
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
