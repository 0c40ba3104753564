// SPDX-License-Identifier: Apache-2.0
//
// Objects that are kept, the order in which they end, and those that end early: on a driver that writes down what it
// is asked for.
// tests/keep_alive_gpu_test.cc has a device.
#include "app/vulkan/keep_alive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/testing/run_board.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename Handle>
Handle Made(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number * 8));
}

// ---- The driver -----------------------------------------------------------------------------------------

std::vector<std::string> calls;
uint32_t allocations = 0;        // made so far
uint64_t room_bytes = 0;         // of memory; 0: enough for all
uint32_t sets_in_pool = 0;       // 0: enough for all
std::vector<uint64_t> sizes(1);  // of memory, by number; 0 if it was freed

template <typename Handle>
void VKAPI_CALL Destroy(VkDevice, Handle handle, const VkAllocationCallbacks*) {
  if (handle == VK_NULL_HANDLE) return;
  calls.push_back(fmt::format("destroy {}", reinterpret_cast<uintptr_t>(handle) / 8));
}

VkResult VKAPI_CALL AllocateMemory(VkDevice, const VkMemoryAllocateInfo* info,
                                   const VkAllocationCallbacks*, VkDeviceMemory* memory) {
  ++allocations;
  uint64_t used = info->allocationSize;
  for (const uint64_t size : sizes) used += size;
  if (room_bytes != 0 && used > room_bytes) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  *memory = Made<VkDeviceMemory>(sizes.size());
  sizes.push_back(info->allocationSize);
  return VK_SUCCESS;
}

void VKAPI_CALL FreeMemory(VkDevice, VkDeviceMemory memory, const VkAllocationCallbacks*) {
  const uint64_t number = reinterpret_cast<uintptr_t>(memory) / 8;
  calls.push_back(fmt::format("free {}", number));
  sizes[number] = 0;
}

void VKAPI_CALL FreeBuffers(VkDevice, VkCommandPool, uint32_t count, const VkCommandBuffer* all) {
  for (uint32_t i = 0; i < count; ++i) {
    calls.push_back(fmt::format("free {}", reinterpret_cast<uintptr_t>(all[i]) / 8));
  }
}

VkDescriptorPool allocates = VK_NULL_HANDLE;  // the pool that did last

VkResult VKAPI_CALL AllocateSets(VkDevice, const VkDescriptorSetAllocateInfo* info,
                                 VkDescriptorSet*) {
  allocates = info->descriptorPool;
  if (sets_in_pool < info->descriptorSetCount) return VK_ERROR_OUT_OF_POOL_MEMORY;
  sets_in_pool -= info->descriptorSetCount;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL FreeSets(VkDevice, VkDescriptorPool, uint32_t count,
                             const VkDescriptorSet* sets) {
  sets_in_pool += count;
  for (uint32_t i = 0; i < count; ++i) {
    calls.push_back(fmt::format("free {}", reinterpret_cast<uintptr_t>(sets[i]) / 8));
  }
  return VK_SUCCESS;
}

uint64_t made_pools = 0;

VkResult VKAPI_CALL MakeDescriptorPool(VkDevice, const VkDescriptorPoolCreateInfo* info,
                                       const VkAllocationCallbacks*, VkDescriptorPool* pool) {
  *pool = Made<VkDescriptorPool>(100 + ++made_pools);
  calls.push_back(fmt::format("make {} of {} sets, {} descriptors", 100 + made_pools, info->maxSets,
                              info->pPoolSizes[0].descriptorCount));
  return VK_SUCCESS;
}

// Fences that were submitted: true once the work in front of them has ended.
std::map<VkFence, bool> ended;
uint64_t made_fences = 0;

VkResult VKAPI_CALL MakeFence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*,
                              VkFence* fence) {
  *fence = Made<VkFence>(200 + ++made_fences);
  return VK_SUCCESS;
}

