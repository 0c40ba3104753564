// SPDX-License-Identifier: Apache-2.0
//
// Eight threads record primary and secondary command buffers while the main thread submits those of the
// frame before, on every queue. Some command buffers are recorded once and submitted with every frame.
// Every word and every pixel is checked.
#include <fmt/format.h>

#include <array>
#include <thread>

#include "embedded/solid.frag.spv.h"
#include "embedded/solid.vert.spv.h"
#include "rendezvous.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kThreads = 8;
constexpr uint32_t kFrames = 12;
constexpr uint32_t kSlots = 2;  // a frame is recorded while the one before is submitted
constexpr uint32_t kSize = 32;

// Parts of a slot's buffer, in words.
constexpr uint32_t kPart = 256;
enum Part : uint32_t { kPrimary, kSecondary, kCopy, kPartCount };
// Parts of the buffer that command buffers write which are recorded once.
enum FixedPart : uint32_t { kFixedSecondary, kFixedFill, kFixedPartCount };

constexpr uint32_t Value(uint32_t thread, uint32_t frame, uint32_t part) {
  return (thread + 1) << 24 | (frame + 1) << 16 | part << 12;
}

// The objects that a thread records into for one of the frames in flight.
struct Slot {
  VkCommandPool pool = VK_NULL_HANDLE;
  sample::List primary;
  sample::List work;   // secondary, outside of rendering
  sample::List draws;  // secondary, inside of it
  sample::Buffer buffer;
  sample::Pipeline fill;
  std::unique_ptr<sample::Picture> picture;  // null where the queue cannot draw
};

struct Worker {
  uint32_t number = 0;
  const sample::Queue* queue = nullptr;
  std::array<Slot, kSlots> slots;
  VkCommandPool fixed_pool = VK_NULL_HANDLE;
  sample::List fixed_secondary;  // executed by the primaries of all frames
  sample::List fixed_primary;    // submitted with every frame
  sample::Buffer fixed_buffer;
  sample::Pipeline fixed_fill;
};

struct Scene {
  explicit Scene(const sample::Options& options) : device("sample-threads-vulkan", options) {}

  sample::Device device;
  sample::Pipeline triangle;
  std::vector<Worker> workers{kThreads};
  // The end of each queue's frames: reaches frame + 1 when the GPU has finished the frame.
  struct QueueEnd {
    const sample::Queue* queue = nullptr;
    VkSemaphore finished = VK_NULL_HANDLE;
  };
  std::vector<QueueEnd> queues;
};

VkCommandPool CreatePool(sample::Device& device, const sample::Queue& queue) {
  VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.queueFamilyIndex = queue.family;
  VkCommandPool pool = VK_NULL_HANDLE;
  sample::Check(vkCreateCommandPool(device.device(), &info, nullptr, &pool), "vkCreateCommandPool");
  device.Own([d = device.device(), pool] { vkDestroyCommandPool(d, pool, nullptr); });
  return pool;
}

sample::List Allocate(const sample::Device& device, VkCommandPool pool,
                      VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.level = level;
  info.commandBufferCount = 1;
  sample::List list;
  list.telling = &device.telling();
  sample::Check(vkAllocateCommandBuffers(device.device(), &info, &list.commands),
                "vkAllocateCommandBuffers");
  return list;
}

