// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/device.h"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d12_abi.h"
#include "app/breadcrumbs/frame_listener.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/device_tools.h"
#include "app/d3d12/factory.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/objects.h"
#include "app/d3d12/pipeline_stages.h"
#include "app/d3d12/work_list.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/memory_notes.h"
#include "app/settings/log.h"
#include "app/settings/own_settings.h"
#include "d3d12abi/aggregates.h"
#include "format/d3dconfig/settings.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// app/breadcrumbs/d3d12_backend.cc: for devices of this calling convention, which needs no guess here.
std::unique_ptr<Backend> CreateBackend(void* device);

namespace {

// One at a time: two threads that are given the same device must end up with the same wrapper.
std::mutex wrap_device_mutex;

// Alive ones, for EndFrame. Its own lock, for frames end on other threads than devices do. Held over no
// call of the implementation.
std::mutex devices_mutex;
std::vector<WrappedID3D12Device*>& Devices() {
  static auto& devices = *new std::vector<WrappedID3D12Device*>;
  return devices;
}

// Returns the device with a reference; null if it is not captured or about to end.
WrappedID3D12Device* CapturedDeviceOf(const Context& context) {
  const std::lock_guard lock(devices_mutex);
  for (WrappedID3D12Device* const device : Devices()) {
    if (device->context() != &context || device->capture() == nullptr) continue;
    return device->AddReferenceIfAlive() ? device : nullptr;
  }
  return nullptr;
}

void OnApplicationFrame(const Context& context) {
  // Without the lock: images are copied at the end of a frame, and who presents on another thread needs
  // the lock while it keeps the GPU's queue.
  WrappedID3D12Device* const device = CapturedDeviceOf(context);
  if (device == nullptr) return;
  device->capture()->EndFrame(FrameEndKind::kMarker);
  device->ReleaseReference();
}

CairnContextDesc ContextDesc() {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = static_cast<CairnMode>(*Settings().breadcrumbs);
  desc.frame_history_length = 4;
  desc.max_command_lists = 4096;
  desc.block_size_bytes = kDefaultBlockBytes;
  return desc;
}

Context* MakeContext(BlockWriter* block, ID3D12Device* real) {
  if (block == nullptr) return nullptr;
  Result<Context*> context = Context::CreateDeferred(ContextDesc(), block, CreateBackend(real));
  if (context.ok()) return *context;
  // A program that makes many devices gets one line.
  const std::string why = "no breadcrumbs for a device: " + context.status().message();
  LogOnce(LogLevel::kError, why, why);
  return nullptr;
}

bool ForceDriverRetail() {
  std::vector<std::string> warnings;
  const Result<D3DConfigSettings> settings = ReadD3DConfig(&warnings);
  for (const std::string& warning : warnings) Log(LogLevel::kWarning, warning);
  if (settings.ok()) return settings->force_driver_retail_annotations;
  Log(LogLevel::kWarning, "D3DConfig has no effect: " + settings.status().message());
  return false;
}

bool IsDeviceLost(HRESULT result) {
  constexpr auto kRemoved = static_cast<HRESULT>(0x887A0005);
  constexpr auto kHung = static_cast<HRESULT>(0x887A0006);
  constexpr auto kReset = static_cast<HRESULT>(0x887A0007);
  constexpr auto kDriverError = static_cast<HRESULT>(0x887A0020);
  return result == kRemoved || result == kHung || result == kReset || result == kDriverError;
}

}  // namespace

// ---- Beginning and end ---------------------------------------------------------------------------

