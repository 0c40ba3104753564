// SPDX-License-Identifier: Apache-2.0
//
// Every method of every interface, with each of its pointers null: the implementation gets the call
// with the null, and its result comes back. The methods come from the tables. Compiled for both
// calling conventions; the modes are settings of the process, so that each is a run of its own.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/policy.h"
#include "app/d3d12/testing/recording_object.h"
#include "app/settings/own_settings.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12gen/invoke.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr int kNothingIsNull = -1;
constexpr size_t kRoomBytes = 64 << 10;

bool IsTearOff(Chain chain) {
  return HasTearOff(*Describe(chain).first);
}

// An object of each chain, real and wrapped. Devices are made on one that works where the layer's own
// objects come from.
class Objects {
 public:
  Objects() {
    RecordingObject::SetResult(static_cast<uint32_t>(E_NOTIMPL));
    ForwardDevice();
    Add(Chain::kID3D12Device,
        [&](void* real) { return WrapDevice(static_cast<ID3D12Device*>(real), {}); });
    for (size_t i = 1; i < kChainCount; ++i) {
      const auto chain = static_cast<Chain>(i);
      if (chain == Chain::kID3D12Device || IsTearOff(chain)) continue;
      Add(chain, [&](void* real) { return Wrap(chain, real); });
    }
    for (size_t i = 1; i < kChainCount; ++i) {
      const auto chain = static_cast<Chain>(i);
      if (IsTearOff(chain)) AddTearOff(chain);
    }
    OpenList();
  }
  ~Objects() { ForwardDevice(); }

  void* WrapperOf(Chain chain) const { return wrappers_.at(chain); }

  // The layer makes objects of its own on the device, unless its methods are looked at.
  void LookAt(Chain chain) {
    RecordingObject::ForwardDevice(chain == Chain::kID3D12Device ? nullptr : working_.get());
  }

 private:
  void ForwardDevice() { RecordingObject::ForwardDevice(working_.get()); }

  template <typename Make>
  void Add(Chain chain, const Make& make) {
    wrappers_[chain] = make((new RecordingObject(chain))->pointer());
  }
  void* Wrap(Chain chain, void* real) {
    void* wrapper = nullptr;
    const auto iid = std::bit_cast<IID>(Describe(chain).first->iid);
    Wrapper& device = *AsWrapper(static_cast<ID3D12Device*>(WrapperOf(Chain::kID3D12Device)));
    EXPECT_EQ(WrapCreated(device, chain, real, iid, &wrapper), S_OK) << Describe(chain).first->name;
    return wrapper;
  }
  void AddTearOff(Chain chain) {
    // Ask the device for interfaces that any object may have.
    const Chain of = Describe(chain).owner;
    auto* const owner =
        static_cast<IUnknown*>(WrapperOf(of == Chain::kNone ? Chain::kID3D12Device : of));
    const auto iid = std::bit_cast<IID>(Describe(chain).first->iid);
    void* tear_off = nullptr;
    EXPECT_EQ(owner->QueryInterface(iid, &tear_off), S_OK) << Describe(chain).first->name;
    wrappers_[chain] = tear_off;
  }
  // With breadcrumbs its commands are work.
  void OpenList() {
    RecordingObject::SetResult(S_OK);
    auto* const list =
        static_cast<ID3D12GraphicsCommandList*>(WrapperOf(Chain::kID3D12GraphicsCommandList));
    EXPECT_EQ(
        list->Reset(static_cast<ID3D12CommandAllocator*>(WrapperOf(Chain::kID3D12CommandAllocator)),
                    nullptr),
        S_OK);
    const ListBreadcrumbs* const notes = AsWrapper(list)->breadcrumbs();
    ASSERT_EQ(notes != nullptr, *Settings().breadcrumbs != MarkerMode::kOff);
    EXPECT_TRUE(notes == nullptr || notes->open());
  }

  static ComPtr<ID3D12Device> NewDevice() {
    ComPtr<ID3D12Device> device;
    *device.Receive() = CreateFakeDevice();
    return device;
  }

  const ComPtr<ID3D12Device> working_ = NewDevice();
  std::map<Chain, void*> wrappers_;
};

