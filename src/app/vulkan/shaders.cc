// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/shaders.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "app/recorder/block_writer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/module_source.h"

namespace cairn {
namespace {

// 0 stands for "not known" everywhere.
uint64_t HashOfBytes(const void* bytes, size_t size) {
  const uint64_t hash = XXH64(bytes, size, 0);
  return hash == 0 ? 1 : hash;
}

uint64_t HashOfIdentifier(const uint8_t* identifier, uint32_t size) {
  return HashOfBytes(identifier,
                     std::min<uint32_t>(size, VK_MAX_SHADER_MODULE_IDENTIFIER_SIZE_EXT));
}

std::string SourceOf(const VkShaderModuleCreateInfo& code) {
  if (code.pCode == nullptr) return {};
  return std::string(SourceFileOfModule({code.pCode, code.codeSize / sizeof(uint32_t)}));
}

}  // namespace

std::optional<ShaderStage> StageOf(VkShaderStageFlagBits bit) {
  switch (static_cast<uint32_t>(bit)) {
    case VK_SHADER_STAGE_VERTEX_BIT: return kStageVertex;
    case VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT: return kStageHull;
    case VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT: return kStageDomain;
    case VK_SHADER_STAGE_GEOMETRY_BIT: return kStageGeometry;
    case VK_SHADER_STAGE_FRAGMENT_BIT: return kStagePixel;
    case VK_SHADER_STAGE_MESH_BIT_EXT: return kStageMesh;
    case VK_SHADER_STAGE_TASK_BIT_EXT: return kStageAmplification;
    case VK_SHADER_STAGE_COMPUTE_BIT: return kStageCompute;
    case VK_SHADER_STAGE_RAYGEN_BIT_KHR:
    case VK_SHADER_STAGE_ANY_HIT_BIT_KHR:
    case VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR:
    case VK_SHADER_STAGE_MISS_BIT_KHR:
    case VK_SHADER_STAGE_INTERSECTION_BIT_KHR:
    case VK_SHADER_STAGE_CALLABLE_BIT_KHR: return kStageRayTracing;
    default: return std::nullopt;
  }
}

uint64_t Shaders::HashOf(const void* code, size_t size_bytes) {
  return HashOfBytes(code, size_bytes);
}

uint64_t Shaders::Keep(const VkShaderModuleCreateInfo& code) {
  if (code.pCode == nullptr || code.codeSize == 0) return 0;
  const uint64_t hash = HashOfBytes(code.pCode, code.codeSize);
  block_.AddShader(
      ShaderCode::kSpirV, hash,
      std::as_bytes(std::span(reinterpret_cast<const char*>(code.pCode), code.codeSize)));
  return hash;
}

void Shaders::AddModule(VkShaderModule module, const VkShaderModuleCreateInfo& code,
                        uint64_t hash) {
  modules_.Set(HandleValue(module), {hash, "", SourceOf(code)});
}

void Shaders::ForgetModule(VkShaderModule module) {
  modules_.Erase(HandleValue(module));
}

void Shaders::NameModule(uint64_t module, std::string_view name) {
  modules_.Visit(module, [&](Module& known) { known.name = name; });
}

void Shaders::AddIdentifier(const VkShaderModuleIdentifierEXT& identifier, uint64_t hash) {
  if (identifier.identifierSize == 0 || hash == 0) return;
  identifiers_.Set(HashOfIdentifier(identifier.identifier, identifier.identifierSize), hash);
}

void Shaders::AddIdentifier(const VkShaderModuleIdentifierEXT& identifier, VkShaderModule module) {
  uint64_t hash = 0;
  modules_.Visit(HandleValue(module), [&](const Module& known) { hash = known.hash; });
  AddIdentifier(identifier, hash);
}

Shaders::Module Shaders::ModuleOf(const VkPipelineShaderStageCreateInfo& stage) {
  Module module;
  if (stage.module != VK_NULL_HANDLE) {
    modules_.Visit(HandleValue(stage.module), [&](const Module& known) { module = known; });
    return module;
  }
  if (const auto* const code = FindInChain<VkShaderModuleCreateInfo>(
          stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)) {
    module.hash = Keep(*code);
    module.source = SourceOf(*code);
    return module;
  }
  const auto* const identifier = FindInChain<VkPipelineShaderStageModuleIdentifierCreateInfoEXT>(
      stage.pNext, VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT);
  if (identifier != nullptr && identifier->pIdentifier != nullptr &&
      identifier->identifierSize != 0) {
    identifiers_.Visit(HashOfIdentifier(identifier->pIdentifier, identifier->identifierSize),
                       [&](uint64_t known) { module.hash = known; });
  }
  return module;
}

void Shaders::Collect(const VkPipelineShaderStageCreateInfo* stages, uint32_t count,
                      StageShaders* shaders) {
  if (stages == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) {
    // Modules without a name are looked up, too: their code is kept.
    Module module = ModuleOf(stages[i]);
    const std::optional<ShaderStage> stage = StageOf(stages[i].stage);
    if (!stage || !(*shaders)[*stage].name.empty()) continue;
    StageShader& shader = (*shaders)[*stage];
    shader.hash = module.hash;
    const std::string_view entry = stages[i].pName == nullptr ? "" : stages[i].pName;
    shader.name = std::move(module.name);
    // The common entry point "main" adds nothing to a name.
    if (shader.name.empty()) {
      shader.name = entry;
      if (!module.source.empty()) shader.name += " of " + module.source;
    } else if (entry != "main" && !entry.empty()) {
      shader.name += fmt::format(": {}", entry);
    }
    if (shader.hash != 0) shader.name += fmt::format(" ({:016x})", shader.hash);
  }
}

namespace {

VkResult VKAPI_CALL CreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo* info,
                                       const VkAllocationCallbacks* allocator,
                                       VkShaderModule* module) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateShaderModule(device, info, allocator, module);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    Shaders& shaders = state.objects->shaders;
    shaders.AddModule(*module, *info, shaders.Keep(*info));
  });
  return result;
}