WrappedID3D12Device::WrappedID3D12Device(ID3D12Device* device, const DeviceOrigin& origin)
    : Thin(device),
      origin_(origin),
      wchar_bytes_(origin.wchar_bytes),
      layer_device_{LayerToken(), device, nullptr} {
  render_target_increment_ =
      device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  depth_stencil_increment_ =
      device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_DSV);
  NoteLayerVtable(*static_cast<const void* const*>(interface_pointer()), kThisD3D12Abi);
  block_ = ProcessBlock();
  context_ = MakeContext(block_, device);
  layer_device_.context = context_;
  submission_fences_.Start(context_);
  // The Vulkan layer below tells the heaps of its device.
  if (context_ != nullptr && !origin.is_driven) {
    const LUID luid = cairn::GetAdapterLuid(device);
    adapter_.Find(static_cast<uint32_t>(luid.LowPart), static_cast<int32_t>(luid.HighPart));
  }
  if (Capture::Active() != nullptr) {
    capture_ = std::make_unique<DeviceCapture>(device);
    frame_listener.store(OnApplicationFrame, std::memory_order_relaxed);
  }
  if (context_ != nullptr && !origin.application.empty()) {
    block_->contexts()[context_->index()].application = block_->AddName(origin.application);
  }
  try {
    StartAnnotations();
    {
      const std::lock_guard lock(devices_mutex);
      Devices().push_back(this);
    }
    ObjectTable::Object facts;
    facts.context = context_ == nullptr ? 0 : context_->index();
    JoinAlone(this, facts);
  } catch (...) {
    Forget();
    throw;
  }
}

WrappedID3D12Device::~WrappedID3D12Device() = default;

void WrappedID3D12Device::StartAnnotations() {
  AnnotationOptions options;
  options.block = block_;
  options.context_index = context_index();
  options.keeps_all_events = *Settings().all_events;
  options.forced = ForceDriverRetail();
  options.driver = *Settings().driver;
  options.device = real_pointer();
  options.application_device = interface_pointer();
  options.wchar_bytes = wchar_bytes_;
  if (context_ != nullptr) {
    const ContextRecord& record = block_->contexts()[context_->index()];
    options.vendor_id = record.vendor_id;
    options.device_id = record.device_id;
    if (record.device_name != 0) options.device_name = block_->Name(record.device_name)->bytes;
  }
  options.add_to_info_queue = [](void* device, uint32_t id, const char* text) {
    return AddToInfoQueue(static_cast<ID3D12Device*>(device), id, text);
  };
  options.info_queue_user_data = real_pointer();
  annotations_ = AnnotationRuntime::Create(options);
  tools_ = std::make_unique<DeviceTools>(*this);
}

// Releases everything that this device shares with the rest of the process.
void WrappedID3D12Device::Forget() {
  {
    const std::lock_guard lock(devices_mutex);
    std::erase(Devices(), this);
  }
  annotations_.reset();
  submission_fences_.Stop();
  if (context_ != nullptr) Context::Destroy(context_);
  context_ = nullptr;
}

void WrappedID3D12Device::OnEnd() {
  if (capture_ != nullptr) capture_->EndLastFrame();
  Forget();
  tools_.reset();
}

ID3D12Device* WrapDevice(ID3D12Device* real, const DeviceOrigin& origin) {
  if (real == nullptr) return nullptr;
  if (AsWrapper(real) != nullptr) return real;  // The layer is in the way twice: once is enough.
  try {
    const std::lock_guard lock(wrap_device_mutex);
    if (Wrapper* const known = Wrappers().FindAndAddReference(real); known != nullptr) {
      real->Release();
      return static_cast<ID3D12Device*>(known->interface_pointer());
    }
    StartRecording();
    StartSelfCheck();
    return new WrappedID3D12Device(real, origin);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, std::string("this device works without the layer: ") + error.what());
    return real;
  }
}

uint32_t WrappedID3D12Device::context_index() const {
  return context_ == nullptr ? AnnotationOptions::kNoContext : context_->index();
}

// ---- Breadcrumbs ---------------------------------------------------------------------------------

Context* WrappedID3D12Device::StartBreadcrumbs() {
  if (context_ == nullptr) return nullptr;
  std::call_once(breadcrumbs_once_, [this] {
    try {
      const Status status = context_->EnsureStarted();
      breadcrumbs_started_ = status.ok();
      if (!status.ok()) Log(LogLevel::kWarning, "breadcrumbs are off: " + status.message());
    } catch (const std::bad_alloc&) {
      // The device works without them; nothing may leave the application's call.
    }
  });
  return breadcrumbs_started_ ? context_ : nullptr;
}

