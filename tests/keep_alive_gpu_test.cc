// SPDX-License-Identifier: Apache-2.0
//
// The experiment "keep-alive" in the Vulkan layer, on a device: a program that knows nothing of it ends its objects
// through the layer, which is linked in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/vulkan_compute.h"
#include "app/breadcrumbs/vulkan_loader.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/sharded_map.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"
#include "compute_on_device.h"
#include "embedded/fault.comp.spv.h"

namespace cairn {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// Stands behind the layer, and knows which objects live.
namespace driver {

PFN_vkGetInstanceProcAddr loader = nullptr;
VkInstance of_program = VK_NULL_HANDLE;
PFN_vkGetDeviceProcAddr get_of_device = nullptr;
DeviceFunctions real;
std::mutex mutex;
std::set<std::pair<std::string, uint64_t>> living;  // guarded by mutex
std::set<std::pair<std::string, uint64_t>> left;    // at vkDestroyDevice

template <size_t kSize>
struct Name {
  char text[kSize];
  constexpr Name(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

template <Name kKind, auto kMember, typename Function>
struct Spy;
template <Name kKind, auto kMember, typename Info, typename Handle>
struct Spy<kKind, kMember,
           VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*)> {
  static VKAPI_ATTR VkResult VKAPI_CALL Call(VkDevice device, const Info* info,
                                             const VkAllocationCallbacks* allocator,
                                             Handle* handle) {
    const VkResult result = (real.*kMember)(device, info, allocator, handle);
    const std::lock_guard lock(mutex);
    if (result == VK_SUCCESS) living.emplace(kKind.text, HandleValue(*handle));
    return result;
  }
};
template <Name kKind, auto kMember, typename Handle>
struct Spy<kKind, kMember, void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*)> {
  static VKAPI_ATTR void VKAPI_CALL Call(VkDevice device, Handle handle,
                                         const VkAllocationCallbacks* allocator) {
    if (handle != VK_NULL_HANDLE) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(living.erase({kKind.text, HandleValue(handle)}), 1u) << kKind.text;
    }
    (real.*kMember)(device, handle, allocator);
  }
};

VKAPI_ATTR void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks* allocator) {
  left = living;
  real.DestroyDevice(device, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical_device,
                                            const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkDevice* device) {
  const auto next = reinterpret_cast<PFN_vkCreateDevice>(loader(of_program, "vkCreateDevice"));
  const VkResult result = next(physical_device, info, allocator, device);
  if (result == VK_SUCCESS) LoadDeviceFunctions(*device, get_of_device, &real);
  return result;
}

template <Name kKind, auto kMember>
PFN_vkVoidFunction SpyOn() {
  using Function = typename TypeOfMember<decltype(kMember)>::Type;
  return reinterpret_cast<PFN_vkVoidFunction>(Spy<kKind, kMember, Function>::Call);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfDevice(VkDevice device, const char* name) {
  using Vk = DeviceFunctions;
  static const std::map<std::string_view, PFN_vkVoidFunction> kSpies = {
      {"vkDestroyDevice", reinterpret_cast<PFN_vkVoidFunction>(DestroyDevice)},
      {"vkAllocateMemory", SpyOn<"memory", &Vk::AllocateMemory>()},
      {"vkFreeMemory", SpyOn<"memory", &Vk::FreeMemory>()},
      {"vkCreateBuffer", SpyOn<"buffer", &Vk::CreateBuffer>()},
      {"vkDestroyBuffer", SpyOn<"buffer", &Vk::DestroyBuffer>()},
      {"vkCreateImage", SpyOn<"image", &Vk::CreateImage>()},
      {"vkDestroyImage", SpyOn<"image", &Vk::DestroyImage>()},
      {"vkCreateImageView", SpyOn<"view", &Vk::CreateImageView>()},
      {"vkDestroyImageView", SpyOn<"view", &Vk::DestroyImageView>()},
      {"vkCreateSampler", SpyOn<"sampler", &Vk::CreateSampler>()},
      {"vkDestroySampler", SpyOn<"sampler", &Vk::DestroySampler>()},
      {"vkCreateFence", SpyOn<"fence", &Vk::CreateFence>()},
      {"vkDestroyFence", SpyOn<"fence", &Vk::DestroyFence>()},
      {"vkCreateSemaphore", SpyOn<"semaphore", &Vk::CreateSemaphore>()},
      {"vkDestroySemaphore", SpyOn<"semaphore", &Vk::DestroySemaphore>()},
      {"vkCreateEvent", SpyOn<"event", &Vk::CreateEvent>()},
      {"vkDestroyEvent", SpyOn<"event", &Vk::DestroyEvent>()},
      {"vkCreateQueryPool", SpyOn<"query pool", &Vk::CreateQueryPool>()},
      {"vkDestroyQueryPool", SpyOn<"query pool", &Vk::DestroyQueryPool>()},
      {"vkCreateCommandPool", SpyOn<"command pool", &Vk::CreateCommandPool>()},
      {"vkDestroyCommandPool", SpyOn<"command pool", &Vk::DestroyCommandPool>()},
      {"vkCreateDescriptorPool", SpyOn<"descriptor pool", &Vk::CreateDescriptorPool>()},
      {"vkDestroyDescriptorPool", SpyOn<"descriptor pool", &Vk::DestroyDescriptorPool>()},
      {"vkCreateDescriptorSetLayout", SpyOn<"set layout", &Vk::CreateDescriptorSetLayout>()},
      {"vkDestroyDescriptorSetLayout", SpyOn<"set layout", &Vk::DestroyDescriptorSetLayout>()},
      {"vkCreatePipelineLayout", SpyOn<"pipeline layout", &Vk::CreatePipelineLayout>()},
      {"vkDestroyPipelineLayout", SpyOn<"pipeline layout", &Vk::DestroyPipelineLayout>()},
      {"vkCreateRenderPass", SpyOn<"render pass", &Vk::CreateRenderPass>()},
      {"vkDestroyRenderPass", SpyOn<"render pass", &Vk::DestroyRenderPass>()},
  };
  const auto spy = kSpies.find(name);
  const PFN_vkVoidFunction next = get_of_device(device, name);
  return spy != kSpies.end() && next != nullptr ? spy->second : next;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfInstance(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction next = loader(instance, name);
  if (std::string_view(name) == "vkCreateDevice") {
    of_program = instance;
    return reinterpret_cast<PFN_vkVoidFunction>(CreateDevice);
  }
  if (std::string_view(name) == "vkGetDeviceProcAddr") {
    get_of_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(next);
    return reinterpret_cast<PFN_vkVoidFunction>(GetOfDevice);
  }
  return next;
}

}  // namespace driver

using Objects = std::set<std::pair<std::string, uint64_t>>;

class KeepAliveGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto found = LoadVulkanLoader();
    ASSERT_TRUE(found.ok()) << found.status().message();
    driver::loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*found);
  }
  void SetUp() override {
    RunBoard::OfProcess().Take();
    driver::living.clear();
    driver::left.clear();
  }
  void TearDown() override {
    loader_.reset();
    ReplaceRunExperiment(nullptr);
  }

  void Start(MarkerMode mode = MarkerMode::kTop) {
    ReplaceRunExperiment(&kKeep);
    TestDeviceRequest request;
    request.next = driver::GetOfInstance;
    loader_.emplace();
    const Status made = loader_->Create(mode, request);
    ASSERT_TRUE(made.ok()) << made.message();
    on_ = {loader_->vk(), loader_->device(), loader_->queue(), 0, {}};
    loader_->GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader_->physical_device(), &on_.memory);
  }

  template <typename Info, typename Handle>
  Handle Make(VkResult(VKAPI_PTR* make)(VkDevice, const Info*, const VkAllocationCallbacks*,
                                        Handle*),
              const Info& info) {
    Handle made = VK_NULL_HANDLE;
    EXPECT_EQ(make(on_.device, &info, nullptr, &made), VK_SUCCESS);
    return made;
  }
  // The program makes an object of each kind, and ends it. Returns them.
  Objects MakeAndEndOneOfEach();

  static constexpr Experiment kKeep = {.change = Change::kKeepAlive};
  std::optional<TestLoader> loader_;
  ComputeDevice on_;
};

