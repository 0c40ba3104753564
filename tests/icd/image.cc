// SPDX-License-Identifier: Apache-2.0
//
// Images: memory of the right size, and no pixels.
#include "icd/entry.h"
#include "icd/objects.h"

namespace cairn::icd {
namespace {

constexpr VkDeviceSize kBytesPerPixel = 16;  // of the largest format
constexpr VkDeviceSize kMipmapFactor = 2;    // all levels together are less than twice the first

Image Describe(const VkImageCreateInfo& info) {
  Image image;
  image.row_bytes = info.extent.width * kBytesPerPixel;
  image.size_bytes = image.row_bytes * info.extent.height * info.extent.depth * info.arrayLayers *
                     kMipmapFactor * static_cast<VkDeviceSize>(info.samples);
  return image;
}

VkMemoryRequirements ImageNeeds(const Image& image) {
  const VkDeviceSize size =
      (image.size_bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  return {size, kMemoryAlignment, 0b111};
}

VkResult VKAPI_CALL CreateImage(VkDevice, const VkImageCreateInfo* info,
                                const VkAllocationCallbacks*, VkImage* output) {
  *output = To<VkImage>(new Image(Describe(*info)));
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyImage(VkDevice device, VkImage handle, const VkAllocationCallbacks*) {
  if (handle == VK_NULL_HANDLE) return;
  const std::unique_ptr<Image> image(From<Image>(handle));
  if (image->memory == nullptr) return;
  TellBinding(*Of(device), VK_OBJECT_TYPE_IMAGE, reinterpret_cast<uint64_t>(handle),
              image->memory->address + image->offset, image->size_bytes, false, false);
}

VkResult VKAPI_CALL BindImageMemory2(VkDevice device, uint32_t count,
                                     const VkBindImageMemoryInfo* infos) {
  for (uint32_t i = 0; i < count; ++i) {
    Image* image = From<Image>(infos[i].image);
    image->memory = From<Memory>(infos[i].memory);
    image->offset = infos[i].memoryOffset;
    TellBinding(*Of(device), VK_OBJECT_TYPE_IMAGE, reinterpret_cast<uint64_t>(infos[i].image),
                image->memory->address + image->offset, image->size_bytes, true, false);
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL BindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory,
                                    VkDeviceSize offset) {
  VkBindImageMemoryInfo info = {VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO};
  info.image = image;
  info.memory = memory;
  info.memoryOffset = offset;
  return BindImageMemory2(device, 1, &info);
}

void VKAPI_CALL GetImageMemoryRequirements(VkDevice, VkImage image,
                                           VkMemoryRequirements* requirements) {
  *requirements = ImageNeeds(*From<Image>(image));
}

void VKAPI_CALL GetImageMemoryRequirements2(VkDevice, const VkImageMemoryRequirementsInfo2* info,
                                            VkMemoryRequirements2* requirements) {
  requirements->memoryRequirements = ImageNeeds(*From<Image>(info->image));
}

void VKAPI_CALL GetDeviceImageMemoryRequirements(VkDevice,
                                                 const VkDeviceImageMemoryRequirements* info,
                                                 VkMemoryRequirements2* requirements) {
  requirements->memoryRequirements = ImageNeeds(Describe(*info->pCreateInfo));
}

void VKAPI_CALL GetImageSparseMemoryRequirements(VkDevice, VkImage, uint32_t* count,
                                                 VkSparseImageMemoryRequirements*) {
  *count = 0;
}

void VKAPI_CALL GetImageSparseMemoryRequirements2(VkDevice,
                                                  const VkImageSparseMemoryRequirementsInfo2*,
                                                  uint32_t* count,
                                                  VkSparseImageMemoryRequirements2*) {
  *count = 0;
}

void VKAPI_CALL GetDeviceImageSparseMemoryRequirements(VkDevice,
                                                       const VkDeviceImageMemoryRequirements*,
                                                       uint32_t* count,
                                                       VkSparseImageMemoryRequirements2*) {
  *count = 0;
}

void VKAPI_CALL GetImageSubresourceLayout(VkDevice, VkImage image, const VkImageSubresource*,
                                          VkSubresourceLayout* layout) {
  const Image& described = *From<Image>(image);
  *layout = {0, described.size_bytes, described.row_bytes, described.size_bytes,
             described.size_bytes};
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CreateImage),
    CAIRN_ICD_ENTRY(DestroyImage),
    CAIRN_ICD_ENTRY(BindImageMemory),
    CAIRN_ICD_ENTRY(BindImageMemory2),
    CAIRN_ICD_ENTRY(GetImageMemoryRequirements),
    CAIRN_ICD_ENTRY(GetImageMemoryRequirements2),
    CAIRN_ICD_ENTRY(GetDeviceImageMemoryRequirements),
    CAIRN_ICD_ENTRY(GetImageSparseMemoryRequirements),
    CAIRN_ICD_ENTRY(GetImageSparseMemoryRequirements2),
    CAIRN_ICD_ENTRY(GetDeviceImageSparseMemoryRequirements),
    CAIRN_ICD_ENTRY(GetImageSubresourceLayout),
};

}  // namespace

std::span<const Entry> ImageEntries() {
  return kEntries;
}

}  // namespace cairn::icd
