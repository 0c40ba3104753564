// SPDX-License-Identifier: Apache-2.0
//
// Objects that the program opened: heaps over its own memory. A replay has no such memory, and makes heaps of its own
// with the recorded properties; what the program wrote comes as kMemory records of the resources in them.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "format/calls/object_text.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// What only memory that is shared has.
constexpr uint32_t kSharedHeap = D3D12_HEAP_FLAG_SHARED | D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER;

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
      import.heap_type <= D3D12_HEAP_TYPE_CUSTOM &&
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
  if (chain == Chain::kID3D12Heap && body.facts == kImportFacts) {
    std::span<const std::byte> rest = facts;
    const Result<ImportFacts> import = DecodeBody<ImportFacts>(&rest);
    if (!import.ok()) return import.status();
    return OpenHeap(record, body, *import, opening);
  }
  opening->left_out = kNoImport;
  objects_.AddAbsent(record.object, body.facts == kDescriptorHeapFacts);
  return Status();
}

Status PlayerImpl::OpenHeap(const Record& record, const ObjectBody& body, const ImportFacts& import,
                            Pending* opening) {
  const Result<D3D12_HEAP_DESC> desc = HeapDescOf(import);
  if (!desc.ok()) return desc.status();
  DeviceContext* const context = devices_.Find(body.device);
  if (context == nullptr || context->lost) {
    opening->left_out = "its device is not there";
    objects_.AddAbsent(record.object, false);
    return Status();
  }
  ComPtr<ID3D12Heap> heap;
  const HRESULT result = context->device->CreateHeap(&*desc, __uuidof(ID3D12Heap), heap.Receive());
  if (FAILED(result) || !heap) {
    opening->left_out =
        fmt::format("this device refuses a heap of {} bytes in its place with 0x{:08X}",
                    desc->SizeInBytes, static_cast<uint32_t>(result));
    opening->device_lacks = true;
    opening->result = result;
    objects_.AddAbsent(record.object, false);
    return Status();
  }
  CAIRN_RETURN_IF_ERROR(AddObject(record, body, Chain::kID3D12Heap, heap.get(), 0, {}));
  ReplayObject* const object = objects_.Find(record.object);
  object->created.imported = true;
  CAIRN_RETURN_IF_ERROR(CheckCost());
  return memory_.Clear(object, 0, /*committed=*/false);
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
    }
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
