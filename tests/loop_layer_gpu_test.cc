// SPDX-License-Identifier: Apache-2.0
//
// The experiment "loops" in the Vulkan layer, on a device: a program that knows nothing of it makes modules and
// pipelines through the layer, which is linked in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/vulkan_loader.h"
#include "app/recorder/block_writer.h"
#include "app/spirv/testing/shaders.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/shaders.h"
#include "app/vulkan/testing/test_loader.h"
#include "compute_on_device.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using spirv::testing::Form;
using spirv::testing::LoadShader;
using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Code = std::vector<uint32_t>;

uint64_t HashOf(const Code& code) {
  return Shaders::HashOf(code.data(), code.size() * sizeof(uint32_t));
}

// Stands behind the layer: what it passes on, and functions that the driver of the tests has not.
namespace driver {

PFN_vkGetInstanceProcAddr loader = nullptr;
VkInstance of_program = VK_NULL_HANDLE;
PFN_vkGetDeviceProcAddr get_of_device = nullptr;
VkBool32 addresses = VK_FALSE;  // bufferDeviceAddress of the device's request
VkBool32 stores = VK_FALSE;     // fragmentStoresAndAtomics
bool refuses_addresses = false;
VkPipelineCache cache = VK_NULL_HANDLE;
std::mutex mutex;
std::map<VkShaderModule, Code> modules;  // guarded by mutex
std::vector<Code> shader_objects;
uint32_t calls = 0;  // of functions that the layer has to keep from the driver

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical_device,
                                            const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkDevice* device) {
  const auto* const all = FindInChain<VkPhysicalDeviceVulkan12Features>(
      info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  const auto* const one = FindInChain<VkPhysicalDeviceBufferDeviceAddressFeatures>(
      info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
  EXPECT_FALSE(all != nullptr && one != nullptr) << "the specification allows one of them";
  addresses = stores = VK_FALSE;
  if (all != nullptr) addresses = all->bufferDeviceAddress;
  if (one != nullptr) addresses = one->bufferDeviceAddress;
  const auto* const chained = FindInChain<VkPhysicalDeviceFeatures2>(
      info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  EXPECT_FALSE(chained != nullptr && info->pEnabledFeatures != nullptr);
  const VkPhysicalDeviceFeatures* const features =
      chained != nullptr ? &chained->features : info->pEnabledFeatures;
  if (features != nullptr) stores = features->fragmentStoresAndAtomics;
  if (refuses_addresses && addresses != VK_FALSE) return VK_ERROR_FEATURE_NOT_PRESENT;
  // Extensions that the driver of the tests has not.
  std::vector<const char*> extensions;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
    const std::string_view name = info->ppEnabledExtensionNames[i];
    if (name != VK_EXT_SHADER_MODULE_IDENTIFIER_EXTENSION_NAME) {
      extensions.push_back(info->ppEnabledExtensionNames[i]);
    }
  }
  VkDeviceCreateInfo changed = *info;
  changed.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  changed.ppEnabledExtensionNames = extensions.data();
  const auto next = reinterpret_cast<PFN_vkCreateDevice>(loader(of_program, "vkCreateDevice"));
  return next(physical_device, &changed, allocator, device);
}

Code CodeOf(VkShaderModule module) {
  const std::lock_guard lock(mutex);
  return modules.at(module);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateShaderModule(VkDevice device,
                                                  const VkShaderModuleCreateInfo* info,
                                                  const VkAllocationCallbacks* allocator,
                                                  VkShaderModule* module) {
  const auto next =
      reinterpret_cast<PFN_vkCreateShaderModule>(get_of_device(device, "vkCreateShaderModule"));
  const VkResult result = next(device, info, allocator, module);
  const std::lock_guard lock(mutex);
  modules[*module] = Code(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice device, VkPipelineCache with,
                                                      uint32_t count,
                                                      const VkComputePipelineCreateInfo* infos,
                                                      const VkAllocationCallbacks* allocator,
                                                      VkPipeline* pipelines) {
  cache = with;
  const auto next = reinterpret_cast<PFN_vkCreateComputePipelines>(
      get_of_device(device, "vkCreateComputePipelines"));
  return next(device, with, count, infos, allocator, pipelines);
}

void Identify(const Code& code, VkShaderModuleIdentifierEXT* identifier) {
  const uint64_t hash = HashOf(code);
  identifier->identifierSize = sizeof(hash);
  std::memcpy(identifier->identifier, &hash, sizeof(hash));
}

VKAPI_ATTR void VKAPI_CALL IdentifyModule(VkDevice, VkShaderModule module,
                                          VkShaderModuleIdentifierEXT* identifier) {
  Identify(CodeOf(module), identifier);
}

VKAPI_ATTR void VKAPI_CALL IdentifyCode(VkDevice, const VkShaderModuleCreateInfo* info,
                                        VkShaderModuleIdentifierEXT* identifier) {
  Identify(Code(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t)), identifier);
}

// The beginning of VkShaderCreateInfoEXT.
struct ShaderInfo {
  VkStructureType type;
  const void* next;
  VkFlags flags;
  VkShaderStageFlagBits stage;
  VkShaderStageFlags next_stage;
  uint32_t code_type;
  size_t code_bytes;
  const void* code;
  const void* rest[6];
};

VKAPI_ATTR VkResult VKAPI_CALL CreateShaders(VkDevice, uint32_t count, const ShaderInfo* infos,
                                             const VkAllocationCallbacks*, uint64_t* shaders) {
  for (uint32_t i = 0; i < count; ++i) {
    const auto* const words = static_cast<const uint32_t*>(infos[i].code);
    shader_objects.emplace_back(words, words + infos[i].code_bytes / sizeof(uint32_t));
    shaders[i] = shader_objects.size();
  }
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL CountCall() {
  ++calls;
  return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfDevice(VkDevice device, const char* name) {
  static const std::map<std::string_view, PFN_vkVoidFunction> kOwn = {
      {"vkCreateShaderModule", reinterpret_cast<PFN_vkVoidFunction>(CreateShaderModule)},
      {"vkCreateComputePipelines", reinterpret_cast<PFN_vkVoidFunction>(CreateComputePipelines)},
      {"vkGetShaderModuleIdentifierEXT", reinterpret_cast<PFN_vkVoidFunction>(IdentifyModule)},
      {"vkGetShaderModuleCreateInfoIdentifierEXT",
       reinterpret_cast<PFN_vkVoidFunction>(IdentifyCode)},
      {"vkCreateShadersEXT", reinterpret_cast<PFN_vkVoidFunction>(CreateShaders)},
      {"vkGetShaderBinaryDataEXT", reinterpret_cast<PFN_vkVoidFunction>(CountCall)},
      {"vkCreatePipelineBinariesKHR", reinterpret_cast<PFN_vkVoidFunction>(CountCall)},
  };
  const auto own = kOwn.find(name);
  return own != kOwn.end() ? own->second : get_of_device(device, name);
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

// A program that gives the code of its shaders in the structures of pipelines, and makes no modules.
namespace without_modules {

PFN_vkCreateComputePipelines create = nullptr;
Code code;
const VkBaseInStructure* in_front = nullptr;  // of the code

VKAPI_ATTR VkResult VKAPI_CALL KeepCode(VkDevice, const VkShaderModuleCreateInfo* info,
                                        const VkAllocationCallbacks*, VkShaderModule* module) {
  code.assign(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  *module = VK_NULL_HANDLE;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL CreatePipeline(VkDevice device, VkPipelineCache cache, uint32_t,
                                              const VkComputePipelineCreateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkPipeline* pipeline) {
  VkShaderModuleCreateInfo own = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  own.pCode = code.data();
  own.codeSize = code.size() * sizeof(uint32_t);
  VkComputePipelineCreateInfo changed = *info;
  VkBaseInStructure first = {};
  changed.stage.pNext = &own;
  if (in_front != nullptr) {
    first = {in_front->sType, reinterpret_cast<const VkBaseInStructure*>(&own)};
    changed.stage.pNext = &first;
  }
  return create(device, cache, 1, &changed, allocator, pipeline);
}

}  // namespace without_modules

class LoopLayerGpuTest : public ::testing::Test {
 protected:
  // Opens the board that the environment names before a test replaces it.
  static void SetUpTestSuite() {
    if (of_environment_ != nullptr) return;
    static Board board = MakeBoard();
    of_environment_ = &board;
    SetVariable(kVariableOf<&LayerSettings::experiment>, "loops=1000");
    SetVariable(kVariableOf<&LayerSettings::experiment_board>,
                of_environment_->memory.PathForOthers());
    from_environment_ = RecordedExperiment::Active();
    const auto found = LoadVulkanLoader();
    ASSERT_TRUE(found.ok()) << found.status().message();
    driver::loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*found);
  }

  void SetUp() override {
    driver::addresses = driver::stores = VK_FALSE;
    driver::refuses_addresses = false;
    driver::cache = VK_NULL_HANDLE;
    driver::modules.clear();
    driver::shader_objects.clear();
    driver::calls = 0;
    without_modules::in_front = nullptr;
  }
  void TearDown() override {
    DestroySharedBuffer(on_, results_);
    loader_.reset();
    RecordedExperiment::Replace(nullptr);
  }

  // Makes the program's device in a run with this experiment; with none for "".
  void Start(const std::string& experiment, TestDeviceRequest request = {},
             MarkerMode mode = MarkerMode::kTop) {
    if (!experiment.empty())
      run_.emplace(RecordedExperiment{*ParseExperiment(experiment), own_.board});
    RecordedExperiment::Replace(run_ ? &*run_ : nullptr);
    StartDevice(std::move(request), mode);
  }
  void StartDevice(TestDeviceRequest request, MarkerMode mode = MarkerMode::kTop) {
    request.next = driver::GetOfInstance;
    loader_.emplace();
    const Status made = loader_->Create(mode, request);
    ASSERT_TRUE(made.ok()) << made.message();
    on_ = {loader_->vk(), loader_->device(), loader_->queue(), 0, {}};
    loader_->GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader_->physical_device(), &on_.memory);
    results_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(InvocationWords));
    ASSERT_NE(results_.mapped, nullptr);
  }

  InvocationWords Run(const Code& code, ComputeConstants constants) {
    return RunCompute(on_, results_, code, constants);
  }
  ExperimentNotes Told() const { return own_.board.Read(); }

  struct Board {
    SharedMemory memory;
    ExperimentBoard board;
  };
  static Board MakeBoard(uint32_t loops = 64) {
    constexpr uint32_t kTextBytes = 1u << 14;
    Result<SharedMemory> memory =
        SharedMemory::Create("cairn loops", ExperimentBoard::BytesFor(loops, kTextBytes));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    const ExperimentBoard board =
        ExperimentBoard::Make({memory->data(), memory->size_bytes()}, loops, kTextBytes);
    return {std::move(*memory), board};
  }

  inline static Board* of_environment_ = nullptr;
  inline static const RecordedExperiment* from_environment_ = nullptr;
  Board own_ = MakeBoard();
  std::optional<RecordedExperiment> run_;
  std::optional<TestLoader> loader_;
  ComputeDevice on_;
  SharedBuffer results_;
};

// march.comp sums from 0.5 + invocation in steps of the first constant up to the second one.
constexpr float kLimit = 20.25f;

InvocationWords Marched(float step, uint32_t most_trips) {
  InvocationWords results;
  for (uint32_t at = 0; at < kInvocations; ++at) {
    float sum = 0;
    uint32_t trips = 0;
    for (float i = 0.5f + static_cast<float>(at); i < kLimit && trips < most_trips; i += step) {
      sum += i;
      ++trips;
    }
    results[at] = std::bit_cast<uint32_t>(sum);
  }
  return results;
}

TEST_F(LoopLayerGpuTest, AnEndlessLoopEndsAndTheBoardOfTheEnvironmentTellsIt) {
  ASSERT_NE(from_environment_, nullptr);
  RecordedExperiment::Replace(from_environment_);
  ASSERT_NO_FATAL_FAILURE(StartDevice({}));
  const Code code = LoadShader("march.comp", Form::kLines);
  EXPECT_EQ(Run(code, Floats(0, kLimit)), Marched(0, 1000));

  const ExperimentNotes told = of_environment_->board.Read();
  EXPECT_EQ(told.limited, 1u);
  EXPECT_EQ(told.refused, 0u) << told.why_refused;
  EXPECT_EQ(told.why_none, "");
  ASSERT_THAT(told.loops, SizeIs(1));
  const LoopNote& loop = told.loops[0];
  EXPECT_EQ(loop.shader, HashOf(code)) << "of the code as the program has it";
  EXPECT_EQ(loop.index, 0u);
  EXPECT_THAT(loop.function, StartsWith("march"));
  EXPECT_THAT(loop.file, EndsWith("march.comp"));
  EXPECT_EQ(loop.line, 9u);
  EXPECT_THAT(loop.text, HasSubstr("for (float i = start; i < parameters.limit;"));
  EXPECT_EQ(loop.comparison, "<");
  EXPECT_TRUE(loop.is_float);
  EXPECT_EQ(loop.invocations, InvocationKind::kGlobal);
  EXPECT_EQ(loop.cannot, "");
  EXPECT_EQ(loop.record.executions, kInvocations);
  EXPECT_EQ(loop.record.cuts, 20u) << "the others begin behind the limit of the shader's own";
  EXPECT_EQ(loop.record.most_trips, 1000u);
  ASSERT_EQ(loop.record.first, 1u);
  EXPECT_LT(loop.record.invocation[0], 20u);
  EXPECT_EQ(std::bit_cast<float>(loop.record.left),
            0.5f + static_cast<float>(loop.record.invocation[0]));
  EXPECT_EQ(std::bit_cast<float>(loop.record.right), kLimit);
}

TEST_F(LoopLayerGpuTest, ReportsHaveTheProgramsOwnCode) {
  Start("loops=1000");
  const Code code = LoadShader("march.comp", Form::kLines);
  Run(code, Floats(1, kLimit));
  ASSERT_THAT(driver::modules, SizeIs(1));
  const Code& limited = driver::modules.begin()->second;
  EXPECT_NE(limited, code);
  // The block is that of the process: other tests have shaders there.
  const BlockWriter& block = *loader_->state().block;
  std::vector<uint64_t> kept;
  for (uint32_t i = 0; i < block.header()->shader_count.load(); ++i) {
    kept.push_back(block.shaders()[i].hash);
  }
  EXPECT_THAT(kept, Contains(HashOf(code)));
  EXPECT_THAT(kept, Not(Contains(HashOf(limited))));
}

TEST_F(LoopLayerGpuTest, OnlyTheShaderThatIsAskedForIsChanged) {
  const Code code = LoadShader("march.comp", Form::kLines);
  Start("loops=3,shader=00000000000000a1");
  EXPECT_EQ(Run(code, Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_EQ(driver::modules.begin()->second, code);
  EXPECT_EQ(Told(), ExperimentNotes());
  TearDown();

  Experiment experiment;
  experiment.change = Change::kLimitLoops;
  experiment.trips = 3;
  experiment.shaders = {HashOf(code)};
  Start(FormatExperiment(experiment));
  EXPECT_EQ(Run(code, Floats(1, kLimit)), Marched(1, 3));
  EXPECT_EQ(Told().limited, 1u);
}

// A device of an implementation of Direct3D has translations of shaders, which are known by these as well.
TEST_F(LoopLayerGpuTest, AShaderOfDirect3DIsAskedForByItsOwnCode) {
  const Code code = LoadShader("march.comp", Form::kLines);
  const auto is_limited = [&](const std::string& experiment, uint64_t compute) {
    if (loader_) TearDown();
    {
      const DeviceCreationScope creating;
      Start(experiment);
    }
    PipelineCode own{};
    own[kStageCompute] = compute;
    own[kStagePixel] = 0xd1;
    const PipelineCodeScope making(own);
    const InvocationWords words = Run(code, Floats(1, kLimit));
    if (words == Marched(1, 3)) return true;
    EXPECT_EQ(words, Marched(1, UINT32_MAX));
    return false;
  };
  EXPECT_TRUE(is_limited("loops=3,shader=00000000000000d1", 0xd1));
  EXPECT_FALSE(is_limited("loops=3,shader=00000000000000d1", 0xd2));
  EXPECT_FALSE(is_limited("loops=3,shader=00000000000000d1", 0));
  EXPECT_TRUE(is_limited("loops=3,shader=0000000000000000,shader=00000000000000d1", 0));
  const ExperimentNotes told = Told();
  ASSERT_THAT(told.loops, SizeIs(2));
  EXPECT_EQ(told.loops[0].translated, 0xd1u);
  EXPECT_EQ(told.loops[0].stage, kStageCompute);
  EXPECT_EQ(told.loops[0].count, 1u);
  EXPECT_EQ(told.loops[0].excerpt.first_line, 6u);
  EXPECT_EQ(told.loops[1].translated, 0u);
}

TEST_F(LoopLayerGpuTest, OneLoopAloneIsLimited) {
  Start("loops=100,loop=1");
  const Code code = LoadShader("never_ends.comp", Form::kLines);
  Run(code, {0, 0});
  const ExperimentNotes first = Told();
  ASSERT_THAT(first.loops, SizeIs(2));
  EXPECT_EQ(first.loops[0].cannot, "this run limits loop 1 alone");
  EXPECT_EQ(first.loops[1].cannot, "");
  // The one that counts, or the one that spins: either can only end by the limit.
  Run(code, {first.loops[1].line == 21 ? 8u : 7u, 0});
  EXPECT_EQ(Told().loops[1].record.cuts, kInvocations);
  EXPECT_EQ(Told().loops[0].record, LoopRecord());
  EXPECT_EQ(Told().limited, 1u) << "the same module again";
}

TEST_F(LoopLayerGpuTest, CountingAloneChangesNoResult) {
  Start("loops=4294967295");
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, UINT32_MAX));
  const ExperimentNotes told = Told();
  ASSERT_THAT(told.loops, SizeIs(1));
  EXPECT_EQ(told.loops[0].record.executions, kInvocations);
  EXPECT_EQ(told.loops[0].record.most_trips, 21u) << "the test that ends it is one";
  EXPECT_EQ(told.loops[0].record.cuts, 0u);
}

TEST_F(LoopLayerGpuTest, WithoutTheExperimentTheDriverGetsThePrograms) {
  VkPhysicalDeviceVulkan12Features features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  Start("", {.chain = &features, .extensions = {}});
  EXPECT_EQ(driver::addresses, VK_FALSE);
  EXPECT_EQ(driver::stores, VK_FALSE);
  const Code code = LoadShader("march.comp", Form::kLines);
  EXPECT_EQ(Run(code, Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_EQ(driver::modules.begin()->second, code);
}

// Programs that have bufferDeviceAddress off, in each way in which they can say so.
class LoopRequests : public LoopLayerGpuTest {
 protected:
  void ExpectLimits(const void* chain, uint32_t version = VK_API_VERSION_1_3) {
    Start("loops=3", {.chain = chain, .extensions = {}, .api_version = version});
    EXPECT_EQ(driver::addresses, VK_TRUE);
    EXPECT_EQ(driver::stores, VK_TRUE);
    EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, 3));
    EXPECT_EQ(Told().limited, 1u);
    EXPECT_EQ(Told().why_none, "");
  }
  VkPhysicalDeviceVulkan13Features behind_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
};

TEST_F(LoopRequests, AllFeaturesOfVulkan12) {
  VkPhysicalDeviceVulkan12Features off = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                          &behind_};
  off.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &off, {}};
  ExpectLimits(&features);
  EXPECT_EQ(off.bufferDeviceAddress, VK_FALSE) << "the program's own is not written to";
  EXPECT_EQ(features.features.fragmentStoresAndAtomics, VK_FALSE);
  EXPECT_EQ(features.pNext, &off);
  EXPECT_EQ(off.pNext, &behind_);
}

TEST_F(LoopRequests, TheStructureOfTheFeature) {
  VkPhysicalDeviceBufferDeviceAddressFeatures off = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, &behind_};
  ExpectLimits(&off);
  EXPECT_EQ(off.bufferDeviceAddress, VK_FALSE);
}

TEST_F(LoopRequests, NoStructure) {
  ExpectLimits(&behind_);
}

// As vkd3d does.
TEST_F(LoopRequests, AProgramOfVulkan10) {
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  ExpectLimits(&features, VK_API_VERSION_1_0);
}

TEST_F(LoopRequests, WithoutTheExperimentVulkan10StaysWhatItIs) {
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  Start("", {.chain = &features, .extensions = {}, .api_version = VK_API_VERSION_1_0});
  EXPECT_EQ(loader_->state().instance->api_version, VK_API_VERSION_1_0);
}

TEST_F(LoopRequests, AStructureThatNobodyKnowsInFrontLeavesTheDeviceAsItWas) {
  VkPhysicalDeviceVulkan12Features off = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  const VkBaseInStructure unknown = {static_cast<VkStructureType>(0x7ffffff0),
                                     reinterpret_cast<const VkBaseInStructure*>(&off)};
  Start("loops=3", {.chain = &unknown, .extensions = {}});
  EXPECT_EQ(driver::addresses, VK_FALSE);
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_THAT(Told().why_none, HasSubstr("(VkStructureType 2147483632)"));
}

TEST_F(LoopRequests, ADriverThatRefusesTheFeatureGetsTheProgramsRequest) {
  driver::refuses_addresses = true;
  Start("loops=3", {.chain = &behind_, .extensions = {}});
  EXPECT_EQ(driver::addresses, VK_FALSE);
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_EQ(Told().why_none, "the Vulkan device could not be made with bufferDeviceAddress");
}

TEST_F(LoopRequests, ADeviceWithoutBreadcrumbsIsLeftAsItIs) {
  Start("loops=3", {.chain = &behind_, .extensions = {}}, MarkerMode::kOff);
  EXPECT_EQ(driver::addresses, VK_FALSE);
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_THAT(Told().why_none, HasSubstr("without breadcrumbs"));
}

TEST_F(LoopRequests, ModeExactLimitsToo) {
  Start("loops=3", {.chain = &behind_, .extensions = {}}, MarkerMode::kExact);
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, 3));
  EXPECT_EQ(Told().limited, 1u) << "nothing of the layer's own is changed";
  EXPECT_THAT(Told().loops, SizeIs(1));
}