void WrappedID3D12Device::CountSubmission() {
  if (presents_.load(std::memory_order_relaxed) || context_ == nullptr) return;
  const uint32_t count = submissions_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count % kSubmissionsPerFrame == 0) context_->BeginLayerFrame();
}

void WrappedID3D12Device::EndFrame() {
  presents_.store(true, std::memory_order_relaxed);
  if (context_ != nullptr) context_->BeginLayerFrame();
}

void EndFrame() {
  const std::lock_guard lock(devices_mutex);
  DeviceCapture* shows = nullptr;
  for (WrappedID3D12Device* const device : Devices()) {
    device->EndFrame();
    // With several devices, the frame's image is of the device that showed one.
    DeviceCapture* const capture = device->capture();
    if (capture != nullptr && (shows == nullptr || capture->shows_images())) shows = capture;
  }
  if (shows != nullptr) shows->EndFrame(FrameEndKind::kPresent);
}

void EndCapturedFrames() {
  // In the child of a fork the lock may belong to a thread that the child does not have, so that it
  // must not be taken.
  if (Capture::Active() == nullptr) return;
  const std::lock_guard lock(devices_mutex);
  for (WrappedID3D12Device* const device : Devices()) {
    if (device->capture() != nullptr) device->capture()->EndLastFrame();
  }
}

void WrappedID3D12Device::NoteFailure(HRESULT result, const char* function) {
  if (IsDeviceLost(result)) NoteLoss(result, function);
}

void WrappedID3D12Device::NoteNoMemory(std::string_view interface_name) {
  BlockWriter* const block = ProcessBlock();
  if (context_ == nullptr || block == nullptr) return;
  std::string what = "creation of an object with ";
  what += interface_name;
  MemoryNotes(*block, context_index()).NoteFailure(E_OUTOFMEMORY, what, 0, adapter_.Ask().heaps());
}

void WrappedID3D12Device::NoteLoss(HRESULT result, const char* function) {
  if (context_ == nullptr) return;
  if (lost_.exchange(true, std::memory_order_relaxed)) return;
  if (BlockWriter* const block = ProcessBlock(); block != nullptr) {
    MemoryNotes(*block, context_index()).NoteHeaps(adapter_.Ask().heaps());
  }
  static_cast<void>(context_->ReportDeviceLost(result, function).ok());
}

HRESULT WrappedID3D12Device::GetDeviceRemovedReason() {
  const HRESULT reason = Thin::GetDeviceRemovedReason();
  // This method reports a removed device with DXGI_ERROR_INVALID_CALL, too; other methods only
  // refuse calls with it.
  constexpr auto kInvalidCall = static_cast<HRESULT>(0x887A0001);
  if (IsDeviceLost(reason) || reason == kInvalidCall) {
    NoteLoss(reason, "ID3D12Device::GetDeviceRemovedReason");
  }
  return reason;
}

// ---- Annotations ---------------------------------------------------------------------------------

HRESULT WrappedID3D12Device::CheckFeatureSupport(D3D12_FEATURE feature, void* data,
                                                 UINT size_bytes) {
  if (feature != D3D12_FEATURE_USER_DEFINED_ANNOTATION) {
    return Thin::CheckFeatureSupport(feature, data, size_bytes);
  }
  CallScope call(*this, Method::ID3D12Device_CheckFeatureSupport, feature, data, size_bytes);
  if (data == nullptr || size_bytes != sizeof(D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION)) {
    return call.Returns(E_INVALIDARG, feature, data, size_bytes);
  }
  static_cast<D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION*>(data)->Supported =
      annotations_->supported();
  return call.Returns(S_OK, feature, data, size_bytes);
}

bool WrappedID3D12Device::QueryOwn(REFIID riid, void** object) {
  if (riid != __uuidof(ID3D12DeviceTools) && riid != __uuidof(ID3D12DeviceTools1) &&
      riid != __uuidof(ID3D12DeviceTools2)) {
    return false;
  }
  *object = static_cast<ID3D12DeviceTools2*>(tools_.get());
  return true;
}

// ---- Creation that needs a look first ------------------------------------------------------------

