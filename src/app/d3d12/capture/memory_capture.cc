// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/memory_capture.h"

#include <new>
#include <span>
#include <string>
#include <utility>

#include "app/capture/imported_memory.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/capture/event_waits.h"
#include "app/d3d12/device.h"
#include "app/d3d12/objects.h"
#include "d3d12abi/aggregates.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// D3D12_HEAP_TYPE_GPU_UPLOAD, which older headers do not have.
constexpr auto kHeapTypeGpuUpload = static_cast<D3D12_HEAP_TYPE>(5);
constexpr D3D12_RANGE kNothing = {0, 0};

MappedMemory::Report ReportTo(Capture* capture) {
  return [capture](uint64_t object, uint32_t subresource, uint64_t offset_bytes,
                   std::span<const std::byte> bytes) {
    // A recording that begins later copies everything at its start.
    if (capture == nullptr || !capture->memory_on()) return;
    EventWaits::Get().Look();
    MemoryBody body = {};
    body.subresource = subresource;
    body.offset_bytes = offset_bytes;
    capture->PutBytes(RecordKind::kMemory, object, BytesOf(body), bytes);
  };
}

// Returns the bytes that a program may write behind the pointer that Map returned; 0 if unknown.
uint64_t MappedBytes(const Wrapper& resource, uint32_t subresource) {
  auto* const real = static_cast<ID3D12Resource*>(resource.real_pointer());
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) return desc.Width;
  if (desc.Layout != D3D12_TEXTURE_LAYOUT_ROW_MAJOR || resource.device() == nullptr) return 0;
  UINT64 total = 0;
  static_cast<ID3D12Device*>(resource.device()->real_pointer())
      ->GetCopyableFootprints(&desc, subresource, 1, 0, nullptr, nullptr, nullptr, &total);
  return total == ~UINT64{0} ? 0 : total;
}

// A program that maps without asking for the pointer uses the one of another time.
void* PointerOf(const Wrapper& resource, uint32_t subresource) {
  auto* const real = static_cast<ID3D12Resource*>(resource.real_pointer());
  if (GetDesc(real).Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) return nullptr;
  void* data = nullptr;
  if (FAILED(real->Map(subresource, &kNothing, &data))) return nullptr;
  real->Unmap(subresource, &kNothing);
  return data;
}

// Records in the trace how writes are found, each time another kind of memory changes the method.
void NoteTracking() {
  static std::mutex& mutex = *new std::mutex;
  static std::string& noted = *new std::string;
  Capture* const capture = Capture::Active();
  const std::lock_guard lock(mutex);
  std::string method = MappedMemory::Get().Method();
  if (capture == nullptr || method == noted) return;
  capture->PutNote(NoteKind::kTracking, "writes to mapped memory are found by " + method);
  noted = std::move(method);
}

// Records that writes are missing. Used where no exception may reach the program's call.
void NoteLostWrites() {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "writes to mapped memory were not recorded: no memory");
  }
}

bool IsWrittenByCpu(ID3D12Resource* real) {
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = {};
  return SUCCEEDED(real->GetHeapProperties(&heap, &flags)) && heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
         (heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK ||
          heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE);
}

// Returns how a heap was opened that a resource lies in.
std::optional<Import> ImportOf(ID3D12Heap* heap) {
  const Wrapper* const wrapper = AsWrapper(heap);
  if (wrapper == nullptr) return std::nullopt;
  return static_cast<const WrappedID3D12Heap*>(wrapper)->import();
}

void NoteUnreadable(Capture& capture, uint64_t resource) {
  capture.PutNote(
      NoteKind::kIncomplete,
      "resource " + std::to_string(resource) +
          " lies in a heap that the program imported, whose memory cannot be read: what "
          "the CPU writes there is not recorded");
}

void NoteTexture(Capture& capture, uint64_t resource) {
  capture.PutNote(NoteKind::kIncomplete,
                  "resource " + std::to_string(resource) +
                      " is a texture in a heap that the program imported or opened: what it held "
                      "at first, and what the CPU writes there without a call, is not recorded");
}

bool IsBuffer(const Wrapper& resource) {
  return GetDesc(static_cast<ID3D12Resource*>(resource.real_pointer())).Dimension ==
         D3D12_RESOURCE_DIMENSION_BUFFER;
}

}  // namespace

