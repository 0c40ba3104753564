// SPDX-License-Identifier: Apache-2.0
#include "app/d3d11/device.h"

#include <dxgi.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/context.h"
#include "app/d3d11/child_note.h"
#include "app/d3d11/device_context.h"
#include "app/d3d11/thin.h"
#include "app/d3d12/object_name.h"
#include "app/d3d12/registry.h"
#include "app/recorder/call_ring.h"
#include "app/recorder/dxbc_code.h"
#include "app/recorder/memory_notes.h"
#include "app/replacement/replacement.h"
#include "app/settings/log.h"
#include "d3d11gen/methods.h"

namespace cairn {

constinit std::atomic<uint32_t> first_d3d11_method{0};

namespace {

Registry<D3D11Device>& Devices() {
  static auto& devices = *new Registry<D3D11Device>;
  return devices;
}
Registry<D3D11Device>& DevicesByMultithread() {
  static auto& devices = *new Registry<D3D11Device>;
  return devices;
}

// Null where it could not be made: one message said why.
BlockWriter* ProcessBlock() {
  static BlockWriter* const block = []() -> BlockWriter* {
    const Result<BlockWriter*> made = BlockWriter::OfThisProcess(kDefaultBlockBytes);
    if (!made.ok()) {
      Log(LogLevel::kError,
          "nothing is recorded of this program's Direct3D 11: " + made.status().message());
      return nullptr;
    }
    static std::array<const char*, kD3D11MethodCount> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = kD3D11Methods[i].name;
    const uint32_t first = (*made)->RegisterFunctions(names);
    if (first != BlockWriter::kTableFull) first_d3d11_method.store(first);
    CallRing::SetBlock(*made);
    return *made;
  }();
  return block;
}

// Slots of IUnknown, whose methods the generated functions do not replace.
constexpr size_t kAddRefSlot = 1;
constexpr size_t kReleaseSlot = 2;

ULONG OnAddRef(ULONG (*next)(IUnknown*), IUnknown* self) {
  const ULONG count = next(self);
  const D3D11Device* const device = Devices().Find(self);
  return device == nullptr ? count : count - device->hidden();
}

ULONG OnRelease(ULONG (*next)(IUnknown*), IUnknown* self) {
  const ULONG left = next(self);
  D3D11Device* const device = left == 0 ? nullptr : Devices().Find(self);
  return device == nullptr ? left : device->AfterRelease(left);
}

constexpr ReplacedMethod kCounts[] = {{kAddRefSlot, &Replacement<&OnAddRef>::Over},
                                      {kReleaseSlot, &Replacement<&OnRelease>::Over}};

// The adapter with a reference; null if the device does not tell it.
IDXGIAdapter* AdapterOf(ID3D11Device* device) {
  IDXGIDevice* dxgi = nullptr;
  IDXGIAdapter* adapter = nullptr;
  if (FAILED(device->QueryInterface(__uuidof(IDXGIDevice), reinterpret_cast<void**>(&dxgi)))) {
    return nullptr;
  }
  if (FAILED(dxgi->GetAdapter(&adapter))) adapter = nullptr;
  dxgi->Release();
  return adapter;
}

// The device's facts for reports. This layer writes nothing itself: the words are those of the
// Vulkan layer, or there are none.
class D3D11Backend final : public Backend {
 public:
  D3D11Backend(ID3D11Device* device, bool labelled) : device_(device), labelled_(labelled) {}

  void Identify(BackendDescription* description) override {
    description->api = Api::kD3D11;
    DXGI_ADAPTER_DESC desc = {};
    if (IDXGIAdapter* const adapter = AdapterOf(device_)) {
      static_cast<void>(adapter->GetDesc(&desc));
      adapter->Release();
    }
    description->device_name =
        ObjectName(desc.Description, sizeof(WCHAR), sizeof(desc.Description)).utf8();
    description->vendor_id = desc.VendorId;
    description->device_id = desc.DeviceId;
    if (labelled_) {
      description->sources.push_back(
          {"work told to the Vulkan device below", SourceState::kPresent,
           "each call is a label there, and has the words of what it became"});
    } else {
      description->sources.push_back(
          {"work told to a Vulkan device below", SourceState::kAbsent,
           "there is none, or it takes no labels: DXVK takes them with DXVK_DEBUG=markers"});
      description->sources.push_back({"event queries", SourceState::kPresent,
                                      "asked when the program calls: a submission has finished, or "
                                      "may be running as a whole"});
    }
  }

