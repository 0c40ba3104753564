// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/pipelines.h"

#include <new>
#include <utility>

#include "app/breadcrumbs/context.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/handle_map.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "format/block/pipeline_description.h"

namespace cairn {
namespace {

// The pipelines of all devices, which the recording path reads. The states are Pipelines::State.
constinit HandleTree pipeline_tree;

// Describes pipelines whose targets are not known.
constexpr uint64_t kOtherDescription = PackDescription(PipelineDescription{});

}  // namespace

Pipelines::~Pipelines() {
  states_.VisitAll([](const std::unique_ptr<State>& state) {
    pipeline_tree.Set(HandleValue(state->handle), nullptr);
  });
}

void Pipelines::Add(VkPipeline pipeline, StageShaders shaders, uint64_t description) {
  if (pipeline == VK_NULL_HANDLE) return;
  auto state = std::make_unique<State>();
  state->device = &device_;
  state->handle = pipeline;
  state->shaders = std::move(shaders);
  state->description = description;
  State* const added = state.get();
  const uint64_t handle = HandleValue(pipeline);
  Remove(pipeline);  // If the handle is reused, the first pipeline's destruction was not seen.
  states_.Set(handle, std::move(state));
  if (!pipeline_tree.Set(handle, added)) {
    states_.Erase(handle);
    throw std::bad_alloc();
  }
}

void Pipelines::AddStagesOf(VkPipeline library, StageShaders* shaders) {
  states_.Visit(HandleValue(library), [&](const std::unique_ptr<State>& state) {
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      StageShader& shader = (*shaders)[stage];
      if (shader.name.empty()) shader = state->shaders[stage];
    }
  });
}

void Pipelines::SetName(uint64_t pipeline, std::string_view name) {
  states_.Visit(pipeline, [&](const std::unique_ptr<State>& state) {
    const std::lock_guard lock(state->mutex);
    state->name = name;
  });
}

void Pipelines::Remove(VkPipeline pipeline) {
  states_.VisitAndErase(HandleValue(pipeline), [&](const std::unique_ptr<State>& state) {
    pipeline_tree.Set(HandleValue(pipeline), nullptr);
    const CairnPipeline number = state->number.load();
    if (number != 0) static_cast<void>(device_.context->UnregisterPipeline(number).ok());
  });
}

void Pipelines::Defer(VkDeferredOperationKHR operation, const VkPipeline* pipelines,
                      std::vector<StageShaders> shaders) {
  deferred_.Set(HandleValue(operation), Deferred{pipelines, std::move(shaders)});
}

void Pipelines::Complete(VkDeferredOperationKHR operation) {
  deferred_.VisitAndErase(HandleValue(operation), [&](Deferred& deferred) {
    for (size_t i = 0; i < deferred.shaders.size(); ++i) {
      Quietly(
          [&] { Add(deferred.pipelines[i], std::move(deferred.shaders[i]), kOtherDescription); });
    }
  });
}

void Pipelines::Abandon(VkDeferredOperationKHR operation) {
  deferred_.Erase(HandleValue(operation));
}

CairnPipeline Pipelines::Register(State& state) {
  const std::lock_guard lock(state.mutex);
  if (const CairnPipeline number = state.number.load(); number != 0) return number;
  if (state.refused) return 0;
  std::array<const char*, kStageCount> names;
  std::array<uint64_t, kStageCount> hashes;
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    const std::string& name = state.shaders[stage].name;
    names[stage] = name.empty() ? nullptr : name.c_str();
    hashes[stage] = state.shaders[stage].hash;
  }
  CairnPipeline number = 0;
  state.refused = true;
  const auto* const native =
      reinterpret_cast<void*>(static_cast<uintptr_t>(HandleValue(state.handle)));
  const char* const name = state.name.empty() ? nullptr : state.name.c_str();
  Context& context = *state.device->context;
  if (!context.RegisterPipeline(native, name, names, hashes, state.description, &number).ok()) {
    return 0;
  }
  state.number.store(number, std::memory_order_release);
  return number;
}

CairnPipeline PipelineNumberFor(DeviceState& device, VkPipeline pipeline) {
  auto* const state = static_cast<Pipelines::State*>(pipeline_tree.Find(HandleValue(pipeline)));
  if (state == nullptr || state->device != &device) return 0;
  const CairnPipeline known = state->number.load(std::memory_order_acquire);
  if (known != 0) [[likely]]
    return known;
  CairnPipeline number = 0;
  Quietly([&] { number = Pipelines::Register(*state); });
  return number;
}

