// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/call_capture.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d12_module.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/capture/event_waits.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/device.h"
#include "app/d3d12/objects.h"
#include "app/recorder/block_writer.h"
#include "app/settings/log.h"
#include "d3d12abi/adapters.h"
#include "d3d12abi/aggregates.h"
#include "d3d12gen/roles.h"
#include "format/model/call_kinds.h"
#include "os/wine.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

EncodeContext ContextOf(const Wrapper& wrapper) {
  EncodeContext context;
  context.object_number = CaptureNumberOf;
  const WrappedID3D12Device* const device = wrapper.device();
  context.wchar_bytes = device == nullptr ? sizeof(WCHAR) : device->wchar_bytes();
  return context;
}

template <typename T>
T ValueAt(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

// Returns the bytes of the program's memory that WriteToSubresource reads or ReadFromSubresource
// writes.
uint64_t SubresourceBytesOf(const Wrapper& wrapper, Method method, const void* const* arguments) {
  // (subresource, box, data, row pitch, slice pitch), and (data, pitches, subresource, box).
  const bool writes = method == Method::ID3D12Resource_WriteToSubresource;
  const auto subresource = ValueAt<UINT>(arguments[writes ? 0 : 3]);
  const auto* const box = ValueAt<const D3D12_BOX*>(arguments[writes ? 1 : 4]);
  const auto row_pitch = ValueAt<UINT>(arguments[writes ? 3 : 1]);
  const auto slice_pitch = ValueAt<UINT>(arguments[writes ? 4 : 2]);
  const D3D12_RESOURCE_DESC desc = GetDesc(static_cast<ID3D12Resource*>(wrapper.real_pointer()));
  const Result<SubresourceLayout> layout =
      LayoutOf(static_cast<ID3D12Device*>(wrapper.device()->real_pointer()), desc, subresource);
  if (!layout.ok()) return 0;
  return BytesOfBox(*layout, box, row_pitch, slice_pitch);
}

// Records that an object is incomplete. Used where no exception may reach the program's call.
void NoteNoMemory() {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->PutNote(NoteKind::kIncomplete, "an object was not recorded in full: no memory");
  }
}

bool AnswersSuccess(Method method) {
  return std::strcmp(Describe(method).result.type, "HRESULT") == 0;
}

// A handle without a name counts as unused unless it is opened here, which is recorded by itself.
// Without that its fence is like others; waits for a fence that another process signals follow the
// trace.
const char* WhySharingIsNotReplayed(ID3D12DeviceChild* object, LPCWSTR name) {
  const Wrapper* const wrapper = AsWrapper(object);
  const bool is_fence = wrapper != nullptr && wrapper->chain() == Chain::kID3D12Fence;
  if (name == nullptr || is_fence) return nullptr;
  return "an object was shared under a name: what others do who open it is not recorded";
}

const char* WhyNotReplayed(Unrepeatable why) {
  switch (why) {
    case Unrepeatable::kNone: break;
    case Unrepeatable::kVulkanResource:
      return "a resource was made of a Vulkan image or buffer of the program: what is in it is not "
             "recorded";
    case Unrepeatable::kVulkanQueueFamily:
      return "a queue or an allocator was made for a family of Vulkan queues: a replay skips "
             "what is submitted with it";
    case Unrepeatable::kVulkanQueue:
      return "the program took the Vulkan queue behind a command queue: what it submits there is "
             "not recorded";
    case Unrepeatable::kVulkanCommandBuffer:
      return "the program took the Vulkan command buffer behind a command list: what it records "
             "there is not recorded here";
    case Unrepeatable::kCuda:
      return "a CUDA kernel was launched in a command list: a replay skips it";
  }
  return nullptr;
}

// Returns the reason why no replay makes the call; null if it can, or if a later call gives a better reason.
const char* WhyNotReplayed(Method method, const void* const* arguments) {
  const CallRole& role = RoleOf(method);
  // A kernel that is only made does nothing yet.
  const bool waits = role.unrepeatable == Unrepeatable::kCuda && role.role != Role::kWork;
  if (role.replay == Replay::kCannot) return waits ? nullptr : WhyNotReplayed(role.unrepeatable);
  if (method == Method::ID3D12Device_CreateSharedHandle) {
    return WhySharingIsNotReplayed(*static_cast<ID3D12DeviceChild* const*>(arguments[0]),
                                   *static_cast<const LPCWSTR*>(arguments[3]));
  }
  return nullptr;
}