void VKAPI_CALL DestroyShaderModule(VkDevice device, VkShaderModule module,
                                    const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  state.objects->shaders.ForgetModule(module);
  state.objects->Forget(VK_OBJECT_TYPE_SHADER_MODULE, HandleValue(module));
  state.vk.DestroyShaderModule(device, module, allocator);
}

void VKAPI_CALL GetShaderModuleIdentifierEXT(VkDevice device, VkShaderModule module,
                                             VkShaderModuleIdentifierEXT* identifier) {
  const DeviceState& state = *DeviceOf(device);
  state.vk.GetShaderModuleIdentifierEXT(device, module, identifier);
  Quietly([&] { state.objects->shaders.AddIdentifier(*identifier, module); });
}

void VKAPI_CALL GetShaderModuleCreateInfoIdentifierEXT(VkDevice device,
                                                       const VkShaderModuleCreateInfo* info,
                                                       VkShaderModuleIdentifierEXT* identifier) {
  const DeviceState& state = *DeviceOf(device);
  state.vk.GetShaderModuleCreateInfoIdentifierEXT(device, info, identifier);
  Quietly([&] {
    Shaders& shaders = state.objects->shaders;
    shaders.AddIdentifier(*identifier, shaders.Keep(*info));
  });
}

#ifdef VK_EXT_shader_object
VkResult VKAPI_CALL CreateShadersEXT(VkDevice device, uint32_t count,
                                     const VkShaderCreateInfoEXT* infos,
                                     const VkAllocationCallbacks* allocator, VkShaderEXT* created) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateShadersEXT(device, count, infos, allocator, created);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    for (uint32_t i = 0; i < count; ++i) {
      if (infos[i].codeType != VK_SHADER_CODE_TYPE_SPIRV_EXT) continue;
      VkShaderModuleCreateInfo code = {};
      code.pCode = static_cast<const uint32_t*>(infos[i].pCode);
      code.codeSize = infos[i].codeSize;
      state.objects->shaders.Keep(code);
    }
  });
  return result;
}
#endif

}  // namespace

std::span<const Intercept> ShaderIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkCreateShaderModule>("vkCreateShaderModule", CreateShaderModule),
      InterceptOf<PFN_vkDestroyShaderModule>("vkDestroyShaderModule", DestroyShaderModule),
      InterceptOf<PFN_vkGetShaderModuleIdentifierEXT>("vkGetShaderModuleIdentifierEXT",
                                                      GetShaderModuleIdentifierEXT),
      InterceptOf<PFN_vkGetShaderModuleCreateInfoIdentifierEXT>(
          "vkGetShaderModuleCreateInfoIdentifierEXT", GetShaderModuleCreateInfoIdentifierEXT),
#ifdef VK_EXT_shader_object
      InterceptOf<PFN_vkCreateShadersEXT>("vkCreateShadersEXT", CreateShadersEXT),
#endif
  };
  return kTable;
}

}  // namespace cairn
