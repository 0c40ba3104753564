// SPDX-License-Identifier: Apache-2.0
//
// The calls that take shaders, on a device whose shaders are changed.
//
// The addresses of the records are constants of a changed module, and mean other memory in another run. So nothing that
// a program could keep for later runs may hold changed code, or lead to it: pipeline caches, binaries of pipelines and
// shaders, identifiers of modules. And nothing that it kept may bring code past the limits: a program has to cope with
// a driver that cannot use what was kept, and gives the code.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "app/vulkan/chain_copy.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/pipelines.h"
#include "app/vulkan/shader_experiment.h"

namespace cairn {
namespace {

ShaderExperiment& ExperimentOf(VkDevice device) {
  return *DeviceOf(device)->shader_experiment;
}

// The arguments of vkCreateShaderModule: `words` in the place of the program's code.
VkShaderModuleCreateInfo WithWords(const VkShaderModuleCreateInfo& info,
                                   const std::vector<uint32_t>& words) {
  VkShaderModuleCreateInfo changed = info;
  changed.pCode = words.data();
  changed.codeSize = words.size() * sizeof(uint32_t);
  return changed;
}

VkResult VKAPI_CALL MakeLimitedModule(VkDevice device, const VkShaderModuleCreateInfo* info,
                                      const VkAllocationCallbacks* allocator,
                                      VkShaderModule* module) {
  ShaderExperiment& experiment = ExperimentOf(device);
  std::optional<std::vector<uint32_t>> words;
  Quietly([&] {
    auto limited = experiment.Changed(info->pCode, info->codeSize);
    if (limited) experiment.KeepIdentifier(*info, WithWords(*info, *limited));
    words = std::move(limited);
  });
  const VkShaderModuleCreateInfo ours = words ? WithWords(*info, *words) : *info;
  return experiment.next().CreateShaderModule(device, &ours, allocator, module);
}

void VKAPI_CALL IdentifyAsMade(VkDevice device, VkShaderModule module,
                               VkShaderModuleIdentifierEXT* identifier) {
  ShaderExperiment& experiment = ExperimentOf(device);
  experiment.next().GetShaderModuleIdentifierEXT(device, module, identifier);
  experiment.RestoreIdentifier(identifier);
}

// Copies of stages whose code stands in their structures, with limited code. A module in its place would not do: NVIDIA's
// driver (580.159) takes the code that it finds, even beside a module.
class StageCodes {
 public:
  explicit StageCodes(VkDevice device) : experiment_(ExperimentOf(device)) {}
  StageCodes(const StageCodes&) = delete;
  StageCodes& operator=(const StageCodes&) = delete;

  bool any() const { return !codes_.empty(); }
  // Returns true if a stage since the last call names its shader by an identifier alone.
  bool TakeIdentified() { return std::exchange(identified_, false); }
  // Changes the copy of a stage; false if it stays the program's.
  bool Replace(VkPipelineShaderStageCreateInfo* stage) {
    constexpr VkStructureType kCode = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    const auto* const code = FindInChain<VkShaderModuleCreateInfo>(stage->pNext, kCode);
    if (code == nullptr) {
      identified_ |= stage->module == VK_NULL_HANDLE;
      return false;
    }
    Code ours;
    if (ours.chain.Copy(stage->pNext, code)) {
      experiment_.CountRefused("its stage has a structure that this build of Cairn does not know");
      return false;
    }
    auto words = experiment_.Changed(code->pCode, code->codeSize);
    if (!words) return false;
    ours.words = std::move(*words);
    auto* const copy = ours.chain.Find<VkShaderModuleCreateInfo>(kCode);
    *copy = WithWords(*copy, ours.words);
    stage->pNext = ours.chain.begin();
    codes_.push_back(std::move(ours));
    return true;
  }
  // Replaces `*stages` by a changed copy, if one of them changes.
  void Replace(const VkPipelineShaderStageCreateInfo** stages, uint32_t count) {
    if (*stages == nullptr) return;
    std::vector<VkPipelineShaderStageCreateInfo> copy(*stages, *stages + count);
    bool changes = false;
    for (VkPipelineShaderStageCreateInfo& stage : copy) changes |= Replace(&stage);
    if (!changes) return;
    copies_.push_back(std::move(copy));
    *stages = copies_.back().data();
  }

