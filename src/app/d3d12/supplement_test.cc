// SPDX-License-Identifier: Apache-2.0
//
// Interfaces that codegen/supplement/ adds to the installed headers, on a device of our own that has all
// of them. Compiled for both calling conventions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "app/d3d12/device.h"
#include "app/d3d12/factory.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/testing/test_recorder.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12gen/invoke.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr std::string_view kInterfaces[] = {
    "ID3D12Device12",
    "ID3D12Device13",
    "ID3D12Device14",
    "ID3D12Device15",
    "ID3D12DeviceConfiguration",
    "ID3D12DeviceConfiguration1",
    "ID3D12GraphicsCommandList9",
    "ID3D12GraphicsCommandList10",
    "ID3D12StateObjectProperties1",
    "ID3D12WorkGraphProperties",
    "ID3D12DeviceExt",
    "ID3D12DeviceExt1",
    "ID3D12DeviceExt2",
    "ID3D12DeviceExt3",
    "ID3D12DeviceExt4",
    "ID3D12DeviceExt5",
    "ID3D12DXVKInteropDevice",
    "ID3D12DXVKInteropDevice1",
    "ID3D12DXVKInteropDevice2",
    "ID3D12DXVKInteropDevice3",
    "ID3DLowLatencyDevice",
    "IAmdExtAntiLagApi",
    "ID3D12GraphicsCommandListExt",
    "ID3D12GraphicsCommandListExt1",
    "ID3D12GraphicsCommandListExt2",
    "ID3D12CommandQueueExt",
    "IDXGIVkSwapChain",
    "IDXGIVkSwapChain1",
    "IDXGIVkSwapChain2",
    "IDXGIVkSwapChainFactory",
    "ID3DDestructionNotifier",
};
// The number of methods, without those that have a test of their own.
constexpr size_t kMethodsTried = 100;

// Methods whose arguments are no integers, or which the layer answers.
constexpr std::string_view kOwnTests[] = {
    "ID3D12GraphicsCommandList9::RSSetDepthBias",
    "IDXGIVkSwapChain2::SetTargetFrameRate",
    "ID3D12WorkGraphProperties::GetNodeIndex",
    "ID3D12WorkGraphProperties::GetEntrypointIndex",
    "IDXGIVkSwapChain::GetDevice",
};

std::string_view InterfaceOf(const MethodInfo& method) {
  const std::string_view name = method.name;
  return name.substr(0, name.find(':'));
}

