// SPDX-License-Identifier: Apache-2.0
//
// Decides, for every method of every interface, if a replay may drop its calls without a message.
#include "reader/replay/treatment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "d3d12gen/methods.h"

namespace cairn {
namespace {

// Interfaces that have no effect on the playback: debug layers, DRED, reports to the operating
// system and other processes, caches of drivers, queries of work graphs, hints about latency, and
// presentation.
constexpr std::string_view kInterfacesWithoutEffect[] = {"ID3DDestructionNotifier",
                                                         "ID3D12LifetimeTracker",
                                                         "ID3D12DeviceRemovedExtendedData",
                                                         "ID3D12DeviceRemovedExtendedData1",
                                                         "ID3D12DeviceRemovedExtendedData2",
                                                         "ID3D12ShaderCacheSession",
                                                         "ID3D12VirtualizationGuestDevice",
                                                         "ID3D12DeviceConfiguration",
                                                         "ID3D12DebugDevice1",
                                                         "ID3D12DebugDevice",
                                                         "ID3D12DebugDevice2",
                                                         "ID3D12DebugCommandQueue",
                                                         "ID3D12DebugCommandQueue1",
                                                         "ID3D12DebugCommandList1",
                                                         "ID3D12DebugCommandList",
                                                         "ID3D12DebugCommandList2",
                                                         "ID3D12DebugCommandList3",
                                                         "ID3D12SharingContract",
                                                         "ID3D12InfoQueue",
                                                         "ID3D12InfoQueue1",
                                                         "ID3D12DeviceConfiguration1",
                                                         "ID3D12WorkGraphProperties",
                                                         "ID3DLowLatencyDevice",
                                                         "IAmdExtAntiLagApi",
                                                         "ID3D12CommandQueueExt",
                                                         "IDXGIVkSwapChain",
                                                         "IDXGIVkSwapChain1",
                                                         "IDXGIVkSwapChain2",
                                                         "IDXGIVkSwapChainFactory"};

struct WithoutEffect {
  std::string_view interface;
  std::vector<std::string_view> methods;
};

// Questions and private data; and: handles of other processes, memory of the program that is written, clocks of the
// GPU, pipeline libraries (empty here), caches, and the ends of what is told when it begins.
const WithoutEffect kMethodsWithoutEffect[] = {
    {"ID3D12Object", {"GetPrivateData", "SetPrivateData", "SetPrivateDataInterface"}},
    {"ID3D12DeviceChild", {"GetDevice"}},
    {"ID3D12Heap", {"GetDesc"}},
    {"ID3D12Resource",
     {"GetDesc", "GetGPUVirtualAddress", "ReadFromSubresource", "GetHeapProperties"}},
    {"ID3D12Fence1", {"GetCreationFlags"}},
    {"ID3D12PipelineState", {"GetCachedBlob"}},
    {"ID3D12DescriptorHeap",
     {"GetDesc", "GetCPUDescriptorHandleForHeapStart", "GetGPUDescriptorHandleForHeapStart"}},
    {"ID3D12CommandList", {"GetType"}},
    {"ID3D12CommandQueue", {"GetTimestampFrequency", "GetClockCalibration", "GetDesc"}},
    {"ID3D12Device",
     {"GetNodeCount", "GetDescriptorHandleIncrementSize", "GetResourceAllocationInfo",
      "GetCustomHeapProperties", "CreateSharedHandle", "GetDeviceRemovedReason",
      "GetCopyableFootprints", "SetStablePowerState", "GetResourceTiling", "GetAdapterLuid"}},
    {"ID3D12PipelineLibrary", {"StorePipeline", "GetSerializedSize", "Serialize"}},
    {"ID3D12ProtectedSession", {"GetSessionStatus"}},
    {"ID3D12ProtectedResourceSession", {"GetDesc"}},
    {"ID3D12Device4", {"GetResourceAllocationInfo1"}},
    {"ID3D12StateObjectProperties", {"GetShaderStackSize", "GetPipelineStackSize"}},
    {"ID3D12Device5",
     {"CreateLifetimeTracker", "EnumerateMetaCommands", "EnumerateMetaCommandParameters",
      "GetRaytracingAccelerationStructurePrebuildInfo", "CheckDriverMatchingIdentifier"}},
    {"ID3D12Device6", {"SetBackgroundProcessingMode"}},
    {"ID3D12ProtectedResourceSession1", {"GetDesc1"}},
    {"ID3D12Device8", {"GetResourceAllocationInfo2", "GetCopyableFootprints1"}},
    {"ID3D12Resource2", {"GetDesc1"}},
    {"ID3D12MetaCommand", {"GetRequiredParameterResourceSize"}},
    {"ID3D12Device9", {"CreateShaderCacheSession", "ShaderCacheControl"}},
    {"ID3D12VideoDecoderHeap", {"GetDesc"}},
    {"ID3D12VideoDevice", {"CheckFeatureSupport"}},
    {"ID3D12VideoDecoder", {"GetDesc"}},
    {"ID3D12VideoProcessor",
     {"GetNodeMask", "GetNumInputStreamDescs", "GetInputStreamDescs", "GetOutputStreamDesc"}},
    {"ID3D12VideoMotionEstimator", {"GetDesc"}},
    {"ID3D12VideoMotionVectorHeap", {"GetDesc"}},
    {"ID3D12VideoExtensionCommand", {"GetDesc"}},
    {"ID3D12VideoEncoder",
     {"GetNodeMask", "GetEncoderFlags", "GetCodec", "GetCodecProfile", "GetCodecConfiguration",
      "GetInputFormat", "GetMaxMotionEstimationPrecision"}},
    {"ID3D12VideoEncoderHeap",
     {"GetNodeMask", "GetEncoderHeapFlags", "GetCodec", "GetCodecProfile", "GetCodecLevel",
      "GetResolutionListCount", "GetResolutionList"}},
    {"ID3D12Device12", {"GetResourceAllocationInfo3"}},
    {"ID3D12Device15",
     {"RegisterTrimNotificationCallback", "UnregisterTrimNotificationCallback",
      "ResolveQueryData"}},
    {"ID3D12StateObjectProperties1", {"GetProgramIdentifier"}},
    {"ID3D12DeviceExt",
     {"GetVulkanHandles", "GetExtensionSupport", "DestroyCubinComputeShader",
      "GetCudaTextureObject", "GetCudaSurfaceObject", "CaptureUAVInfo"}},
    {"ID3D12DeviceExt1", {"GetVulkanQueueInfoEx"}},
    {"ID3D12DeviceExt2",
     {"SupportsCubin64bit", "GetCudaMergedTextureSamplerObject",
      "GetCudaIndependentDescriptorObject"}},
    {"ID3D12DeviceExt3", {"SupportsAGSExtension"}},
    {"ID3D12DeviceExt4", {"IsNvShaderExtnOpCodeSupported"}},
    {"ID3D12DXVKInteropDevice",
     {"GetDXGIAdapter", "GetInstanceExtensions", "GetDeviceExtensions", "GetDeviceFeatures",
      "GetVulkanHandles", "GetVulkanQueueInfo", "GetVulkanImageLayout", "GetVulkanResourceInfo",
      "UnlockCommandQueue"}},
    {"ID3D12DXVKInteropDevice1", {"GetVulkanResourceInfo1", "EndVkCommandBufferInterop"}},
    {"ID3D12DXVKInteropDevice2", {"UnlockVulkanQueue"}},
    {"ID3D12DXVKInteropDevice3", {"GetVulkanHeapInfo"}},
    {"ID3D12GraphicsCommandListExt2", {"VerifyOpacityMicromapArrayNVAPI"}},
};

std::set<std::string> Dropped() {
  std::set<std::string> names;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    if (TreatmentOf(method) == Treatment::kNoEffect) names.insert(Describe(method).name);
  }
  return names;
}

std::set<std::string> MayBeDropped() {
  std::set<std::string> names;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const std::string_view name = Describe(static_cast<Method>(i)).name;
    const std::string_view interface = name.substr(0, name.find(':'));
    if (std::find(std::begin(kInterfacesWithoutEffect), std::end(kInterfacesWithoutEffect),
                  interface) != std::end(kInterfacesWithoutEffect)) {
      names.insert(std::string(name));
    }
  }
  for (const WithoutEffect& some : kMethodsWithoutEffect) {
    for (const std::string_view method : some.methods) {
      names.insert(std::string(some.interface) + "::" + std::string(method));
    }
  }
  return names;
}

std::vector<std::string> Minus(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

TEST(TreatmentTest, OnlyWhatHasNoEffectIsDropped) {
  EXPECT_THAT(Minus(Dropped(), MayBeDropped()), testing::IsEmpty())
      << "a new method: say here that it has no effect, or why it cannot be made (WhyUnrepeatable)";
  EXPECT_THAT(Minus(MayBeDropped(), Dropped()), testing::IsEmpty());
}

TEST(TreatmentTest, WhatCannotBeRepeatedHasAReason) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    EXPECT_EQ(WhyUnrepeatable(method) != nullptr, TreatmentOf(method) == Treatment::kUnrepeatable)
        << Describe(method).name;
  }
  for (const Method method : {Method::ID3D12GraphicsCommandList10_SetProgram,
                              Method::ID3D12GraphicsCommandList10_DispatchGraph,
                              Method::ID3D12DXVKInteropDevice_LockCommandQueue,
                              Method::ID3D12GraphicsCommandListExt_LaunchCubinShader}) {
    EXPECT_EQ(TreatmentOf(method), Treatment::kUnrepeatable) << Describe(method).name;
  }
}

}  // namespace
}  // namespace cairn
