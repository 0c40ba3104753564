// SPDX-License-Identifier: Apache-2.0
//
// Objects that the program opened. In place of heaps over its own memory a replay makes heaps of its own with the
// recorded properties; what the program wrote comes as kMemory records of the resources in them. What it opened from
// a handle shares with the object that the handle stands for, where this implementation can.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "format/calls/object_text.h"
#include "os/handle.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr DWORD kGenericAll = 0x10000000;

// Flags that only shared memory has.
constexpr uint32_t kSharedHeap =
    uint32_t{D3D12_HEAP_FLAG_SHARED} | uint32_t{D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER};

// D3D12_HEAP_TYPE_GPU_UPLOAD: newer than the headers.
constexpr uint32_t kHeapTypeGpuUpload = 5;

Result<D3D12_HEAP_DESC> HeapDescOf(const ImportFacts& import) {
  D3D12_HEAP_DESC desc = {};
  desc.SizeInBytes = import.value;
  desc.Alignment = import.alignment_bytes;
  desc.Properties.Type = static_cast<D3D12_HEAP_TYPE>(import.heap_type);
  desc.Properties.CPUPageProperty = static_cast<D3D12_CPU_PAGE_PROPERTY>(import.cpu_page_property);
  desc.Properties.MemoryPoolPreference = static_cast<D3D12_MEMORY_POOL>(import.memory_pool);
  desc.Flags = static_cast<D3D12_HEAP_FLAGS>(import.heap_flags & ~kSharedHeap);
  const bool is_custom = import.heap_type == D3D12_HEAP_TYPE_CUSTOM;
  const bool is_known =
      import.value != 0 && import.heap_type >= D3D12_HEAP_TYPE_DEFAULT &&
      import.heap_type <= kHeapTypeGpuUpload &&
      import.cpu_page_property <= D3D12_CPU_PAGE_PROPERTY_WRITE_BACK &&
      import.memory_pool <= D3D12_MEMORY_POOL_L1 &&
      is_custom == (import.cpu_page_property != D3D12_CPU_PAGE_PROPERTY_UNKNOWN) &&
      is_custom == (import.memory_pool != D3D12_MEMORY_POOL_UNKNOWN);
  if (is_known) return desc;
  return Status(StatusCode::kCorrupt,
                fmt::format("a heap of {} bytes, type {}, page property {}, pool {}", import.value,
                            import.heap_type, import.cpu_page_property, import.memory_pool));
}

}  // namespace

Status PlayerImpl::OnImported(const Record& record, const ObjectBody& body, Chain chain,
                              std::span<const std::byte> facts, Pending* opening) {
  if (std::exchange(opening->claimed, true)) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("call {} made an object already", body.creator));
  }
  const std::optional<ImportFacts> import = ImportOf(record);
  const bool is_known = chain == Chain::kID3D12Heap || chain == Chain::kID3D12Resource ||
                        chain == Chain::kID3D12Fence;
  if (!import && body.facts == kImportFacts) {
    return Status(StatusCode::kCorrupt, "facts of an opened object that are cut off");
  }
  if (!import || !is_known) return SkipOpening(record, kNoImport, S_OK, opening);
  if (import->source == static_cast<uint32_t>(ImportSource::kHandle)) {
    return OpenShared(record, body, chain, facts, *import, opening);
  }
  if (chain != Chain::kID3D12Heap) return SkipOpening(record, kNoImport, S_OK, opening);
  return OpenHeap(record, body, *import, opening);
}

// An HRESULT that is a failure: this device's.
Status PlayerImpl::SkipOpening(const Record& record, std::string why, HRESULT result,
                               Pending* opening) {
  opening->left_out = std::move(why);
  opening->device_lacks = FAILED(result);
  opening->result = result;
  objects_.AddAbsent(record.object, false);
  return Status();
}

Status PlayerImpl::OpenHeap(const Record& record, const ObjectBody& body, const ImportFacts& import,
                            Pending* opening) {
  const Result<D3D12_HEAP_DESC> desc = HeapDescOf(import);
  if (!desc.ok()) return desc.status();
  DeviceContext* const context = devices_.Find(body.device);
  if (context == nullptr || context->lost) {
    return SkipOpening(record, "its device is not there", S_OK, opening);
  }
  ComPtr<ID3D12Heap> heap;
  const HRESULT result = context->device->CreateHeap(&*desc, __uuidof(ID3D12Heap), heap.Receive());
  if (FAILED(result) || !heap) {
    return SkipOpening(record,
                       fmt::format("this device refuses a heap of {} bytes in its place with "
                                   "0x{:08X}",
                                   desc->SizeInBytes, static_cast<uint32_t>(result)),
                       result, opening);
  }
  CAIRN_RETURN_IF_ERROR(AddObject(record, body, Chain::kID3D12Heap, heap.get(), 0, {}));
  ReplayObject* const object = objects_.Find(record.object);
  object->created.imported = true;
  CAIRN_RETURN_IF_ERROR(CheckCost());
  return memory_.Clear(object, 0, /*committed=*/false);
}

// ---- Handles ----

