// SPDX-License-Identifier: Apache-2.0
//
// CAIRN_CHECK=1 in a process of its own each: the setting is read once.
#include "app/d3d12/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "d3d12abi/testing/fake_device.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A device with the check on.
ID3D12Device* CheckedDevice() {
  SetVariable("CAIRN_CHECK", "1");
  return WrapDevice(CreateFakeDevice(), {});
}

ID3D12Fence* MakeFence(ID3D12Device* device, const wchar_t* name) {
  ID3D12Fence* fence = nullptr;
  device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence),
                      reinterpret_cast<void**>(&fence));
  if (name != nullptr) fence->SetName(name);
  return fence;
}

class CheckTest : public testing::Test {
 protected:
  CheckTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(CheckTest, SaysSoWhenAllIsWell) {
  const auto program = [] {
    ID3D12Device* const device = CheckedDevice();
    MakeFence(device, L"done")->Release();
    device->Release();
    exit(3);
  };
  EXPECT_EXIT(
      program(), testing::ExitedWithCode(3),
      AllOf(HasSubstr("cairn check: end of a device: all is well; 0 arguments and 1 ended "
                      "objects checked"),
            HasSubstr("cairn check: end of the process: all is well"), Not(HasSubstr("leak"))));
}

TEST_F(CheckTest, ObjectsThatWereNeverReleasedAreNamed) {
  const auto program = [] {
    ID3D12Device* const device = CheckedDevice();
    MakeFence(device, L"frame done");
    MakeFence(device, L"frame done");
    ID3D12Resource* buffer = nullptr;
    CreateBuffer(device, 64, __uuidof(ID3D12Resource), reinterpret_cast<void**>(&buffer));
    exit(4);
  };
  EXPECT_EXIT(
      program(), testing::ExitedWithCode(4),
      AllOf(HasSubstr(
                "cairn check: leak: 2 x fence 'frame done', still alive when the process ended"),
            HasSubstr("cairn check: leak: 1 x resource without a name, still alive"),
            HasSubstr("cairn check: leak: 1 x device without a name"),
            HasSubstr("cairn check: end of the process: 4 problems: 4 objects leaked")));
}

TEST_F(CheckTest, AResourceHeldBeyondItsDeviceIsALeak) {
  const auto program = [] {
    ID3D12Device* const device = CheckedDevice();
    ID3D12Resource* buffer = nullptr;
    CreateBuffer(device, 64, __uuidof(ID3D12Resource), reinterpret_cast<void**>(&buffer));
    buffer->SetName(L"back buffer");
    ULONG count = 0;
    HoldResource(buffer, &count);
    buffer->Release();
    device->Release();
    exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0),
              HasSubstr("leak: 1 x resource 'back buffer', still alive when their device ended"));
}

TEST_F(CheckTest, ReferencesToTheRealObjectThatNobodyAccountsFor) {
  const auto program = [] {
    ID3D12Device* const device = CheckedDevice();
    ID3D12Fence* const fence = MakeFence(device, L"kept");
    ID3D12Fence* const real = RealObject(fence);
    real->AddRef();
    fence->Release();
    device->Release();
    real->Release();
    exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("fence 'kept': 1 references to the real object are left"),
                    HasSubstr("1 reference counts left")));
}

TEST_F(CheckTest, AnArgumentThatTheRegistryDoesNotKnow) {
  const auto program = [] {
    ID3D12Device* const device = CheckedDevice();
    ID3D12Fence* const fence = MakeFence(device, nullptr);
    Wrapper* const wrapper = AsWrapper(fence);
    Wrappers().Remove(wrapper->real_pointer(), wrapper);
    RealObject(fence);
    exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("none is registered: it was released before"),
                    HasSubstr("1 arguments with a wrong wrapper")));
}

TEST_F(CheckTest, IsOffByDefault) {
  const auto program = [] {
    ClearVariable("CAIRN_CHECK");
    MakeFence(WrapDevice(CreateFakeDevice(), {}), L"forgotten");
    exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), Not(HasSubstr("cairn check")));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
