// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/device_capture.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "app/capture/imported_memory.h"
#include "app/capture/mapped_memory.h"
#include "app/d3d12/command_queue.h"
#include "app/d3d12/device.h"
#include "app/settings/log.h"
#include "d3d12abi/aggregates.h"
#include "os/clock.h"
#include "os/this_process.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// The next frame of the process: a present ends the frame of all devices.
constinit std::atomic<uint64_t> next_frame{0};
// Devices that are captured.
constinit std::atomic<uint32_t> devices{0};

// The limit for the GPU to finish submitted work when a recording begins late.
constexpr std::chrono::seconds kIdleLimit(5);
// The number of frames at which a late start is tried; at the last one the recording begins all the
// same.
constexpr uint32_t kMostStartAttempts = 4;
// A GPU that does not answer is not waited for again and again.
constexpr uint32_t kMostReadbacksGivenUp = 3;
// For the GPU, when the program opens a resource: its call waits as long.
constexpr std::chrono::milliseconds kOpenedLimit(500);
// Buffers are read in pieces of this size.
constexpr uint64_t kContentsPieceBytes = uint64_t{4} << 20;

ID3D12CommandQueue* RealOf(const WrappedID3D12CommandQueue* queue) {
  return static_cast<ID3D12CommandQueue*>(queue->real_pointer());
}

bool IsDirect(const WrappedID3D12CommandQueue* queue) {
  return GetDesc(RealOf(queue)).Type == D3D12_COMMAND_LIST_TYPE_DIRECT;
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

}  // namespace

DeviceCapture::DeviceCapture(ID3D12Device* real) : real_(real), structures_(real) {
  devices.fetch_add(1, std::memory_order_relaxed);
  if (const Capture* const capture = Capture::Active();
      capture != nullptr && capture->hash_resources()) {
    hashes_.emplace(real, &states_);
  }
}

DeviceCapture::~DeviceCapture() {
  devices.fetch_sub(1, std::memory_order_relaxed);
}

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
  if (stateful.buffer) {
    structures_.AddBuffer(wrapper.capture_number(),
                          static_cast<ID3D12Resource*>(wrapper.real_pointer()), desc.Width);
  }
  if (hashes_.has_value() && resource.is_new && !resource.is_image) {
    hashes_->Begin(wrapper.capture_number(), static_cast<ID3D12Resource*>(wrapper.real_pointer()),
                   resource.initial_state,
                   resource.heap == nullptr ? 0 : resource.heap->capture_number());
  }
  const std::lock_guard lock(objects_mutex_);
  resources_[wrapper.capture_number()] = {static_cast<ID3D12Resource*>(wrapper.real_pointer()),
                                          resource.is_image, resource.is_memory_of_program};
}

void DeviceCapture::RemoveResource(const Wrapper& wrapper) {
  const uint64_t number = wrapper.capture_number();
  if (!shows_images() && states_.LastTarget().object == number) {
    bool ends = false;
    {
      const std::lock_guard lock(frame_mutex_);
      const bool work = submissions_.load(std::memory_order_relaxed) !=
                        frame_submissions_.load(std::memory_order_relaxed);
      ends = work && !std::exchange(released_last_target_, released_last_target_ || work);
    }
    if (ends) EndFrame(FrameEndKind::kEnd);
  }
  if (hashes_.has_value()) {
    LookQueue queue;
    if (states_.LastQueue(number) != 0) queue = QueueToLook(number, /*lock=*/false);
    hashes_->End(number, queue.real.get());
  }
  states_.Remove(number);
  structures_.RemoveBuffer(number);
  const std::lock_guard lock(objects_mutex_);
  resources_.erase(number);
}

void DeviceCapture::AddHeap(const Wrapper& wrapper) {
  if (!hashes_.has_value()) return;
  hashes_->BeginHeap(wrapper.capture_number(), static_cast<ID3D12Heap*>(wrapper.real_pointer()));
}

