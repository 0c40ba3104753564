// SPDX-License-Identifier: Apache-2.0
//
// An implementation of Direct3D has no way to take memory that exists already. But it makes a readback
// buffer by vkCreateBuffer and vkAllocateMemory on the thread that asked for it, and cannot tell memory
// that Vulkan made from memory that Vulkan imported.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "app/vulkan/driver_half.h"

namespace cairn {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kHostMemory =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
// A Direct3D buffer may be made a little larger than it was asked for, and never by this much.
constexpr VkDeviceSize kMostRounding = 65536;

constexpr VkDeviceSize RoundUp(VkDeviceSize value, VkDeviceSize step) {
  return (value + step - 1) / step * step;
}

const VkBaseInStructure* FindStructure(const void* chain, VkStructureType type) {
  const auto* structure = static_cast<const VkBaseInStructure*>(chain);
  while (structure != nullptr && structure->sType != type) structure = structure->pNext;
  return structure;
}

bool IsExpected(const ExpectedBufferScope& expected, const VkBufferCreateInfo& info) {
  return !expected.buffer().known() && info.size >= expected.size_bytes() &&
         info.size - expected.size_bytes() < kMostRounding &&
         (info.flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) == 0;
}

// "" or why the expected buffer's memory cannot be an import.
std::string WhyNoImport(const DriverHalfDevice& half, const ExpectedBufferScope& expected,
                        const VkBufferCreateInfo& info) {
  if (half.import_alignment() == 0) return half.why_no_import();
  const auto address = reinterpret_cast<uintptr_t>(expected.base());
  if (address % half.import_alignment() != 0) {
    return fmt::format("the Vulkan device imports memory at multiples of {} only",
                       half.import_alignment());
  }
  if (FindStructure(info.pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO) != nullptr) {
    return "the implementation of Direct3D shares the buffer already";
  }
  return "";
}

VkResult CreateExpectedBuffer(DriverHalfDevice& half, ExpectedBufferScope& expected,
                              const VkBufferCreateInfo& info,
                              const VkAllocationCallbacks* allocator, VkBuffer* buffer) {
  const DeviceState& device = half.device();
  const bool import = expected.base() != nullptr;
  const std::string why_not = import ? WhyNoImport(half, expected, info) : "";
  VkBufferCreateInfo ours = info;
  ours.usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkExternalMemoryBufferCreateInfo external = {VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                               info.pNext, kHostMemory};
  const bool importable = import && why_not.empty();
  if (importable) ours.pNext = &external;
  VkResult result = device.vk.CreateBuffer(device.handle, &ours, allocator, buffer);
  if (result != VK_SUCCESS) {
    expected.NoteRefusal(fmt::format("vkCreateBuffer returned {}", VulkanResultName(result)));
    return device.vk.CreateBuffer(device.handle, &info, allocator, buffer);
  }
  if (import && !importable) expected.NoteRefusal(why_not);
  if (!import) expected.NoteRefusal("not asked for");
  expected.NoteBuffer({&half, (uint64_t)(*buffer)}, importable);  // NOLINT: pointer or number
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateBuffer(VkDevice device_handle, const VkBufferCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkBuffer* buffer) {
  const DeviceState& device = *DeviceOf(device_handle);
  DeviceSeenScope::Note(device.driver_half.get());
  ExpectedBufferScope* const expected = ExpectedBufferScope::Current();
  if (expected != nullptr && IsExpected(*expected, *info)) {
    try {
      return CreateExpectedBuffer(*device.driver_half, *expected, *info, allocator, buffer);
    } catch (const std::bad_alloc&) {
      // Only the texts above allocate: then the buffer is there, or it is created below.
      if (expected->buffer().known()) return VK_SUCCESS;
    }
  }
  return device.vk.CreateBuffer(device_handle, info, allocator, buffer);
}

// Structures that say where memory comes from, or goes, themselves.
bool SharesMemory(const VkMemoryAllocateInfo& info) {
  constexpr VkStructureType kTypes[] = {VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                        VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                        VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](VkStructureType type) {
    return FindStructure(info.pNext, type) != nullptr;
  });
}

// Returns a memory type for imported pages that lets the CPU see the GPU's writes: `wanted` if
// possible. VK_MAX_MEMORY_TYPES if there is none.
uint32_t ChooseType(const VkPhysicalDeviceMemoryProperties& properties, uint32_t allowed,
                    uint32_t wanted) {
  constexpr VkMemoryPropertyFlags kNeeded =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const auto fits = [&](uint32_t type) {
    return type < properties.memoryTypeCount && (allowed >> type & 1) != 0 &&
           (properties.memoryTypes[type].propertyFlags & kNeeded) == kNeeded;
  };
  if (fits(wanted)) return wanted;
  for (uint32_t type = 0; type < properties.memoryTypeCount; ++type) {
    if (fits(type)) return type;
  }
  return VK_MAX_MEMORY_TYPES;
}

// Fills in what makes `ours`, a copy of what the implementation asked for, an import; "" or why not.
std::string MakeImport(const DriverHalfDevice& half, const ExpectedBufferScope& expected,
                       VkMemoryAllocateInfo* ours, VkImportMemoryHostPointerInfoEXT* import) {
  const DeviceState& device = half.device();
  const uint32_t wanted = ours->memoryTypeIndex;
  const VkPhysicalDeviceMemoryProperties& properties = half.memory_properties();
  if (wanted >= properties.memoryTypeCount ||
      (properties.memoryTypes[wanted].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
    return "the buffer was given memory that the CPU cannot read";
  }
  if (SharesMemory(*ours)) return "the implementation of Direct3D shares the memory already";
  const auto buffer = (VkBuffer)(expected.buffer().buffer);  // NOLINT: pointer or number
  VkMemoryRequirements requirements = {};
  device.vk.GetBufferMemoryRequirements(device.handle, buffer, &requirements);
  const VkDeviceSize size = RoundUp(ours->allocationSize, half.import_alignment());
  const bool dedicated =
      FindStructure(ours->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO) != nullptr;
  if (size > expected.size_bytes() || ours->allocationSize < requirements.size ||
      (dedicated && size != ours->allocationSize)) {
    return fmt::format("the implementation of Direct3D allocates {} bytes, and {} can be imported",
                       ours->allocationSize, expected.size_bytes());
  }
  VkMemoryHostPointerPropertiesEXT pointer = {VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  const VkResult result = device.vk.GetMemoryHostPointerPropertiesEXT(device.handle, kHostMemory,
                                                                      expected.base(), &pointer);
  if (result != VK_SUCCESS) {
    return fmt::format("vkGetMemoryHostPointerPropertiesEXT returned {}", VulkanResultName(result));
  }
  const uint32_t type =
      ChooseType(properties, pointer.memoryTypeBits & requirements.memoryTypeBits, wanted);
  if (type == VK_MAX_MEMORY_TYPES) return "no coherent type of memory takes the block's pages";
  import->sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  import->pNext = ours->pNext;
  import->handleType = kHostMemory;
  import->pHostPointer = expected.base();
  ours->pNext = import;
  ours->allocationSize = size;
  ours->memoryTypeIndex = type;
  return "";
}

// Returns true if `memory` is the import; otherwise nothing was allocated.
bool AllocateExpected(const DriverHalfDevice& half, ExpectedBufferScope& expected,
                      const VkMemoryAllocateInfo& info, const VkAllocationCallbacks* allocator,
                      VkDeviceMemory* memory) {
  VkMemoryAllocateInfo ours = info;
  VkImportMemoryHostPointerInfoEXT import = {};
  std::string why_not = MakeImport(half, expected, &ours, &import);
  if (why_not.empty()) {
    const DeviceState& device = half.device();
    const VkResult result = device.vk.AllocateMemory(device.handle, &ours, allocator, memory);
    if (result == VK_SUCCESS) {
      expected.NoteImport();
      return true;
    }
    why_not =
        fmt::format("vkAllocateMemory of the block's pages returned {}", VulkanResultName(result));
  }
  expected.NoteRefusal(why_not);
  return false;
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice device_handle,
                                              const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDeviceMemory* memory) {
  const DeviceState& device = *DeviceOf(device_handle);
  DeviceSeenScope::Note(device.driver_half.get());
  ExpectedBufferScope* const expected = ExpectedBufferScope::Current();
  if (expected != nullptr && expected->buffer().device == device.driver_half.get() &&
      expected->TakeAllocation()) {
    try {
      if (AllocateExpected(*device.driver_half, *expected, *info, allocator, memory)) {
        return VK_SUCCESS;
      }
    } catch (const std::bad_alloc&) {
      // Thrown by texts only, where nothing was allocated.
    }
  }
  return device.vk.AllocateMemory(device_handle, info, allocator, memory);
}

}  // namespace

std::span<const Intercept> DrivenMemoryIntercepts() {
  static const Intercept kIntercepts[] = {
      InterceptOf<PFN_vkCreateBuffer>("vkCreateBuffer", CreateBuffer),
      InterceptOf<PFN_vkAllocateMemory>("vkAllocateMemory", AllocateMemory),
  };
  return kIntercepts;
}

}  // namespace cairn