namespace {

// Returns the interfaces of lists that the implementation makes for this type; it is asked for the
// first of them.
Chain ChainOfLists(D3D12_COMMAND_LIST_TYPE type) {
  switch (type) {
    case D3D12_COMMAND_LIST_TYPE_VIDEO_DECODE: return Chain::kID3D12VideoDecodeCommandList;
    case D3D12_COMMAND_LIST_TYPE_VIDEO_PROCESS: return Chain::kID3D12VideoProcessCommandList;
    case D3D12_COMMAND_LIST_TYPE_VIDEO_ENCODE: return Chain::kID3D12VideoEncodeCommandList;
    default: return Chain::kID3D12GraphicsCommandList;
  }
}

const IID& FirstInterface(Chain chain) {
  static_assert(sizeof(IID) == sizeof(InterfaceInfo::iid));
  return reinterpret_cast<const IID&>(Describe(chain).first->iid);
}

}  // namespace

HRESULT WrappedID3D12Device::CreateCommandList(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                               ID3D12CommandAllocator* allocator,
                                               ID3D12PipelineState* initial_state, REFIID riid,
                                               void** list) {
  CallScope call(*this, Method::ID3D12Device_CreateCommandList, node_mask, type, allocator,
                 initial_state, riid, list);
  const ListOpenScope opening;  // for the backend, which learns of the list at its end
  const auto create = [&](REFIID iid, void** out) {
    return real()->CreateCommandList(node_mask, type, Unwrap(allocator), Unwrap(initial_state), iid,
                                     out);
  };
  const HRESULT returned =
      CreateAs(*this, ChainOfLists(type), FirstInterface(ChainOfLists(type)), riid, list, create,
               [&](Wrapper& made) { NoteListCreatedOpen(made, allocator, initial_state); });
  return call.Returns(returned, node_mask, type, allocator, initial_state, riid, list);
}

HRESULT WrappedID3D12Device::CreateCommandList1(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                                D3D12_COMMAND_LIST_FLAGS flags, REFIID riid,
                                                void** list) {
  CallScope call(*this, Method::ID3D12Device4_CreateCommandList1, node_mask, type, flags, riid,
                 list);
  const auto create = [&](REFIID iid, void** out) {
    return real()->CreateCommandList1(node_mask, type, flags, iid, out);
  };
  const HRESULT returned = CreateAs(*this, ChainOfLists(type), FirstInterface(ChainOfLists(type)),
                                    riid, list, create, [](Wrapper&) {});
  return call.Returns(returned, node_mask, type, flags, riid, list);
}

HRESULT WrappedID3D12Device::CreateSharedHandle(ID3D12DeviceChild* object,
                                                const SECURITY_ATTRIBUTES* attributes, DWORD access,
                                                const WCHAR* name, HANDLE* handle) {
  Wrapper* const wrapper = AsWrapper(object);
  if (wrapper != nullptr && wrapper->chain() == Chain::kID3D12Fence) {
    static_cast<WrappedID3D12Fence*>(wrapper)->MayBeShared();
  }
  const HRESULT result = Thin::CreateSharedHandle(object, attributes, access, name, handle);
  const bool made = SUCCEEDED(result) && wrapper != nullptr && handle != nullptr;
  if (made && Capture::Active() != nullptr) [[unlikely]] {
    SharedHandles::Get().Created(*handle, name, sizeof(WCHAR), wrapper->capture_number());
  }
  return result;
}

HRESULT WrappedID3D12Device::OpenSharedHandleByName(const WCHAR* name, DWORD access,
                                                    HANDLE* handle) {
  const HRESULT result = Thin::OpenSharedHandleByName(name, access, handle);
  if (SUCCEEDED(result) && handle != nullptr && Capture::Active() != nullptr) [[unlikely]] {
    SharedHandles::Get().Opened(*handle, name, sizeof(WCHAR));
  }
  return result;
}