VkResult VKAPI_CALL Submit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence fence) {
  if (fence != VK_NULL_HANDLE) ended[fence] = false;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL StatusOf(VkDevice, VkFence fence) {
  return ended.at(fence) ? VK_SUCCESS : VK_NOT_READY;
}

VkResult VKAPI_CALL WaitForFences(VkDevice, uint32_t, const VkFence* fences, VkBool32, uint64_t) {
  calls.emplace_back("wait");
  ended.at(*fences) = true;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL AllocateBuffers(VkDevice, const VkCommandBufferAllocateInfo* info,
                                    VkCommandBuffer* buffers) {
  static uint64_t made = 300;
  for (uint32_t i = 0; i < info->commandBufferCount; ++i)
    buffers[i] = Made<VkCommandBuffer>(++made);
  return VK_SUCCESS;
}

VkResult VKAPI_CALL BeginBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo*) {
  calls.emplace_back("begin");
  return VK_SUCCESS;
}

VkResult VKAPI_CALL ResetBuffers(VkDevice, VkCommandPool, VkCommandPoolResetFlags) {
  calls.emplace_back("reset buffers");
  return VK_SUCCESS;
}

VkResult VKAPI_CALL ResetSets(VkDevice, VkDescriptorPool, VkDescriptorPoolResetFlags) {
  calls.emplace_back("reset");
  return VK_SUCCESS;
}

class KeepAliveTest : public ::testing::Test {
 protected:
  KeepAliveTest() {
    RunBoard::OfProcess().Take();
    calls.clear();
    allocations = 0;
    room_bytes = 0;
    sets_in_pool = 0;
    made_pools = made_fences = 0;
    ended.clear();
    sizes.assign(1, 0);
    device_.handle = Made<VkDevice>(1000);
    device_.instance = &instance_;
    device_.api_version = VK_API_VERSION_1_1;
    device_.vk.AllocateMemory = AllocateMemory;
    device_.vk.FreeMemory = FreeMemory;
    device_.vk.DestroyBuffer = Destroy<VkBuffer>;
    device_.vk.DestroyImage = Destroy<VkImage>;
    device_.vk.DestroySampler = Destroy<VkSampler>;
    device_.vk.DestroyCommandPool = Destroy<VkCommandPool>;
    device_.vk.DestroyDescriptorPool = Destroy<VkDescriptorPool>;
    device_.vk.FreeCommandBuffers = FreeBuffers;
    device_.vk.AllocateDescriptorSets = AllocateSets;
    device_.vk.FreeDescriptorSets = FreeSets;
    device_.vk.ResetDescriptorPool = ResetSets;
    device_.vk.CreateDescriptorPool = MakeDescriptorPool;
    device_.vk.CreateFence = MakeFence;
    device_.vk.DestroyFence = Destroy<VkFence>;
    device_.vk.GetFenceStatus = StatusOf;
    device_.vk.WaitForFences = WaitForFences;
    device_.vk.QueueSubmit = Submit;
    device_.vk.AllocateCommandBuffers = AllocateBuffers;
    device_.vk.BeginCommandBuffer = BeginBuffer;
    device_.vk.ResetCommandPool = ResetBuffers;
  }
  ~KeepAliveTest() override {
    if (!started_) return;
    EndKeepAlive(device_);
    ForgetDevice(device_);
  }

  void Start(const KeepLimits& limits = {}) {
    started_ = true;
    ASSERT_TRUE(RememberDevice(device_));
    device_.keep_alive = std::make_unique<KeepAliveDevice>(device_, limits);
    InstallKeepAliveFunctions(device_.vk);
  }

  const DeviceFunctions& vk() const { return device_.vk; }
  VkDevice device() const { return device_.handle; }
  VkResult Allocate(uint64_t bytes, VkDeviceMemory* memory, const void* chain = nullptr) {
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, chain, bytes, 0};
    return vk().AllocateMemory(device(), &info, nullptr, memory);
  }
  VkDeviceMemory Allocated(uint64_t bytes, const void* chain = nullptr) {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(Allocate(bytes, &memory, chain), VK_SUCCESS);
    return memory;
  }
  void DestroyBuffer(uint64_t number) {
    vk().DestroyBuffer(device(), Made<VkBuffer>(number), nullptr);
  }

  InstanceState instance_;
  DeviceState device_;
  bool started_ = false;
};