TEST_F(LoopLayerGpuTest, CodeInTheStructuresOfStagesIsLimited) {
  Start("loops=3");
  without_modules::create = on_.vk.CreateComputePipelines;
  on_.vk.CreateShaderModule = without_modules::KeepCode;
  on_.vk.CreateComputePipelines = without_modules::CreatePipeline;
  const Code code = LoadShader("march.comp", Form::kLines);
  EXPECT_EQ(Run(code, Floats(1, kLimit)), Marched(1, 3));
  ASSERT_THAT(Told().loops, SizeIs(1));
  EXPECT_EQ(Told().loops[0].shader, HashOf(code));
}

TEST_F(LoopLayerGpuTest, CodeBehindAStructureThatNobodyKnowsStaysAsItIs) {
  Start("loops=3");
  const VkBaseInStructure unknown = {static_cast<VkStructureType>(0x7ffffff0), nullptr};
  without_modules::in_front = &unknown;
  without_modules::create = on_.vk.CreateComputePipelines;
  on_.vk.CreateShaderModule = without_modules::KeepCode;
  on_.vk.CreateComputePipelines = without_modules::CreatePipeline;
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, UINT32_MAX));
  EXPECT_EQ(Told().refused, 1u);
  EXPECT_EQ(Told().why_refused, "its stage has a structure that this build of Cairn does not know");
}