MappingCapture::Access MappingCapture::FindAccess(const Wrapper& resource) {
  Access access = access_.load(std::memory_order_relaxed);
  if (access != Access::kUnknown) return access;
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = {};
  auto* const real = static_cast<ID3D12Resource*>(resource.real_pointer());
  if (import_ || FAILED(real->GetHeapProperties(&heap, &flags))) {
    access = Access::kNone;  // of imports: FollowImport
  } else if (heap.Type == D3D12_HEAP_TYPE_READBACK) {
    access = Access::kReadBack;
  } else if (heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == kHeapTypeGpuUpload ||
             heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE) {
    access = Access::kOnlyWritten;
  } else if (heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK) {
    access = Access::kWritten;
  } else {
    access = Access::kNone;
  }
  access_.store(access, std::memory_order_relaxed);
  return access;
}

bool MappingCapture::reads_back(const Wrapper& resource) {
  return FindAccess(resource) == Access::kReadBack;
}

MappedPlace MappingCapture::PlaceOf(const Wrapper& resource, const Mapping& mapping) {
  MappedPlace place = {.data = mapping.data,
                       .size_bytes = mapping.size_bytes,
                       .known = mapping.was_mapped,
                       .track = Capture::Active() != nullptr};
  const D3D12_RESOURCE_DESC desc = GetDesc(static_cast<ID3D12Resource*>(resource.real_pointer()));
  // Copies by lists are tracked (WrittenByGpu), but writes by shaders are not.
  place.may_stand_in = FindAccess(resource) == Access::kOnlyWritten &&
                       desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER &&
                       (desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) == 0;
  if (heap_offset_bytes_ < heap_bytes_ && mapping.size_bytes <= heap_bytes_ - heap_offset_bytes_) {
    place.block = static_cast<std::byte*>(mapping.data) - heap_offset_bytes_;
    place.block_bytes = heap_bytes_;
  }
  return place;
}

MappingCapture::MappingCapture(const Creation& creation)
    : heap_bytes_(Capture::Active() == nullptr ? 0 : BytesOfHeap(creation.heap)),
      heap_offset_bytes_(creation.heap_offset_bytes),
      import_(Capture::Active() == nullptr ? std::nullopt : ImportOf(creation.heap)) {}

bool MappingCapture::IsOfGpuAlone(const Wrapper& resource) const {
  return import_->source == ImportSource::kHandle &&
         !IsWrittenByCpu(static_cast<ID3D12Resource*>(resource.real_pointer()));
}

void MappingCapture::FollowImport(const Wrapper& resource) try {
  Capture* const capture = Capture::Active();
  if (!import_ || capture == nullptr) return;
  if (!IsBuffer(resource)) return NoteTexture(*capture, resource.capture_number());
  if (!IsOfGpuAlone(resource)) return FollowMemory(*capture, resource);
  DeviceCapture* const of_device = resource.device()->capture();
  if (of_device != nullptr) of_device->WriteOpened(resource);
} catch (const std::bad_alloc&) {
  NoteLostWrites();
}

void MappingCapture::FollowImportAgain(const Wrapper& resource) try {
  Capture* const capture = Capture::Active();
  if (!import_ || capture == nullptr) return;
  if (IsBuffer(resource) && !IsOfGpuAlone(resource)) FollowMemory(*capture, resource);
} catch (const std::bad_alloc&) {
  NoteLostWrites();
}

void MappingCapture::FollowMemory(Capture& capture, const Wrapper& resource) {
  auto* const real = static_cast<ID3D12Resource*>(resource.real_pointer());
  const uint64_t number = resource.capture_number();
  const std::lock_guard lock(mutex_);
  uint64_t address = import_->place + heap_offset_bytes_;
  if (import_->source != ImportSource::kAddress) {
    void* data = nullptr;
    if (SUCCEEDED(real->Map(0, &kNothing, &data))) {
      if (is_mapped_for_import_) real->Unmap(0, &kNothing);
      is_mapped_for_import_ = true;
    }
    address = reinterpret_cast<uintptr_t>(data);
  }
  if (!ImportedMemory::Get().Add(number, address, GetDesc(real).Width, ReportTo(&capture))) {
    NoteUnreadable(capture, number);
  }
  // The capture ended while the memory was about to be followed.
  if (Capture::Active() == nullptr) ImportedMemory::Get().Forget(number);
}