TEST_F(KeepAliveTest, ObjectsEndWithTheDeviceInTheOrderOfTheCalls) {
  Start();
  const VkDeviceMemory memory = Allocated(64);
  vk().DestroyImage(device(), Made<VkImage>(11), nullptr);
  vk().FreeMemory(device(), memory, nullptr);
  DestroyBuffer(12);
  DestroyBuffer(0);
  vk().DestroyCommandPool(device(), Made<VkCommandPool>(13), nullptr);
  EXPECT_THAT(calls, IsEmpty());
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{4, 0}));
  EndKeepAlive(device_);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "free 1", "destroy 12", "destroy 13"));
  DestroyBuffer(14);
  EXPECT_EQ(calls.back(), "destroy 14") << "nothing is kept behind the end";
}

TEST_F(KeepAliveTest, ObjectsWithCallbacksOfTheProgramEndAtOnce) {
  Start();
  const VkAllocationCallbacks callbacks = {};
  vk().DestroyBuffer(device(), Made<VkBuffer>(11), &callbacks);
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 64, 0};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  vk().AllocateMemory(device(), &info, &callbacks, &memory);
  vk().FreeMemory(device(), memory, &callbacks);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "free 1"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 2}));
}

TEST_F(KeepAliveTest, MemoryOfOthersEndsAtOnce) {
  Start();
  VkImportMemoryFdInfoKHR import = {VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  VkExportMemoryAllocateInfo to_nobody = {VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO};
  VkExportMemoryAllocateInfo exported = to_nobody;
  exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, &to_nobody};
  for (const void* const chain :
       {static_cast<const void*>(&import), static_cast<const void*>(&exported),
        static_cast<const void*>(&flags)}) {
    vk().FreeMemory(device(), Allocated(64, chain), nullptr);
  }
  EXPECT_THAT(calls, ElementsAre("free 1", "free 2"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 2}));
}

TEST_F(KeepAliveTest, MappedMemoryEndsAtOnceWhereTheProgramChoosesItsAddresses) {
  device_.enabled_extensions = {"VK_EXT_map_memory_placed"};
  instance_.next_get = [](VkInstance, const char* name) -> PFN_vkVoidFunction {
    if (std::string_view(name) != "vkGetPhysicalDeviceMemoryProperties") return nullptr;
    const PFN_vkGetPhysicalDeviceMemoryProperties get =
        [](VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* properties) {
          properties->memoryTypeCount = 2;
          properties->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
          properties->memoryTypes[1].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        };
    return reinterpret_cast<PFN_vkVoidFunction>(get);
  };
  instance_.KeepNext();
  Start();
  VkMemoryAllocateInfo local = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, 64, 1};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  ASSERT_EQ(vk().AllocateMemory(device(), &local, nullptr, &memory), VK_SUCCESS);
  vk().FreeMemory(device(), memory, nullptr);
  vk().FreeMemory(device(), Allocated(64), nullptr);
  EXPECT_THAT(calls, ElementsAre("free 2"));
}

TEST_F(KeepAliveTest, TheOldestEndsBeyondTheBytesThatAreKept) {
  Start({.memory_bytes = 100});
  const VkDeviceMemory first = Allocated(60);
  const VkDeviceMemory second = Allocated(40);
  const VkDeviceMemory third = Allocated(1);
  DestroyBuffer(11);
  vk().FreeMemory(device(), first, nullptr);
  vk().FreeMemory(device(), second, nullptr);
  EXPECT_THAT(calls, IsEmpty());
  vk().FreeMemory(device(), third, nullptr);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "free 1"));
  calls.clear();
  vk().FreeMemory(device(), Allocated(101), nullptr);
  EXPECT_THAT(calls, ElementsAre("free 2", "free 3", "free 4"))
      << "more than all: it is not kept either";
}