TEST_F(LoopLayerGpuTest, CodeIsAskedForWhereAPipelineHasAnIdentifierAlone) {
  Start("loops=3");
  const uint8_t bytes[8] = {1, 2, 3};
  VkPipelineShaderStageModuleIdentifierCreateInfoEXT identifier = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT};
  identifier.identifierSize = sizeof(bytes);
  identifier.pIdentifier = bytes;
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, &identifier};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.pName = "main";
  auto pipeline = reinterpret_cast<VkPipeline>(uintptr_t{1});
  EXPECT_EQ(on_.vk.CreateComputePipelines(on_.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
            VK_PIPELINE_COMPILE_REQUIRED);
  EXPECT_EQ(pipeline, VkPipeline{VK_NULL_HANDLE});
}

TEST_F(LoopLayerGpuTest, NoCacheOfTheProgramHoldsLimitedCode) {
  Start("loops=3");
  const VkPipelineCacheCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  VkPipelineCache cache = VK_NULL_HANDLE;
  ASSERT_EQ(on_.vk.CreatePipelineCache(on_.device, &info, nullptr, &cache), VK_SUCCESS);
  static PFN_vkCreateComputePipelines create;
  static VkPipelineCache of_program;
  create = on_.vk.CreateComputePipelines;
  of_program = cache;
  on_.vk.CreateComputePipelines =
      [](VkDevice device, VkPipelineCache, uint32_t count, const VkComputePipelineCreateInfo* infos,
         const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
        return create(device, of_program, count, infos, allocator, pipelines);
      };
  driver::cache = cache;
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, 3));
  EXPECT_EQ(driver::cache, VkPipelineCache{VK_NULL_HANDLE});
  on_.vk.DestroyPipelineCache(on_.device, cache, nullptr);
}

