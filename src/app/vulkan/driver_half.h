// SPDX-License-Identifier: Apache-2.0
//
// The driver half: what the layer does for the Direct3D 12 layer on a device that an implementation of
// Direct3D made. The seam, and why it is cut there, is in app/breadcrumbs/driver_half.h.
//
//   driver_half_memory.cc    the buffer that a thread expects becomes known, its memory an import
//   driver_half_commands.cc  command buffers: which recording began on a thread, whether it is inside a
//                            render pass, and writes into it
//   driver_half_loss.cc      the device is lost: what the driver knows of it
#ifndef CAIRN_APP_VULKAN_DRIVER_HALF_H_
#define CAIRN_APP_VULKAN_DRIVER_HALF_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "app/vulkan/device.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/witnesses.h"
#include "format/witness/witnesses.h"

namespace cairn {

class DriverHalfDevice;
class ExactCommands;

// Threads: like the command buffer, one at a time.
struct DrivenCommands {
  DrivenCommands();
  ~DrivenCommands();

  VkCommandBuffer handle = VK_NULL_HANDLE;
  DriverHalfDevice* device = nullptr;
  uint64_t recording = 0;  // DriverList::recording; 0 while it is not recorded
  bool secondary = false;  // has no recordings of ours
  bool in_render_pass = false;
  bool only_transfers = false;              // the family's queues take no fills before Vulkan 1.1
  const WitnessFlags* witnesses = nullptr;  // null where no barrier testifies
  // kEventDrains...: barriers that no other command has followed yet.
  uint8_t drains = 0;
  std::unique_ptr<ExactCommands> exact;  // with DeviceState::exact

  // Returns true if no fill may be recorded: mode exact closes render passes between commands.
  bool InsideRenderPass() const;
};

// Null for command buffers of other devices.
DrivenCommands* DrivenCommandsOf(VkCommandBuffer command_buffer);

// The layer's state of such a device. Threads: any.
class DriverHalfDevice {
 public:
  explicit DriverHalfDevice(DeviceState& device);
  // Frees the state of its command buffers, too.
  ~DriverHalfDevice();
  DriverHalfDevice(const DriverHalfDevice&) = delete;
  DriverHalfDevice& operator=(const DriverHalfDevice&) = delete;

  DeviceState& device() const { return device_; }
  const DeviceBarriers& barriers() const { return barriers_; }
  // For the writes: of the next layer.
  const VulkanFunctions& writes() const { return writes_; }
  const VkPhysicalDeviceMemoryProperties& memory_properties() const { return memory_properties_; }
  // minImportedHostPointerAlignment; 0 where no memory can be imported, for `why_no_import()`.
  VkDeviceSize import_alignment() const { return import_alignment_; }
  const char* why_no_import() const { return why_no_import_; }

  // Record command pools and their buffers. Return false, and record nothing, without memory.
  bool NotePool(VkCommandPool pool, const VkCommandPoolCreateInfo& info) noexcept;
  bool NoteCommandBuffers(VkCommandPool pool, VkCommandBufferLevel level,
                          std::span<const VkCommandBuffer> buffers) noexcept;
  void ForgetCommandBuffers(VkCommandPool pool, std::span<const VkCommandBuffer> buffers);
  void ForgetPool(VkCommandPool pool);
  // vkResetCommandPool: nothing in it is recorded any more.
  void EndRecordings(VkCommandPool pool);

  // Progress words of the Direct3D device lie here, in the block: that is how a context is found. One
  // device may have several. False without memory.
  bool NoteWords(const std::byte* words) noexcept;
  void ForgetWords(const std::byte* words);
  SourceFinding LossSource() const;
  // A call, whose name stays, returned VK_ERROR_DEVICE_LOST; the first one asks the driver.
  void OnLost(const char* function) noexcept;

 private:
  struct Pool {
    bool only_transfers = false;
    const WitnessFlags* witnesses = nullptr;
    bool exact_canary = false;  // ExactDevice::MayRunCanary
    std::vector<std::unique_ptr<DrivenCommands>> buffers;
  };

  void FindImport();

  DeviceState& device_;
  DeviceBarriers barriers_;
  VulkanFunctions writes_;
  VkPhysicalDeviceMemoryProperties memory_properties_ = {};
  VkDeviceSize import_alignment_ = 0;
  const char* why_no_import_ = "";
  std::mutex mutex_;
  std::vector<const std::byte*> words_;            // guarded by mutex_
  std::unordered_map<VkCommandPool, Pool> pools_;  // guarded by mutex_
};

// Returns true while this thread creates a device for an implementation of Direct3D.
bool CreatingDrivenDevice();

// Makes the state after the device was created, before its creator has it. May throw
// std::bad_alloc: the device is then off.
std::unique_ptr<DriverHalfDevice> MakeDriverHalf(DeviceState& device);

// Called by the intercepts of vulkangen/driven_work.cc before they call the function of the next
// layer.
const DeviceFunctions& NoteDrivenWork(VkCommandBuffer command_buffer);
const DeviceFunctions& NoteDrivenBarrier(VkCommandBuffer command_buffer, BarrierKind kind);

// The parts of DrivenIntercepts().
std::span<const Intercept> DrivenMemoryIntercepts();
std::span<const Intercept> DrivenCommandIntercepts();
std::span<const Intercept> DrivenLossIntercepts();

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DRIVER_HALF_H_