const InterfaceInfo& Named(std::string_view name) {
  const auto all = Interfaces();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const InterfaceInfo& i) { return i.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

bool IsTried(std::string_view name) {
  return std::find(std::begin(kInterfaces), std::end(kInterfaces), name) != std::end(kInterfaces);
}

bool IsTriedIn(Chain chain) {
  const InterfaceInfo* version = Describe(chain).newest;
  while (version != nullptr && !IsTried(version->name)) version = version->base;
  return version != nullptr;
}

class SupplementTest : public testing::Test {
 protected:
  SupplementTest() {
    real_ = CreateFakeDevice();
    *device_.Receive() = WrapDevice(real_, {});
    constexpr D3D12_COMMAND_LIST_TYPE kDirect = D3D12_COMMAND_LIST_TYPE_DIRECT;
    const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
    device_->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue_.Receive());
    device_->CreateCommandAllocator(kDirect, __uuidof(ID3D12CommandAllocator),
                                    allocator_.Receive());
    device_->CreateCommandList(0, kDirect, allocator_.get(), nullptr,
                               __uuidof(ID3D12GraphicsCommandList), list_.Receive());
    CreateBuffer(device_.get(), 64, __uuidof(ID3D12Resource), buffer_.Receive());
    D3D12_HEAP_DESC heap_desc = {};
    heap_desc.SizeInBytes = 65536;
    device_->CreateHeap(&heap_desc, __uuidof(ID3D12Heap), heap_.Receive());
    const D3D12_QUERY_HEAP_DESC queries_desc = {D3D12_QUERY_HEAP_TYPE_OCCLUSION, 4, 0};
    device_->CreateQueryHeap(&queries_desc, __uuidof(ID3D12QueryHeap), queries_.Receive());
    Grow(device_.get(), Chain::kID3D12Device);
    Grow(queue_.get(), Chain::kID3D12CommandQueue);
    Grow(list_.get(), Chain::kID3D12GraphicsCommandList);
    Wrap(Chain::kID3D12StateObject, state_object_recorder_, state_object_);
    Wrap(Chain::kIDXGIVkSwapChain, swap_chain_recorder_, swap_chain_);
  }
  ~SupplementTest() override {
    state_object_ = swap_chain_ = {};
    queries_ = {};
    heap_ = {};
    buffer_ = {};
    list_ = {};
    allocator_ = {};
    queue_ = {};
    device_ = {};
    grown_.clear();
    for (const auto& [chain, recorder] : further_) {
      EXPECT_EQ(recorder->references, 1u) << Describe(chain).first->name;
    }
    EXPECT_EQ(state_object_recorder_.references, 0u);
    EXPECT_EQ(swap_chain_recorder_.references, 0u);
    EXPECT_EQ(FakeObjectCount(), 0) << "the layer gave everything back";
    EXPECT_EQ(Wrappers().size(), 0u);
    noted_calls.clear();
  }

  FurtherInterfaces FurtherOf(Chain owner) {
    return [this, owner](const InterfaceInfo& wanted) -> void* {
      if (!HasTearOff(wanted) || !IsTriedIn(wanted.chain)) return nullptr;
      const Chain of = Describe(wanted.chain).owner;
      return of != owner && of != Chain::kNone ? nullptr : FurtherObject(wanted.chain).object();
    };
  }
  Recorder& FurtherObject(Chain chain) {
    std::unique_ptr<Recorder>& recorder = further_[chain];
    if (recorder == nullptr) recorder = std::make_unique<Recorder>();
    return *recorder;
  }
  void Grow(IUnknown* wrapper, Chain chain) {
    grown_.push_back(std::make_unique<Grown>(RealObject(wrapper), chain, FurtherOf(chain)));
  }
  void Wrap(Chain chain, Recorder& recorder, ComPtr<IUnknown>& wrapper) {
    recorder.chain = chain;
    recorder.further = FurtherOf(chain);
    Wrapper* const made = MakeWrapper(
        chain, *static_cast<WrappedID3D12Device*>(AsWrapper(device_.get())), recorder.object());
    *wrapper.Receive() = made->interface_unknown();
  }

  // Returns the program's object of this chain; any object if the method takes any.
  IUnknown* ObjectOf(Chain chain) {
    switch (chain) {
      case Chain::kID3D12Device: return device_.get();
      case Chain::kID3D12CommandQueue: return queue_.get();
      case Chain::kID3D12GraphicsCommandList:
      case Chain::kNone: return list_.get();
      case Chain::kID3D12Resource: return buffer_.get();
      case Chain::kID3D12Heap: return heap_.get();
      case Chain::kID3D12QueryHeap: return queries_.get();
      case Chain::kID3D12StateObject: return state_object_.get();
      case Chain::kIDXGIVkSwapChain: return swap_chain_.get();
      default: return nullptr;
    }
  }
  // The program's interface, and the implementation's.
  ComPtr<IUnknown> Ask(const InterfaceInfo& wanted) {
    const bool further = HasTearOff(wanted);
    const Chain chain = further ? Describe(wanted.chain).owner : wanted.chain;
    IID iid;
    std::memcpy(&iid, &wanted.iid, sizeof(iid));
    ComPtr<IUnknown> result;
    EXPECT_EQ(ObjectOf(chain)->QueryInterface(iid, result.Receive()), S_OK) << wanted.name;
    return result;
  }
  template <typename T>
  ComPtr<T> Ask() {
    ComPtr<T> result;
    *result.Receive() = static_cast<T*>(Ask(*FindInterface(__uuidof(T))).Detach());
    return result;
  }
  void Try(Method method);

  ID3D12Device* real_ = nullptr;
  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12Resource> buffer_;
  ComPtr<ID3D12Heap> heap_;
  ComPtr<ID3D12QueryHeap> queries_;
  std::map<Chain, std::unique_ptr<Recorder>> further_;
  std::vector<std::unique_ptr<Grown>> grown_;
  Recorder state_object_recorder_;
  Recorder swap_chain_recorder_;
  ComPtr<IUnknown> state_object_;
  ComPtr<IUnknown> swap_chain_;
};

// An argument as the program passes it, and what must arrive.
struct TriedArgument {
  uint64_t passed = 0;
  uint64_t expected = 0;
  uint64_t mask = ~uint64_t{0};  // of what is compared; 0: the layer passes something of its own
};