TEST_F(LoopLayerGpuTest, IdentifiersAreThoseOfTheProgramsCode) {
  Start("loops=3",
        {.chain = nullptr, .extensions = {VK_EXT_SHADER_MODULE_IDENTIFIER_EXTENSION_NAME}});
  // A module with loops, and one without.
  for (const char* name : {"march.comp", "vertices.vert"}) {
    const Code code = LoadShader(name, Form::kLines);
    const Result<VkShaderModule> module =
        CreateShader(on_.vk, on_.device, code.data(), code.size() * sizeof(uint32_t));
    ASSERT_TRUE(module.ok());
    VkShaderModuleIdentifierEXT own = {VK_STRUCTURE_TYPE_SHADER_MODULE_IDENTIFIER_EXT};
    driver::Identify(code, &own);
    VkShaderModuleIdentifierEXT identifier = {VK_STRUCTURE_TYPE_SHADER_MODULE_IDENTIFIER_EXT};
    on_.vk.GetShaderModuleIdentifierEXT(on_.device, *module, &identifier);
    EXPECT_EQ(std::memcmp(&identifier, &own, sizeof(own)), 0) << name;
    on_.vk.DestroyShaderModule(on_.device, *module, nullptr);
  }
}

TEST_F(LoopLayerGpuTest, ShaderObjectsAreLimitedAndNoDriversCodeIsKeptOrTaken) {
  Start("loops=3");
  const Code code = LoadShader("march.comp", Form::kLines);
  driver::ShaderInfo info = {};
  info.code_type = 1;
  info.code = code.data();
  info.code_bytes = code.size() * sizeof(uint32_t);
  const auto create = loader_->Get<decltype(&driver::CreateShaders)>("vkCreateShadersEXT");
  uint64_t shader = 0;
  ASSERT_EQ(create(on_.device, 1, &info, nullptr, &shader), VK_SUCCESS);
  EXPECT_EQ(shader, 1u);
  ASSERT_THAT(driver::shader_objects, SizeIs(1));
  EXPECT_GT(driver::shader_objects[0].size(), code.size());
  EXPECT_EQ(Told().limited, 1u);

  info.code_type = 0;
  EXPECT_EQ(create(on_.device, 1, &info, nullptr, &shader), static_cast<VkResult>(1000482000));
  EXPECT_EQ(shader, 0u);
  EXPECT_THAT(driver::shader_objects, SizeIs(1));
  size_t bytes = 0;
  EXPECT_EQ((loader_->Get<VkResult(VKAPI_PTR*)(VkDevice, uint64_t, size_t*, void*)>(
                "vkGetShaderBinaryDataEXT")(on_.device, 1, &bytes, nullptr)),
            VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ((loader_->Get<VkResult(VKAPI_PTR*)(VkDevice, const void*, const void*, void*)>(
                "vkCreatePipelineBinariesKHR")(on_.device, nullptr, nullptr, nullptr)),
            VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(driver::calls, 0u);
}

TEST_F(LoopLayerGpuTest, ThreadsThatMakeTheSameModulesDescribeThemOnce) {
  Start("loops=3");
  const Code codes[] = {LoadShader("never_ends.comp", Form::kLines),
                        LoadShader("march.comp", Form::kLines)};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int module = 0; module < 8; ++module) {
        const Code& code = codes[module % 2];
        const Result<VkShaderModule> made =
            CreateShader(on_.vk, on_.device, code.data(), code.size() * sizeof(uint32_t));
        ASSERT_TRUE(made.ok());
        EXPECT_GT(driver::CodeOf(*made).size(), code.size()) << "limited";
        on_.vk.DestroyShaderModule(on_.device, *made, nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Told().limited, 2u);
  EXPECT_EQ(Told().dropped, 0u);
  EXPECT_THAT(Told().loops, SizeIs(3));
}

TEST_F(LoopLayerGpuTest, AModuleWithoutRoomStaysAsItIs) {
  own_ = MakeBoard(1);
  Start("loops=3");
  const Code code = LoadShader("never_ends.comp", Form::kLines);
  EXPECT_THAT(Run(code, {0, 0}), Each(6u));
  EXPECT_EQ(driver::modules.begin()->second, code);
  EXPECT_EQ(Told().dropped, 2u);
  EXPECT_EQ(Run(LoadShader("march.comp", Form::kLines), Floats(1, kLimit)), Marched(1, 3))
      << "one loop has room";
}

}  // namespace
}  // namespace cairn