void Prepare(Scene& scene, Worker& worker) {
  sample::Device& device = scene.device;
  for (Slot& slot : worker.slots) {
    slot.pool = CreatePool(device, *worker.queue);
    slot.primary = Allocate(device, slot.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    slot.work = Allocate(device, slot.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    slot.draws = Allocate(device, slot.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    slot.buffer = device.CreateBuffer(kPart * kPartCount);
    device.telling().Name(slot.buffer.buffer, "Particles");
    slot.fill = sample::CreateFillPipeline(device, slot.buffer);
    if (worker.queue->family == device.graphics().family) {
      slot.picture = std::make_unique<sample::Picture>(device, kSize, kSize);
    }
  }
  worker.fixed_pool = CreatePool(device, *worker.queue);
  worker.fixed_secondary = Allocate(device, worker.fixed_pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  worker.fixed_primary = Allocate(device, worker.fixed_pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  worker.fixed_buffer = device.CreateBuffer(kPart * kFixedPartCount);
  worker.fixed_fill = sample::CreateFillPipeline(device, worker.fixed_buffer);
}

void Begin(const sample::List& list, VkQueue queue, CairnQueueType type, const char* name,
           VkCommandBufferUsageFlags flags, const void* rendering = nullptr) {
  VkCommandBufferInheritanceInfo inheritance = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  inheritance.pNext = rendering;
  VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = flags;
  info.pInheritanceInfo = &inheritance;  // ignored for primaries
  sample::Check(vkBeginCommandBuffer(list.commands, &info), "vkBeginCommandBuffer");
  list.telling->BeginList(list.commands, queue, type, name);
}

void End(const sample::List& list) {
  sample::Check(vkEndCommandBuffer(list.commands), "vkEndCommandBuffer");
}

void RecordFixed(const Worker& worker) {
  const sample::Queue& queue = *worker.queue;
  constexpr VkCommandBufferUsageFlags kMany = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  Begin(worker.fixed_secondary, queue.queue, queue.type, "Constant work", kMany);
  sample::DispatchFill(worker.fixed_secondary, "Table", worker.fixed_fill,
                       {Value(worker.number, 0, kFixedSecondary), kFixedSecondary * kPart, kPart});
  End(worker.fixed_secondary);

  Begin(worker.fixed_primary, queue.queue, queue.type, "Recorded once", kMany);
  {
    sample::Scope pass(worker.fixed_primary, CAIRN_MARKER_PASS, "Reset");
    vkCmdFillBuffer(worker.fixed_primary.commands, worker.fixed_buffer.buffer,
                    kFixedFill * kPart * sizeof(uint32_t), kPart * sizeof(uint32_t),
                    Value(worker.number, 0, kFixedFill));
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    vkCmdPipelineBarrier(worker.fixed_primary.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
  }
  End(worker.fixed_primary);
}

std::array<float, 8> Colours(uint32_t thread, uint32_t frame) {
  return {0.0f,
          0.0f,
          4.0f,
          4.0f,
          static_cast<float>(thread) / 255.0f,
          static_cast<float>(frame) / 255.0f,
          1.0f,
          1.0f};
}

// One draw that covers the whole picture, in a secondary command buffer.
void RecordDraws(const Scene& scene, const Worker& worker, const Slot& slot, uint32_t frame) {
  VkCommandBufferInheritanceRenderingInfo rendering = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &sample::kPictureFormat;
  rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  Begin(slot.draws, worker.queue->queue, worker.queue->type, "Draws",
        VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT |
            VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
        &rendering);
  const std::array<float, 8> constants = Colours(worker.number, frame);
  vkCmdBindPipeline(slot.draws.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, scene.triangle.pipeline);
  vkCmdPushConstants(slot.draws.commands, scene.triangle.layout,
                     VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                     sizeof(constants), constants.data());
  {
    sample::Scope draw(slot.draws, CAIRN_MARKER_DRAW, "Triangle");
    vkCmdDraw(slot.draws.commands, 3, 1, 0, 0);
  }
  End(slot.draws);
}

// The part that a dispatch filled, into another part of the same buffer.
void CopyPart(const sample::List& list, const sample::Buffer& buffer) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  vkCmdPipelineBarrier(list.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  const VkBufferCopy region = {kPrimary * kPart * sizeof(uint32_t),
                               kCopy * kPart * sizeof(uint32_t), kPart * sizeof(uint32_t)};
  vkCmdCopyBuffer(list.commands, buffer.buffer, buffer.buffer, 1, &region);
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(list.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                       1, &barrier, 0, nullptr, 0, nullptr);
}

void RecordFrame(const Scene& scene, Worker& worker, uint32_t frame) {
  Slot& slot = worker.slots[frame % kSlots];
  const sample::Queue& queue = *worker.queue;
  constexpr VkCommandBufferUsageFlags kOnce = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  sample::Check(vkResetCommandPool(scene.device.device(), slot.pool, 0), "vkResetCommandPool");
  Begin(slot.work, queue.queue, queue.type, "Work", kOnce);
  sample::DispatchFill(slot.work, "Secondary", slot.fill,
                       {Value(worker.number, frame, kSecondary), kSecondary * kPart, kPart});
  End(slot.work);
  if (slot.picture != nullptr) RecordDraws(scene, worker, slot, frame);

  const sample::List& list = slot.primary;
  Begin(list, queue.queue, queue.type, "Main", kOnce);
  {
    sample::Scope pass(list, CAIRN_MARKER_PASS, "Frame");
    sample::DispatchFill(list, "Primary", slot.fill,
                         {Value(worker.number, frame, kPrimary), kPrimary * kPart, kPart});
    const VkCommandBuffer secondaries[] = {slot.work.commands, worker.fixed_secondary.commands};
    vkCmdExecuteCommands(list.commands, 2, secondaries);
    CopyPart(list, slot.buffer);
    if (slot.picture != nullptr) {
      slot.picture->Begin(list, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
      vkCmdExecuteCommands(list.commands, 1, &slot.draws.commands);
      slot.picture->End(list);
      slot.picture->CopyToCpu(list);
    }
  }
  End(list);
}

// Other queues wait for the first one's frame before they start their own.
void SubmitFrame(const Scene& scene, uint32_t frame) {
  const uint64_t value = frame + 1;
  for (const Scene::QueueEnd& end : scene.queues) {
    std::vector<VkCommandBuffer> commands;
    for (const Worker& worker : scene.workers) {
      if (worker.queue != end.queue) continue;
      commands.push_back(worker.slots[frame % kSlots].primary.commands);
      commands.push_back(worker.fixed_primary.commands);
    }
    const bool waits = &end != &scene.queues.front();
    VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    values.waitSemaphoreValueCount = waits ? 1 : 0;
    values.pWaitSemaphoreValues = &value;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.pNext = &values;
    info.waitSemaphoreCount = waits ? 1 : 0;
    info.pWaitSemaphores = &scene.queues.front().finished;
    info.pWaitDstStageMask = &stage;
    info.commandBufferCount = static_cast<uint32_t>(commands.size());
    info.pCommandBuffers = commands.data();
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &end.finished;
    sample::Check(vkQueueSubmit(end.queue->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  }
}

void WaitForFrame(const Scene& scene, uint32_t frame) {
  const uint64_t value = frame + 1;
  for (const Scene::QueueEnd& end : scene.queues) {
    VkSemaphoreWaitInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &end.finished;
    info.pValues = &value;
    constexpr uint64_t kTimeoutNs = 30'000'000'000;
    sample::Check(vkWaitSemaphores(scene.device.device(), &info, kTimeoutNs), "vkWaitSemaphores");
  }
}

// Also computes a checksum of everything, to compare runs. (FNV-1a.)
class Checker {
 public:
  void Expect(bool right, uint32_t value, const char* what, uint32_t thread) {
    if (!right) sample::Fail(fmt::format("{} of thread {} is wrong: {:#x}", what, thread, value));
    checksum_ = (checksum_ ^ value) * 0x100000001b3;
  }
  uint64_t checksum() const { return checksum_; }

 private:
  uint64_t checksum_ = 0xcbf29ce484222325;
};

void CheckSlot(const Slot& slot, uint32_t thread, uint32_t frame, Checker& checker) {
  const uint32_t* words = slot.buffer.words;
  for (uint32_t i = 0; i < kPart; ++i) {
    for (const Part part : {kPrimary, kSecondary, kCopy}) {
      const uint32_t word = words[part * kPart + i];
      const Part written_as = part == kCopy ? kPrimary : part;
      checker.Expect(word == Value(thread, frame, written_as) + i, word, "a word", thread);
    }
  }
  if (slot.picture == nullptr) return;
  const uint32_t expected = 0xffff0000 | frame << 8 | thread;
  for (uint32_t i = 0; i < kSize * kSize; ++i) {
    const uint32_t pixel = slot.picture->Pixel(i % kSize, i / kSize);
    checker.Expect(pixel == expected, pixel, "a pixel", thread);
  }
}

uint64_t CheckAll(const Scene& scene) {
  Checker checker;
  for (const Worker& worker : scene.workers) {
    for (uint32_t frame = kFrames - kSlots; frame < kFrames; ++frame) {
      CheckSlot(worker.slots[frame % kSlots], worker.number, frame, checker);
    }
    for (uint32_t i = 0; i < kPart; ++i) {
      const uint32_t dispatched = worker.fixed_buffer.words[kFixedSecondary * kPart + i];
      checker.Expect(dispatched == Value(worker.number, 0, kFixedSecondary) + i, dispatched,
                     "a word of the constant work", worker.number);
      const uint32_t filled = worker.fixed_buffer.words[kFixedFill * kPart + i];
      checker.Expect(filled == Value(worker.number, 0, kFixedFill), filled,
                     "a word of what is recorded once", worker.number);
    }
  }
  return checker.checksum();
}

void CreateScene(Scene& scene) {
  sample::Device& device = scene.device;
  scene.triangle = sample::CreateGraphicsPipeline(
      device, "Triangle", {kSolidVertSpv, sizeof(kSolidVertSpv), "SolidVS"},
      {kSolidFragSpv, sizeof(kSolidFragSpv), "SolidPS"}, kSize, kSize);
  scene.queues.push_back({&device.graphics()});
  if (device.compute().queue != device.graphics().queue) {
    scene.queues.push_back({&device.compute()});
  }
  for (Scene::QueueEnd& end : scene.queues) {
    VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    info.pNext = &type;
    sample::Check(vkCreateSemaphore(device.device(), &info, nullptr, &end.finished),
                  "vkCreateSemaphore");
    device.Own([d = device.device(), s = end.finished] { vkDestroySemaphore(d, s, nullptr); });
  }
  for (uint32_t i = 0; i < kThreads; ++i) {
    scene.workers[i].number = i;
    scene.workers[i].queue = scene.queues[i % scene.queues.size()].queue;
    Prepare(scene, scene.workers[i]);
  }
}

void Run(const sample::Options& options) {
  Scene scene(options);
  CreateScene(scene);
  sample::Rendezvous recorded(kThreads + 1);
  sample::Rendezvous may_record(kThreads + 1);
  std::vector<std::thread> threads;
  for (Worker& worker : scene.workers) {
    threads.emplace_back([&] {
      RecordFixed(worker);
      for (uint32_t frame = 0; frame < kFrames; ++frame) {
        may_record.ArriveAndWait();
        RecordFrame(scene, worker, frame);
        recorded.ArriveAndWait();
      }
    });
  }
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    if (frame >= kSlots) WaitForFrame(scene, frame - kSlots);
    may_record.ArriveAndWait();
    if (frame > 0) SubmitFrame(scene, frame - 1);
    recorded.ArriveAndWait();
  }
  for (std::thread& thread : threads) thread.join();
  SubmitFrame(scene, kFrames - 1);
  WaitForFrame(scene, kFrames - 1);
  const uint64_t checksum = CheckAll(scene);
  fmt::print("sample-threads-vulkan: {} threads, {} frames: all is correct, checksum {:016x}\n",
             kThreads, kFrames, checksum);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Records command buffers in eight threads, and checks what they did.");
  sample::Options options;
  sample::AddOptions(line, &options);
  line.Read(argc, argv);
  Run(options);
  return 0;
}