TEST_F(KeepAliveTest, NumbersAreLimitedByKind) {
  Start({.memories = 1, .samplers = 1, .pools = 1});
  const auto destroy_sampler = [this](uint64_t number) {
    vk().DestroySampler(device(), Made<VkSampler>(number), nullptr);
  };
  vk().FreeMemory(device(), Allocated(1), nullptr);
  destroy_sampler(11);
  vk().DestroyCommandPool(device(), Made<VkCommandPool>(12), nullptr);
  DestroyBuffer(13);
  DestroyBuffer(14);
  EXPECT_THAT(calls, IsEmpty());
  vk().FreeMemory(device(), Allocated(1), nullptr);
  EXPECT_THAT(calls, ElementsAre("free 1"));
  calls.clear();
  destroy_sampler(15);
  EXPECT_THAT(calls, ElementsAre("destroy 11"));
  vk().DestroyDescriptorPool(device(), Made<VkDescriptorPool>(16), nullptr);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "destroy 12"));
}

TEST_F(KeepAliveTest, TheNumberOfAllObjectsIsLimited) {
  Start({.objects = 2});
  for (uint64_t number = 11; number <= 14; ++number) DestroyBuffer(number);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "destroy 12"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{4, 2}));
}

TEST_F(KeepAliveTest, HalfOfWhatTheDeviceCanHaveIsTheProgramsOwn) {
  VkPhysicalDeviceLimits limits = {};
  limits.maxMemoryAllocationCount = 4096;
  limits.maxSamplerAllocationCount = 4000;
  EXPECT_EQ(KeepLimits::For(limits).memories, 2048u);
  EXPECT_EQ(KeepLimits::For(limits).samplers, 2000u);
  limits.maxMemoryAllocationCount = UINT32_MAX;
  EXPECT_EQ(KeepLimits::For(limits).memories, KeepLimits().objects);
}