bool IsReference(const ParameterInfo& parameter) {
  return parameter.kind == ValueKind::kGuid && parameter.pointers == 0;
}

bool IsPointer(const ParameterInfo& parameter) {
  return parameter.pointers != 0 || parameter.array_length != 1 || IsReference(parameter) ||
         parameter.kind == ValueKind::kString || parameter.kind == ValueKind::kWideString ||
         parameter.kind == ValueKind::kCallback;
}

// The arguments of one call: pointers to zeros, objects of ours, and ones.
class Arguments {
 public:
  Arguments(const MethodInfo& method, const Objects& objects, int null) : null_(null) {
    for (size_t i = 0; i < method.parameters.size(); ++i) Set(method, i, objects);
  }

  void* const* places() { return places_.data(); }

 private:
  void Set(const MethodInfo& method, size_t index, const Objects& objects) {
    const ParameterInfo& parameter = method.parameters[index];
    rooms_.push_back(std::make_unique<std::byte[]>(kRoomBytes));
    cells_.push_back(std::make_unique<std::array<uint64_t, 8>>());
    auto& cell = *cells_.back();
    cell.fill(0);
    if (!IsPointer(parameter)) {
      if (parameter.kind != ValueKind::kStruct && parameter.kind != ValueKind::kHandle) cell[0] = 1;
    } else if (static_cast<int>(index) != null_) {
      const bool object = parameter.kind == ValueKind::kObject && parameter.pointers == 1 &&
                          parameter.chain != Chain::kNone;
      cell[0] = reinterpret_cast<uintptr_t>(object ? objects.WrapperOf(parameter.chain)
                                                   : rooms_.back().get());
    }
    places_.push_back(cell.data());
    if (IsReference(parameter)) {
      places_.back() = static_cast<int>(index) == null_ ? nullptr : Identifier(method);
    }
  }
  void* Identifier(const MethodInfo& method) {
    const Chain chain =
        method.object_chain == Chain::kNone ? Chain::kID3D12Fence : method.object_chain;
    identifier_ = Describe(chain).first->iid;
    return &identifier_;
  }

  const int null_;
  InterfaceGuid identifier_ = {};
  std::vector<std::unique_ptr<std::byte[]>> rooms_;
  std::vector<std::unique_ptr<std::array<uint64_t, 8>>> cells_;
  std::vector<void*> places_;
};

// Returns true for methods that the layer answers itself: docs/reference/d3d12-layer.md.
bool IsAnsweredByTheLayer(std::string_view method, int null) {
  return null == kNothingIsNull &&
         (method == "ID3D12DeviceChild::GetDevice" || method == "IDXGIVkSwapChain::GetDevice");
}

class EveryMethod {
 public:
  // Returns how many calls were made.
  int CallOn(Chain chain, Method method) {
    const MethodInfo& info = Describe(method);
    int calls = 0;
    for (int null = kNothingIsNull; null < static_cast<int>(info.parameters.size()); ++null) {
      if (null != kNothingIsNull && !IsPointer(info.parameters[static_cast<size_t>(null)]))
        continue;
#if defined(CAIRN_SANITIZED)
      // A reference to nothing is what sanitizers stop at.
      if (null != kNothingIsNull && IsReference(info.parameters[static_cast<size_t>(null)])) {
        continue;
      }
#endif
      if (IsAnsweredByTheLayer(info.name, null)) continue;
      // Success and failure; where something else is returned, it is a number.
      for (const uint64_t result : {uint64_t{S_FALSE}, uint64_t{0x80004005}}) {
        Call(chain, method, null, result);
        ++calls;
      }
    }
    return calls;
  }

