// SPDX-License-Identifier: Apache-2.0
//
// What calls mean to capture.
#include "call_meaning.h"

namespace cairn {
namespace {

// ---- Capture ----

// app/d3d12/capture/call_capture.cc, WhyNotReplayed.
constexpr std::string_view kToldByCapture[] = {
    "ID3D12Device::CreateSharedHandle",
    "ID3D12Device3::OpenExistingHeapFromAddress",
    "ID3D12Device3::OpenExistingHeapFromFileMapping",
    "ID3D12Device13::OpenExistingHeapFromAddress1",
    "ID3D12Device::OpenSharedHandleByName",
    "ID3D12DeviceExt1::CreateResourceFromBorrowedHandle",
    "ID3D12DXVKInteropDevice1::CreateInteropCommandQueue",
    "ID3D12DXVKInteropDevice1::CreateInteropCommandAllocator",
    "ID3D12DXVKInteropDevice::LockCommandQueue",
    "ID3D12DXVKInteropDevice2::LockVulkanQueue",
    "ID3D12DXVKInteropDevice1::BeginVkCommandBufferInterop",
    "ID3D12GraphicsCommandListExt::GetVulkanHandle",
    "ID3D12GraphicsCommandListExt::LaunchCubinShader",
    "ID3D12GraphicsCommandListExt1::LaunchCubinShaderEx",
    "ID3D12GraphicsCommandList10::SetProgram",
    "ID3D12GraphicsCommandList10::DispatchGraph",
};
constexpr Decided kToldOtherwise[] = {
    {"ID3D12Device::CreateSharedHandle", "told by its arguments: a name, and no fence"},
    {"ID3D12Device::OpenSharedHandle", "what this process shared itself is played"},
    {"ID3D12DeviceExt::CreateCubinComputeShaderWithName", "told when the kernel is launched"},
    {"ID3D12DeviceExt2::CreateCubinComputeShaderExV2", "told when the kernel is launched"},
};

TEST(CallMeaningTest, ToldByCapture) {
  const auto by_role = [](Method method) {
    const Replay replay = RoleOf(method).replay;
    return replay == Replay::kCannot || replay == Replay::kImport;
  };
  Compare([](Method method) { return IsOneOf(method, kToldByCapture); }, by_role, kToldOtherwise);
}

}  // namespace
}  // namespace cairn