Objects KeepAliveGpuTest::MakeAndEndOneOfEach() {
  const DeviceFunctions& vk = on_.vk;
  Objects ended;
  const auto end = [&](const char* kind, auto destroy, auto handle) {
    destroy(on_.device, handle, nullptr);
    ended.emplace(kind, HandleValue(handle));
  };
  const SharedBuffer buffer =
      MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(uint32_t));
  VkImageCreateInfo image_info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  image_info.imageType = VK_IMAGE_TYPE_2D;
  image_info.format = VK_FORMAT_R8G8B8A8_UNORM;
  image_info.extent = {16, 16, 1};
  image_info.mipLevels = image_info.arrayLayers = 1;
  image_info.samples = VK_SAMPLE_COUNT_1_BIT;
  image_info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
  const VkImage image = Make(vk.CreateImage, image_info);
  end("buffer", vk.DestroyBuffer, buffer.buffer);
  end("memory", vk.FreeMemory, buffer.memory);
  end("image", vk.DestroyImage, image);
  end("sampler", vk.DestroySampler,
      Make(vk.CreateSampler, VkSamplerCreateInfo{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO}));
  end("fence", vk.DestroyFence,
      Make(vk.CreateFence, VkFenceCreateInfo{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}));
  end("semaphore", vk.DestroySemaphore,
      Make(vk.CreateSemaphore, VkSemaphoreCreateInfo{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO}));
  end("event", vk.DestroyEvent,
      Make(vk.CreateEvent, VkEventCreateInfo{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO}));
  VkQueryPoolCreateInfo queries = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  queries.queryType = VK_QUERY_TYPE_OCCLUSION;
  queries.queryCount = 1;
  end("query pool", vk.DestroyQueryPool, Make(vk.CreateQueryPool, queries));
  const VkCommandPool pool = Make(
      vk.CreateCommandPool, VkCommandPoolCreateInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO});
  VkCommandBufferAllocateInfo buffers = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  buffers.commandPool = pool;
  buffers.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  EXPECT_EQ(vk.AllocateCommandBuffers(on_.device, &buffers, &commands), VK_SUCCESS);
  vk.FreeCommandBuffers(on_.device, pool, 1, &commands);
  end("command pool", vk.DestroyCommandPool, pool);
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_SAMPLER, 1};
  VkDescriptorPoolCreateInfo sets = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  sets.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
  sets.maxSets = 1;
  sets.poolSizeCount = 1;
  sets.pPoolSizes = &size;
  const VkDescriptorPool set_pool = Make(vk.CreateDescriptorPool, sets);
  const VkDescriptorSetLayout layout =
      Make(vk.CreateDescriptorSetLayout,
           VkDescriptorSetLayoutCreateInfo{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO});
  VkDescriptorSetAllocateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  set_info.descriptorPool = set_pool;
  set_info.descriptorSetCount = 1;
  set_info.pSetLayouts = &layout;
  for (int again = 0; again < 3; ++again) {
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(vk.AllocateDescriptorSets(on_.device, &set_info, &set), VK_SUCCESS)
        << "the pool has room for one, and not every driver says so";
    EXPECT_EQ(vk.FreeDescriptorSets(on_.device, set_pool, 1, &set), VK_SUCCESS);
  }
  end("descriptor pool", vk.DestroyDescriptorPool, set_pool);
  end("set layout", vk.DestroyDescriptorSetLayout, layout);
  end("pipeline layout", vk.DestroyPipelineLayout,
      Make(vk.CreatePipelineLayout,
           VkPipelineLayoutCreateInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO}));
  const VkSubpassDescription subpass = {};
  VkRenderPassCreateInfo pass = {VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  pass.subpassCount = 1;
  pass.pSubpasses = &subpass;
  end("render pass", vk.DestroyRenderPass, Make(vk.CreateRenderPass, pass));
  return ended;
}