// Commands in a list matter to others from Close on.
std::atomic<uint32_t>* RecorderOf(const Wrapper& wrapper, Method method) {
  return IsCommand(RoleOf(method)) ? &wrapper.owner().capture_recorder() : nullptr;
}

// Returns true for the first call with this reason: some of these calls are made in every frame.
bool IsNew(const char* why) {
  static std::array<std::atomic<const char*>, 16> noted;
  for (std::atomic<const char*>& place : noted) {
    const char* known = nullptr;
    if (place.compare_exchange_strong(known, why)) return true;
    if (known == why) return false;
  }
  return false;
}

void NoteUnsupported(Capture& capture, const char* why) try {
  if (!IsNew(why)) return;
  capture.PutNote(NoteKind::kUnsupported, why);
  LogOnce(LogLevel::kWarning, why, std::string("capture: ") + why);
} catch (const std::bad_alloc&) {
  // The note is what a reader of the trace needs; nothing may leave the program's call.
}

}  // namespace

// ---- Calls ---------------------------------------------------------------------------------------

uint64_t BeginCapturedCall(const Wrapper& wrapper, Method method, const void* const* arguments) {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return 0;
  EncodeContext context = ContextOf(wrapper);
  if (method == Method::ID3D12Resource_WriteToSubresource ||
      method == Method::ID3D12Resource_ReadFromSubresource) {
    context.caller_bytes = SubresourceBytesOf(wrapper, method, arguments);
  } else if (const char* const why = WhyNotReplayed(method, arguments);
             why != nullptr && !AnswersSuccess(method)) {
    NoteUnsupported(*capture, why);
  }
  const uint8_t flags = EventWaits::Get().BeforeCall(wrapper, method, arguments);
  return capture->BeginCall(method, wrapper.capture_number(), arguments, context, flags,
                            RecorderOf(wrapper, method));
}

void EndCapturedCall(const Wrapper& wrapper, Method method, uint64_t call,
                     const void* const* arguments, const void* result) {
  // The capture may have ended meanwhile, so that the results are not needed.
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return Capture::Returned(call);
  // A call that failed did nothing that a replay could miss.
  if (const char* const why = WhyNotReplayed(method, arguments);
      why != nullptr && AnswersSuccess(method)) {
    HRESULT outcome = S_OK;
    std::memcpy(&outcome, result, sizeof(outcome));
    if (SUCCEEDED(outcome)) NoteUnsupported(*capture, why);
  }
  capture->EndCall(call, method, wrapper.capture_number(), arguments, result, ContextOf(wrapper));
}

void CapturedCallReturned(uint64_t call) {
  Capture::Returned(call);
}

uint64_t CaptureNumberOf(const void* object, Chain chain) {
  if (object == nullptr) return kNoObject;
  const void* const vtable = *static_cast<const void* const*>(object);
  if (chain != Chain::kNone && vtable == WrapperVtables::Of(chain)) {
    return Wrapper::FromInterface(object)->capture_number();
  }
  for (size_t i = 1; i < kChainCount; ++i) {
    if (vtable == WrapperVtables::Of(static_cast<Chain>(i))) {
      return Wrapper::FromInterface(object)->capture_number();
    }
  }
  return kForeignObject;
}

// ---- Objects -------------------------------------------------------------------------------------

namespace {

ResourceFacts FactsOf(ID3D12Resource* real, const Creation& creation) {
  ResourceFacts facts = {};
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  static_assert(sizeof(desc) == sizeof(facts.desc));
  std::memcpy(facts.desc, &desc, sizeof(desc));
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    facts.gpu_address = real->GetGPUVirtualAddress();
    facts.size_bytes = desc.Width;
  }
  if (creation.is_image) {
    facts.is_image = 1;
    facts.initial_state = creation.initial_state;
    facts.present_state = creation.present_state;
    return facts;
  }
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = {};
  if (SUCCEEDED(real->GetHeapProperties(&heap, &flags))) facts.heap_type = heap.Type;
  return facts;
}

