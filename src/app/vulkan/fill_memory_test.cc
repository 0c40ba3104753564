// SPDX-License-Identifier: Apache-2.0
//
// The memory that is filled, on a driver without a GPU, and the queue of the layer's own.
// tests/fill_memory_gpu_test.cc has devices.
#include "app/vulkan/fill_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/fill_queue.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/run_board.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;

template <typename Handle>
Handle Made(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number * 8));
}

// ---- The driver: one piece of memory ---------------------------------------------------------------------

std::vector<uint8_t> memory_bytes;
std::vector<std::string> calls;
std::vector<VkMemoryPropertyFlags> types;
std::vector<VkQueueFamilyProperties> families;
uint32_t types_of_buffers = ~0u;
bool ends_work = true;
bool maps = true;
bool binds = true;
bool has_fill = false;
VkBuffer filled = VK_NULL_HANDLE;
VkBufferUsageFlags usage_made = 0;
std::vector<uint32_t> families_made;

void VKAPI_CALL GetMemoryProperties(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* memory) {
  memory->memoryTypeCount = static_cast<uint32_t>(types.size());
  for (size_t i = 0; i < types.size(); ++i) memory->memoryTypes[i].propertyFlags = types[i];
}
void VKAPI_CALL GetFamilies(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties* all) {
  *count = static_cast<uint32_t>(families.size());
  if (all != nullptr) std::copy(families.begin(), families.end(), all);
}
PFN_vkVoidFunction VKAPI_CALL GetOfInstance(VkInstance, const char* name) {
  if (std::string_view(name) != "vkGetPhysicalDeviceMemoryProperties") return nullptr;
  return reinterpret_cast<PFN_vkVoidFunction>(GetMemoryProperties);
}