  // Never called in CAIRN_MODE_OFF.
  Status Initialize(const WordRegion&, BackendDescription*) override { return Status(); }
  Status BeginList(BackendList&) override { return Status(); }
  bool WriteProgress(BackendList&, WordKind, PipeLocation, uint32_t) override { return false; }
  Status WriteRaw(void*, PipeLocation, uint32_t, uint64_t) override {
    return Status(StatusCode::kUnsupported, "the Direct3D 11 layer writes nothing");
  }
  void ReleaseList(BackendList&) override {}

 private:
  ID3D11Device* const device_;
  const bool labelled_;
};

// Returns true if DXVK was told to pass on annotations, which it has in any case.
bool PassesLabelsOn(ID3D11Device* device) {
  ID3D11DeviceContext* context = nullptr;
  ID3DUserDefinedAnnotation* annotation = nullptr;
  device->GetImmediateContext(&context);
  if (context == nullptr) return false;
  const HRESULT result = context->QueryInterface(__uuidof(ID3DUserDefinedAnnotation),
                                                 reinterpret_cast<void**>(&annotation));
  context->Release();
  if (FAILED(result)) return false;
  const bool passes = annotation->GetStatus() != 0;
  annotation->Release();
  return passes;
}

CairnContextDesc ContextDesc(bool labelled) {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = CAIRN_MODE_OFF;
  desc.frame_history_length = 4;
  desc.max_command_lists = labelled ? 1 : 1024;
  desc.block_size_bytes = kDefaultBlockBytes;
  return desc;
}

bool IsDeviceLost(HRESULT result) {
  return result == DXGI_ERROR_DEVICE_REMOVED || result == DXGI_ERROR_DEVICE_HUNG ||
         result == DXGI_ERROR_DEVICE_RESET || result == DXGI_ERROR_DRIVER_INTERNAL_ERROR;
}

// The name that the program gave, or the hash that tools show of the code; "shader" where there is neither.
std::string ShaderText(BlockWriter& block, const void* shader) {
  const ChildNote* const note = ChildNote::Find(shader);
  if (note == nullptr) return "shader";
  const ObjectRecord* const record = block.objects().Find(note->object_index());
  const uint32_t length =
      record == nullptr ? 0 : record->name_length.load(std::memory_order_acquire) & ~kObjectNameCut;
  if (length != 0 && length <= kObjectNameBytes) return {record->name, length};
  const uint64_t hash = note->shader_hash();
  if (hash == 0) return "shader";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

}  // namespace

// ---- Beginning and end ---------------------------------------------------------------------------

std::unique_ptr<D3D11Device> D3D11Device::Make(ID3D11Device* real, bool labelled) {
  BlockWriter* const block = ProcessBlock();
  if (block == nullptr) return nullptr;
  labelled = labelled && PassesLabelsOn(real);
  const Result<Context*> context = Context::CreateDeferred(
      ContextDesc(labelled), block, std::make_unique<D3D11Backend>(real, labelled));
  if (!context.ok()) {
    // A program that makes many devices gets one line.
    const std::string why =
        "nothing is recorded of a Direct3D 11 device: " + context.status().message();
    LogOnce(LogLevel::kError, why, why);
    return nullptr;
  }
  std::unique_ptr<D3D11Device> device(new D3D11Device(real, *block, *context, labelled));
  device->Join();
  return device;
}

D3D11Device::D3D11Device(ID3D11Device* real, BlockWriter& block, Context* context, bool labelled)
    : real_(real), block_(block), context_(context), labelled_(labelled) {}

D3D11Device::~D3D11Device() {
  for (const void* const as : interfaces_) Devices().Remove(as, this);
  if (multithread_ != nullptr) DevicesByMultithread().Remove(multithread_, this);
  immediate_.reset();
  for (const uint32_t object : own_objects_) block_.objects().Destroy(object);
  Context::Destroy(context_);
}

void D3D11Device::Join() {
  static_cast<void>(context_->EnsureStarted().ok());  // its sources
  ObjectTable::Object facts;
  facts.kind = kD3D11Object | static_cast<uint32_t>(D3D11Kind::kDevice);
  facts.context = context_->index();
  facts.handle = real_;
  own_objects_[0] = block_.objects().Add(facts);
  FindMultithread();
  const auto interfaces = DeviceInterfaces();
  for (size_t version = 0; version < interfaces.size(); ++version) {
    void* as = nullptr;
    if (FAILED(real_->QueryInterface(interfaces[version].iid, &as))) continue;
    interfaces_.push_back(as);
    Devices().Add(as, this);
    for (size_t older = 0; older <= version; ++older) {
      ReplaceMethods(as, interfaces[older].methods);
    }
    ReplaceMethods(as, kCounts);
    static_cast<IUnknown*>(as)->Release();
  }
  // Only parts of the device are kept, which live as long as it does: a reference would keep it alive.
  ID3D11DeviceContext* immediate = nullptr;
  real_->GetImmediateContext(&immediate);
  if (immediate == nullptr) return;
  immediate_ = std::make_unique<D3D11Context>(*this, immediate, false);
  facts.kind = kD3D11Object | static_cast<uint32_t>(D3D11Kind::kContext);
  facts.handle = immediate;
  own_objects_[1] = block_.objects().Add(facts);
  immediate->Release();
}

void D3D11Device::FindMultithread() {
  void* multithread = nullptr;
  if (FAILED(real_->QueryInterface(__uuidof(ID3D11Multithread), &multithread))) {
    ID3D11DeviceContext* context = nullptr;
    real_->GetImmediateContext(&context);
    if (context == nullptr) return;
    const HRESULT result = context->QueryInterface(__uuidof(ID3D11Multithread), &multithread);
    context->Release();
    if (FAILED(result)) return;
  }
  multithread_ = static_cast<ID3D11Multithread*>(multithread);
  multithread_->Release();
  SetProtected(multithread_->GetMultithreadProtected() != 0);
  DevicesByMultithread().Add(multithread_, this);
  for (const D3D11Interface& version : MultithreadInterfaces()) {
    ReplaceMethods(multithread_, version.methods);
  }
}

D3D11Device* D3D11Device::Find(const void* self) {
  return Devices().Find(self);
}

D3D11Device* D3D11Device::FindByMultithread(const void* self) {
  return DevicesByMultithread().Find(self);
}

// ---- Children ------------------------------------------------------------------------------------

void D3D11Device::NoteChild(D3D11Kind kind, ID3D11DeviceChild* child,
                            const CreatedFacts& facts) try {
  if (ChildNote::Find(child) != nullptr) return;
  ChildNote* const note =
      PrivateNote::GiveTo(child, new (std::nothrow) ChildNote(*this, kind, child, facts));
  if (note == nullptr) return;
  note->set_shader_hash(KeepDxbc(&block_, facts.code, facts.code_bytes));
  ReplaceMethods(child, ChildMethods());
} catch (const std::bad_alloc&) {
  // The report does not know it.
}

void D3D11Device::NoteDeferred(ID3D11DeviceContext* context) try {
  NoteChild(D3D11Kind::kContext, context, {});
  ChildNote* const note = ChildNote::Find(context);
  if (note != nullptr) note->set_context(std::make_unique<D3D11Context>(*this, context, true));
} catch (const std::bad_alloc&) {
  // The report misses the work that it records.
}

void D3D11Device::NoteFinished(ID3D11CommandList* list, CommandList* recording) try {
  if (list != nullptr) NoteChild(D3D11Kind::kCommandList, list, {});
  ChildNote* const note = list == nullptr ? nullptr : ChildNote::Find(list);
  if (note != nullptr) {
    note->set_recording(recording);
  } else if (recording != nullptr) {
    static_cast<void>(context_->ReleaseCommandList(recording).ok());
  }
} catch (const std::bad_alloc&) {
  // A slot stays used until the device ends.
}

CairnPipeline D3D11Device::PipelineOf(const BoundShaders& shaders) try {
  const std::lock_guard lock(pipelines_mutex_);
  const auto [place, is_new] = pipelines_.try_emplace(shaders, 0);
  if (!is_new) return place->second;
  std::array<std::string, kStageCount> texts;
  std::array<const char*, kStageCount> names = {};
  std::array<uint64_t, kStageCount> hashes = {};
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    if (shaders[stage] == nullptr) continue;
    texts[stage] = ShaderText(block_, shaders[stage]);
    names[stage] = texts[stage].c_str();
    if (const ChildNote* const note = ChildNote::Find(shaders[stage])) {
      hashes[stage] = note->shader_hash();
    }
  }
  // Without room the number stays 0: there is no second attempt.
  static_cast<void>(
      context_->RegisterPipeline(nullptr, nullptr, names, hashes, 0, &place->second).ok());
  return place->second;
} catch (const std::bad_alloc&) {
  return 0;
}

void D3D11Device::ForgetShader(const void* shader) {
  Devices().ForEach([shader](D3D11Device* device) { device->EraseShader(shader); });
}

void D3D11Device::EraseShader(const void* shader) {
  const std::lock_guard lock(pipelines_mutex_);
  std::erase_if(pipelines_, [&](const auto& pipeline) {
    const auto& shaders = pipeline.first;
    if (std::find(shaders.begin(), shaders.end(), shader) == shaders.end()) return false;
    if (pipeline.second != 0) {
      static_cast<void>(context_->UnregisterPipeline(pipeline.second).ok());
    }
    return true;
  });
}

// ---- The rest ------------------------------------------------------------------------------------

AdapterMemory D3D11Device::MemoryNow() const {
  if (labelled_) return {};
  AdapterMemory memory;
  if (IDXGIAdapter* const adapter = AdapterOf(real_)) {
    memory = AdapterMemory::Of(adapter);
    adapter->Release();
  }
  return memory;
}

void D3D11Device::NoteFailure(HRESULT result, const char* function) try {
  if (result == E_OUTOFMEMORY) {
    MemoryNotes(block_, context_->index()).NoteFailure(result, function, 0, MemoryNow().heaps());
  }
  if (!IsDeviceLost(result) || lost_.exchange(true)) return;
  MemoryNotes(block_, context_->index()).NoteHeaps(MemoryNow().heaps());
  static_cast<void>(context_->ReportDeviceLost(result, function).ok());
} catch (const std::bad_alloc&) {
  // The watcher sees the end of the program all the same.
}

void D3D11Device::EndFrame() try { context_->BeginLayerFrame(); } catch (const std::bad_alloc&) {
  // The frame goes on.
}

ULONG D3D11Device::CountReferences() const {
  using Count = ULONG (*)(IUnknown*);
  reinterpret_cast<Count>(MethodBehind(real_, kAddRefSlot))(real_);
  return reinterpret_cast<Count>(MethodBehind(real_, kReleaseSlot))(real_);
}

ULONG D3D11Device::AfterRelease(ULONG left) {
  const ULONG seen = left - hidden();
  if (seen == 0 && immediate_ != nullptr) immediate_->Drop();  // and this ends with it
  return seen;
}

void NotePrivateData(const void* object, REFGUID guid, const void* data, UINT size_bytes) {
  // WKPDID_D3DDebugObjectName and ...NameW of d3dcommon.h, which not all versions of it have.
  static constexpr GUID kName = {
      0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
  static constexpr GUID kNameW = {
      0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
  const bool wide = IsEqualGUID(guid, kNameW);
  if (!wide && !IsEqualGUID(guid, kName)) return;
  const ChildNote* const note = ChildNote::Find(object);
  if (note == nullptr) return;
  const ObjectName name(data, wide ? sizeof(WCHAR) : 1, size_bytes);
  note->SetName(name.utf8(), name.cut());
}

}  // namespace cairn