// The handle says what it is, whatever the caller asks for.
HRESULT WrappedID3D12Device::OpenSharedHandle(HANDLE handle, REFIID riid, void** object) {
  CallScope call(*this, Method::ID3D12Device_OpenSharedHandle, handle, riid, object);
  if (Capture::Active() == nullptr) [[likely]] {
    return call.Returns(OpenShared(handle, riid, object), handle, riid, object);
  }
  const Import import = {ImportSource::kHandle, HandleValue(handle),
                         SharedHandles::Get().Find(handle)};
  const ImportScope scope(import);
  const HRESULT result = OpenShared(handle, riid, object);
  if (SUCCEEDED(result) && scope.recorded()) NoteOpened(*object, import);
  return call.Returns(result, handle, riid, object);
}

// An object that was opened became known to the capture.
void WrappedID3D12Device::NoteOpened(void* object, const Import& import) try {
  Capture* const capture = Capture::Active();
  const Wrapper* const wrapper = AsWrapper(static_cast<IUnknown*>(object));
  if (capture == nullptr || wrapper == nullptr) return;
  if (import.original == 0) {
    capture->PutNote(NoteKind::kUnsupported,
                     "object " + std::to_string(wrapper->capture_number()) +
                         " was opened from a handle of another process or another API, or one "
                         "that DuplicateHandle made: what others write there, or signal, is not "
                         "recorded");
  }
  if (wrapper->chain() == Chain::kID3D12Resource && capture_ != nullptr) {
    capture_->WriteOpened(*wrapper);
  }
} catch (const std::bad_alloc&) {
  // The trace has no note; nothing may leave the application's call.
}

namespace {

// Marks a fence that was made elsewhere and may be signalled there, or by any process that opened
// it.
void NoteOpenedFence(void* fence) {
  Wrapper* const wrapper = AsWrapper(static_cast<IUnknown*>(fence));
  if (wrapper == nullptr || wrapper->chain() != Chain::kID3D12Fence) return;
  static_cast<WrappedID3D12Fence*>(wrapper)->IsShared();
}

}  // namespace

HRESULT WrappedID3D12Device::OpenShared(HANDLE handle, REFIID riid, void** object) {
  if (object == nullptr) return real()->OpenSharedHandle(handle, riid, object);
  void* opened = &untouched_result;
  const HRESULT result = real()->OpenSharedHandle(handle, riid, &opened);
  if (opened == &untouched_result) return result;
  if (FAILED(result) || opened == nullptr) {
    *object = opened;
    return result;
  }
  constexpr struct {
    const IID& iid;
    Chain chain;
  } kShared[] = {{__uuidof(ID3D12Resource), Chain::kID3D12Resource},
                 {__uuidof(ID3D12Heap), Chain::kID3D12Heap},
                 {__uuidof(ID3D12Fence), Chain::kID3D12Fence}};
  auto* const unknown = static_cast<IUnknown*>(opened);
  for (const auto& [iid, chain] : kShared) {
    void* real_object = nullptr;
    if (FAILED(unknown->QueryInterface(iid, &real_object))) continue;
    unknown->Release();
    const HRESULT wrapped = WrapCreated(*this, chain, real_object, riid, object);
    if (chain == Chain::kID3D12Fence && SUCCEEDED(wrapped)) NoteOpenedFence(*object);
    return FAILED(wrapped) ? wrapped : result;
  }
  unknown->Release();
  *object = nullptr;
  LogOnce(
      LogLevel::kWarning, "OpenSharedHandle",
      "OpenSharedHandle is refused with E_NOINTERFACE: the handle is no resource, heap or fence");
  return E_NOINTERFACE;
}

HRESULT WrappedID3D12Device::OpenExistingHeapFromAddress(const void* address, REFIID riid,
                                                         void** heap) {
  const ImportScope import({ImportSource::kAddress, reinterpret_cast<uintptr_t>(address)});
  return Thin::OpenExistingHeapFromAddress(address, riid, heap);
}

HRESULT WrappedID3D12Device::OpenExistingHeapFromAddress1(const void* address, SIZE_T size_bytes,
                                                          REFIID riid, void** heap) {
  const ImportScope import({ImportSource::kAddress, reinterpret_cast<uintptr_t>(address)});
  return Thin::OpenExistingHeapFromAddress1(address, size_bytes, riid, heap);
}

