// SPDX-License-Identifier: Apache-2.0
#include "reader/report/object_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "format/block/object_description.h"
#include "format/block/pipeline_description.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// The enumerators of DXGI_FORMAT and VkFormat without their prefix, by value; "": none, or not known.
constexpr std::string_view kDxgiFormats[] = {
    "",
    "R32G32B32A32_TYPELESS",
    "R32G32B32A32_FLOAT",
    "R32G32B32A32_UINT",
    "R32G32B32A32_SINT",
    "R32G32B32_TYPELESS",
    "R32G32B32_FLOAT",
    "R32G32B32_UINT",
    "R32G32B32_SINT",
    "R16G16B16A16_TYPELESS",
    "R16G16B16A16_FLOAT",
    "R16G16B16A16_UNORM",
    "R16G16B16A16_UINT",
    "R16G16B16A16_SNORM",
    "R16G16B16A16_SINT",
    "R32G32_TYPELESS",
    "R32G32_FLOAT",
    "R32G32_UINT",
    "R32G32_SINT",
    "R32G8X24_TYPELESS",
    "D32_FLOAT_S8X24_UINT",
    "R32_FLOAT_X8X24_TYPELESS",
    "X32_TYPELESS_G8X24_UINT",
    "R10G10B10A2_TYPELESS",
    "R10G10B10A2_UNORM",
    "R10G10B10A2_UINT",
    "R11G11B10_FLOAT",
    "R8G8B8A8_TYPELESS",
    "R8G8B8A8_UNORM",
    "R8G8B8A8_UNORM_SRGB",
    "R8G8B8A8_UINT",
    "R8G8B8A8_SNORM",
    "R8G8B8A8_SINT",
    "R16G16_TYPELESS",
    "R16G16_FLOAT",
    "R16G16_UNORM",
    "R16G16_UINT",
    "R16G16_SNORM",
    "R16G16_SINT",
    "R32_TYPELESS",
    "D32_FLOAT",
    "R32_FLOAT",
    "R32_UINT",
    "R32_SINT",
    "R24G8_TYPELESS",
    "D24_UNORM_S8_UINT",
    "R24_UNORM_X8_TYPELESS",
    "X24_TYPELESS_G8_UINT",
    "R8G8_TYPELESS",
    "R8G8_UNORM",
    "R8G8_UINT",
    "R8G8_SNORM",
    "R8G8_SINT",
    "R16_TYPELESS",
    "R16_FLOAT",
    "D16_UNORM",
    "R16_UNORM",
    "R16_UINT",
    "R16_SNORM",
    "R16_SINT",
    "R8_TYPELESS",
    "R8_UNORM",
    "R8_UINT",
    "R8_SNORM",
    "R8_SINT",
    "A8_UNORM",
    "R1_UNORM",
    "R9G9B9E5_SHAREDEXP",
    "R8G8_B8G8_UNORM",
    "G8R8_G8B8_UNORM",
    "BC1_TYPELESS",
    "BC1_UNORM",
    "BC1_UNORM_SRGB",
    "BC2_TYPELESS",
    "BC2_UNORM",
    "BC2_UNORM_SRGB",
    "BC3_TYPELESS",
    "BC3_UNORM",
    "BC3_UNORM_SRGB",
    "BC4_TYPELESS",
    "BC4_UNORM",
    "BC4_SNORM",
    "BC5_TYPELESS",
    "BC5_UNORM",
    "BC5_SNORM",
    "B5G6R5_UNORM",
    "B5G5R5A1_UNORM",
    "B8G8R8A8_UNORM",
    "B8G8R8X8_UNORM",
    "R10G10B10_XR_BIAS_A2_UNORM",
    "B8G8R8A8_TYPELESS",
    "B8G8R8A8_UNORM_SRGB",
    "B8G8R8X8_TYPELESS",
    "B8G8R8X8_UNORM_SRGB",
    "BC6H_TYPELESS",
    "BC6H_UF16",
    "BC6H_SF16",
    "BC7_TYPELESS",
    "BC7_UNORM",
    "BC7_UNORM_SRGB",
    "AYUV",
    "Y410",
    "Y416",
    "NV12",
    "P010",
    "P016",
    "420_OPAQUE",
    "YUY2",
    "Y210",
    "Y216",
    "NV11",
    "AI44",
    "IA44",
    "P8",
    "A8P8",
    "B4G4R4A4_UNORM",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "P208",
    "V208",
    "V408",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "SAMPLER_FEEDBACK_MIN_MIP_OPAQUE",
    "SAMPLER_FEEDBACK_MIP_REGION_USED_OPAQUE",
};
constexpr std::string_view kVulkanFormats[] = {
    "",
    "R4G4_UNORM_PACK8",
    "R4G4B4A4_UNORM_PACK16",
    "B4G4R4A4_UNORM_PACK16",
    "R5G6B5_UNORM_PACK16",
    "B5G6R5_UNORM_PACK16",
    "R5G5B5A1_UNORM_PACK16",
    "B5G5R5A1_UNORM_PACK16",
    "A1R5G5B5_UNORM_PACK16",
    "R8_UNORM",
    "R8_SNORM",
    "R8_USCALED",
    "R8_SSCALED",
    "R8_UINT",
    "R8_SINT",
    "R8_SRGB",
    "R8G8_UNORM",
    "R8G8_SNORM",
    "R8G8_USCALED",
    "R8G8_SSCALED",
    "R8G8_UINT",
    "R8G8_SINT",
    "R8G8_SRGB",
    "R8G8B8_UNORM",
    "R8G8B8_SNORM",
    "R8G8B8_USCALED",
    "R8G8B8_SSCALED",
    "R8G8B8_UINT",
    "R8G8B8_SINT",
    "R8G8B8_SRGB",
    "B8G8R8_UNORM",
    "B8G8R8_SNORM",
    "B8G8R8_USCALED",
    "B8G8R8_SSCALED",
    "B8G8R8_UINT",
    "B8G8R8_SINT",
    "B8G8R8_SRGB",
    "R8G8B8A8_UNORM",
    "R8G8B8A8_SNORM",
    "R8G8B8A8_USCALED",
    "R8G8B8A8_SSCALED",
    "R8G8B8A8_UINT",
    "R8G8B8A8_SINT",
    "R8G8B8A8_SRGB",
    "B8G8R8A8_UNORM",
    "B8G8R8A8_SNORM",
    "B8G8R8A8_USCALED",
    "B8G8R8A8_SSCALED",
    "B8G8R8A8_UINT",
    "B8G8R8A8_SINT",
    "B8G8R8A8_SRGB",
    "A8B8G8R8_UNORM_PACK32",
    "A8B8G8R8_SNORM_PACK32",
    "A8B8G8R8_USCALED_PACK32",
    "A8B8G8R8_SSCALED_PACK32",
    "A8B8G8R8_UINT_PACK32",
    "A8B8G8R8_SINT_PACK32",
    "A8B8G8R8_SRGB_PACK32",
    "A2R10G10B10_UNORM_PACK32",
    "A2R10G10B10_SNORM_PACK32",
    "A2R10G10B10_USCALED_PACK32",
    "A2R10G10B10_SSCALED_PACK32",
    "A2R10G10B10_UINT_PACK32",
    "A2R10G10B10_SINT_PACK32",
    "A2B10G10R10_UNORM_PACK32",
    "A2B10G10R10_SNORM_PACK32",
    "A2B10G10R10_USCALED_PACK32",
    "A2B10G10R10_SSCALED_PACK32",
    "A2B10G10R10_UINT_PACK32",
    "A2B10G10R10_SINT_PACK32",
    "R16_UNORM",
    "R16_SNORM",
    "R16_USCALED",
    "R16_SSCALED",
    "R16_UINT",
    "R16_SINT",
    "R16_SFLOAT",
    "R16G16_UNORM",
    "R16G16_SNORM",
    "R16G16_USCALED",
    "R16G16_SSCALED",
    "R16G16_UINT",
    "R16G16_SINT",
    "R16G16_SFLOAT",
    "R16G16B16_UNORM",
    "R16G16B16_SNORM",
    "R16G16B16_USCALED",
    "R16G16B16_SSCALED",
    "R16G16B16_UINT",
    "R16G16B16_SINT",
    "R16G16B16_SFLOAT",
    "R16G16B16A16_UNORM",
    "R16G16B16A16_SNORM",
    "R16G16B16A16_USCALED",
    "R16G16B16A16_SSCALED",
    "R16G16B16A16_UINT",
    "R16G16B16A16_SINT",
    "R16G16B16A16_SFLOAT",
    "R32_UINT",
    "R32_SINT",
    "R32_SFLOAT",
    "R32G32_UINT",
    "R32G32_SINT",
    "R32G32_SFLOAT",
    "R32G32B32_UINT",
    "R32G32B32_SINT",
    "R32G32B32_SFLOAT",
    "R32G32B32A32_UINT",
    "R32G32B32A32_SINT",
    "R32G32B32A32_SFLOAT",
    "R64_UINT",
    "R64_SINT",
    "R64_SFLOAT",
    "R64G64_UINT",
    "R64G64_SINT",
    "R64G64_SFLOAT",
    "R64G64B64_UINT",
    "R64G64B64_SINT",
    "R64G64B64_SFLOAT",
    "R64G64B64A64_UINT",
    "R64G64B64A64_SINT",
    "R64G64B64A64_SFLOAT",
    "B10G11R11_UFLOAT_PACK32",
    "E5B9G9R9_UFLOAT_PACK32",
    "D16_UNORM",
    "X8_D24_UNORM_PACK32",
    "D32_SFLOAT",
    "S8_UINT",
    "D16_UNORM_S8_UINT",
    "D24_UNORM_S8_UINT",
    "D32_SFLOAT_S8_UINT",
    "BC1_RGB_UNORM_BLOCK",
    "BC1_RGB_SRGB_BLOCK",
    "BC1_RGBA_UNORM_BLOCK",
    "BC1_RGBA_SRGB_BLOCK",
    "BC2_UNORM_BLOCK",
    "BC2_SRGB_BLOCK",
    "BC3_UNORM_BLOCK",
    "BC3_SRGB_BLOCK",
    "BC4_UNORM_BLOCK",
    "BC4_SNORM_BLOCK",
    "BC5_UNORM_BLOCK",
    "BC5_SNORM_BLOCK",
    "BC6H_UFLOAT_BLOCK",
    "BC6H_SFLOAT_BLOCK",
    "BC7_UNORM_BLOCK",
    "BC7_SRGB_BLOCK",
    "ETC2_R8G8B8_UNORM_BLOCK",
    "ETC2_R8G8B8_SRGB_BLOCK",
    "ETC2_R8G8B8A1_UNORM_BLOCK",
    "ETC2_R8G8B8A1_SRGB_BLOCK",
    "ETC2_R8G8B8A8_UNORM_BLOCK",
    "ETC2_R8G8B8A8_SRGB_BLOCK",
    "EAC_R11_UNORM_BLOCK",
    "EAC_R11_SNORM_BLOCK",
    "EAC_R11G11_UNORM_BLOCK",
    "EAC_R11G11_SNORM_BLOCK",
};