constexpr size_t kKindsMade = 13;

TEST_F(KeepAliveGpuTest, ObjectsEndWithTheirDevice) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const Objects ended = MakeAndEndOneOfEach();
  ASSERT_EQ(ended.size(), kKindsMade);
  EXPECT_THAT(driver::living, IsSupersetOf(ended));
  const ChangeCounts counts = RunBoard::OfProcess().Take();
  EXPECT_GE(counts.changes, kKindsMade + 1 + 3) << "a command buffer and three sets besides";
  EXPECT_LE(counts.not_changed, 2u) << "sets, where the pool is full";
  loader_.reset();
  EXPECT_THAT(driver::left, IsEmpty());
}

TEST_F(KeepAliveGpuTest, WithoutTheExperimentTheyEndAtOnce) {
  TestDeviceRequest request;
  request.next = driver::GetOfInstance;
  ReplaceRunExperiment(nullptr);
  loader_.emplace();
  ASSERT_TRUE(loader_->Create(MarkerMode::kTop, request).ok());
  VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  ASSERT_EQ(loader_->vk().CreateFence(loader_->device(), &info, nullptr, &fence), VK_SUCCESS);
  loader_->vk().DestroyFence(loader_->device(), fence, nullptr);
  EXPECT_FALSE(driver::living.contains({"fence", HandleValue(fence)}));
  EXPECT_EQ(RunBoard::OfProcess().Take(), ChangeCounts{});
}