VkResult VKAPI_CALL Allocate(VkDevice, const VkMemoryAllocateInfo* info,
                             const VkAllocationCallbacks*, VkDeviceMemory* memory) {
  memory_bytes.assign(info->allocationSize, 0xaa);
  *memory = Made<VkDeviceMemory>(1);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Map(VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags,
                        void** mapped) {
  calls.emplace_back("map");
  *mapped = memory_bytes.data();
  return maps ? VK_SUCCESS : VK_ERROR_MEMORY_MAP_FAILED;
}
void VKAPI_CALL Unmap(VkDevice, VkDeviceMemory) {
  calls.emplace_back("unmap");
}
VkResult VKAPI_CALL Flush(VkDevice, uint32_t, const VkMappedMemoryRange* range) {
  calls.emplace_back(range->size == VK_WHOLE_SIZE ? "flush all" : "flush");
  return VK_SUCCESS;
}
void VKAPI_CALL GetQueue(VkDevice, uint32_t family, uint32_t index, VkQueue* queue) {
  calls.push_back("queue " + std::to_string(family) + "." + std::to_string(index));
  *queue = Made<VkQueue>(2);
}
template <typename Info, typename Handle>
VkResult VKAPI_CALL Make(VkDevice, const Info*, const VkAllocationCallbacks*, Handle* handle) {
  *handle = Made<Handle>(3);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL MakeBuffer(VkDevice, const VkBufferCreateInfo* info,
                               const VkAllocationCallbacks*, VkBuffer* buffer) {
  usage_made = info->usage;
  families_made.assign(info->pQueueFamilyIndices,
                       info->pQueueFamilyIndices + info->queueFamilyIndexCount);
  *buffer = Made<VkBuffer>(3);
  return VK_SUCCESS;
}
void VKAPI_CALL DestroyPool(VkDevice, VkCommandPool, const VkAllocationCallbacks*) {
  calls.emplace_back("destroy pool");
}
void VKAPI_CALL DestroyFence(VkDevice, VkFence, const VkAllocationCallbacks*) {
  calls.emplace_back("destroy fence");
}
void VKAPI_CALL DestroyBuffer(VkDevice, VkBuffer, const VkAllocationCallbacks*) {
  calls.emplace_back("destroy buffer");
}
VkResult VKAPI_CALL AllocateBuffers(VkDevice, const VkCommandBufferAllocateInfo*,
                                    VkCommandBuffer* commands) {
  *commands = Made<VkCommandBuffer>(4);
  return VK_SUCCESS;
}
void VKAPI_CALL GetNeeds(VkDevice, VkBuffer, VkMemoryRequirements* needs) {
  *needs = {memory_bytes.size(), 4, types_of_buffers};
}
void VKAPI_CALL GetNeedsAsMade(VkDevice, const VkDeviceBufferMemoryRequirements* info,
                               VkMemoryRequirements2*) {
  usage_made = info->pCreateInfo->usage;
}
VkResult VKAPI_CALL Bind(VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize) {
  return binds ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}
VkResult VKAPI_CALL Bind2(VkDevice, uint32_t, const VkBindBufferMemoryInfo*) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Begin(VkCommandBuffer, const VkCommandBufferBeginInfo*) {
  has_fill = false;
  return VK_SUCCESS;
}
void VKAPI_CALL Fill(VkCommandBuffer, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                     uint32_t data) {
  filled = buffer;
  has_fill = offset == 0 && size == VK_WHOLE_SIZE && data == 0xfefefefe;
}
VkResult VKAPI_CALL End(VkCommandBuffer) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Submit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  if (has_fill && ends_work) std::fill(memory_bytes.begin(), memory_bytes.end(), uint8_t{0xfe});
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Wait(VkDevice, uint32_t, const VkFence*, VkBool32, uint64_t timeout_ns) {
  EXPECT_EQ(timeout_ns, MemoryFiller::kMostNs);
  calls.emplace_back("wait");
  return ends_work ? VK_SUCCESS : VK_TIMEOUT;
}
VkResult VKAPI_CALL WaitForQueue(VkQueue queue) {
  calls.push_back("idle " + std::to_string(reinterpret_cast<uintptr_t>(queue) / 8));
  return queue == Made<VkQueue>(22) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}
VkResult VKAPI_CALL WaitForDevice(VkDevice) {
  calls.emplace_back("idle");
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Reset(VkDevice, uint32_t, const VkFence*) {
  return VK_SUCCESS;
}

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint8_t kOld = 0xaa;
constexpr uint8_t kNew = 0xfe;

class FillMemoryTest : public ::testing::Test {
 protected:
  FillMemoryTest() {
    RunBoard::OfProcess().Take();
    calls.clear();
    types = {kLocal, kVisible | kCoherent, kVisible};
    types_of_buffers = ~0u;
    ends_work = maps = binds = true;
    filled = VK_NULL_HANDLE;
    instance_.next_get = GetOfInstance;
    instance_.KeepNext();
    device_.handle = Made<VkDevice>(1000);
    device_.instance = &instance_;
    device_.fill_queue = OwnQueue{2, 1};
    DeviceFunctions& vk = device_.vk;
    vk.AllocateMemory = Allocate;
    vk.MapMemory = Map;
    vk.UnmapMemory = Unmap;
    vk.FlushMappedMemoryRanges = Flush;
    vk.GetDeviceQueue = GetQueue;
    vk.CreateCommandPool = Make<VkCommandPoolCreateInfo, VkCommandPool>;
    vk.CreateFence = Make<VkFenceCreateInfo, VkFence>;
    vk.CreateBuffer = MakeBuffer;
    vk.DestroyCommandPool = DestroyPool;
    vk.DestroyFence = DestroyFence;
    vk.DestroyBuffer = DestroyBuffer;
    vk.AllocateCommandBuffers = AllocateBuffers;
    vk.GetBufferMemoryRequirements = GetNeeds;
    vk.GetDeviceBufferMemoryRequirements = GetNeedsAsMade;
    vk.BindBufferMemory = Bind;
    vk.BindBufferMemory2 = Bind2;
    vk.BeginCommandBuffer = Begin;
    vk.CmdFillBuffer = Fill;
    vk.EndCommandBuffer = End;
    vk.QueueSubmit = Submit;
    vk.WaitForFences = Wait;
    vk.ResetFences = Reset;
    vk.QueueWaitIdle = WaitForQueue;
    vk.DeviceWaitIdle = WaitForDevice;
  }
  ~FillMemoryTest() override {
    ReplaceRunExperiment(nullptr);
    ForgetDevice(device_);
  }

  void Start() {
    ASSERT_TRUE(RememberDevice(device_));
    ReplaceRunExperiment(&experiment_);
    StartFillingMemory(device_);
    ASSERT_NE(device_.memory_filler, nullptr);
  }
  // As the program does.
  void AllocateOf(uint32_t type, const void* chain = nullptr) {
    const VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, chain, 64, type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(device_.vk.AllocateMemory(device_.handle, &info, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(memory, Made<VkDeviceMemory>(1));
  }

  // Memory of the GPU's that is for this buffer alone.
  void AllocateFor(VkBuffer buffer) {
    VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    dedicated.buffer = buffer;
    AllocateOf(0, &dedicated);
  }
  VkResult BindTo(VkBuffer buffer) {
    return device_.vk.BindBufferMemory(device_.handle, buffer, Made<VkDeviceMemory>(1), 0);
  }
  VkBuffer MadeAs(const VkBufferCreateInfo& info) {
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(device_.vk.CreateBuffer(device_.handle, &info, nullptr, &buffer), VK_SUCCESS);
    return buffer;
  }

  Experiment experiment_ = {.change = Change::kFillMemory, .fill = kNew};
  InstanceState instance_;
  DeviceState device_;
};

TEST_F(FillMemoryTest, TheCpuFillsWhatItCanMap) {
  Start();
  AllocateOf(1);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_THAT(calls, ElementsAre("queue 2.1", "map", "unmap"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
}

TEST_F(FillMemoryTest, WhatIsNotCoherentIsFlushed) {
  Start();
  AllocateOf(2);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_THAT(calls, ElementsAre("queue 2.1", "map", "flush all", "unmap"));
}

TEST_F(FillMemoryTest, TheGpuFillsTheRestBeforeTheProgramHasIt) {
  Start();
  AllocateOf(0);
  EXPECT_THAT(memory_bytes, Each(kNew));
  AllocateOf(0);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{2, 0}));
  device_.memory_filler.reset();
  EXPECT_THAT(calls, ElementsAre("queue 2.1", "wait", "destroy buffer", "wait", "destroy buffer",
                                 "destroy fence", "destroy pool"));
}

TEST_F(FillMemoryTest, AFillThatDoesNotEndIsTheLastAndKeepsWhatItUses) {
  Start();
  ends_work = false;
  AllocateOf(0);
  ends_work = true;
  AllocateOf(0);
  EXPECT_THAT(memory_bytes, Each(kOld));
  device_.memory_filler.reset();
  EXPECT_THAT(calls, ElementsAre("queue 2.1", "wait"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 2}));
}

TEST_F(FillMemoryTest, WithoutAQueueTheGpuFillsNothing) {
  device_.fill_queue.reset();
  Start();
  AllocateOf(0);
  EXPECT_THAT(memory_bytes, Each(kOld));
  AllocateOf(1);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 1}));
}

TEST_F(FillMemoryTest, MemoryOfOthersAndMemoryOfOneObjectStays) {
  Start();
  VkImportMemoryFdInfoKHR import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  VkMemoryAllocateFlagsInfo zeroed = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  zeroed.flags = 0x8;  // VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT
  for (const void* const chain :
       {static_cast<const void*>(&import), static_cast<const void*>(&zeroed)}) {
    for (const uint32_t type : {0u, 1u}) {
      AllocateOf(type, chain);
      EXPECT_THAT(memory_bytes, Each(kOld));
    }
  }
  VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
  dedicated.image = Made<VkImage>(9);
  AllocateOf(0, &dedicated);
  EXPECT_THAT(memory_bytes, Each(kOld));
  types_of_buffers = 0b110;
  AllocateOf(0);
  EXPECT_THAT(memory_bytes, Each(kOld)) << "no buffer may have it";
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 6}));
  AllocateOf(1, &dedicated);
  EXPECT_THAT(memory_bytes, Each(kNew)) << "the CPU needs no buffer";
}