 private:
  struct Code {
    ChainCopy chain;
    std::vector<uint32_t> words;
  };
  ShaderExperiment& experiment_;
  bool identified_ = false;
  std::vector<Code> codes_;
  std::vector<std::vector<VkPipelineShaderStageCreateInfo>> copies_;
};

void ReplaceStages(StageCodes& codes, VkGraphicsPipelineCreateInfo* info) {
  if (HasStages(*info)) codes.Replace(&info->pStages, info->stageCount);
}
void ReplaceStages(StageCodes& codes, VkComputePipelineCreateInfo* info) {
  codes.Replace(&info->stage);
}
void ReplaceStages(StageCodes& codes, VkRayTracingPipelineCreateInfoKHR* info) {
  codes.Replace(&info->pStages, info->stageCount);
}
void ReplaceStages(StageCodes& codes, VkRayTracingPipelineCreateInfoNV* info) {
  codes.Replace(&info->pStages, info->stageCount);
}

// Calls `call` with changed copies of `infos`, or with the program's own where nothing changes. Where all of them name
// a shader by its identifier alone it asks the program for the code, as a driver may.
template <typename Info, typename Call>
VkResult WithStages(VkDevice device, const Info* infos, uint32_t count, VkPipeline* pipelines,
                    Call call) {
  StageCodes codes(device);
  std::vector<Info> copies;
  uint32_t identified = 0;
  Quietly([&] {
    copies.assign(infos, infos + count);
    for (Info& info : copies) {
      ReplaceStages(codes, &info);
      identified += codes.TakeIdentified() ? 1 : 0;
    }
  });
  if (identified != 0 && identified == count) {
    std::fill_n(pipelines, count, VkPipeline{VK_NULL_HANDLE});
    return VK_PIPELINE_COMPILE_REQUIRED;
  }
  if (identified != 0) {
    ExperimentOf(device).CountRefused(
        "a pipeline names a shader by its identifier, without its code");
  }
  const bool changed = codes.any() && copies.size() == count;
  return call(changed ? copies.data() : infos, changed);
}

// Without the program's cache, which would keep limited code.
template <typename Info, auto kNext>
VkResult VKAPI_CALL MakeLimitedPipelines(VkDevice device, VkPipelineCache, uint32_t count,
                                         const Info* infos, const VkAllocationCallbacks* allocator,
                                         VkPipeline* pipelines) {
  return WithStages(device, infos, count, pipelines, [&](const Info* ours, bool) {
    return (ExperimentOf(device).next().*kNext)(device, VK_NULL_HANDLE, count, ours, allocator,
                                                pipelines);
  });
}

VkResult VKAPI_CALL MakeLimitedRayTracing(VkDevice device, VkDeferredOperationKHR operation,
                                          VkPipelineCache, uint32_t count,
                                          const VkRayTracingPipelineCreateInfoKHR* infos,
                                          const VkAllocationCallbacks* allocator,
                                          VkPipeline* pipelines) {
  return WithStages(
      device, infos, count, pipelines,
      [&](const VkRayTracingPipelineCreateInfoKHR* ours, bool changed) {
        // Copies end with this call, so the work cannot be deferred: the driver does it now.
        const VkDeferredOperationKHR when = changed ? VK_NULL_HANDLE : operation;
        const VkResult result = ExperimentOf(device).next().CreateRayTracingPipelinesKHR(
            device, when, VK_NULL_HANDLE, count, ours, allocator, pipelines);
        const bool was_deferred = changed && operation != VK_NULL_HANDLE;
        return was_deferred && result == VK_SUCCESS ? VK_OPERATION_NOT_DEFERRED_KHR : result;
      });
}

// VkShaderCreateInfoEXT and its numbers: VK_EXT_shader_object is newer than the oldest headers that Cairn is built with.
struct ShaderObjectInfo {
  VkStructureType sType;
  const void* pNext;
  VkFlags flags;
  VkShaderStageFlagBits stage;
  VkShaderStageFlags nextStage;
  uint32_t codeType;
  size_t codeSize;
  const void* pCode;
  const char* pName;
  uint32_t setLayoutCount;
  const VkDescriptorSetLayout* pSetLayouts;
  uint32_t pushConstantRangeCount;
  const VkPushConstantRange* pPushConstantRanges;
  const VkSpecializationInfo* pSpecializationInfo;
};
constexpr uint32_t kBinaryCode = 0;  // VK_SHADER_CODE_TYPE_BINARY_EXT
constexpr auto kIncompatibleBinary =
    static_cast<VkResult>(1000482000);  // VK_INCOMPATIBLE_SHADER_BINARY_EXT
using ShaderObject = uint64_t;
using CreateShaderObjects = VkResult(VKAPI_PTR*)(VkDevice, uint32_t, const ShaderObjectInfo*,
                                                 const VkAllocationCallbacks*, ShaderObject*);

VkResult VKAPI_CALL MakeLimitedShaders(VkDevice device, uint32_t count,
                                       const ShaderObjectInfo* infos,
                                       const VkAllocationCallbacks* allocator,
                                       ShaderObject* created) {
  const DeviceState& state = *DeviceOf(device);
  const auto is_binary = [](const ShaderObjectInfo& info) { return info.codeType == kBinaryCode; };
  if (std::any_of(infos, infos + count, is_binary)) {
    std::fill_n(created, count, ShaderObject{0});
    return kIncompatibleBinary;
  }
  std::vector<ShaderObjectInfo> copies;
  std::vector<std::vector<uint32_t>> modules;
  Quietly([&] {
    std::vector<ShaderObjectInfo> changed(infos, infos + count);
    for (ShaderObjectInfo& info : changed) {
      auto words = state.shader_experiment->Changed(info.pCode, info.codeSize);
      if (!words) continue;
      modules.push_back(std::move(*words));
      info.pCode = modules.back().data();
      info.codeSize = modules.back().size() * sizeof(uint32_t);
    }
    copies = std::move(changed);
  });
  const auto next =
      reinterpret_cast<CreateShaderObjects>(state.next_get(device, "vkCreateShadersEXT"));
  return next(device, count, copies.size() == count ? copies.data() : infos, allocator, created);
}

// The driver's code of a shader object.
VkResult VKAPI_CALL WithholdShaderBinary(VkDevice, ShaderObject, size_t*, void*) {
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

// Binaries of pipelines (VK_KHR_pipeline_binary), made of a pipeline or of what the program kept.
VkResult VKAPI_CALL WithholdPipelineBinaries(VkDevice, const void*, const VkAllocationCallbacks*,
                                             void*) {
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

// A function as newer headers declare it, whose structures have other names there.
template <typename Declared, typename Function>
[[maybe_unused]] Declared As(Function function) {
  return reinterpret_cast<Declared>(reinterpret_cast<PFN_vkVoidFunction>(function));
}

}  // namespace

std::span<const ExactFunction> ShaderExperimentFunctions() {
  using Functions = DeviceFunctions;
  static const std::array functions = {
      Replace<&Functions::CreateShaderModule>("vkCreateShaderModule", MakeLimitedModule),
      Replace<&Functions::GetShaderModuleIdentifierEXT>("vkGetShaderModuleIdentifierEXT",
                                                        IdentifyAsMade),
      Replace<&Functions::CreateGraphicsPipelines>(
          "vkCreateGraphicsPipelines",
          MakeLimitedPipelines<VkGraphicsPipelineCreateInfo, &Functions::CreateGraphicsPipelines>),
      Replace<&Functions::CreateComputePipelines>(
          "vkCreateComputePipelines",
          MakeLimitedPipelines<VkComputePipelineCreateInfo, &Functions::CreateComputePipelines>),
      Replace<&Functions::CreateRayTracingPipelinesNV>(
          "vkCreateRayTracingPipelinesNV",
          MakeLimitedPipelines<VkRayTracingPipelineCreateInfoNV,
                               &Functions::CreateRayTracingPipelinesNV>),
      Replace<&Functions::CreateRayTracingPipelinesKHR>("vkCreateRayTracingPipelinesKHR",
                                                        MakeLimitedRayTracing),
#ifdef VK_EXT_shader_object
      Replace<&Functions::CreateShadersEXT>("vkCreateShadersEXT",
                                            As<PFN_vkCreateShadersEXT>(MakeLimitedShaders)),
      Replace<&Functions::GetShaderBinaryDataEXT>(
          "vkGetShaderBinaryDataEXT", As<PFN_vkGetShaderBinaryDataEXT>(WithholdShaderBinary)),
#else
      OnlyByName("vkCreateShadersEXT", MakeLimitedShaders),
      OnlyByName("vkGetShaderBinaryDataEXT", WithholdShaderBinary),
#endif
#ifdef VK_KHR_pipeline_binary
      Replace<&Functions::CreatePipelineBinariesKHR>(
          "vkCreatePipelineBinariesKHR",
          As<PFN_vkCreatePipelineBinariesKHR>(WithholdPipelineBinaries)),
#else
      OnlyByName("vkCreatePipelineBinariesKHR", WithholdPipelineBinaries),
#endif
  };
  return functions;
}

}  // namespace cairn