bool HasStages(const VkGraphicsPipelineCreateInfo& info) {
  constexpr VkGraphicsPipelineLibraryFlagsEXT kWithStages =
      VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |
      VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
  const auto* const part = FindInChain<VkGraphicsPipelineLibraryCreateInfoEXT>(
      info.pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
  if (part != nullptr) return (part->flags & kWithStages) != 0;
  const auto* const libraries = FindInChain<VkPipelineLibraryCreateInfoKHR>(
      info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
  return libraries == nullptr || libraries->libraryCount == 0;
}

namespace {

void AddLibraries(Pipelines& pipelines, const VkPipelineLibraryCreateInfoKHR* libraries,
                  StageShaders* shaders) {
  if (libraries == nullptr || libraries->pLibraries == nullptr) return;
  for (uint32_t i = 0; i < libraries->libraryCount; ++i) {
    pipelines.AddStagesOf(libraries->pLibraries[i], shaders);
  }
}

StageShaders ShadersOf(DeviceObjects& objects, const VkGraphicsPipelineCreateInfo& info) {
  StageShaders shaders;
  if (HasStages(info)) objects.shaders.Collect(info.pStages, info.stageCount, &shaders);
  AddLibraries(objects.pipelines,
               FindInChain<VkPipelineLibraryCreateInfoKHR>(
                   info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR),
               &shaders);
  const auto* const groups = FindInChain<VkGraphicsPipelineShaderGroupsCreateInfoNV>(
      info.pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_SHADER_GROUPS_CREATE_INFO_NV);
  for (uint32_t i = 0; groups != nullptr && i < groups->groupCount; ++i) {
    objects.shaders.Collect(groups->pGroups[i].pStages, groups->pGroups[i].stageCount, &shaders);
  }
  return shaders;
}

StageShaders ShadersOf(DeviceObjects& objects, const VkComputePipelineCreateInfo& info) {
  StageShaders shaders;
  objects.shaders.Collect(&info.stage, 1, &shaders);
  return shaders;
}

StageShaders ShadersOf(DeviceObjects& objects, const VkRayTracingPipelineCreateInfoKHR& info) {
  StageShaders shaders;
  objects.shaders.Collect(info.pStages, info.stageCount, &shaders);
  AddLibraries(objects.pipelines, info.pLibraryInfo, &shaders);
  return shaders;
}

StageShaders ShadersOf(DeviceObjects& objects, const VkRayTracingPipelineCreateInfoNV& info) {
  StageShaders shaders;
  objects.shaders.Collect(info.pStages, info.stageCount, &shaders);
  return shaders;
}

// Targets of dynamic rendering. A render pass would have to be known, and a library has a part of them.
uint64_t DescriptionOf(const VkGraphicsPipelineCreateInfo& info) {
  const auto* const rendering = FindInChain<VkPipelineRenderingCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
  const bool is_part =
      FindInChain<VkGraphicsPipelineLibraryCreateInfoEXT>(
          info.pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT) != nullptr;
  const bool is_linked =
      FindInChain<VkPipelineLibraryCreateInfoKHR>(
          info.pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR) != nullptr;
  // The formats are valid where the pipeline has all its state, and draws.
  const bool draws = info.pRasterizationState != nullptr &&
                     info.pRasterizationState->rasterizerDiscardEnable == VK_FALSE;
  if (rendering == nullptr || is_part || is_linked || !draws || info.renderPass != VK_NULL_HANDLE) {
    return kOtherDescription;
  }
  PipelineDescription description;
  description.tells_targets = true;
  description.vulkan_format = true;
  description.target_count = rendering->colorAttachmentCount;
  const bool has_depth = rendering->depthAttachmentFormat != VK_FORMAT_UNDEFINED;
  description.depth_format = static_cast<uint32_t>(has_depth ? rendering->depthAttachmentFormat
                                                             : rendering->stencilAttachmentFormat);
  if (rendering->pColorAttachmentFormats == nullptr) return PackDescription(description);
  for (uint32_t i = 0; i < rendering->colorAttachmentCount; ++i) {
    if (rendering->pColorAttachmentFormats[i] == VK_FORMAT_UNDEFINED) continue;
    description.first_target_format = static_cast<uint32_t>(rendering->pColorAttachmentFormats[i]);
    break;
  }
  return PackDescription(description);
}
template <typename Info>
uint64_t DescriptionOf(const Info&) {
  return kOtherDescription;
}

// Adds the pipelines that the call made. Others are null, even all of them if they must be compiled
// first, which is no error. After an error the array is not read.
template <typename Info>
void AddPipelines(DeviceObjects& objects, VkResult result, uint32_t count, const Info* infos,
                  const VkPipeline* pipelines) {
  if (result < 0) return;
  for (uint32_t i = 0; i < count; ++i) {
    if (pipelines[i] == VK_NULL_HANDLE) continue;
    Quietly([&] {
      objects.pipelines.Add(pipelines[i], ShadersOf(objects, infos[i]), DescriptionOf(infos[i]));
    });
  }
}

template <typename Info, auto kNext>
VkResult VKAPI_CALL CreatePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                    const Info* infos, const VkAllocationCallbacks* allocator,
                                    VkPipeline* pipelines) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = (state.vk.*kNext)(device, cache, count, infos, allocator, pipelines);
  AddPipelines(*state.objects, result, count, infos, pipelines);
  return result;
}

VkResult VKAPI_CALL CreateRayTracingPipelinesKHR(VkDevice device, VkDeferredOperationKHR operation,
                                                 VkPipelineCache cache, uint32_t count,
                                                 const VkRayTracingPipelineCreateInfoKHR* infos,
                                                 const VkAllocationCallbacks* allocator,
                                                 VkPipeline* pipelines) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateRayTracingPipelinesKHR(device, operation, cache, count,
                                                                infos, allocator, pipelines);
  if (result != VK_OPERATION_DEFERRED_KHR) {
    AddPipelines(*state.objects, result, count, infos, pipelines);
    return result;
  }
  Quietly([&] {
    std::vector<StageShaders> shaders;
    shaders.reserve(count);
    for (uint32_t i = 0; i < count; ++i) shaders.push_back(ShadersOf(*state.objects, infos[i]));
    state.objects->pipelines.Defer(operation, pipelines, std::move(shaders));
  });
  return result;
}