// ---- Memory of one buffer alone ----

TEST_F(FillMemoryTest, MemoryOfOneBufferIsFilledThroughItOnceItIsBound) {
  Start();
  const auto owner = Made<VkBuffer>(9);
  AllocateFor(owner);
  EXPECT_THAT(memory_bytes, Each(kOld));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 0})) << "nothing is known of it yet";
  EXPECT_EQ(BindTo(Made<VkBuffer>(10)), VK_SUCCESS);
  EXPECT_THAT(memory_bytes, Each(kOld)) << "another buffer";
  EXPECT_EQ(BindTo(owner), VK_SUCCESS);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_EQ(filled, owner);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
  EXPECT_THAT(calls, ElementsAre("queue 2.1", "wait")) << "the program's own buffer stays";
  filled = VK_NULL_HANDLE;
  EXPECT_EQ(BindTo(owner), VK_SUCCESS);
  EXPECT_EQ(filled, VK_NULL_HANDLE) << "the program may have written there";
}

TEST_F(FillMemoryTest, MemoryOfOneBufferThatIsBoundWithOthers) {
  Start();
  AllocateFor(Made<VkBuffer>(9));
  VkBindBufferMemoryInfo infos[2] = {{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO},
                                     {VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO}};
  infos[0].buffer = Made<VkBuffer>(8);
  infos[0].memory = Made<VkDeviceMemory>(2);
  infos[1].buffer = Made<VkBuffer>(9);
  infos[1].memory = Made<VkDeviceMemory>(1);
  EXPECT_EQ(device_.vk.BindBufferMemory2(device_.handle, 2, infos), VK_SUCCESS);
  EXPECT_THAT(memory_bytes, Each(kNew));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
}

