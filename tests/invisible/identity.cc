// SPDX-License-Identifier: Apache-2.0
//
// Objects as such: interfaces, reference counts, GetDevice, private data, names, odd arguments.
#include <cstring>
#include <functional>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/test_signature.h"
#include "invisible/interfaces.h"
#include "invisible/observer.h"

namespace observe {
namespace {

void* const kPoison = reinterpret_cast<void*>(uintptr_t{0xdeadbeef});

void NotePointer(Observer& out, const std::string& what, const void* pointer) {
  out.Note(what, pointer == nullptr ? 0 : pointer == kPoison ? 2 : 1);
}

// Observes the result of QueryInterface for every interface, the pointers, and the count meanwhile.
void ObserveInterfaces(Observer& out, const std::string& name, IUnknown* object) {
  ComPtr<IUnknown> identity;
  out.NoteResult(name + " as IUnknown",
                 object->QueryInterface(__uuidof(IUnknown), identity.Receive()));
  out.NoteBool(name + " is its own IUnknown", identity.get() == object);
  for (const NamedInterface& entry : kInterfaces) {
    const std::string what = name + " as " + entry.name;
    void* found = kPoison;
    const HRESULT result = object->QueryInterface(entry.iid, &found);
    out.NoteResult(what, result);
    if (FAILED(result)) {
      NotePointer(out, what + " leaves", found);
      continue;
    }
    auto* const unknown = static_cast<IUnknown*>(found);
    out.Note(what + " counted", CountOf(object));
    ComPtr<IUnknown> again;
    unknown->QueryInterface(__uuidof(IUnknown), again.Receive());
    out.NoteBool(what + " is the same object", again.get() == identity.get());
    again = ComPtr<IUnknown>();
    out.Note(what + " released", unknown->Release());
  }
}

void ObserveGetDevice(Observer& out, const std::string& name, ID3D12DeviceChild* child,
                      ID3D12Device* device) {
  for (const GUID& iid : {__uuidof(ID3D12Device), __uuidof(IUnknown), __uuidof(ID3D12Object),
                          __uuidof(ID3D12Device1), __uuidof(ID3D12Resource)}) {
    void* found = kPoison;
    const uint32_t before = CountOf(device);
    const HRESULT result = child->GetDevice(iid, &found);
    out.NoteResult(name + " GetDevice", result);
    NotePointer(out, name + " GetDevice gives", found);
    if (FAILED(result)) continue;
    out.NoteBool(name + " GetDevice gives the device", found == device);
    out.Note(name + " GetDevice counts", CountOf(device) - before);
    static_cast<IUnknown*>(found)->Release();
  }
}

void ObserveNames(Observer& out, const std::string& name, ID3D12Object* object) {
  out.NoteResult(name + " SetName", object->SetName(L"A name"));
  out.NoteResult(name + " SetName again", object->SetName(L"Ünïcode \U0001F5FF"));
  out.NoteResult(name + " SetName to nothing", object->SetName(L""));
  out.NoteResult(name + " SetName to null", object->SetName(nullptr));
  const std::wstring longest(65536, L'x');
  out.NoteResult(name + " SetName long", object->SetName(longest.c_str()));
}

struct Kind {
  const char* name;
  std::function<HRESULT(ID3D12Device*, REFIID, void**)> create;
  GUID iid;
};

HRESULT CreateRootSignature(ID3D12Device* device, REFIID iid, void** object) {
  const D3D12_ROOT_SIGNATURE_DESC desc = {};
  return cairn::CreateTestSignature(device, desc, iid, object);
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const D3D12_COMMAND_LIST_TYPE type :
       {D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_TYPE_COMPUTE,
        D3D12_COMMAND_LIST_TYPE_COPY}) {
    kinds.push_back(
        {"queue",
         [type](ID3D12Device* device, REFIID iid, void** object) {
           const D3D12_COMMAND_QUEUE_DESC desc = {type, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
           return device->CreateCommandQueue(&desc, iid, object);
         },
         __uuidof(ID3D12CommandQueue)});
  }
  for (const D3D12_COMMAND_LIST_TYPE type :
       {D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_TYPE_BUNDLE,
        D3D12_COMMAND_LIST_TYPE_COMPUTE, D3D12_COMMAND_LIST_TYPE_COPY}) {
    kinds.push_back({"allocator",
                     [type](ID3D12Device* device, REFIID iid, void** object) {
                       return device->CreateCommandAllocator(type, iid, object);
                     },
                     __uuidof(ID3D12CommandAllocator)});
  }
  kinds.push_back({"fence",
                   [](ID3D12Device* device, REFIID iid, void** object) {
                     return device->CreateFence(7, D3D12_FENCE_FLAG_NONE, iid, object);
                   },
                   __uuidof(ID3D12Fence)});
  kinds.push_back({"heap",
                   [](ID3D12Device* device, REFIID iid, void** object) {
                     D3D12_HEAP_DESC desc = {};
                     desc.SizeInBytes = 1 << 20;
                     desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
                     desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
                     return device->CreateHeap(&desc, iid, object);
                   },
                   __uuidof(ID3D12Heap)});
  kinds.push_back({"buffer",
                   [](ID3D12Device* device, REFIID iid, void** object) {
                     const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_UPLOAD};
                     const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(4096);
                     return device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                                            D3D12_RESOURCE_STATE_GENERIC_READ,
                                                            nullptr, iid, object);
                   },
                   __uuidof(ID3D12Resource)});
  for (uint32_t type = 0; type < D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES; ++type) {
    kinds.push_back({"descriptor heap",
                     [type](ID3D12Device* device, REFIID iid, void** object) {
                       const D3D12_DESCRIPTOR_HEAP_DESC desc = {
                           static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(type), 8,
                           D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
                       return device->CreateDescriptorHeap(&desc, iid, object);
                     },
                     __uuidof(ID3D12DescriptorHeap)});
  }
  for (uint32_t type = 0; type < 3; ++type) {
    kinds.push_back(
        {"query heap",
         [type](ID3D12Device* device, REFIID iid, void** object) {
           const D3D12_QUERY_HEAP_DESC desc = {static_cast<D3D12_QUERY_HEAP_TYPE>(type), 4, 0};
           return device->CreateQueryHeap(&desc, iid, object);
         },
         __uuidof(ID3D12QueryHeap)});
  }
  kinds.push_back({"root signature", CreateRootSignature, __uuidof(ID3D12RootSignature)});
  kinds.push_back({"command signature",
                   [](ID3D12Device* device, REFIID iid, void** object) {
                     D3D12_INDIRECT_ARGUMENT_DESC argument = {};
                     argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
                     const D3D12_COMMAND_SIGNATURE_DESC desc = {sizeof(D3D12_DISPATCH_ARGUMENTS), 1,
                                                                &argument, 0};
                     return device->CreateCommandSignature(&desc, nullptr, iid, object);
                   },
                   __uuidof(ID3D12CommandSignature)});
  return kinds;
}

void ObserveKind(Observer& out, const Kind& kind, const std::string& name) {
  ComPtr<ID3D12Device> device = CreateDevice();
  out.Note(name + " device before", CountOf(device.get()));
  for (const NamedInterface& entry : kInterfaces) {
    void* object = kPoison;
    const HRESULT result = kind.create(device.get(), entry.iid, &object);
    out.NoteResult(name + " created as " + entry.name, result);
    NotePointer(out, name + " created as " + entry.name + " gives", object);
    out.Note(name + " device meanwhile", CountOf(device.get()));
    if (SUCCEEDED(result) && object != nullptr && object != kPoison) {
      out.Note(name + " count", CountOf(static_cast<IUnknown*>(object)));
      out.Note(name + " released", static_cast<IUnknown*>(object)->Release());
    }
  }
  ComPtr<ID3D12DeviceChild> child;
  out.NoteResult(name + " created", kind.create(device.get(), kind.iid, child.Receive()));
  if (!child) return;
  out.Note(name + " device with one child", CountOf(device.get()));
  ObserveInterfaces(out, name, child.get());
  ObserveGetDevice(out, name, child.get(), device.get());
  ObserveNames(out, name, child.get());
  // The device outlives its last reference as long as the child does.
  out.Note(name + " device released", device.Detach()->Release());
  ComPtr<ID3D12Device> again;
  out.NoteResult(name + " device from the child",
                 child->GetDevice(__uuidof(ID3D12Device), again.Receive()));
  out.Note(name + " device again", CountOf(again.get()));
  out.Note(name + " child released first", child.Detach()->Release());
  out.Note(name + " device last", again.Detach()->Release());
}

// COM interfaces have no virtual destructor, and the compiler warns of what derives from one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
// An object of the program's own.
class Own final : public IUnknown {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++count; }
  ULONG STDMETHODCALLTYPE Release() override { return --count; }
  ULONG count = 1;
};
#pragma GCC diagnostic pop

