// SPDX-License-Identifier: Apache-2.0
//
// Shader code of a device: kept in the block once per hash, and found again through the module, the
// module's identifier, or the code itself in the structure of a pipeline.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_VULKAN_SHADERS_H_
#define CAIRN_APP_VULKAN_SHADERS_H_

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/vulkan/sharded_map.h"
#include "format/block/block.h"

namespace cairn {

class BlockWriter;

// One stage of a pipeline.
struct StageShader {
  // "main (0123456789abcdef)", with debug information "main of fog.comp (0123456789abcdef)", and "Lighting
  // (0123456789abcdef)" where the program named the module; "" for none.
  std::string name;
  uint64_t hash = 0;  // of the SPIR-V; 0: not known
};
using StageShaders = std::array<StageShader, kStageCount>;

class Shaders {
 public:
  explicit Shaders(BlockWriter& block) : block_(block) {}

  // The hash by which a module is known, never 0.
  static uint64_t HashOf(const void* code, size_t size_bytes);
  // Keeps the code, and returns its hash.
  uint64_t Keep(const VkShaderModuleCreateInfo& code);

  // Adds a module of this code, which Keep has returned `hash` of.
  void AddModule(VkShaderModule module, const VkShaderModuleCreateInfo& code, uint64_t hash);
  void ForgetModule(VkShaderModule module);
  // Sets the program's name of a module; later pipelines show it. Unknown modules are ignored.
  void NameModule(uint64_t module, std::string_view name);
  // Adds the driver's identifier of this code.
  void AddIdentifier(const VkShaderModuleIdentifierEXT& identifier, uint64_t hash);
  void AddIdentifier(const VkShaderModuleIdentifierEXT& identifier, VkShaderModule module);

  // Adds stages of a pipeline to `shaders`; of several that count as one, as those of ray tracing do, the
  // first is named.
  void Collect(const VkPipelineShaderStageCreateInfo* stages, uint32_t count,
               StageShaders* shaders);

 private:
  struct Module {
    uint64_t hash = 0;  // 0: not known
    std::string name;
    std::string source;  // its file's name, "" if that is not known
  };
  Module ModuleOf(const VkPipelineShaderStageCreateInfo& stage);

  BlockWriter& block_;
  ShardedMap<Module> modules_;
  ShardedMap<uint64_t> identifiers_;  // by the hash of the identifier
};

// The one stage of the bit; nothing for a bit that this version does not know.
std::optional<ShaderStage> StageOf(VkShaderStageFlagBits bit);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SHADERS_H_