uint64_t Number(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

void SupplementTest::Try(Method method) {
  SCOPED_TRACE(Describe(method).name);
  const MethodInfo& info = Describe(method);
  const InterfaceInfo& asked = Named(InterfaceOf(info));
  const ComPtr<IUnknown> object = Ask(asked);
  ASSERT_NE(object.get(), nullptr);
  const void* const real = RealObject(object.get());
  ASSERT_NE(real, object.get()) << "the layer has no wrapper for it";

  // The targets of pointers: zeros, and enough of them.
  static std::array<std::array<uint64_t, 4096>, 12> memory;
  for (auto& part : memory) part.fill(0);
  Recorder foreign;
  std::vector<TriedArgument> tried(info.parameters.size());
  for (size_t i = 0; i < tried.size(); ++i) {
    const ParameterInfo& parameter = info.parameters[i];
    TriedArgument& argument = tried[i];
    if (parameter.kind == ValueKind::kGuid) {
      argument.mask = 0;
      std::memcpy(memory[i].data(), &__uuidof(ID3D12Resource), sizeof(GUID));
    } else if (parameter.kind == ValueKind::kObject && parameter.pointers == 1) {
      const bool passed = parameter.type == std::string_view("IDXGIVkSurfaceFactory*");
      argument.passed = Number(passed ? foreign.object() : ObjectOf(parameter.chain));
      argument.expected = Number(passed ? foreign.object() : RealObject(ObjectOf(parameter.chain)));
      EXPECT_EQ(passed, argument.passed == argument.expected);
    } else if (parameter.pointers != 0 || parameter.kind == ValueKind::kString ||
               parameter.kind == ValueKind::kWideString || parameter.kind == ValueKind::kCallback) {
      argument.passed = argument.expected = Number(memory[i].data());
      if (static_cast<int>(i) == info.object_parameter) argument.mask = 0;
    } else {
      ASSERT_LE(parameter.size_bytes, 8u);
      argument.passed = argument.expected = 0x5100 + i;
      if (parameter.size_bytes < 8) argument.mask = (uint64_t{1} << parameter.size_bytes * 8) - 1;
    }
  }
  std::vector<void*> places;
  for (size_t i = 0; i < tried.size(); ++i) {
    const bool guid = info.parameters[i].kind == ValueKind::kGuid;
    places.push_back(guid ? static_cast<void*>(memory[i].data()) : &tried[i].passed);
  }
  alignas(16) std::array<std::byte, 256> result = {};
  noted_calls.erase(real);
  Invoke(method, object.get(), places.data(), result.data());
  ASSERT_TRUE(noted_calls.contains(real)) << "the implementation was not called";
  const NotedCall& noted = noted_calls[real];
  EXPECT_EQ(noted.slot, info.slot);
  // An aggregate comes back through a pointer, in front of the arguments.
  const bool aggregate = info.result.kind == ValueKind::kStruct && info.result.pointers == 0;
  if (aggregate) {
    EXPECT_EQ(noted.arguments[0], Number(result.data()));
  }
  for (size_t i = 0; i < tried.size(); ++i) {
    EXPECT_EQ(noted.arguments[i + (aggregate ? 1 : 0)] & tried[i].mask,
              tried[i].expected & tried[i].mask)
        << info.parameters[i].name;
  }
}

TEST_F(SupplementTest, EveryMethodReachesTheImplementationWithItsArguments) {
  size_t count = 0;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    const std::string_view name = Describe(method).name;
    if (!IsTried(InterfaceOf(Describe(method)))) continue;
    if (std::find(std::begin(kOwnTests), std::end(kOwnTests), name) != std::end(kOwnTests))
      continue;
    Try(method);
    ++count;
  }
  EXPECT_EQ(count, kMethodsTried);
}

TEST_F(SupplementTest, VersionsAreTheObjectAndFurtherInterfacesLeadBackToIt) {
  EXPECT_EQ(Ask(Named("ID3D12Device15")).get(), device_.get());
  EXPECT_EQ(Ask(Named("ID3D12GraphicsCommandList10")).get(), list_.get());
  const ComPtr<ID3D12DeviceExt5> extension = Ask<ID3D12DeviceExt5>();
  EXPECT_EQ(extension.As<ID3D12DeviceExt>().get(), extension.get());
  EXPECT_EQ(extension.As<ID3D12Device>().get(), device_.get());
  EXPECT_EQ(extension.As<ID3D12DXVKInteropDevice3>().get(), Ask<ID3D12DXVKInteropDevice>().get());
  EXPECT_EQ(Ask<ID3D12CommandQueueExt>().As<ID3D12CommandQueue>().get(), queue_.get());
  EXPECT_EQ(Ask<ID3D12GraphicsCommandListExt2>().As<IUnknown>().get(), list_.get());
}