VkResult VKAPI_CALL DeferredOperationJoinKHR(VkDevice device, VkDeferredOperationKHR operation) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.DeferredOperationJoinKHR(device, operation);
  if (result == VK_SUCCESS) state.objects->pipelines.Complete(operation);
  return result;
}

VkResult VKAPI_CALL GetDeferredOperationResultKHR(VkDevice device,
                                                  VkDeferredOperationKHR operation) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.GetDeferredOperationResultKHR(device, operation);
  if (result != VK_NOT_READY) state.objects->pipelines.Complete(operation);
  return result;
}

void VKAPI_CALL DestroyDeferredOperationKHR(VkDevice device, VkDeferredOperationKHR operation,
                                            const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  state.objects->pipelines.Abandon(operation);
  state.objects->Forget(VK_OBJECT_TYPE_DEFERRED_OPERATION_KHR, HandleValue(operation));
  state.vk.DestroyDeferredOperationKHR(device, operation, allocator);
}

void VKAPI_CALL DestroyPipeline(VkDevice device, VkPipeline pipeline,
                                const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  state.objects->pipelines.Remove(pipeline);
  state.objects->Forget(VK_OBJECT_TYPE_PIPELINE, HandleValue(pipeline));
  state.vk.DestroyPipeline(device, pipeline, allocator);
}

}  // namespace

std::span<const Intercept> PipelineIntercepts() {
  using Functions = DeviceFunctions;
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkCreateGraphicsPipelines>(
          "vkCreateGraphicsPipelines",
          CreatePipelines<VkGraphicsPipelineCreateInfo, &Functions::CreateGraphicsPipelines>),
      InterceptOf<PFN_vkCreateComputePipelines>(
          "vkCreateComputePipelines",
          CreatePipelines<VkComputePipelineCreateInfo, &Functions::CreateComputePipelines>),
      InterceptOf<PFN_vkCreateRayTracingPipelinesNV>(
          "vkCreateRayTracingPipelinesNV",
          CreatePipelines<VkRayTracingPipelineCreateInfoNV,
                          &Functions::CreateRayTracingPipelinesNV>),
      InterceptOf<PFN_vkCreateRayTracingPipelinesKHR>("vkCreateRayTracingPipelinesKHR",
                                                      CreateRayTracingPipelinesKHR),
      InterceptOf<PFN_vkDeferredOperationJoinKHR>("vkDeferredOperationJoinKHR",
                                                  DeferredOperationJoinKHR),
      InterceptOf<PFN_vkGetDeferredOperationResultKHR>("vkGetDeferredOperationResultKHR",
                                                       GetDeferredOperationResultKHR),
      InterceptOf<PFN_vkDestroyDeferredOperationKHR>("vkDestroyDeferredOperationKHR",
                                                     DestroyDeferredOperationKHR),
      InterceptOf<PFN_vkDestroyPipeline>("vkDestroyPipeline", DestroyPipeline),
  };
  return kTable;
}

}  // namespace cairn