TEST_F(KeepAliveTest, WithoutRoomTheOldestEndsAndTheCallIsMadeAgain) {
  Start();
  room_bytes = 100;
  const VkDeviceMemory first = Allocated(60);
  const VkDeviceMemory second = Allocated(20);
  DestroyBuffer(11);
  vk().FreeMemory(device(), first, nullptr);
  vk().FreeMemory(device(), second, nullptr);
  EXPECT_NE(Allocated(30), VkDeviceMemory{VK_NULL_HANDLE});
  EXPECT_THAT(calls, ElementsAre("destroy 11", "free 1")) << "the second one is still kept";
  EXPECT_EQ(allocations, 4u);
  VkDeviceMemory none = VK_NULL_HANDLE;
  EXPECT_EQ(Allocate(90, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_THAT(calls, ElementsAre("destroy 11", "free 1", "free 2"));
}

TEST_F(KeepAliveTest, CommandBuffersLiveInTheirPool) {
  Start({.of_pool = 2});
  const auto pool = Made<VkCommandPool>(11);
  const VkCommandBuffer buffers[] = {Made<VkCommandBuffer>(21), nullptr, Made<VkCommandBuffer>(22)};
  vk().FreeCommandBuffers(device(), pool, 3, buffers);
  EXPECT_THAT(calls, IsEmpty());
  const auto third = Made<VkCommandBuffer>(23);
  vk().FreeCommandBuffers(device(), pool, 1, &third);
  EXPECT_THAT(calls, ElementsAre("free 21"));
  vk().DestroyCommandPool(device(), pool, nullptr);
  EndKeepAlive(device_);
  EXPECT_THAT(calls, ElementsAre("free 21", "destroy 11")) << "the pool has the others";
}

TEST_F(KeepAliveTest, DescriptorSetsGiveTheirRoomBack) {
  Start();
  const auto pool = Made<VkDescriptorPool>(11);
  const VkDescriptorSet sets[] = {Made<VkDescriptorSet>(21), Made<VkDescriptorSet>(22),
                                  Made<VkDescriptorSet>(23)};
  EXPECT_EQ(vk().FreeDescriptorSets(device(), pool, 3, sets), VK_SUCCESS);
  EXPECT_THAT(calls, IsEmpty());
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 2;
  VkDescriptorSet made[2] = {};
  EXPECT_EQ(vk().AllocateDescriptorSets(device(), &info, made), VK_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("free 21", "free 22"));
  // A pool that was made before the layer saw it cannot be made again.
  vk().ResetDescriptorPool(device(), pool, 0);
  info.descriptorSetCount = 1;
  EXPECT_EQ(vk().AllocateDescriptorSets(device(), &info, made), VK_ERROR_OUT_OF_POOL_MEMORY)
      << "the reset has freed the third one";
  EXPECT_THAT(calls, ElementsAre("free 21", "free 22", "reset"));
}

TEST_F(KeepAliveTest, DescriptorSetsAreFreedWherePoolsNeedNotSayThatTheyAreFull) {
  device_.api_version = VK_API_VERSION_1_0;
  Start();
  const auto set = Made<VkDescriptorSet>(21);
  EXPECT_EQ(vk().FreeDescriptorSets(device(), Made<VkDescriptorPool>(11), 1, &set), VK_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("free 21"));
}

TEST_F(KeepAliveTest, AnotherDescriptorPoolTakesThePlaceOfOneThatIsReset) {
  Start();
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_SAMPLER, 7};
  VkDescriptorPoolCreateInfo make = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  make.maxSets = 5;
  make.poolSizeCount = 1;
  make.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(vk().CreateDescriptorPool(device(), &make, nullptr, &pool), VK_SUCCESS);
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  vk().AllocateDescriptorSets(device(), &info, nullptr);
  EXPECT_EQ(allocates, pool);
  for (const uint64_t number : {102, 103}) {
    EXPECT_EQ(vk().ResetDescriptorPool(device(), pool, 0), VK_SUCCESS);
    vk().AllocateDescriptorSets(device(), &info, nullptr);
    EXPECT_EQ(allocates, Made<VkDescriptorPool>(number));
  }
  EXPECT_THAT(calls,
              ElementsAre("make 101 of 5 sets, 7 descriptors", "make 102 of 5 sets, 7 descriptors",
                          "make 103 of 5 sets, 7 descriptors"));
  vk().DestroyDescriptorPool(device(), pool, nullptr);
  calls.clear();
  EndKeepAlive(device_);
  EXPECT_THAT(calls, ElementsAre("destroy 102", "destroy 103", "destroy 101"));
}

TEST_F(KeepAliveTest, ASetFromBeforeAResetIsNotFreedFromTheNewPool) {
  Start({.of_pool = 0});
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_SAMPLER, 7};
  VkDescriptorPoolCreateInfo make = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  make.poolSizeCount = 1;
  make.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(vk().CreateDescriptorPool(device(), &make, nullptr, &pool), VK_SUCCESS);
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  sets_in_pool = 2;
  auto before = Made<VkDescriptorSet>(21), behind = Made<VkDescriptorSet>(22);
  ASSERT_EQ(vk().AllocateDescriptorSets(device(), &info, &before), VK_SUCCESS);
  ASSERT_EQ(vk().ResetDescriptorPool(device(), pool, 0), VK_SUCCESS);
  ASSERT_EQ(vk().AllocateDescriptorSets(device(), &info, &behind), VK_SUCCESS);
  calls.clear();
  EXPECT_EQ(vk().FreeDescriptorSets(device(), pool, 1, &before), VK_SUCCESS);
  EXPECT_THAT(calls, IsEmpty());
  EXPECT_EQ(vk().FreeDescriptorSets(device(), pool, 1, &behind), VK_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("free 22"));
}