TEST_F(FillMemoryTest, MemoryOfOneBufferThatIsNotBoundStays) {
  Start();
  AllocateFor(Made<VkBuffer>(9));
  binds = false;
  EXPECT_EQ(BindTo(Made<VkBuffer>(9)), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  binds = true;
  EXPECT_THAT(memory_bytes, Each(kOld));
  AllocateOf(0);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
  std::fill(memory_bytes.begin(), memory_bytes.end(), kOld);
  EXPECT_EQ(BindTo(Made<VkBuffer>(9)), VK_SUCCESS);
  EXPECT_THAT(memory_bytes, Each(kOld)) << "the memory of that handle is another one";
}

TEST_F(FillMemoryTest, MemoryOfOneBufferWithoutAQueueStays) {
  device_.fill_queue.reset();
  Start();
  AllocateFor(Made<VkBuffer>(9));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
}

TEST_F(FillMemoryTest, BuffersCanBeFilled) {
  Start();
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 64;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  constexpr VkBufferUsageFlags kBoth =
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  MadeAs(info);
  EXPECT_EQ(usage_made, kBoth);
  EXPECT_THAT(families_made, ElementsAre());
  usage_made = 0;
  VkDeviceBufferMemoryRequirements asked = {VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS};
  asked.pCreateInfo = &info;
  VkMemoryRequirements2 needs = {VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  device_.vk.GetDeviceBufferMemoryRequirements(device_.handle, &asked, &needs);
  EXPECT_EQ(usage_made, kBoth) << "what it says is of that buffer";

  const uint32_t own[] = {0, 1};
  info.sharingMode = VK_SHARING_MODE_CONCURRENT;
  info.queueFamilyIndexCount = 2;
  info.pQueueFamilyIndices = own;
  MadeAs(info);
  EXPECT_THAT(families_made, ElementsAre(0, 1, 2)) << "the layer's queue is of family 2";
  const uint32_t all[] = {2, 0};
  info.pQueueFamilyIndices = all;
  MadeAs(info);
  EXPECT_THAT(families_made, ElementsAre(2, 0));

  info.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
  MadeAs(info);
  EXPECT_EQ(usage_made, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
}

// Their usage stays the program's.
TEST_F(FillMemoryTest, SparseProtectedAndExternalBuffersAreFilledIfTheProgramMayItself) {
  Start();
  VkExternalMemoryBufferCreateInfo external = {
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 64;
  const auto fills = [&] {
    filled = VK_NULL_HANDLE;
    const VkBuffer buffer = MadeAs(info);
    EXPECT_EQ(usage_made, info.usage);
    AllocateFor(buffer);
    EXPECT_EQ(BindTo(buffer), VK_SUCCESS);
    return filled == buffer;
  };
  const std::pair<VkBufferCreateFlags, const void*> kinds[] = {
      {VK_BUFFER_CREATE_SPARSE_BINDING_BIT, nullptr},
      {VK_BUFFER_CREATE_PROTECTED_BIT, nullptr},
      {0, &external},
  };
  for (const auto& [flags, chain] : kinds) {
    SCOPED_TRACE(flags);
    info.flags = flags;
    info.pNext = chain;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    EXPECT_FALSE(fills());
    EXPECT_THAT(memory_bytes, Each(kOld));
    EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
    info.usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    EXPECT_TRUE(fills()) << "an earlier buffer of this handle could not be filled";
    EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
  }
}

#ifdef VK_KHR_maintenance5
TEST_F(FillMemoryTest, MemoryOfABufferThatCannotBeFilledStays) {
  Start();
  VkBufferUsageFlags2CreateInfoKHR flags = {VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR};
  flags.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  // A structure of newer headers: its size is not known.
  VkBaseInStructure unknown = {static_cast<VkStructureType>(1'000'999'000),
                               reinterpret_cast<const VkBaseInStructure*>(&flags)};
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &unknown};
  info.size = 64;
  const VkBuffer buffer = MadeAs(info);
  AllocateFor(buffer);
  EXPECT_EQ(BindTo(buffer), VK_SUCCESS);
  EXPECT_EQ(filled, VK_NULL_HANDLE);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
}
#endif

TEST_F(FillMemoryTest, MemoryThatIsNotMappedStays) {
  Start();
  maps = false;
  AllocateOf(1);
  EXPECT_THAT(memory_bytes, Each(kOld));
  EXPECT_THAT(calls, Not(Contains("unmap")));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
}

// Other threads may allocate meanwhile.
TEST_F(FillMemoryTest, AWaitForTheDeviceLeavesTheLayersQueueAlone) {
  for (const uint64_t number : {21u, 22u, 23u}) {
    device_.queues.push_back(std::make_unique<QueueState>());
    device_.queues.back()->handle = Made<VkQueue>(number);
  }
  Start();
  calls.clear();
  EXPECT_EQ(device_.vk.DeviceWaitIdle(device_.handle), VK_ERROR_DEVICE_LOST);
  EXPECT_THAT(calls, ElementsAre("idle 21", "idle 22"));
}

TEST_F(FillMemoryTest, AWaitForTheDeviceWithoutSuchAQueueIsTheDriversOwn) {
  device_.fill_queue.reset();
  Start();
  EXPECT_EQ(device_.vk.DeviceWaitIdle(device_.handle), VK_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("idle"));
}

TEST_F(FillMemoryTest, AnotherExperimentFillsNothing) {
  experiment_.change = Change::kKeepAlive;
  ReplaceRunExperiment(&experiment_);
  StartFillingMemory(device_);
  EXPECT_EQ(device_.memory_filler, nullptr);
  EXPECT_EQ(device_.vk.AllocateMemory, &Allocate);
}

// ---- The queue -------------------------------------------------------------------------------------------

constexpr VkQueueFlags kAll = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags kVideo = 0x20;  // VK_QUEUE_VIDEO_DECODE_BIT_KHR

class FillQueueTest : public ::testing::Test {
 protected:
  FillQueueTest() {
    types = {kLocal, kVisible};
    instance_.next_get = GetOfInstance;
    instance_.KeepNext();
    instance_.GetPhysicalDeviceQueueFamilyProperties = GetFamilies;
  }
  // `asked`: family and count, of the program.
  void Ask(const std::vector<std::pair<uint32_t, uint32_t>>& asked,
           VkDeviceQueueCreateFlags flags = 0) {
    priorities_ = {0.25f, 0.5f, 0.75f};
    for (const auto& [family, count] : asked) {
      VkDeviceQueueCreateInfo entry = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
      entry.flags = flags;
      entry.queueFamilyIndex = family;
      entry.queueCount = count;
      entry.pQueuePriorities = priorities_.data();
      entries_.push_back(entry);
    }
    info_.queueCreateInfoCount = static_cast<uint32_t>(entries_.size());
    info_.pQueueCreateInfos = entries_.data();
    request_.Add(instance_, VK_NULL_HANDLE, &info_);
  }
  std::vector<std::pair<uint32_t, uint32_t>> Requested() const {
    std::vector<std::pair<uint32_t, uint32_t>> requested;
    for (uint32_t i = 0; i < info_.queueCreateInfoCount; ++i) {
      requested.emplace_back(info_.pQueueCreateInfos[i].queueFamilyIndex,
                             info_.pQueueCreateInfos[i].queueCount);
    }
    return requested;
  }
  void ExpectQueue(uint32_t family, uint32_t index) const {
    ASSERT_TRUE(request_.queue());
    EXPECT_EQ(request_.queue()->family, family);
    EXPECT_EQ(request_.queue()->index, index);
  }

  InstanceState instance_;
  VkDeviceCreateInfo info_ = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  std::vector<float> priorities_;
  std::vector<VkDeviceQueueCreateInfo> entries_;
  FillQueueRequest request_;
};

using Families = std::vector<std::pair<uint32_t, uint32_t>>;

TEST_F(FillQueueTest, AFamilyForCopiesAloneIsPreferred) {
  families = {{kAll, 16}, {VK_QUEUE_TRANSFER_BIT | kVideo, 1}, {VK_QUEUE_TRANSFER_BIT, 2}};
  Ask({{0, 1}});
  ExpectQueue(2, 0);
  EXPECT_EQ(Requested(), (Families{{0, 1}, {2, 1}}));
}

TEST_F(FillQueueTest, AFamilyOfTheProgramsGetsOneMore) {
  families = {{kAll, 3}};
  Ask({{0, 2}});
  ExpectQueue(0, 2);
  EXPECT_EQ(Requested(), (Families{{0, 3}}));
  const float* const priorities = info_.pQueueCreateInfos[0].pQueuePriorities;
  EXPECT_EQ(priorities[0], 0.25f);
  EXPECT_EQ(priorities[1], 0.5f);
  EXPECT_EQ(entries_[0].queueCount, 2u) << "the program's own stays";
}

TEST_F(FillQueueTest, WithoutAQueueThatIsLeftThereIsNone) {
  families = {{kAll, 1}, {VK_QUEUE_TRANSFER_BIT, 1}, {VK_QUEUE_TRANSFER_BIT | kVideo, 4}};
  Ask({{0, 1}, {1, 1}});
  EXPECT_FALSE(request_.queue());
  EXPECT_EQ(info_.pQueueCreateInfos, entries_.data());
}

TEST_F(FillQueueTest, ProtectedQueuesGetNoOtherBesideThem) {
  families = {{kAll, 4}};
  Ask({{0, 1}}, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
  EXPECT_FALSE(request_.queue());
}

TEST_F(FillQueueTest, NoneIsNeededWhereTheCpuMapsAllMemory) {
  types = {kLocal | kVisible, kVisible, VK_MEMORY_PROPERTY_PROTECTED_BIT | kLocal};
  families = {{kAll, 4}};
  Ask({{0, 1}});
  EXPECT_FALSE(request_.queue());
}

}  // namespace
}  // namespace cairn