 private:
  void Call(Chain chain, Method method, int null, uint64_t result) {
    const MethodInfo& info = Describe(method);
    std::string text = std::string(info.name) + " of " + Describe(chain).first->name;
    if (null != kNothingIsNull) {
      text += std::string(" without ") + info.parameters[static_cast<size_t>(null)].name;
    }
    SCOPED_TRACE(text);
    // The memory behind a result that is a pointer is read.
    static std::array<std::byte, kRoomBytes> behind_result = {};
    const bool points = info.result.pointers != 0 || info.result.kind == ValueKind::kString ||
                        info.result.kind == ValueKind::kWideString;
    if (points) result = reinterpret_cast<uintptr_t>(behind_result.data());
    Arguments arguments(info, objects_, null);
    std::array<unsigned char, 256> returned;
    returned.fill(0xEE);
    objects_.LookAt(chain);
    RecordingObject::SetResult(result);
    RecordingObject::TakeCalls();
    Invoke(method, objects_.WrapperOf(chain), arguments.places(), returned.data());

    const size_t size = std::min<size_t>(info.result.size_bytes, 64);
    if (RecordingObject::ReturnsInMemory(info)) {
      EXPECT_EQ(std::string(returned.begin(), returned.begin() + size), std::string(size, 0));
    } else {
      const size_t bytes = points ? sizeof(void*) : std::min<size_t>(size, 8);
      EXPECT_EQ(std::memcmp(returned.data(), &result, bytes), 0);
    }
    int found = 0;
    for (const RecordingObject::Call& call : RecordingObject::TakeCalls()) {
      if (call.slot != info.slot || call.object != RealOf(chain)) continue;
      ++found;
      for (size_t i = 0; i < info.parameters.size(); ++i) {
        if (!IsPointer(info.parameters[i])) continue;
        const uint64_t seen =
            call.arguments[static_cast<size_t>(RecordingObject::PlaceOf(info, i))];
        EXPECT_EQ(seen == 0, static_cast<int>(i) == null) << info.parameters[i].name;
      }
    }
    EXPECT_EQ(found, 1) << "calls that the implementation got";
  }

  const void* RealOf(Chain chain) const {
    return Wrapper::FromInterface(objects_.WrapperOf(chain))->real_pointer();
  }

  Objects objects_;
};

TEST(NullArguments, ReachTheImplementationAndItsResultComesBack) {
  std::unique_ptr<TestWatcher> watcher;
  if (getenv("CAIRN_CAPTURE") != nullptr) watcher = std::make_unique<TestWatcher>();
  int methods = 0;
  {
    EveryMethod every;
    for (size_t i = 1; i < kChainCount; ++i) {
      const auto chain = static_cast<Chain>(i);
      for (uint32_t m = 0; m < kMethodCount; ++m) {
        const auto method = static_cast<Method>(m);
        const std::string_view name = Describe(method).name;
        const std::string_view owner = name.substr(0, name.find("::"));
        const InterfaceInfo* known = Describe(chain).newest;
        while (known != nullptr && known->name != owner) known = known->base;
        if (known == nullptr) continue;
        ++methods;
        every.CallOn(chain, method);
      }
    }
  }
  EXPECT_EQ(watcher != nullptr, Capture::Active() != nullptr);
  // More than there are: what all objects have is called on each.
  EXPECT_GT(methods, static_cast<int>(kMethodCount));
}

#if !defined(CAIRN_SANITIZED)
const IID& NoIdentifier() {
  static const IID* volatile none = nullptr;
  return *none;
}

// QueryInterface is in no table.
TEST(NullArguments, QueryInterfaceReachesTheImplementation) {
  const Objects objects;
  RecordingObject::SetResult(static_cast<uint32_t>(E_POINTER));
  for (size_t i = 1; i < kChainCount; ++i) {
    const auto chain = static_cast<Chain>(i);
    char untouched = 0;
    void* object = &untouched;
    auto* const wrapper = static_cast<IUnknown*>(objects.WrapperOf(chain));
    EXPECT_EQ(wrapper->QueryInterface(NoIdentifier(), &object), E_POINTER)
        << Describe(chain).first->name;
    EXPECT_EQ(object, &untouched) << Describe(chain).first->name;
  }
}

// An implementation may make an object without one: it has a wrapper.
TEST(NullArguments, WhatIsMadeWithoutAnIdentifierHasAWrapper) {
  const Objects objects;
  Wrapper& device = *AsWrapper(static_cast<ID3D12Device*>(objects.WrapperOf(Chain::kID3D12Device)));
  void* const real = (new RecordingObject(Chain::kID3D12Fence))->pointer();
  void* made = nullptr;
  EXPECT_EQ(WrapCreated(device, Chain::kID3D12Fence, real, NoIdentifier(), &made), S_OK);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(RealObject(static_cast<IUnknown*>(made)), real);
}
#endif

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
