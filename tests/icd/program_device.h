// SPDX-License-Identifier: Apache-2.0
//
// What the programs that run on the test driver share: a device with all its queues, lists of named
// dispatches, and directives for the driver that no layer sees.
//
// A program is run in one of two ways. Under `cairn run` the layer marks its work, with the program's
// debug labels around it. With --explicit there is no layer, and the program calls libcairn itself.
#ifndef CAIRN_TESTS_ICD_PROGRAM_DEVICE_H_
#define CAIRN_TESTS_ICD_PROGRAM_DEVICE_H_

#include <cairn/breadcrumbs.h>
#include <vulkan/vulkan.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace cairn::icd {

// Prints the message and ends the program with 2.
[[noreturn]] void Fail(const std::string& message);
void Check(VkResult result, const char* call);
void Check(CairnResult result, const char* call);

// Prints "ready PID": what is asked for has been submitted.
void SayReady();
// Kills this process, like `kill -9` at this very moment.
[[noreturn]] void KillSelf();

struct ProgramQueue {
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  VkCommandPool pool = VK_NULL_HANDLE;
  CairnQueueType type = CAIRN_QUEUE_DIRECT;
};

struct ProgramBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
};

// The semaphores of a submission, beside its fence.
struct SubmitSync {
  VkSemaphore wait = VK_NULL_HANDLE;
  uint64_t wait_value = 0;
  VkSemaphore signal = VK_NULL_HANDLE;
  uint64_t signal_value = 0;
};

class ProgramDevice;

// A command buffer while it is recorded, and afterwards.
class ProgramList {
 public:
  VkCommandBuffer commands() const { return commands_; }

  // Appends steps in order: "|" is Barrier(), "icd: DIRECTIVE" Script(DIRECTIVE), all else Dispatch().
  void Add(std::initializer_list<const char*> steps);
  // Work inside a label of this name. A literal.
  void Dispatch(const char* name);
  void Draw(const char* name);
  void DrawIndexed(const char* name);
  void Copy(const char* name, const ProgramBuffer& buffer);
  void BindVertices(const ProgramBuffer& buffer);
  void BindIndices(const ProgramBuffer& buffer);
  // Inside a label, without work.
  void BeginLabel(const char* name);
  void EndLabel();
  // A dynamic render pass without attachments.
  void BeginRendering();
  void EndRendering();
  // Waits for all work before.
  void Barrier();
  // Waits for nothing but draws.
  void BarrierOfDraws();
  // A directive in the stream of commands, behind the layer's back.
  void Script(const std::string& directive);
  // The same as a label that the layer sees as well.
  void ScriptLabel(const std::string& directive);
  void Execute(const std::vector<ProgramList>& secondaries);
  void End();

 private:
  friend class ProgramDevice;
  void BeginWork(CairnMarkerType type, const char* name);
  void EndWork();

  ProgramDevice* device_ = nullptr;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  CairnCommandList* cairn_ = nullptr;
};

class ProgramDevice {
 public:
  explicit ProgramDevice(bool explicit_cairn);

  VkDevice device() const { return device_; }
  ProgramQueue& graphics() { return queues_[0]; }
  ProgramQueue& compute() { return queues_[1]; }
  ProgramQueue& copies() { return queues_[2]; }

  ProgramBuffer CreateBuffer(VkDeviceSize size_bytes, const char* name);
  void Destroy(const ProgramBuffer& buffer);
  void FreeMemoryOf(const ProgramBuffer& buffer);  // The buffer lives on.
  VkSemaphore CreateTimeline(const char* name);
  VkFence CreateFence();

  // Open for recording. Flags are those of VkCommandBufferBeginInfo; without ONE_TIME_SUBMIT the list
  // may be submitted again.
  ProgramList Begin(const ProgramQueue& queue, const char* name,
                    VkCommandBufferUsageFlags flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                    VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  // Returns false if the device is lost, which is told to Cairn.
  bool Submit(const ProgramQueue& queue, const std::vector<ProgramList>& lists,
              const SubmitSync& sync, VkFence fence);
  // Submits and waits for ever. Returns false if the device is lost.
  bool SubmitAndWait(const ProgramQueue& queue, const std::vector<ProgramList>& lists);
  bool Wait(VkFence fence, uint64_t timeout_ns = UINT64_MAX);
  // A directive between two submissions, behind the layer's back.
  void Script(const ProgramQueue& queue, const std::string& directive);

 private:
  friend class ProgramList;
  static constexpr uint32_t kQueueCount = 3;  // one of each family

  void CreateInstance();
  void CreateDevice();
  void LoadLabelFunctions();
  void CreatePipeline();
  void CreateContext();
  void LoadDirectFunctions();
  void Name(VkObjectType type, uint64_t handle, const char* name);
  bool Lost(VkResult result, const char* call);

  const bool explicit_cairn_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  std::vector<const char*> extensions_;
  ProgramQueue queues_[kQueueCount];
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  CairnContext* cairn_ = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label_ = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label_ = nullptr;
  PFN_vkCmdInsertDebugUtilsLabelEXT insert_label_ = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_name_ = nullptr;
  // The driver's own.
  PFN_vkCmdInsertDebugUtilsLabelEXT direct_insert_ = nullptr;
  PFN_vkQueueInsertDebugUtilsLabelEXT direct_queue_insert_ = nullptr;
};

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_PROGRAM_DEVICE_H_
