// SPDX-License-Identifier: Apache-2.0
#include "d3d12/memory_capture.h"

#include <new>
#include <span>
#include <string>
#include <utility>

#include "capture/mapped_memory.h"
#include "d3d12/device.h"
#include "d3d12abi/aggregates.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

template <typename Body>
std::span<const std::byte> BytesOf(const Body& body) {
  return std::as_bytes(std::span(&body, 1));
}

MappedMemory::Report ReportTo(Capture* capture) {
  return [capture](uint64_t object, uint32_t subresource, uint64_t offset_bytes,
                   std::span<const std::byte> bytes) {
    // Where the recording begins later, everything is copied then.
    if (capture == nullptr || !capture->memory_on()) return;
    MemoryBody body = {};
    body.subresource = subresource;
    body.offset_bytes = offset_bytes;
    capture->PutBytes(RecordKind::kMemory, object, BytesOf(body), bytes);
  };
}

// How much a program may write behind the pointer that Map returned; 0 if nobody knows.
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
  const D3D12_RANGE nothing = {0, 0};
  void* data = nullptr;
  if (FAILED(real->Map(subresource, &nothing, &data))) return nullptr;
  real->Unmap(subresource, &nothing);
  return data;
}

// How writes are found goes into the trace: whenever another kind of memory brings another method.
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

// Nothing may leave the program's call.
void NoteNoMemory() {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "writes to mapped memory were not recorded: no memory");
  }
}

}  // namespace

MappingCapture::Access MappingCapture::FindAccess(const Wrapper& resource) {
  Access access = access_.load(std::memory_order_relaxed);
  if (access != Access::kUnknown) return access;
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = {};
  auto* const real = static_cast<ID3D12Resource*>(resource.real_pointer());
  if (FAILED(real->GetHeapProperties(&heap, &flags))) {
    access = Access::kNone;
  } else if (heap.Type == D3D12_HEAP_TYPE_READBACK) {
    access = Access::kReadBack;
  } else if (heap.Type == D3D12_HEAP_TYPE_UPLOAD ||
             heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE ||
             heap.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_BACK) {
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

void MappingCapture::Mapped(const Wrapper& resource, uint32_t subresource, void* data) try {
  const std::lock_guard lock(mutex_);
  Mapping& mapping = mappings_[subresource];
  if (++mapping.count != 1) return;
  mapping.data = data != nullptr ? data : PointerOf(resource, subresource);
  mapping.size_bytes = MappedBytes(resource, subresource);
  if (mapping.data == nullptr || mapping.size_bytes == 0) return;
  if (FindAccess(resource) != Access::kWritten) return;
  MappedMemory::Get().Map(resource.capture_number(), subresource, mapping.data, mapping.size_bytes,
                          mapping.was_mapped);
  if (!mapping.was_mapped) NoteTracking();
  mapping.was_mapped = true;
  // It ended while this came to be tracked.
  if (Capture::Active() == nullptr) MappedMemory::Get().ForgetAll();
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void MappingCapture::Unmapping(const Wrapper& resource, uint32_t subresource) try {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(subresource);
  if (found == mappings_.end() || found->second.count == 0) return;
  Mapping& mapping = found->second;
  if (--mapping.count != 0) return;
  if (FindAccess(resource) == Access::kWritten) {
    MappedMemory::Get().Unmap(resource.capture_number(), subresource, ReportTo(Capture::Active()));
  }
  mapping.data = nullptr;
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void FlushMappedMemory(Capture& capture) try {
  if (capture.memory_on()) MappedMemory::Get().Flush(ReportTo(&capture));
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void ForgetMappedMemory(Capture* capture, const Wrapper& resource) {
  MappedMemory& memory = MappedMemory::Get();
  if (memory.mapped_bytes() == 0) return;
  memory.Forget(resource.capture_number(), ReportTo(capture));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