DescriptorHeapFacts FactsOf(ID3D12DescriptorHeap* real, ID3D12Device* device) {
  const D3D12_DESCRIPTOR_HEAP_DESC desc = GetDesc(real);
  DescriptorHeapFacts facts = {};
  facts.cpu_start = GetCpuStart(real).ptr;
  if ((desc.Flags & D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) != 0) {
    facts.gpu_start = GetGpuStart(real).ptr;
  }
  facts.type = desc.Type;
  facts.flags = desc.Flags;
  facts.count = desc.NumDescriptors;
  facts.increment_bytes = device->GetDescriptorHandleIncrementSize(desc.Type);
  return facts;
}

void AppendText(std::vector<std::byte>& bytes, std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  const auto length = std::as_bytes(std::span(&size, 1));
  const auto content = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), length.begin(), length.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
}

std::string_view NameIn(const BlockWriter& block, NameRef name) {
  return name == 0 ? std::string_view() : std::string_view(block.Name(name)->bytes);
}

void PutDevice(Capture& capture, const WrappedID3D12Device& device) {
  DeviceBody body = {};
  body.wchar_bytes = device.wchar_bytes();
  body.feature_level = device.origin().feature_level;
  std::string_view gpu;
  std::string_view driver;
  if (device.context() != nullptr) {
    const ContextRecord& record = device.block()->contexts()[device.context_index()];
    body.vendor_id = record.vendor_id;
    body.device_id = record.device_id;
    gpu = NameIn(*device.block(), record.device_name);
    driver = NameIn(*device.block(), record.driver_name);
  }
  auto* const real = static_cast<ID3D12Device*>(device.real_pointer());
  try {
    // Without breadcrumbs nobody has asked yet.
    D3D12Module module;
    if (device.context() == nullptr) {
      module = IdentifyD3D12Module(real);
      body.vendor_id = module.vendor_id;
      body.device_id = module.device_id;
      gpu = module.device_name;
      driver = module.driver_name;
    }
    // The identifiers that Wine's DXGI has for a GPU that it does not know are those of another one.
    if (WineVersion() != nullptr) body.vendor_id = body.device_id = 0;
    std::vector<std::byte> texts;
    AppendText(texts, gpu);
    AppendText(texts, driver);
    AppendText(texts, device.origin().application);
    const LUID luid = GetAdapterLuid(real);
    const uint64_t adapter =
        uint64_t{static_cast<uint32_t>(luid.HighPart)} << 32 | uint32_t{luid.LowPart};
    const auto luid_bytes = BytesOf(adapter);
    texts.insert(texts.end(), luid_bytes.begin(), luid_bytes.end());
    const std::optional<uint32_t> place = AdapterPlaceOf(real, adapter);
    const uint32_t place_from_one = place ? *place + 1 : 0;
    const auto place_bytes = BytesOf(place_from_one);
    texts.insert(texts.end(), place_bytes.begin(), place_bytes.end());
    capture.Put(RecordKind::kDevice, device.capture_number(), BytesOf(body), texts);
  } catch (const std::bad_alloc&) {
    // A replay can do without this record: it needs the kObject record only.
  }
}

}  // namespace

namespace {

// Records a heap or a fence, which has facts if the program opened it.
template <typename Real>
void PutOpened(Capture& capture, uint64_t number, ObjectBody body, Real* real) {
  const std::optional<Import> import = ImportScope::Current();
  if (!import) {
    capture.Put(RecordKind::kObject, number, BytesOf(body));
    return;
  }
  body.facts = kImportFacts;
  const ImportFacts facts = FactsOf(*import, real);
  capture.Put(RecordKind::kObject, number, BytesOf(body), BytesOf(facts));
}

bool IsMemoryOfProgram(const Wrapper& resource) {
  return static_cast<const WrappedID3D12Resource&>(resource).mappings().is_memory_of_program();
}

}  // namespace

uint64_t BytesOfHeap(ID3D12Heap* heap) {
  const Wrapper* const wrapper = AsWrapper(heap);
  if (wrapper == nullptr) return 0;
  return GetDesc(static_cast<ID3D12Heap*>(wrapper->real_pointer())).SizeInBytes;
}