void* MappingCapture::Mapped(const Wrapper& resource, uint32_t subresource, void* data) try {
  const std::lock_guard lock(mutex_);
  if (Capture::Active() == nullptr && !MappedMemory::Get().has_stand_ins()) return data;
  Mapping& mapping = mappings_[subresource];
  const bool first = ++mapping.count == 1;
  if (mapping.stands_in) {
    if (first) {
      MappedMemory::Get().Map(resource.capture_number(), subresource, mapping.data,
                              mapping.size_bytes);
    }
    if (written_by_gpu_.load(std::memory_order_relaxed)) {
      MappedMemory::Get().Refresh(resource.capture_number());
    }
    return mapping.data;
  }
  if (!first) return data;
  mapping.data = data != nullptr ? data : PointerOf(resource, subresource);
  mapping.size_bytes = MappedBytes(resource, subresource);
  if (mapping.data == nullptr || mapping.size_bytes == 0) return data;
  const Access access = FindAccess(resource);
  if (access != Access::kWritten && access != Access::kOnlyWritten) return data;
  void* const given =
      MappedMemory::Get().Map(resource.capture_number(), subresource, PlaceOf(resource, mapping));
  if (given != mapping.data) {
    // The implementation may end its own mapping with the program's last Unmap.
    mapping.stands_in = SUCCEEDED(
        static_cast<ID3D12Resource*>(resource.real_pointer())->Map(subresource, &kNothing, &data));
    mapping.data = given;
    data = given;
  }
  if (!mapping.was_mapped) NoteTracking();
  mapping.was_mapped = true;
  // The capture ended while the mapping was about to be tracked.
  if (Capture::Active() == nullptr) MappedMemory::Get().ForgetAll();
  return data;
} catch (const std::bad_alloc&) {
  NoteLostWrites();
  return data;
}

void MappingCapture::Unmapping(const Wrapper& resource, uint32_t subresource) try {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(subresource);
  if (found == mappings_.end() || found->second.count == 0) return;
  Mapping& mapping = found->second;
  if (--mapping.count != 0) return;
  const Access access = FindAccess(resource);
  if (access == Access::kWritten || access == Access::kOnlyWritten) {
    MappedMemory::Get().Unmap(resource.capture_number(), subresource, ReportTo(Capture::Active()));
  }
  if (!mapping.stands_in) mapping.data = nullptr;
} catch (const std::bad_alloc&) {
  NoteLostWrites();
}

void MappingCapture::Ends(const Wrapper& resource) {
  const std::lock_guard lock(mutex_);
  // The end of a capture forgets all. Without one, in the child of a fork, a thread that is not there may hold its
  // lock.
  if (import_ && Capture::Active() != nullptr) {
    ImportedMemory::Get().Forget(resource.capture_number());
  }
  if (std::exchange(is_mapped_for_import_, false)) {
    static_cast<ID3D12Resource*>(resource.real_pointer())->Unmap(0, &kNothing);
  }
  for (auto& [subresource, mapping] : mappings_) {
    if (!mapping.stands_in) continue;
    static_cast<ID3D12Resource*>(resource.real_pointer())->Unmap(subresource, &kNothing);
    mapping = {};
  }
}

void MappingCapture::WrittenByGpu(const Wrapper& resource) {
  if (FindAccess(resource) != Access::kOnlyWritten) return;
  if (!written_by_gpu_.exchange(true, std::memory_order_relaxed)) {
    MappedMemory::Get().NoteWrittenByOthers(resource.capture_number());
  }
}

void FlushMappedMemory(Capture* capture) try {
  MappedMemory& memory = MappedMemory::Get();
  const bool records = capture != nullptr && capture->memory_on();
  if (records || memory.has_stand_ins()) {
    memory.Flush(records ? ReportTo(capture) : MappedMemory::Report());
  }
  if (!records) return;
  for (const uint64_t lost : ImportedMemory::Get().Flush(ReportTo(capture))) {
    NoteUnreadable(*capture, lost);
  }
} catch (const std::bad_alloc&) {
  NoteLostWrites();
}

void FlushStandIns() {
  if (MappedMemory::Get().has_stand_ins()) FlushMappedMemory(Capture::Active());
}

void RefreshStandIns() {
  if (MappedMemory::Get().has_written_by_others()) MappedMemory::Get().RefreshWritten();
}

void ForgetMappedMemory(Capture* capture, const Wrapper& resource) {
  MappedMemory& memory = MappedMemory::Get();
  if (memory.mapped_bytes() == 0) return;
  memory.Forget(resource.capture_number(), ReportTo(capture));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
