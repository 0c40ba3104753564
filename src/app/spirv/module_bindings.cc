// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/module_bindings.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "app/spirv/decorations.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/new_modes.h"
#include "app/spirv/valid_module.h"

namespace cairn::spirv {
namespace {

struct Decorations {
  std::optional<uint32_t> set;
  std::optional<uint32_t> binding;
  std::optional<uint32_t> location;
  bool is_buffer_block = false;
};

std::unordered_map<uint32_t, Decorations> DecorationsOf(const Module& module) {
  std::unordered_map<uint32_t, Decorations> all;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationDescriptorSet))
    all[decorated.id].set = decorated.value;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationBinding))
    all[decorated.id].binding = decorated.value;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationLocation)) {
    if (!decorated.member) all[decorated.id].location = decorated.value;
  }
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationBufferBlock))
    all[decorated.id].is_buffer_block = true;
  return all;
}

// Returns the variables in the interfaces of vertex shaders, and of no other ones.
std::unordered_set<uint32_t> VertexInterface(const Module& module) {
  std::unordered_set<uint32_t> of_vertex, of_others;
  for (const Instruction& global : module.globals) {
    if (global.opcode != spv::OpEntryPoint) continue;
    const bool is_vertex = global.operands()[0] == spv::ExecutionModelVertex;
    for (const uint16_t word : global.id_uses)
      (is_vertex ? of_vertex : of_others).insert(global.words[word]);
  }
  std::erase_if(of_vertex, [&](uint32_t id) { return of_others.contains(id); });
  return of_vertex;
}

std::unordered_set<uint32_t> UsedIds(const Module& module) {
  std::unordered_set<uint32_t> used;
  for (const Function& function : module.functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) {
        for (const uint16_t word : instruction.id_uses) used.insert(instruction.words[word]);
      }
    }
  }
  return used;
}

// The type without arrays around it.
const Instruction* Element(const Module& module, uint32_t type) {
  const Instruction* definition = module.Global(type);
  while (definition != nullptr && (definition->opcode == spv::OpTypeArray ||
                                   definition->opcode == spv::OpTypeRuntimeArray)) {
    definition = module.Global(definition->operands()[0]);
  }
  return definition;
}

BindingKind KindOfImage(const Instruction& image) {
  constexpr size_t kDim = 1, kSampled = 5;
  constexpr uint32_t kForStorage = 2;
  const bool is_storage = image.operands()[kSampled] == kForStorage;
  switch (image.operands()[kDim]) {
    case spv::DimBuffer:
      return is_storage ? BindingKind::kStorageTexelBuffer : BindingKind::kUniformTexelBuffer;
    case spv::DimSubpassData: return BindingKind::kInputAttachment;
    default: return is_storage ? BindingKind::kStorageImage : BindingKind::kSampledImage;
  }
}

BindingKind KindOfOpaque(const Module& module, const Instruction* type) {
  if (type == nullptr) return BindingKind::kUnknown;
  switch (type->opcode) {
    case spv::OpTypeImage: return KindOfImage(*type);
    case spv::OpTypeSampler: return BindingKind::kSampler;
    case spv::OpTypeSampledImage: {
      // GLSL's samplerBuffer has no sampler.
      const Instruction* const image = module.Global(type->operands()[0]);
      const bool is_buffer = image != nullptr && image->opcode == spv::OpTypeImage &&
                             KindOfImage(*image) == BindingKind::kUniformTexelBuffer;
      return is_buffer ? BindingKind::kUniformTexelBuffer : BindingKind::kCombinedImageSampler;
    }
    case spv::OpTypeAccelerationStructureKHR: return BindingKind::kAccelerationStructure;
    default: return BindingKind::kUnknown;
  }
}

// Fills place and kind. False for a variable of the shader's own.
bool Fill(const Module& module, uint32_t storage_class, const Instruction* element,
          const Decorations& of_variable, bool is_buffer_block, Binding* binding) {
  if (of_variable.set && of_variable.binding)
    binding->place = {BindingPlace::From::kDescriptor, *of_variable.set, *of_variable.binding};
  const bool is_descriptor = binding->place.from == BindingPlace::From::kDescriptor;
  switch (storage_class) {
    case spv::StorageClassUniform:
      binding->kind = is_buffer_block ? BindingKind::kStorageBuffer : BindingKind::kUniformBuffer;
      return is_descriptor;
    case spv::StorageClassStorageBuffer:
      binding->kind = BindingKind::kStorageBuffer;
      return is_descriptor;
    case spv::StorageClassUniformConstant:
      binding->kind = KindOfOpaque(module, element);
      return is_descriptor;
    case spv::StorageClassPushConstant:
      binding->place = {.from = BindingPlace::From::kPushConstants};
      binding->kind = BindingKind::kPushConstants;
      return true;
    case spv::StorageClassInput:
      if (!of_variable.location) return false;
      binding->place = {BindingPlace::From::kVertexInput, 0, *of_variable.location};
      binding->kind = BindingKind::kVertexInput;
      return true;
    default: return false;
  }
}

}  // namespace

std::vector<Binding> FindBindings(const Module& module) {
  std::unordered_map<uint32_t, Decorations> decorations = DecorationsOf(module);
  const std::unordered_set<uint32_t> inputs = VertexInterface(module);
  const std::unordered_set<uint32_t> used = UsedIds(module);
  std::vector<Binding> bindings;
  for (const Instruction& global : module.globals) {
    if (global.opcode != spv::OpVariable || !used.contains(global.result)) continue;
    const uint32_t storage_class = global.operands()[0];
    if (storage_class == spv::StorageClassInput && !inputs.contains(global.result)) continue;
    const Instruction* const pointer = module.Global(global.type);
    if (pointer == nullptr || pointer->opcode != spv::OpTypePointer) continue;
    const Instruction* const element = Element(module, pointer->operands()[1]);
    const bool is_buffer_block = element != nullptr && decorations[element->result].is_buffer_block;
    Binding binding;
    binding.variable = global.result;
    if (Fill(module, storage_class, element, decorations[global.result], is_buffer_block, &binding))
      bindings.push_back(std::move(binding));
  }
  return bindings;
}

Result<std::vector<Binding>> ListBindings(std::span<const uint32_t> words) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  const Result<ValidModule> read = ReadValid(modes.rest());
  if (!read.ok()) return read.status();
  const Module& module = read->module;
  std::vector<Binding> bindings = FindBindings(module);
  // Inputs that share a location have a component each, and are emptied together.
  std::unordered_set<uint32_t> locations;
  std::erase_if(bindings, [&](const Binding& binding) {
    return binding.place.from == BindingPlace::From::kVertexInput &&
           !locations.insert(binding.place.number).second;
  });
  CAIRN_RETURN_IF_ERROR(CheckBindings(bindings.size()));
  const SourcePlaces places(module);
  for (Binding& binding : bindings) {
    binding.declared = places.DeclarationOf(binding.variable);
    binding.name = places.NameOf(binding.variable);
    if (!binding.name.empty()) continue;
    const uint32_t pointee = module.Global(module.Global(binding.variable)->type)->operands()[1];
    if (const Instruction* const block = Element(module, pointee); block != nullptr)
      binding.name = places.NameOf(block->result);
  }
  return bindings;
}

}  // namespace cairn::spirv