std::string_view FormatWord(bool is_vulkan, uint32_t format) {
  std::span<const std::string_view> words = kDxgiFormats;
  if (is_vulkan) words = kVulkanFormats;
  return format < words.size() ? words[format] : std::string_view();
}

std::string_view ShapeWord(ObjectShape shape) {
  switch (shape) {
    case ObjectShape::kNone: return "";
    case ObjectShape::kBuffer: return "buffer";
    case ObjectShape::kTexture1D: return "Texture1D";
    case ObjectShape::kTexture2D: return "Texture2D";
    case ObjectShape::kTexture3D: return "Texture3D";
    case ObjectShape::kHeap: return "heap";
    case ObjectShape::kDescriptorHeap: return "descriptor heap";
  }
  return "";
}

void AppendExtent(const ObjectDescription& description, std::string& out) {
  const auto append = [&out]<typename... Arguments>(fmt::format_string<Arguments...> format,
                                                    Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  };
  append(" {}", description.width);
  if (description.shape != ObjectShape::kTexture1D) append("x{}", description.height);
  if (description.shape == ObjectShape::kTexture3D) {
    append("x{}", description.layers);
  } else if (description.layers > 1) {
    append(", {} layers", description.layers);
  }
}

// D3D12_DESCRIPTOR_HEAP_TYPE.
std::string_view DescriptorsWord(uint32_t type) {
  switch (type) {
    case 0: return "CBV/SRV/UAV";
    case 1: return "samplers";
    case 2: return "RTV";
    case 3: return "DSV";
    default: return "descriptors";
  }
}