float floats_seen[3];
void STDMETHODCALLTYPE SeeFloats(void*, float a, float b, float c) {
  floats_seen[0] = a;
  floats_seen[1] = b;
  floats_seen[2] = c;
}
double rate_seen;
void STDMETHODCALLTYPE SeeRate(void*, double rate) {
  rate_seen = rate;
}
D3D12_NODE_ID node_seen;
UINT graph_seen;
UINT STDMETHODCALLTYPE SeeNode(void*, UINT graph, D3D12_NODE_ID node) {
  graph_seen = graph;
  node_seen = node;
  return 77;
}

TEST_F(SupplementTest, FloatsAndStructsByValueArrive) {
  swap_chain_recorder_.Set(Method::IDXGIVkSwapChain2_SetTargetFrameRate, &SeeRate);
  Ask<IDXGIVkSwapChain2>()->SetTargetFrameRate(59.94);
  EXPECT_EQ(rate_seen, 59.94);
  Recorder& graphs = FurtherObject(Chain::kID3D12WorkGraphProperties);
  graphs.Set(Method::ID3D12WorkGraphProperties_GetNodeIndex, &SeeNode);
  graphs.Set(Method::ID3D12WorkGraphProperties_GetEntrypointIndex, &SeeNode);
  const auto properties = Ask<ID3D12WorkGraphProperties>();
  EXPECT_EQ(properties->GetNodeIndex(3, {L"node", 5}), 77u);
  EXPECT_EQ(graph_seen, 3u);
  EXPECT_EQ(node_seen.ArrayIndex, 5u);
  EXPECT_EQ(properties->GetEntrypointIndex(4, {L"entry", 6}), 77u);
  EXPECT_EQ(std::wstring(node_seen.Name), L"entry");
  EXPECT_EQ(node_seen.ArrayIndex, 6u);
}

TEST_F(SupplementTest, TheDepthBiasOfAListArrives) {
  ComPtr<ID3D12GraphicsCommandList9> nine = Ask<ID3D12GraphicsCommandList9>();
  void** const table = *reinterpret_cast<void***>(RealObject(nine.get()));
  const uint16_t slot = Describe(Method::ID3D12GraphicsCommandList9_RSSetDepthBias).slot;
  table[slot] = reinterpret_cast<void*>(&SeeFloats);
  nine->RSSetDepthBias(1.5f, -2.0f, 0.25f);
  EXPECT_EQ(floats_seen[0], 1.5f);
  EXPECT_EQ(floats_seen[1], -2.0f);
  EXPECT_EQ(floats_seen[2], 0.25f);
}

// ---- Objects that come out of them ---------------------------------------------------------------

template <typename T>
T** Receive(ComPtr<T>* object) {
  return reinterpret_cast<T**>(object->Receive());
}

ID3D12Device* maker;

HRESULT STDMETHODCALLTYPE MakeResource(void*, const D3D12_RESOURCE_DESC1* desc, UINT64 handle,
                                       ID3D12Resource** resource) {
  if (handle != 4711) return E_INVALIDARG;
  return CreateBuffer(maker, desc->Width, __uuidof(ID3D12Resource),
                      reinterpret_cast<void**>(resource));
}
HRESULT STDMETHODCALLTYPE MakeQueue(void*, const D3D12_COMMAND_QUEUE_DESC* desc, UINT32 family,
                                    ID3D12CommandQueue** queue) {
  if (family != 2) return E_INVALIDARG;
  return maker->CreateCommandQueue(desc, __uuidof(ID3D12CommandQueue),
                                   reinterpret_cast<void**>(queue));
}
HRESULT STDMETHODCALLTYPE MakeAllocator(void*, D3D12_COMMAND_LIST_TYPE type, UINT32 family,
                                        ID3D12CommandAllocator** allocator) {
  if (family != 2) return E_INVALIDARG;
  return maker->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                       reinterpret_cast<void**>(allocator));
}

