// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/object_kind.h"

namespace cairn {

namespace {

struct Kind {
  std::string_view interface;
  uint32_t number;
  std::string_view name;
};

// Names without the version at their end.
constexpr Kind kKinds[] = {
    {"ID3D12CommandQueue", 19, "command queue"},
    {"ID3D12CommandAllocator", 20, "command allocator"},
    {"ID3D12PipelineState", 21, "pipeline state"},
    {"ID3D12CommandList", 22, "command list"},
    {"ID3D12GraphicsCommandList", 22, "command list"},
    {"ID3D12VideoDecodeCommandList", 22, "command list"},
    {"ID3D12VideoProcessCommandList", 22, "command list"},
    {"ID3D12VideoEncodeCommandList", 22, "command list"},
    {"ID3D12Fence", 23, "fence"},
    {"ID3D12DescriptorHeap", 24, "descriptor heap"},
    {"ID3D12Heap", 25, "heap"},
    {"ID3D12QueryHeap", 27, "query heap"},
    {"ID3D12CommandSignature", 28, "command signature"},
    {"ID3D12PipelineLibrary", 29, "pipeline library"},
    {"ID3D12VideoDecoder", 30, "video decoder"},
    {"ID3D12VideoProcessor", 32, "video processor"},
    {"ID3D12Resource", 34, "resource"},
    {"ID3D12ProtectedSession", 38, "protected session"},
    {"ID3D12ProtectedResourceSession", 38, "protected session"},
    {"ID3D12VideoDecoderHeap", 39, "video decoder heap"},
    {"ID3D12StateObject", 42, "state object"},
    {"ID3D12MetaCommand", 43, "meta command"},
    {"ID3D12VideoMotionEstimator", 45, "video motion estimator"},
    {"ID3D12VideoMotionVectorHeap", 46, "video motion vector heap"},
    {"ID3D12VideoExtensionCommand", 47, "video extension command"},
    {"ID3D12VideoEncoder", 48, "video encoder"},
    {"ID3D12VideoEncoderHeap", 49, "video encoder heap"},
    {"ID3D12Device", 0, "device"},
    {"ID3D12RootSignature", 0, "root signature"},
    {"ID3D12LifetimeTracker", 0, "lifetime tracker"},
    {"ID3D12ShaderCacheSession", 0, "shader cache session"},
    {"IDXGIVkSwapChain", 0, "swap chain"},
};

// "ID3D12Fence1" is a version of "ID3D12Fence": digits at the end of a name are versions.
std::string_view WithoutVersion(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

const Kind* FindKind(std::string_view interface_name) {
  const std::string_view name = WithoutVersion(interface_name);
  for (const Kind& kind : kKinds) {
    if (kind.interface == name) return &kind;
  }
  return nullptr;
}

}  // namespace

uint32_t ObjectKindOf(std::string_view interface_name) {
  const Kind* const kind = FindKind(interface_name);
  return kind == nullptr ? 0 : kind->number;
}

std::string_view ObjectKindName(std::string_view interface_name) {
  const Kind* const kind = FindKind(interface_name);
  return kind == nullptr ? interface_name : kind->name;
}

}  // namespace cairn