TEST_F(KeepAliveGpuTest, InModeExact) {
  ASSERT_NO_FATAL_FAILURE(Start(MarkerMode::kExact));
  const Objects ended = MakeAndEndOneOfEach();
  EXPECT_THAT(driver::living, IsSupersetOf(ended));
  loader_.reset();
  EXPECT_THAT(driver::left, IsEmpty());
}

TEST_F(KeepAliveGpuTest, OnADeviceThatDirect3DDrives) {
  const DeviceCreationScope driven;
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_EQ(loader_->state().kind, DeviceKind::kDriven);
  const Objects ended = MakeAndEndOneOfEach();
  EXPECT_THAT(driver::living, IsSupersetOf(ended));
  loader_.reset();
  EXPECT_THAT(driver::left, IsEmpty());
}

TEST_F(KeepAliveGpuTest, ThreadsEndObjectsAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Start());
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kEach = 200;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (uint32_t n = 0; n < kEach; ++n) {
        DestroySharedBuffer(on_, MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, 64));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{kThreads * kEach * 2, 0}));
  loader_.reset();
  EXPECT_THAT(driver::left, IsEmpty());
}

// The program's mistake: it stores by the address of a buffer that it has destroyed, in memory that it has freed.
TEST_F(KeepAliveGpuTest, ABufferHasItsAddressBehindItsEnd) {
  ASSERT_NO_FATAL_FAILURE(Start());
  constexpr size_t kBytes = size_t{64} << 20;  // what the C library gives back to the system
  const SharedBuffer freed = MakeSharedBuffer(
      on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, kBytes);
  ASSERT_NE(freed.mapped, nullptr);
  const SharedBuffer other =
      MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(InvocationWords));
  const VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr,
                                          freed.buffer};
  const uint64_t address = on_.vk.GetBufferDeviceAddress(on_.device, &info);
  auto* const words = static_cast<volatile uint32_t*>(freed.mapped);
  words[0] = 1;
  words[1] = 2;
  DestroySharedBuffer(on_, freed);

  const std::array<uint32_t, 3> constants = {static_cast<uint32_t>(address),
                                             static_cast<uint32_t>(address >> 32), 4711};
  VulkanCompute compute;
  ASSERT_TRUE(compute
                  .Create(on_.vk, on_.device, kFaultCompSpv, sizeof(kFaultCompSpv), other.buffer,
                          sizeof(constants))
                  .ok());
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  compute.Bind(on_.vk, commands);
  on_.vk.CmdPushConstants(commands, compute.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          sizeof(constants), constants.data());
  on_.vk.CmdDispatch(commands, 1, 1, 1);
  loader_->End(commands);
  EXPECT_EQ(loader_->Run(commands), VK_SUCCESS);
  EXPECT_EQ(words[0], 4711u) << "its memory is mapped still, too";
  EXPECT_EQ(words[1], 2u);
  compute.Destroy(on_.vk, on_.device);
  DestroySharedBuffer(on_, other);
}

}  // namespace
}  // namespace cairn