void ObservePrivateDataOf(Observer& out, const std::string& name, ID3D12Object* object,
                          IUnknown* other) {
  const GUID key = {0x12345678, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
  const GUID key2 = {0x22345678, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
  UINT size = 64;
  uint8_t bytes[64] = {};
  out.NoteResult(name + " get nothing", object->GetPrivateData(key, &size, bytes));
  out.Note(name + " size of nothing", size);
  const uint32_t value = 0xcafe;
  out.NoteResult(name + " set", object->SetPrivateData(key, sizeof(value), &value));
  size = 0;
  out.NoteResult(name + " ask size", object->GetPrivateData(key, &size, nullptr));
  out.Note(name + " size", size);
  size = 1;
  out.NoteResult(name + " too small", object->GetPrivateData(key, &size, bytes));
  out.Note(name + " size needed", size);
  size = 64;
  out.NoteResult(name + " get", object->GetPrivateData(key, &size, bytes));
  out.Note(name + " got", HashBytes(bytes, size));
  out.NoteResult(name + " set none", object->SetPrivateData(key, 0, nullptr));
  out.NoteResult(name + " set none again", object->SetPrivateData(key, 0, nullptr));
  out.NoteResult(name + " set null bytes", object->SetPrivateData(key, 4, nullptr));
  Own own;
  out.NoteResult(name + " set own", object->SetPrivateDataInterface(key, &own));
  out.Note(name + " own count", own.count);
  IUnknown* found = nullptr;
  size = sizeof(found);
  out.NoteResult(name + " get own", object->GetPrivateData(key, &size, &found));
  out.NoteBool(name + " got own", found == &own);
  out.Note(name + " own count after", own.count);
  if (found != nullptr) found->Release();
  out.NoteResult(name + " replace own", object->SetPrivateData(key, sizeof(value), &value));
  out.Note(name + " own count replaced", own.count);
  out.Note(name + " other before", CountOf(other));
  out.NoteResult(name + " set other", object->SetPrivateDataInterface(key2, other));
  out.Note(name + " other held", CountOf(other));
  found = nullptr;
  size = sizeof(found);
  out.NoteResult(name + " get other", object->GetPrivateData(key2, &size, &found));
  out.NoteBool(name + " got other", found == other);
  out.Note(name + " other got", CountOf(other));
  if (found != nullptr) found->Release();
  out.NoteResult(name + " set null", object->SetPrivateDataInterface(key2, nullptr));
  out.Note(name + " other let go", CountOf(other));
}

}  // namespace

void ObserveDevice(Observer& out) {
  ComPtr<ID3D12Device> device = CreateDevice();
  ObserveInterfaces(out, "device", device.get());
  ObserveNames(out, "device", device.get());
  out.NoteResult("create into null", D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0,
                                                       __uuidof(ID3D12Device), nullptr));
  for (const NamedInterface& entry : kInterfaces) {
    void* found = kPoison;
    const HRESULT result = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, entry.iid, &found);
    out.NoteResult(std::string("create as ") + entry.name, result);
    NotePointer(out, std::string("create as ") + entry.name + " gives", found);
    if (SUCCEEDED(result)) {
      out.Note("release", static_cast<IUnknown*>(found)->Release());
    }
  }
  for (const int level : {0, 0x9100, 0xa000, 0xb000, 0xb100, 0xc000, 0xc100, 0xc200, 0xf000}) {
    ComPtr<ID3D12Device> other;
    out.NoteResult("level", D3D12CreateDevice(nullptr, static_cast<D3D_FEATURE_LEVEL>(level),
                                              __uuidof(ID3D12Device), other.Receive()));
  }
  for (uint32_t feature = 0; feature < 64; ++feature) {
    for (const uint32_t size : {0u, 4u, 8u, 12u, 16u, 20u, 24u, 40u, 60u}) {
      alignas(8) uint8_t data[64] = {};
      const HRESULT result =
          device->CheckFeatureSupport(static_cast<D3D12_FEATURE>(feature), data, size);
      out.NoteResult("feature", result);
      if (SUCCEEDED(result) && feature != 2) out.Note("feature data", HashBytes(data, size));
    }
  }
  out.Note("nodes", device->GetNodeCount());
  out.NoteResult("removed", device->GetDeviceRemovedReason());
  for (uint32_t type = 0; type < 4; ++type) {
    out.Note("increment", device->GetDescriptorHandleIncrementSize(
                              static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(type)));
  }
  for (uint32_t type = 1; type < 5; ++type) {
    const D3D12_HEAP_PROPERTIES properties =
        cairn::GetCustomHeapProperties(device.get(), static_cast<D3D12_HEAP_TYPE>(type));
    out.Note("heap properties", HashBytes(&properties, sizeof(properties)));
  }
  const D3D12_RESOURCE_ALLOCATION_INFO info =
      cairn::GetAllocationInfo(device.get(), cairn::BufferDesc(100));
  out.Note("allocation", HashBytes(&info, sizeof(info)));
  out.Note("LUID", cairn::GetAdapterLuid(device.get()).LowPart);
  D3D12_COMMAND_QUEUE_DESC queue = {D3D12_COMMAND_LIST_TYPE_DIRECT, 12345,
                                    D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
  ComPtr<ID3D12CommandQueue> object;
  out.NoteResult("bad priority", device->CreateCommandQueue(&queue, __uuidof(ID3D12CommandQueue),
                                                            object.Receive()));
  queue = {static_cast<D3D12_COMMAND_LIST_TYPE>(77), 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
  out.NoteResult("bad type", device->CreateCommandQueue(&queue, __uuidof(ID3D12CommandQueue),
                                                        object.Receive()));
  out.Note("count at the end", CountOf(device.get()) - (object ? 1 : 0));
}

void ObserveChildren(Observer& out) {
  std::vector<Kind> kinds = Kinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    ObserveKind(out, kinds[i], std::string(kinds[i].name) + " " + std::to_string(i));
  }
}

void ObservePrivateData(Observer& out) {
  for (const Kind& kind : Kinds()) {
    Scene scene;
    ComPtr<ID3D12Object> object;
    kind.create(scene.device.get(), kind.iid, object.Receive());
    if (!object) continue;
    ObservePrivateDataOf(out, kind.name, object.get(), scene.fence.get());
    ObservePrivateDataOf(out, std::string(kind.name) + " with its device", object.get(),
                         scene.device.get());
  }
  Scene scene;
  ObservePrivateDataOf(out, "device", scene.device.get(), scene.fence.get());
  ObservePrivateDataOf(out, "list", scene.list.get(), scene.queue.get());
  // An object that is only held by another's private data.
  ComPtr<ID3D12Fence> held;
  scene.device->CreateFence(5, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), held.Receive());
  const GUID key = {0x32345678, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
  scene.queue->SetPrivateDataInterface(key, held.get());
  out.Note("held released", held.Detach()->Release());
  ID3D12Fence* found = nullptr;
  UINT size = sizeof(found);
  out.NoteResult("held found", scene.queue->GetPrivateData(key, &size, &found));
  out.Note("held value", found->GetCompletedValue());
  out.Note("held released again", found->Release());
}

}  // namespace observe