HRESULT WrappedID3D12Device::OpenExistingHeapFromFileMapping(HANDLE mapping, REFIID riid,
                                                             void** heap) {
  const ImportScope import({ImportSource::kFileMapping, HandleValue(mapping)});
  return Thin::OpenExistingHeapFromFileMapping(mapping, riid, heap);
}

// ---- Pipelines -----------------------------------------------------------------------------------

HRESULT WrappedID3D12Device::CreateGraphicsPipelineState(
    const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc, REFIID riid, void** pipeline) {
  return CreateWithStages(desc, pipeline, [&](void** out) {
    return Thin::CreateGraphicsPipelineState(desc, riid, out);
  });
}

HRESULT WrappedID3D12Device::CreateComputePipelineState(
    const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc, REFIID riid, void** pipeline) {
  return CreateWithStages(desc, pipeline, [&](void** out) {
    return Thin::CreateComputePipelineState(desc, riid, out);
  });
}

HRESULT WrappedID3D12Device::CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC* desc,
                                                 REFIID riid, void** pipeline) {
  return CreateWithStages(desc, pipeline,
                          [&](void** out) { return Thin::CreatePipelineState(desc, riid, out); });
}

// ---- Descriptors ---------------------------------------------------------------------------------

void WrappedID3D12Device::CreateRenderTargetView(ID3D12Resource* resource,
                                                 const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                                                 D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  Thin::CreateRenderTargetView(resource, desc, descriptor);
  NoteRenderTarget(resource, desc, descriptor);
}

void WrappedID3D12Device::NoteRenderTarget(ID3D12Resource* resource,
                                           const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                                           D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  if (capture_ != nullptr) capture_->SetTarget(descriptor.ptr, AsWrapper(resource), desc);
  descriptors_.Set(descriptor.ptr, NotedObject(resource));
}

void WrappedID3D12Device::CreateDepthStencilView(ID3D12Resource* resource,
                                                 const D3D12_DEPTH_STENCIL_VIEW_DESC* desc,
                                                 D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  Thin::CreateDepthStencilView(resource, desc, descriptor);
  NoteDepthStencil(resource, descriptor);
}

void WrappedID3D12Device::NoteDepthStencil(ID3D12Resource* resource,
                                           D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  descriptors_.Set(descriptor.ptr, NotedObject(resource));
}

uint32_t WrappedID3D12Device::ViewIncrement(D3D12_DESCRIPTOR_HEAP_TYPE type) const {
  if (type == D3D12_DESCRIPTOR_HEAP_TYPE_RTV) return render_target_increment_;
  return type == D3D12_DESCRIPTOR_HEAP_TYPE_DSV ? depth_stencil_increment_ : 0;
}

void WrappedID3D12Device::CopyDescriptors(UINT destination_count,
                                          const D3D12_CPU_DESCRIPTOR_HANDLE* destinations,
                                          const UINT* destination_sizes, UINT source_count,
                                          const D3D12_CPU_DESCRIPTOR_HANDLE* sources,
                                          const UINT* source_sizes,
                                          D3D12_DESCRIPTOR_HEAP_TYPE type) {
  Thin::CopyDescriptors(destination_count, destinations, destination_sizes, source_count, sources,
                        source_sizes, type);
  if (const uint32_t increment = ViewIncrement(type); increment != 0) {
    const auto copy = [&](DescriptorShadow& shadow) {
      shadow.Copy(destination_count, destinations, destination_sizes, source_count, sources,
                  source_sizes, increment);
    };
    copy(descriptors_);
    if (capture_ != nullptr) capture_->ForTargets(copy);
  }
}

void WrappedID3D12Device::CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE destination,
                                                D3D12_CPU_DESCRIPTOR_HANDLE source,
                                                D3D12_DESCRIPTOR_HEAP_TYPE type) {
  Thin::CopyDescriptorsSimple(count, destination, source, type);
  if (const uint32_t increment = ViewIncrement(type); increment != 0) {
    const auto copy = [&](DescriptorShadow& shadow) {
      shadow.Copy(1, &destination, &count, 1, &source, &count, increment);
    };
    copy(descriptors_);
    if (capture_ != nullptr) capture_->ForTargets(copy);
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