Status DeviceCapture::ReadOpened(Capture& capture, uint64_t number, ID3D12Resource* real) {
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER &&
      (desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_SIMULTANEOUS_ACCESS) == 0) {
    return {StatusCode::kUnsupported, "the state of a texture that others may use is not known"};
  }
  // A thread that holds a native queue must not wait for it.
  if (HoldsNativeQueue()) return {StatusCode::kUnsupported, "the program holds the Vulkan queue"};
  const std::lock_guard lock(opened_mutex_);
  if (opened_given_up_ == kMostReadbacksGivenUp) {
    return {StatusCode::kUnsupported, "the GPU did not answer earlier"};
  }
  const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  if (!opened_queue_ && FAILED(real_->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue),
                                                         opened_queue_.Receive()))) {
    opened_queue_ = {};
  }
  if (!opened_readback_.has_value()) opened_readback_.emplace(real_, kOpenedLimit);
  Status status =
      WriteContents(capture, {opened_queue_.get(), *opened_readback_, false}, number, real);
  if (status.code() != StatusCode::kDeviceLost) return status;
  ++opened_given_up_;
  // The GPU may still come to work with both.
  opened_readback_.reset();
  opened_queue_.Detach();
  ComPtr<ID3D12Resource>(real).Detach();
  return status;
}

void DeviceCapture::WriteOpened(const Wrapper& wrapper) try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr || !capture->memory_on()) return;
  const Status status = ReadOpened(*capture, wrapper.capture_number(),
                                   static_cast<ID3D12Resource*>(wrapper.real_pointer()));
  if (status.ok()) return;
  capture->PutNote(NoteKind::kIncomplete,
                   "what resource " + std::to_string(wrapper.capture_number()) +
                       " held when it was opened is not known: " + status.message());
} catch (const std::bad_alloc&) {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "what an opened resource held is not known: no memory");
  }
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

ComPtr<ID3D12CommandQueue> DeviceCapture::AnyQueueLocked() const {
  const auto found = std::find_if(queues_.begin(), queues_.end(), IsDirect);
  if (found != queues_.end()) return ComPtr(RealOf(*found));
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  const HRESULT result =
      real_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
  return FAILED(result) ? ComPtr<ID3D12CommandQueue>() : queue;
}

DeviceCapture::LookQueue DeviceCapture::QueueToLook(uint64_t object, bool lock) {
  const std::lock_guard queues_lock(queues_mutex_);
  const uint64_t number = states_.LastQueue(object);
  const auto found = std::find_if(
      queues_.begin(), queues_.end(),
      [&](const WrappedID3D12CommandQueue* queue) { return queue->capture_number() == number; });
  LookQueue look;
  if (found == queues_.end()) {
    // The program has released it: its work is done.
    look.real = AnyQueueLocked();
  } else if (IsDirect(*found)) {
    look.real = ComPtr(RealOf(*found));
    if (lock) look.lock = std::unique_lock((*found)->capture_mutex());
  }
  return look;
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

void DeviceCapture::Executed(std::span<const ListStates* const> lists, bool copy_queue,
                             uint64_t queue) try {
  states_.Execute(lists, copy_queue, queue);
  submissions_.fetch_add(1, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  // States are those of before: an image may be read in a wrong one.
}

void DeviceCapture::Submitted() {
  if (!counts_submissions_.load(std::memory_order_relaxed)) return;
  const uint64_t since = submissions_.load(std::memory_order_relaxed) -
                         frame_submissions_.load(std::memory_order_relaxed);
  if (since >= WrappedID3D12Device::kSubmissionsPerFrame) EndFrame(FrameEndKind::kSubmissions);
}

TextureReadback& DeviceCapture::Readback() {
  if (!readback_.has_value()) readback_.emplace(real_);
  return *readback_;
}

DeviceCapture::Shown DeviceCapture::Look(ID3D12CommandQueue* queue, uint64_t object) {
  Shown shown;
  shown.object = object;
  if (object == 0 || queue == nullptr) return shown;
  const ComPtr<ID3D12Resource> image = Find(object);
  if (!image) return shown;
  // Hash subresource 0, whichever was drawn into: a replay compares this one.
  const auto state = static_cast<D3D12_RESOURCE_STATES>(states_.State(object, 0));
  const Result<SubresourceBytes> pixels = Readback().Read(queue, image.get(), 0, state);
  if (!pixels.ok()) {
    const std::string text = "frames have no hash: " + pixels.status().message();
    LogOnce(LogLevel::kWarning, "hash_frames", text);
    if (pixels.status().code() == StatusCode::kDeviceLost &&
        readbacks_given_up_ < kMostReadbacksGivenUp) {
      ++readbacks_given_up_;
      readback_.reset();
    }
    return shown;
  }
  const XXH128_hash_t hash = XXH3_128bits(pixels->bytes.data(), pixels->bytes.size());
  shown.hashed = true;
  shown.hash_low = hash.low64;
  shown.hash_high = hash.high64;
  return shown;
}

void DeviceCapture::BeforePresent() try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr || !capture->on()) return;
  if (!capture->hash_frames() && !hashes_.has_value()) return;
  const std::lock_guard look_lock(look_mutex_);
  HashAtStop(*capture);
  // A program takes the queue for other reasons, too.
  const uint64_t submitted = submissions_.load(std::memory_order_relaxed);
  const uint64_t image = states_.LastPresented();
  if (!capture->hash_frames() || image == 0 ||
      submitted == frame_submissions_.load(std::memory_order_relaxed))
    return;
  const Shown shown = Look(QueueToLook(image, /*lock=*/false).real.get(), image);
  const std::lock_guard lock(frame_mutex_);
  presenting_[std::this_thread::get_id()] = shown;
} catch (const std::bad_alloc&) {
  // The frame has no hash.
}

