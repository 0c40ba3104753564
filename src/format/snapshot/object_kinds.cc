// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/object_kinds.h"

#include <iterator>

namespace cairn {
namespace {

struct Kind {
  uint32_t number;
  std::string_view word;
};

// D3D12_DRED_ALLOCATION_TYPE.
constexpr Kind kD3D12Kinds[] = {
    {19, "command queue"},
    {20, "command allocator"},
    {21, "pipeline state"},
    {22, "command list"},
    {23, "fence"},
    {24, "descriptor heap"},
    {25, "heap"},
    {27, "query heap"},
    {28, "command signature"},
    {29, "pipeline library"},
    {30, "video decoder"},
    {32, "video processor"},
    {34, "resource"},
    {35, "pass"},
    {36, "crypto session"},
    {37, "crypto session policy"},
    {38, "protected resource session"},
    {39, "video decoder heap"},
    {40, "command pool"},
    {41, "command recorder"},
    {42, "state object"},
    {43, "meta command"},
    {44, "scheduling group"},
    {45, "video motion estimator"},
    {46, "video motion vector heap"},
    {47, "video extension command"},
    {48, "video encoder"},
    {49, "video encoder heap"},
};

// VkObjectType.
constexpr Kind kVulkanKinds[] = {
    {1, "instance"},
    {2, "physical device"},
    {3, "device"},
    {4, "queue"},
    {5, "semaphore"},
    {6, "command buffer"},
    {7, "fence"},
    {8, "device memory"},
    {9, "buffer"},
    {10, "image"},
    {11, "event"},
    {12, "query pool"},
    {13, "buffer view"},
    {14, "image view"},
    {15, "shader module"},
    {16, "pipeline cache"},
    {17, "pipeline layout"},
    {18, "render pass"},
    {19, "pipeline"},
    {20, "descriptor set layout"},
    {21, "sampler"},
    {22, "descriptor pool"},
    {23, "descriptor set"},
    {24, "framebuffer"},
    {25, "command pool"},
    {1000000000, "surface"},
    {1000001000, "swapchain"},
    {1000002000, "display"},
    {1000002001, "display mode"},
    {1000011000, "debug report callback"},
    {1000023000, "video session"},
    {1000023001, "video session parameters"},
    {1000029000, "CUDA binary module"},
    {1000029001, "CUDA binary function"},
    {1000085000, "descriptor update template"},
    {1000128000, "debug messenger"},
    {1000150000, "acceleration structure"},
    {1000156000, "sampler YCbCr conversion"},
    {1000160000, "validation cache"},
    {1000165000, "acceleration structure"},
    {1000210000, "performance configuration"},
    {1000268000, "deferred operation"},
    {1000277000, "indirect commands layout"},
    {1000295000, "private data slot"},
    {1000307000, "CUDA module"},
    {1000307001, "CUDA function"},
    {1000366000, "buffer collection"},
    {1000396000, "micromap"},
    {1000464000, "optical flow session"},
    {1000482000, "shader"},
    {1000483000, "pipeline binary"},
    {1000572000, "indirect commands layout"},
    {1000572001, "indirect execution set"},
};

// D3D11Kind, from 1.
constexpr std::string_view kD3D11Kinds[] = {
    "object",
    "device",
    "device context",
    "buffer",
    "texture",
    "shader resource view",
    "unordered access view",
    "render target view",
    "depth stencil view",
    "input layout",
    "blend state",
    "depth stencil state",
    "rasterizer state",
    "sampler state",
    "query",
    "vertex shader",
    "hull shader",
    "domain shader",
    "geometry shader",
    "pixel shader",
    "compute shader",
    "command list",
};

template <size_t kCount>
std::string_view Find(const Kind (&kinds)[kCount], uint32_t number) {
  for (const Kind& kind : kinds) {
    if (kind.number == number) return kind.word;
  }
  return "object";
}

}  // namespace

std::string_view ObjectKindWord(uint32_t kind) {
  if ((kind & kVulkanObject) != 0) return Find(kVulkanKinds, kind & ~kVulkanObject);
  if ((kind & kD3D11Object) == 0) return Find(kD3D12Kinds, kind);
  const uint32_t number = kind & ~kD3D11Object;
  return kD3D11Kinds[number < std::size(kD3D11Kinds) ? number : 0];
}

}  // namespace cairn