void CaptureObject(const Wrapper& wrapper, const Creation& creation) try {
  Capture* const capture = Capture::Active();
  if (capture == nullptr) return;
  ImportScope::NoteRecorded();
  const WrappedID3D12Device* const device = wrapper.device();
  if (wrapper.chain() == Chain::kID3D12Device) PutDevice(*capture, *device);
  ObjectBody body = {};
  body.device =
      device == nullptr ? kNoObject : static_cast<const Wrapper*>(device)->capture_number();
  // An image of a swap chain was created by no recorded call: a replay substitutes it.
  body.creator = creation.is_image ? 0 : Capture::CurrentCall();
  body.chain = static_cast<uint32_t>(wrapper.chain());
  const uint64_t number = wrapper.capture_number();
  if (wrapper.chain() == Chain::kID3D12Resource) {
    body.facts = kResourceFacts;
    auto* const real = static_cast<ID3D12Resource*>(wrapper.real_pointer());
    const ResourceFacts facts = FactsOf(real, creation);
    const std::optional<Import> import = ImportScope::Current();
    if (device->capture() != nullptr) {
      // An opened resource is not the program's alone: nothing may be written into it.
      device->capture()->AddResource(wrapper, {.desc = GetDesc(real),
                                               .initial_state = creation.initial_state,
                                               .is_image = creation.is_image,
                                               .present_state = creation.present_state,
                                               .is_new = !import.has_value(),
                                               .heap = AsWrapper(creation.heap),
                                               .is_memory_of_program = IsMemoryOfProgram(wrapper)});
    }
    struct {
      ResourceFacts resource;
      ImportFacts import;
    } both = {facts, {}};
    if (import) both.import = FactsOf(*import);
    const auto bytes = BytesOf(both);
    capture->Put(RecordKind::kObject, number, BytesOf(body),
                 import ? bytes : bytes.first(sizeof(facts)));
  } else if (wrapper.chain() == Chain::kID3D12Heap) {
    // The same holds for an opened heap.
    if (device->capture() != nullptr && !ImportScope::Current())
      device->capture()->AddHeap(wrapper);
    PutOpened(*capture, number, body, static_cast<ID3D12Heap*>(wrapper.real_pointer()));
  } else if (wrapper.chain() == Chain::kID3D12Fence) {
    PutOpened(*capture, number, body, static_cast<ID3D12Fence*>(wrapper.real_pointer()));
  } else if (wrapper.chain() == Chain::kID3D12DescriptorHeap) {
    body.facts = kDescriptorHeapFacts;
    const DescriptorHeapFacts facts =
        FactsOf(static_cast<ID3D12DescriptorHeap*>(wrapper.real_pointer()),
                static_cast<ID3D12Device*>(device->real_pointer()));
    capture->Put(RecordKind::kObject, number, BytesOf(body), BytesOf(facts));
  } else {
    capture->Put(RecordKind::kObject, number, BytesOf(body));
  }
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void CaptureObjectRests(const Wrapper& wrapper) try {
  Capture* const capture = Capture::Active();
  const bool is_resource = wrapper.chain() == Chain::kID3D12Resource;
  if (wrapper.chain() == Chain::kID3D12Fence) EventWaits::Get().FenceEnds(wrapper);
  // Forgets the readback state in any case: a capture may have ended during the object's life.
  if (is_resource || wrapper.chain() == Chain::kID3D12Fence) {
    if (DeviceCapture* const of_device = wrapper.device()->capture(); of_device != nullptr) {
      if (is_resource) {
        if (of_device->readbacks().IsUnpredictable(wrapper.capture_number())) {
          of_device->HashNot(wrapper);
        }
        of_device->readbacks().BufferEnds(wrapper.capture_number());
      } else {
        of_device->readbacks().ForgetFence(wrapper.capture_number());
      }
      if (is_resource && capture != nullptr) of_device->RemoveResource(wrapper);
    }
  }
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void CaptureObjectWoken(const Wrapper& wrapper) try {
  if (Capture::Active() == nullptr || wrapper.chain() != Chain::kID3D12Resource) return;
  DeviceCapture* const of_device = wrapper.device()->capture();
  if (of_device == nullptr) return;
  // The state is unknown until a barrier names it.
  auto* const real = static_cast<ID3D12Resource*>(wrapper.real_pointer());
  of_device->AddResource(
      wrapper,
      {.desc = GetDesc(real), .is_new = false, .is_memory_of_program = IsMemoryOfProgram(wrapper)});
} catch (const std::bad_alloc&) {
  NoteNoMemory();
}

void CaptureObjectEnd(const Wrapper& wrapper) {
  if (Capture* const capture = Capture::Active(); capture != nullptr) {
    capture->Put(RecordKind::kObjectEnd, wrapper.capture_number(), {});
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