bool DeviceCapture::CountFrame(FrameEndKind how) {
  const uint64_t submitted = submissions_.load(std::memory_order_relaxed);
  const uint64_t before = frame_submissions_.load(std::memory_order_relaxed);
  // Two threads may have seen that there are enough: one frame ends.
  if (how == FrameEndKind::kSubmissions &&
      submitted - before < WrappedID3D12Device::kSubmissionsPerFrame) {
    return false;
  }
  frame_submissions_.store(submitted, std::memory_order_relaxed);
  if (how == FrameEndKind::kPresent || how == FrameEndKind::kMarker) {
    counts_submissions_.store(false, std::memory_order_relaxed);
  }
  // A present without work shows an image again; anything else ends only what has begun.
  return submitted != before || how == FrameEndKind::kPresent;
}

void DeviceCapture::EndFrame(FrameEndKind how) try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return;
  if (how == FrameEndKind::kPresent) return EndPresentedFrame(*capture);
  const std::lock_guard look_lock(look_mutex_);
  HashAtStop(*capture);
  Shown shown;
  shown.object = states_.LastTarget().object;
  bool begins = false;
  {
    // Keep the queue locked, so that nothing is drawn into the image between the hash and the end
    // of the frame.
    LookQueue queue;
    if (Hashes(*capture) && shown.object != 0) {
      queue = QueueToLook(shown.object, /*lock=*/true);
      shown = Look(queue.real.get(), shown.object);
    }
    const std::lock_guard lock(frame_mutex_);
    if (!CountFrame(how)) return;
    begins = WriteFrame(*capture, how, shown);
  }
  if (begins && how == FrameEndKind::kEnd) start_pending_.store(true, std::memory_order_relaxed);
  if (begins && how != FrameEndKind::kEnd) StartLate(*capture);
} catch (const std::bad_alloc&) {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "the end of a frame was not recorded: no memory");
  }
}

// The presenting thread has taken the queue from vkd3d and holds its lock: copies, and waiting for
// them, are impossible now.
void DeviceCapture::EndPresentedFrame(Capture& capture) {
  const std::lock_guard lock(frame_mutex_);
  if (!CountFrame(FrameEndKind::kPresent)) return;
  Shown shown;
  const auto looked = presenting_.find(std::this_thread::get_id());
  if (looked != presenting_.end()) shown = std::exchange(looked->second, {});
  if (shown.object == 0) shown.object = states_.LastPresented();
  if (WriteFrame(capture, FrameEndKind::kPresent, shown)) {
    start_pending_.store(true, std::memory_order_relaxed);
  }
}

void DeviceCapture::HashAtStop(const Capture& capture) {
  if (!hashes_.has_value() || !capture.StopsAfter(next_frame.load(std::memory_order_relaxed))) {
    return;
  }
  const std::lock_guard lock(queues_mutex_);
  // Lock all queues, so that nothing is submitted meanwhile.
  std::vector<std::unique_lock<std::mutex>> held;
  held.reserve(queues_.size());
  for (WrappedID3D12CommandQueue* const queue : queues_) held.emplace_back(queue->capture_mutex());
  std::string why;
  for (const WrappedID3D12CommandQueue* const queue : queues_) {
    if (!IsIdle(RealOf(queue), &why)) return;
  }
  HashAll();
}