// ", 1,024 CBV/SRV/UAV, shader-visible"
void AppendDescriptors(const ObjectDescription& description, std::string& out) {
  out += ", ";
  out += GroupedDigits(description.width | description.height << 16);
  out += ' ';
  out += DescriptorsWord(description.format);
  if (description.layers != 0) out += ", shader-visible";
}

void AppendUses(uint32_t uses, std::string& out) {
  struct Use {
    uint32_t bit;
    std::string_view word;
  };
  constexpr Use kUses[] = {
      {kUsedAsVertices, "vertex"},    {kUsedAsIndices, "index"},
      {kUsedAsConstants, "constant"}, {kUsedAsArguments, "indirect"},
      {kUsedAsStorage, "storage"},    {kUsedAsUpload, "upload"},
      {kUsedAsReadback, "readback"},  {kUsedAsTarget, "render target"},
      {kUsedAsDepth, "depth"},
  };
  char separator = ' ';
  for (const Use& use : kUses) {
    if ((uses & use.bit) == 0) continue;
    out += separator;
    out += use.word;
    separator = '/';
  }
}

}  // namespace

bool AppendDescription(const Object& object, std::string& out) {
  const ObjectDescription description = UnpackDescription(object.description);
  if (description.shape == ObjectShape::kNone) return false;
  out += ShapeWord(description.shape);
  if (description.shape == ObjectShape::kDescriptorHeap) {
    AppendDescriptors(description, out);
  } else if (description.shape == ObjectShape::kBuffer || description.shape == ObjectShape::kHeap) {
    if (object.size_bytes != 0) {
      out += ' ';
      out += BytesInWords(object.size_bytes);
    }
  } else {
    AppendExtent(description, out);
    if (const std::string_view format = FormatWord(description.vulkan_format, description.format);
        !format.empty()) {
      out += ' ';
      out += format;
    }
  }
  AppendUses(description.uses, out);
  return true;
}

bool AppendPipelineDescription(const Snapshot& snapshot, uint32_t pipeline, std::string& out) {
  const auto& all = snapshot.described_pipelines;
  const auto found = std::lower_bound(all.begin(), all.end(), pipeline,
                                      [](const DescribedPipeline& described, uint32_t wanted) {
                                        return described.pipeline < wanted;
                                      });
  if (found == all.end() || found->pipeline != pipeline) return false;
  const PipelineDescription description = UnpackPipelineDescription(found->description);
  fmt::format_to(std::back_inserter(out), "#{}", pipeline + 1);
  if (!description.tells_targets) return true;
  const auto append_format = [&](uint32_t format) {
    const std::string_view word = FormatWord(description.vulkan_format, format);
    if (word.empty()) return;
    out += ' ';
    out += word;
  };
  if (description.target_count == 0) {
    out += ", no target";
  } else {
    fmt::format_to(std::back_inserter(out), ", {} target{}", description.target_count,
                   description.target_count == 1 ? "" : "s");
    append_format(description.first_target_format);
  }
  if (description.depth_format != 0) {
    out += ", depth";
    append_format(description.depth_format);
  }
  return true;
}

}  // namespace cairn