TEST_F(SupplementTest, ObjectsThatTheyCreateHaveWrappers) {
  maker = real_;
  FurtherObject(Chain::kID3D12DeviceExt)
      .Set(Method::ID3D12DeviceExt1_CreateResourceFromBorrowedHandle, &MakeResource);
  Recorder& interop = FurtherObject(Chain::kID3D12DXVKInteropDevice);
  interop.Set(Method::ID3D12DXVKInteropDevice1_CreateInteropCommandQueue, &MakeQueue);
  interop.Set(Method::ID3D12DXVKInteropDevice1_CreateInteropCommandAllocator, &MakeAllocator);
  const auto is_wrapped = [&](ID3D12DeviceChild* made) {
    ComPtr<ID3D12Device> device;
    return made != nullptr && AsWrapper(made) != nullptr &&
           made->GetDevice(__uuidof(ID3D12Device), device.Receive()) == S_OK &&
           device.get() == device_.get();
  };
  const uint32_t before = CountOf(device_.get());

  const auto extension = Ask<ID3D12DeviceExt1>();
  D3D12_RESOURCE_DESC1 desc = {};
  desc.Width = 256;
  ComPtr<ID3D12Resource> resource;
  EXPECT_EQ(extension->CreateResourceFromBorrowedHandle(&desc, 1, Receive(&resource)),
            E_INVALIDARG);
  EXPECT_EQ(resource.get(), nullptr);
  ASSERT_EQ(extension->CreateResourceFromBorrowedHandle(&desc, 4711, Receive(&resource)), S_OK);
  EXPECT_TRUE(is_wrapped(resource.get()));

  const auto devices = Ask<ID3D12DXVKInteropDevice1>();
  const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  ASSERT_EQ(devices->CreateInteropCommandQueue(&queue_desc, 2, Receive(&queue)), S_OK);
  EXPECT_TRUE(is_wrapped(queue.get()));
  ComPtr<ID3D12CommandAllocator> allocator;
  ASSERT_EQ(
      devices->CreateInteropCommandAllocator(D3D12_COMMAND_LIST_TYPE_COPY, 2, Receive(&allocator)),
      S_OK);
  EXPECT_TRUE(is_wrapped(allocator.get()));
  // Two references on the device by its further interfaces, three by its new children.
  EXPECT_EQ(CountOf(device_.get()), before + 5);
}

// The one that a list has after Reset may be another, and with breadcrumbs it is.
TEST_F(SupplementTest, AVulkanCommandBufferThatIsKeptOverResetIsTold) {
  FurtherObject(Chain::kID3D12DXVKInteropDevice);
  const auto interop = Ask<ID3D12DXVKInteropDevice1>();
  const auto record_again = [&] {
    ASSERT_EQ(list_->Close(), S_OK);
    testing::internal::CaptureStderr();
    ASSERT_EQ(list_->Reset(allocator_.get(), nullptr), S_OK);
  };
  HANDLE command_buffer = nullptr;
  ASSERT_EQ(interop->BeginVkCommandBufferInterop(list_.get(), &command_buffer), S_OK);
  ASSERT_EQ(interop->EndVkCommandBufferInterop(list_.get()), S_OK);
  record_again();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(interop->BeginVkCommandBufferInterop(list_.get(), &command_buffer), S_OK);
  record_again();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("keeps the Vulkan command buffer of a command list over Reset"));
}

// ---- Notifiers of an object's end ----------------------------------------------------------------

TEST_F(SupplementTest, ANotifierCountsWithItsObject) {
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
            S_OK);
  Grow(fence.get(), Chain::kID3D12Fence);
  // The headers declare it without the identifier.
  IID iid;
  std::memcpy(&iid, &Named("ID3DDestructionNotifier").iid, sizeof(iid));
  ComPtr<ID3DDestructionNotifier> notifier;
  ASSERT_EQ(fence->QueryInterface(iid, notifier.Receive()), S_OK);
  EXPECT_NE(AsWrapper(notifier.get()), nullptr);
  EXPECT_EQ(CountOf(fence.get()), 2u);
  EXPECT_EQ(notifier.As<ID3D12Fence>().get(), fence.get()) << "not the implementation's object";
  EXPECT_EQ(notifier.As<IUnknown>().get(), fence.get());
  // The notifier alone keeps the object.
  fence.Detach()->Release();
  EXPECT_EQ(CountOf(notifier.get()), 1u);
  EXPECT_EQ(notifier.As<ID3D12Fence>()->GetCompletedValue(), 0u);
  Recorder& real = FurtherObject(Chain::kID3DDestructionNotifier);
  EXPECT_EQ(real.references, 2u);
  const uint32_t counted = CountOf(device_.get());
  EXPECT_EQ(notifier.Detach()->Release(), 0u);
  EXPECT_EQ(real.references, 1u) << "nothing keeps the real object any more";
  EXPECT_EQ(CountOf(device_.get()), counted - 1);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