void DeviceCapture::HashAll() {
  hashes_->EndAll([this](uint64_t number) { return !readbacks_.IsUnpredictable(number); });
}

void DeviceCapture::EndLastFrame() {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return;
  if (hashes_.has_value() && IsAllDone()) HashAll();
  const Shown shown = LookAtLast(*capture);
  const std::unique_lock lock(frame_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !CountFrame(FrameEndKind::kEnd)) return;
  WriteFrame(*capture, FrameEndKind::kEnd, shown);
}

bool DeviceCapture::IsAllDone() {
  if (!kThreadsRunAtExit || HoldsNativeQueue()) return false;
  const std::unique_lock lock(queues_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  std::string why;
  return std::all_of(queues_.begin(), queues_.end(), [&](const WrappedID3D12CommandQueue* queue) {
    return IsIdle(RealOf(queue), &why);
  });
}

DeviceCapture::Shown DeviceCapture::LookAtLast(const Capture& capture) try {
  Shown shown;
  shown.object = states_.LastTarget().object;
  if (!Hashes(capture) || shown.object == 0 || !IsAllDone()) return shown;
  const std::unique_lock look_lock(look_mutex_, std::try_to_lock);
  const std::unique_lock queues_lock(queues_mutex_, std::try_to_lock);
  if (!look_lock.owns_lock() || !queues_lock.owns_lock()) return shown;
  return Look(AnyQueueLocked().get(), shown.object);
} catch (const std::bad_alloc&) {
  return Shown();
}

bool DeviceCapture::WriteFrame(Capture& capture, FrameEndKind how, const Shown& shown) {
  FrameBody body = {};
  body.frame = next_frame.fetch_add(1, std::memory_order_relaxed);
  body.time_ns = MonotonicNs();
  body.how = static_cast<uint32_t>(how);
  body.hashed = shown.hashed ? 1 : 0;
  body.hash_low = shown.hash_low;
  body.hash_high = shown.hash_high;
  capture.Put(RecordKind::kFrame, shown.object, BytesOf(body));
  const bool asked = capture.FrameEnded(body.frame) == Capture::AtFrame::kStart;
  return start_at_next_frame_.exchange(false, std::memory_order_relaxed) || asked;
}

void DeviceCapture::StartIfPending() try {
  if (!start_pending_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(look_mutex_);
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
  // Lock all queues, so that nothing is submitted and the order between queues stays until
  // everything is written.
  std::vector<std::unique_lock<std::mutex>> held;
  held.reserve(queues_.size());
  for (WrappedID3D12CommandQueue* const queue : queues_) held.emplace_back(queue->capture_mutex());
  if (!WaitForAllQueues(capture)) {
    start_at_next_frame_.store(true, std::memory_order_relaxed);
    return;
  }
  if (devices.load(std::memory_order_relaxed) > 1) {
    capture.PutNote(NoteKind::kIncomplete,
                    "the program has several devices: what the resources of the others held when "
                    "the recording began is not known");
  }
  // Writes to mapped memory so far are part of the contents; later writes are recorded, even if the
  // contents include them.
  capture.StartMemory();
  try {
    MappedMemory::Get().Flush([](uint64_t, uint32_t, uint64_t, std::span<const std::byte>) {});
    ImportedMemory::Get().Flush({});
    // Structures first: some implementations build them over what lies behind.
    structures_.Write(capture);
    WriteAllContents(capture, AnyQueueLocked().get());
  } catch (const std::bad_alloc&) {
    capture.PutNote(NoteKind::kIncomplete,
                    "what resources held when the recording began is not known: no memory");
  }
  capture.Started();
}

bool DeviceCapture::IsIdle(ID3D12CommandQueue* queue, std::string* why) {
  // A list for each queue: one that waits for a stuck queue is useless for the next.
  OneShotList nothing(real_);
  const Result<ID3D12GraphicsCommandList*> list = nothing.Begin(queue);
  const Status status = list.ok() ? nothing.Run(queue, kIdleLimit) : list.status();
  if (!status.ok()) *why = status.message();
  return status.ok();
}

bool DeviceCapture::WaitForAllQueues(Capture& capture) {
  bool idle = true;
  std::string why;
  for (const WrappedID3D12CommandQueue* const queue : queues_) {
    idle = IsIdle(RealOf(queue), &why) && idle;
  }
  if (idle) return true;
  if (++start_attempts_ < kMostStartAttempts) return false;
  capture.PutNote(NoteKind::kIncomplete, "the GPU was busy when the recording began: " + why);
  return true;
}

void DeviceCapture::WriteAllContents(Capture& capture, ID3D12CommandQueue* queue) {
  struct Living {
    uint64_t number;
    ComPtr<ID3D12Resource> real;
    bool is_memory_of_program;
  };
  std::vector<Living> resources;
  {
    const std::lock_guard lock(objects_mutex_);
    for (const auto& [number, known] : resources_) {
      // Images of swap chains may be on their way to the screen; programs draw all of them anew.
      if (known.is_image) continue;
      resources.push_back({number, ComPtr(known.real), known.is_memory_of_program});
    }
  }
  std::sort(resources.begin(), resources.end(),
            [](const Living& a, const Living& b) { return a.number < b.number; });
  for (const auto& [number, real, is_memory_of_program] : resources) {
    Status status;
    try {
      status =
          WriteContents(capture, {queue, Readback(), is_memory_of_program}, number, real.get());
    } catch (const std::bad_alloc&) {
      capture.PutNote(NoteKind::kIncomplete,
                      "what a resource held when the recording began is not known: no memory");
    }
    if (status.ok()) continue;
    if (status.code() == StatusCode::kDeviceLost && readbacks_given_up_ < kMostReadbacksGivenUp) {
      ++readbacks_given_up_;
      readback_.reset();
    }
    capture.PutNote(NoteKind::kIncomplete,
                    "what resource #" + std::to_string(number) +
                        " held when the recording began is not known: " + status.message());
  }
}

// Bytes in the memory of the program are those of the guarded read before.
Result<std::vector<std::byte>> DeviceCapture::ReadBuffer(const ContentsReader& reader,
                                                         uint64_t number, ID3D12Resource* real,
                                                         uint64_t offset, uint64_t size,
                                                         D3D12_RESOURCE_STATES state) {
  if (reader.is_memory_of_program || ImportedMemory::Get().Has(number)) {
    std::vector<std::byte> bytes(size);
    if (ImportedMemory::Get().Copy(number, offset, bytes)) return bytes;
    return Status(StatusCode::kUnsupported, "the program's memory cannot be read");
  }
  return reader.readback.ReadBuffer(reader.queue, real, offset, size, state);
}

Status DeviceCapture::WriteContents(Capture& capture, const ContentsReader& reader, uint64_t number,
                                    ID3D12Resource* real) {
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  const bool buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  if (reader.queue == nullptr && !(buffer && IsMappable(real))) {
    return Status(StatusCode::kUnsupported, "the device has no direct queue");
  }
  ContentsBody body = {};
  if (buffer) {
    body.state = states_.State(number, 0);
    body.total_bytes = desc.Width;
    const auto state = static_cast<D3D12_RESOURCE_STATES>(body.state);
    // Its structures are built anew (structure_capture.h).
    if (state == D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE) return Status();
    for (uint64_t offset = 0; offset < desc.Width; offset += kContentsPieceBytes) {
      const uint64_t size = std::min(kContentsPieceBytes, desc.Width - offset);
      const Result<std::vector<std::byte>> bytes =
          ReadBuffer(reader, number, real, offset, size, state);
      if (!bytes.ok()) return bytes.status();
      body.offset_bytes = offset;
      capture.PutBytes(RecordKind::kContents, number, BytesOf(body), *bytes);
    }
    return Status();
  }
  for (uint32_t i = 0; i < CountSubresources(desc); ++i) {
    body.subresource = i;
    body.state = states_.State(number, i);
    const Result<SubresourceBytes> pixels =
        reader.readback.Read(reader.queue, real, i, static_cast<D3D12_RESOURCE_STATES>(body.state));
    if (!pixels.ok()) return pixels.status();
    body.row_pitch = pixels->row_bytes;
    body.total_bytes = pixels->bytes.size();
    capture.PutBytes(RecordKind::kContents, number, BytesOf(body), pixels->bytes);
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