class KeepAliveResetsTest : public KeepAliveTest {
 protected:
  VkCommandBuffer Allocated(VkCommandPool pool) {
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(vk().AllocateCommandBuffers(device(), &info, &buffer), VK_SUCCESS);
    return buffer;
  }
  // Notes it as the layer's submission does.
  void Submitted(VkCommandBuffer buffer) {
    device_.keep_alive->running().Submitted(Made<VkQueue>(900), {buffer});
  }
  void Begin(VkCommandBuffer buffer) {
    calls.clear();
    const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    vk().BeginCommandBuffer(buffer, &info);
  }
};

TEST_F(KeepAliveResetsTest, ARunningCommandBufferIsWaitedForBeforeItIsReset) {
  Start();
  const auto pool = Made<VkCommandPool>(11);
  const VkCommandBuffer runs = Allocated(pool), idle = Allocated(pool);
  Submitted(runs);
  Begin(idle);
  EXPECT_THAT(calls, ElementsAre("begin"));
  Begin(runs);
  EXPECT_THAT(calls, ElementsAre("wait", "begin"));
  // It has ended: there is nothing to wait for, and its fence goes.
  Begin(runs);
  EXPECT_THAT(calls, ElementsAre("destroy 201", "begin"));
}

TEST_F(KeepAliveResetsTest, AllSubmissionsAreWaitedForAtOnce) {
  Start();
  const VkCommandBuffer buffer = Allocated(Made<VkCommandPool>(11));
  Submitted(buffer);
  Submitted(buffer);
  Begin(buffer);
  EXPECT_THAT(calls, ElementsAre("wait", "begin"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
}

TEST_F(KeepAliveResetsTest, CommandBuffersAreForgottenWithTheirPoolAndWithTheDevice) {
  Start({.of_pool = 0});
  const auto pool = Made<VkCommandPool>(11), other = Made<VkCommandPool>(12);
  const VkCommandBuffer freed = Allocated(pool), in_pool = Allocated(pool);
  const VkCommandBuffer left = Allocated(other);
  vk().FreeCommandBuffers(device(), pool, 1, &freed);
  EXPECT_EQ(RunningCommands::Of(freed), nullptr);
  EXPECT_NE(RunningCommands::Of(in_pool), nullptr);
  vk().DestroyCommandPool(device(), pool, nullptr);
  EXPECT_EQ(RunningCommands::Of(in_pool), nullptr);
  const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  EXPECT_EQ(vk().BeginCommandBuffer(in_pool, &info), VK_ERROR_OUT_OF_HOST_MEMORY)
      << "nobody knows its device";
  EXPECT_NE(RunningCommands::Of(left), nullptr);
  EndKeepAlive(device_);
  EXPECT_EQ(RunningCommands::Of(left), nullptr);
}

TEST_F(KeepAliveResetsTest, APoolIsResetBehindWhatRunsOfItAlone) {
  Start();
  const auto pool = Made<VkCommandPool>(11), other = Made<VkCommandPool>(12);
  Submitted(Allocated(other));
  const VkCommandBuffer buffer = Allocated(pool);
  Submitted(buffer);
  vk().ResetCommandPool(device(), Made<VkCommandPool>(13), 0);
  EXPECT_THAT(calls, ElementsAre("reset buffers"));
  calls.clear();
  // Freed ones are kept, and run on.
  vk().FreeCommandBuffers(device(), pool, 1, &buffer);
  vk().ResetCommandPool(device(), pool, 0);
  EXPECT_THAT(calls, ElementsAre("wait", "reset buffers"));
  EXPECT_TRUE(ended.at(Made<VkFence>(202)));
  EXPECT_FALSE(ended.at(Made<VkFence>(201)));
}

}  // namespace
}  // namespace cairn
