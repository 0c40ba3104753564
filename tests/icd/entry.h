// SPDX-License-Identifier: Apache-2.0
//
// Which functions the driver has. Each file of functions exports its table; entry.cc joins them.
#ifndef CAIRN_TESTS_ICD_ENTRY_H_
#define CAIRN_TESTS_ICD_ENTRY_H_

#include <vulkan/vulkan_core.h>

#include <span>

namespace cairn::icd {

struct Entry {
  const char* name;
  PFN_vkVoidFunction function;
  const char* extension = nullptr;  // needed for the function to exist; null: it always does
};

// An entry for a function of this file's namespace that is named like Vulkan's without "vk". The cast
// fails to compile if the parameters are not Vulkan's.
#define CAIRN_ICD_NAMED(vulkan_name, function, extension)                                  \
  cairn::icd::Entry {                                                                      \
#vulkan_name,                                                                          \
        reinterpret_cast < PFN_vkVoidFunction>(static_cast <PFN_##vulkan_name>(function)), \
        extension                                                                          \
  }
#define CAIRN_ICD_ENTRY(name) CAIRN_ICD_NAMED(vk##name, name, nullptr)
#define CAIRN_ICD_EXTENSION(name, extension) CAIRN_ICD_NAMED(vk##name, name, extension)

// Functions that take note of nothing: everything they do is return zero or VK_SUCCESS.
template <typename Function>
struct Nothing;
template <typename Result, typename... Parameters>
struct Nothing<Result(VKAPI_PTR*)(Parameters...)> {
  static Result VKAPI_CALL Call(Parameters...) { return Result(); }
};
#define CAIRN_ICD_NOTHING(name) \
  CAIRN_ICD_NAMED(vk##name, cairn::icd::Nothing<PFN_vk##name>::Call, nullptr)

std::span<const Entry> InstanceEntries();
std::span<const Entry> PhysicalDeviceEntries();
std::span<const Entry> DeviceEntries();
std::span<const Entry> MemoryEntries();
std::span<const Entry> ImageEntries();
std::span<const Entry> StubEntries();
std::span<const Entry> CommandPoolEntries();
std::span<const Entry> CommandEntries();
std::span<const Entry> TransferEntries();
std::span<const Entry> BarrierEntries();
std::span<const Entry> LabelEntries();
std::span<const Entry> StateCommandEntries();
std::span<const Entry> QueueEntries();
std::span<const Entry> SyncEntries();
std::span<const Entry> FaultEntries();
std::span<const Entry> MessengerEntries();

// Every device extension that the driver knows, whatever CAIRN_ICD says.
std::span<const VkExtensionProperties> DeviceExtensions();

PFN_vkVoidFunction FindFunction(const char* name);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_ENTRY_H_