Status PlayerImpl::OpenShared(const Record& record, const ObjectBody& body, Chain chain,
                              std::span<const std::byte> facts, const ImportFacts& import,
                              Pending* opening) {
  DeviceContext* const context = devices_.Find(body.device);
  if (context == nullptr || context->lost) {
    return SkipOpening(record, "its device is not there", S_OK, opening);
  }
  const ReplayObject* const original =
      import.original == kNoObject ? nullptr : objects_.Find(import.original);
  ComPtr<IUnknown> real;
  if (original != nullptr && original->chain == chain) real = OpenOriginal(*original, context);
  const bool shares = real.get() != nullptr;
  if (!shares) {
    log_.Note(fmt::format(
        "{} was opened from a handle, and is one of its own here: what others "
        "{} is not seen",
        ObjectText(chain, record.object), chain == Chain::kID3D12Fence ? "signal" : "write"));
    if (chain == Chain::kID3D12Heap) return OpenHeap(record, body, import, opening);
    const HRESULT result = MakeInPlace(context, chain, facts, import, &real);
    if (FAILED(result) || !real) {
      return SkipOpening(record,
                         fmt::format("this device refuses one in its place with 0x{:08X}",
                                     static_cast<uint32_t>(result)),
                         result, opening);
    }
  }
  const Status added = AddObject(record, body, chain, real.get(), 0, facts);
  ReplayObject* const object = objects_.Find(record.object);
  if (object == nullptr || object->pointer.get() == nullptr) return added;
  if (!added.ok() && added.code() != StatusCode::kUnsupported) return added;
  if (shares) object->created.shares = import.original;
  if (shares && chain == Chain::kID3D12Fence) {
    waits_.fences().AddNumber(record.object, import.original);
  }
  CAIRN_RETURN_IF_ERROR(CheckCost());
  if (!shares) CAIRN_RETURN_IF_ERROR(memory_.Clear(object, 0, /*committed=*/true));
  return added;
}

// Returns what the device opens from a handle of the replay's own; null if it or its device cannot.
ComPtr<IUnknown> PlayerImpl::OpenOriginal(const ReplayObject& original, DeviceContext* device) {
  // A number of the trace, which may be that of any object.
  DeviceContext* const from = devices_.Find(original.device);
  HANDLE handle = {};
  ComPtr<IUnknown> opened;
  if (from == nullptr || from->lost ||
      FAILED(from->device->CreateSharedHandle(original.As<ID3D12DeviceChild>(), nullptr,
                                              kGenericAll, nullptr, &handle))) {
    return opened;
  }
  const HRESULT result =
      device->device->OpenSharedHandle(handle, __uuidof(IUnknown), opened.Receive());
#if defined(_WIN32)
  const SystemHandle closes(reinterpret_cast<RawHandle>(handle));
#endif
  if (FAILED(result)) return ComPtr<IUnknown>();
  ComPtr<IUnknown> same;
  const bool has_identity = SUCCEEDED(original.pointer->QueryInterface(
      __uuidof(IUnknown), reinterpret_cast<void**>(same.Receive())));
  // One resource under two numbers would have two states.
  if (has_identity && same.get() == opened.get() && original.chain != Chain::kID3D12Fence) {
    return ComPtr<IUnknown>();
  }
  return opened;
}

HRESULT PlayerImpl::MakeInPlace(DeviceContext* context, Chain chain,
                                std::span<const std::byte> facts, const ImportFacts& import,
                                ComPtr<IUnknown>* made) const {
  if (chain == Chain::kID3D12Fence) {
    return context->device->CreateFence(import.value, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence),
                                        made->Receive());
  }
  const Result<ResourceFacts> resource = DecodeBody<ResourceFacts>(&facts);
  if (!resource.ok()) return E_INVALIDARG;
  D3D12_RESOURCE_DESC desc;
  std::memcpy(&desc, resource->desc, sizeof(desc));
  desc.Flags =
      static_cast<D3D12_RESOURCE_FLAGS>(desc.Flags & ~D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER);
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    desc.Layout = D3D12_TEXTURE_LAYOUT_UNKNOWN;
  }
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  return context->device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                  D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                  __uuidof(ID3D12Resource), made->Receive());
}

void PlayerImpl::AdjustPlaced(CallInProgress* call) {
  const ReplayObject* const heap = call->ObjectAt(0);
  if (heap == nullptr || !heap->created.imported) return;
  for (size_t i = 0; i < call->info.parameters.size(); ++i) {
    if (!std::string_view(call->info.parameters[i].type).starts_with("const D3D12_RESOURCE_DESC")) {
      continue;
    }
    // D3D12_RESOURCE_DESC1 begins with the fields of D3D12_RESOURCE_DESC.
    if (auto* const desc = call->At<D3D12_RESOURCE_DESC*>(i); desc != nullptr) {
      desc->Flags &= ~D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER;
      // Only textures with that flag may have it.
      const bool is_texture = desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER;
      if (is_texture && desc->Layout == D3D12_TEXTURE_LAYOUT_ROW_MAJOR) {
        desc->Layout = D3D12_TEXTURE_LAYOUT_UNKNOWN;
      }
    }
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
