// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/shader_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "app/breadcrumbs/driver_half.h"
#include "app/settings/log.h"
#include "app/vulkan/importer.h"
#include "app/vulkan/module_stage.h"
#include "app/vulkan/shaders.h"
#include "format/experiment/players_shader.h"
#if CAIRN_LIMITS_LOOPS
#include "app/spirv/access_checks.h"
#include "app/spirv/empty_binding.h"
#include "app/spirv/empty_stage.h"
#include "app/spirv/loop_limits.h"
#include "app/spirv/module_bindings.h"
#endif

namespace cairn {
namespace {

// The function that the device has by its version or its extensions.
PFN_vkGetBufferDeviceAddress AddressFunction(const DeviceState& device) {
  if (device.Enabled(VK_EXT_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
    return device.vk.GetBufferDeviceAddressEXT;
  }
  return device.api_version >= VK_API_VERSION_1_2 ? device.vk.GetBufferDeviceAddress
                                                  : device.vk.GetBufferDeviceAddressKHR;
}

std::string_view BytesOf(const VkShaderModuleIdentifierEXT& identifier) {
  return {reinterpret_cast<const char*>(identifier.identifier),
          std::min(identifier.identifierSize, VK_MAX_SHADER_MODULE_IDENTIFIER_SIZE_EXT)};
}

std::array<std::span<const ExactFunction>, 2> TablesOf(const ShaderExperiment& experiment) {
  return {ShaderExperimentFunctions(),
          experiment.ranges() != nullptr ? AccessFunctions() : std::span<const ExactFunction>()};
}

#if CAIRN_LIMITS_LOOPS
ShaderNote PlaceNote(const ChangedShader& shader, uint32_t index, size_t count,
                     const spirv::SourcePlace& place, InvocationKind invocations,
                     const std::string& cannot) {
  ShaderNote note;
  note.shader = shader.hash;
  note.translated = shader.translated;
  if (shader.stage) note.stage = *shader.stage;
  note.index = index;
  note.count = static_cast<uint32_t>(count);
  note.function = place.function;
  note.file = place.file;
  note.text = place.text;
  note.line = place.line;
  note.column = place.column;
  note.invocations = invocations;
  note.cannot = cannot;
  note.excerpt = place.excerpt;
  return note;
}

LoopNote NoteOf(const ChangedShader& shader, uint32_t index, const spirv::LimitedModule& module,
                std::optional<uint32_t> only) {
  const spirv::Loop& loop = module.loops[index];
  LoopNote note{
      PlaceNote(shader, index, module.loops.size(), loop.place, module.invocations, loop.cannot)};
  if (loop.exit) {
    note.left = loop.exit->left;
    note.comparison = loop.exit->comparison;
    note.right = loop.exit->right;
    note.is_float = loop.exit->is_float;
    note.is_signed = loop.exit->is_signed;
  }
  if (note.cannot.empty() && only.value_or(index) != index) {
    note.cannot = fmt::format("this run limits loop {} alone", *only);
  }
  return note;
}

AccessNote NoteOf(const ChangedShader& shader, uint32_t index, const spirv::CheckedModule& module) {
  const spirv::Access& access = module.accesses[index];
  AccessNote note{PlaceNote(shader, index, module.accesses.size(), access.place, module.invocations,
                            access.cannot)};
  note.kind = access.kind;
  note.by_descriptor = access.by_descriptor;
  note.bytes = access.bytes;
  note.pointer = access.pointer;
  note.partly = access.partly;
  note.set = access.set;
  note.binding = access.binding;
  for (size_t i = 0; i < access.indices.size(); ++i)
    note.indices[i] = {access.indices[i].kind, access.indices[i].is_signed};
  return note;
}

BindingNote NoteOf(const ChangedShader& shader, uint32_t index,
                   const std::vector<spirv::Binding>& bindings) {
  const spirv::Binding& binding = bindings[index];
  BindingNote note{
      PlaceNote(shader, index, bindings.size(), binding.declared, InvocationKind::kUnknown, "")};
  note.place = binding.place;
  note.kind = binding.kind;
  note.name = binding.name;
  return note;
}
#endif

}  // namespace

ShaderExperiment::ShaderExperiment(const RecordedExperiment& run, const DeviceState& device)
    : run_(run),
      next_(device.vk),
      is_driven_(device.kind == DeviceKind::kDriven),
      has_identifiers_(device.Enabled(VK_EXT_SHADER_MODULE_IDENTIFIER_EXTENSION_NAME) &&
                       device.vk.GetShaderModuleCreateInfoIdentifierEXT != nullptr) {}

Result<std::unique_ptr<ShaderExperiment>> ShaderExperiment::Make(const RecordedExperiment& run,
                                                                 const DeviceState& device) {
  std::unique_ptr<ShaderExperiment> made(new ShaderExperiment(run, device));
  const std::string why_not = MakeImporter(device, &made->importer_);
  const PFN_vkGetBufferDeviceAddress get_address = AddressFunction(device);
  if (!why_not.empty()) return Status(StatusCode::kUnsupported, why_not);
  if (get_address == nullptr) {
    return Status(StatusCode::kUnsupported, "the Vulkan device has no vkGetBufferDeviceAddress");
  }
  const std::span<std::byte> memory = run.board.record_bytes();
  // The older extension knows no flag.
  const VkMemoryAllocateFlags flags = device.Enabled(VK_EXT_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)
                                          ? 0
                                          : VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  Result<VulkanBuffer> records = VulkanBuffer::ImportHost(
      made->importer_, memory.data(), memory.size(),
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, flags);
  if (!records.ok()) return records.status().WithContext("the records of the experiment");
  made->records_ = std::move(*records);
  VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  info.buffer = made->records_.buffer();
  made->address_ = get_address(device.handle, &info);
  if (made->address_ == 0 || made->address_ % sizeof(LoopRecord) != 0) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the records of the experiment have the address {:#x}, which is no multiple "
                    "of {}",
                    made->address_, sizeof(LoopRecord)));
  }
  if (run.experiment.change != Change::kCheckBounds) return made;
  const auto address_of = [get_address, handle = device.handle](VkBuffer buffer) {
    VkBufferDeviceAddressInfo asked = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    asked.buffer = buffer;
    return get_address(handle, &asked);
  };
  Result<std::unique_ptr<AccessRanges>> ranges =
      AccessRanges::Make(made->importer_, flags, address_of, [&run] {
        run.board.SetWhyNone(fmt::format("the program has more than {} buffers with addresses",
                                         AccessRanges::kMostRanges));
      });
  if (!ranges.ok()) return ranges.status();
  made->ranges_ = std::move(*ranges);
  return made;
}

bool ShaderExperiment::IsAskedFor(const ChangedShader& shader) const {
  if (is_driven_ && shader.translated == kPlayersShader) return false;
  const std::vector<uint64_t>& shaders = run_.experiment.shaders;
  const auto names = [&shaders](uint64_t hash) {
    return std::find(shaders.begin(), shaders.end(), hash) != shaders.end();
  };
  return shaders.empty() || names(shader.hash) || (is_driven_ && names(shader.translated));
}

std::optional<ShaderExperiment::Known> ShaderExperiment::PlaceOf(uint64_t shader, uint32_t count) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = modules_.try_emplace(shader);
  if (!is_new) return place->second;
  const std::optional<uint32_t> first = run_.board.Reserve(count);
  if (!first) {
    modules_.erase(place);
    return std::nullopt;
  }
  place->second.first_record = *first;
  return place->second;
}

bool ShaderExperiment::IsTold(uint64_t shader) {
  const std::lock_guard lock(mutex_);
  const auto known = modules_.find(shader);
  return known != modules_.end() && known->second.told;
}

bool ShaderExperiment::ClaimTelling(uint64_t shader, bool refused) {
  const std::lock_guard lock(mutex_);
  Known& known = modules_.find(shader)->second;
  known.refused = refused;
  return !std::exchange(known.told, true);
}

void ShaderExperiment::Refuse(uint64_t shader, const std::string& why) {
  if (ClaimTelling(shader, true)) run_.board.CountRefused(why);
}

std::optional<std::vector<uint32_t>> ShaderExperiment::Changed(const void* code,
                                                               size_t size_bytes) {
  if (code == nullptr || size_bytes % sizeof(uint32_t) != 0) return std::nullopt;
  const std::span words(static_cast<const uint32_t*>(code), size_bytes / sizeof(uint32_t));
  ChangedShader shader = {.hash = Shaders::HashOf(code, size_bytes), .stage = StageOfModule(words)};
  if (is_driven_ && shader.stage) shader.translated = PipelineCodeScope::CodeOf(*shader.stage);
  if (!IsAskedFor(shader)) return std::nullopt;
  if (run_.experiment.change == Change::kEmptyStage) return Emptied(shader, words);
  if (run_.experiment.change == Change::kEmptyBinding) return Unbound(shader, words);
  return ranges_ != nullptr ? Checked(shader, words) : Limited(shader, words);
}

#if CAIRN_LIMITS_LOOPS
std::optional<std::vector<uint32_t>> ShaderExperiment::Limited(const ChangedShader& shader,
                                                               std::span<const uint32_t> words) {
  const uint32_t loops = spirv::CountLoops(words);
  if (loops == 0) return std::nullopt;
  const std::optional<Known> place = PlaceOf(shader.hash, loops);
  if (!place || place->refused) return std::nullopt;
  const std::optional<uint32_t> only = run_.experiment.loop;
  const uint64_t records = address_ + uint64_t{place->first_record} * sizeof(LoopRecord);
  Result<spirv::LimitedModule> limited =
      spirv::LimitLoops(words, {run_.experiment.trips, records, only});
  if (!limited.ok()) {
    Refuse(shader.hash, limited.status().message());
    return std::nullopt;
  }
  // Records behind the reserved ones are of other modules.
  if (limited->loops.size() > loops) {
    Refuse(shader.hash, fmt::format("the module has {} loops, and {} were counted",
                                    limited->loops.size(), loops));
    return std::nullopt;
  }
  const bool changes = limited->limited != 0;
  if (!ClaimTelling(shader.hash, !changes)) {
    if (!changes) return std::nullopt;
    return std::move(limited->words);
  }
  for (uint32_t i = 0; i < limited->loops.size(); ++i) {
    run_.board.Describe(place->first_record + i, NoteOf(shader, i, *limited, only));
  }
  if (changes) {
    run_.board.CountLimited();
    return std::move(limited->words);
  }
  const auto cannot = std::find_if(limited->loops.begin(), limited->loops.end(),
                                   [](const spirv::Loop& loop) { return !loop.cannot.empty(); });
  run_.board.CountRefused(cannot != limited->loops.end() ? cannot->cannot : "it has no such loop");
  return std::nullopt;
}

std::optional<std::vector<uint32_t>> ShaderExperiment::Checked(const ChangedShader& shader,
                                                               std::span<const uint32_t> words) {
  const Result<uint32_t> count = spirv::CountAccesses(words);
  if (count.ok() && *count == 0) return std::nullopt;
  // A module that cannot be read takes no record but one, to be refused once.
  const std::optional<Known> place = PlaceOf(shader.hash, count.ok() ? *count : 1);
  if (!place || place->refused) return std::nullopt;
  if (!count.ok()) {
    Refuse(shader.hash, count.status().message());
    return std::nullopt;
  }
  Result<spirv::CheckedModule> checked = spirv::CheckAccesses(
      words, {ranges_->table(), address_ + uint64_t{place->first_record} * sizeof(AccessRecord),
              ranges_->zeros(), ranges_->spare(), run_.experiment.only_counts});
  if (!checked.ok()) {
    Refuse(shader.hash, checked.status().message());
    return std::nullopt;
  }
  const bool changes = checked->checked != 0;
  if (ClaimTelling(shader.hash, !changes)) {
    for (uint32_t i = 0; i < checked->accesses.size(); ++i)
      run_.board.Describe(place->first_record + i, NoteOf(shader, i, *checked));
    if (changes) {
      run_.board.CountLimited();
    } else {
      run_.board.CountRefused(checked->accesses.front().cannot);
    }
  }
  if (!changes) return std::nullopt;
  return std::move(checked->words);
}

std::optional<std::vector<uint32_t>> ShaderExperiment::Emptied(const ChangedShader& shader,
                                                               std::span<const uint32_t> words) {
  // It takes no record.
  const std::optional<Known> place = PlaceOf(shader.hash, 0);
  if (!place || place->refused) return std::nullopt;
  Result<spirv::EmptiedModule> emptied = spirv::EmptyStage(words, run_.experiment.stage);
  if (!emptied.ok()) {
    Refuse(shader.hash, emptied.status().message());
    return std::nullopt;
  }
  if (emptied->emptied == 0) return std::nullopt;
  if (ClaimTelling(shader.hash, false)) run_.board.CountLimited();
  return std::move(emptied->words);
}

void ShaderExperiment::TellBindings(const ChangedShader& shader, std::span<const uint32_t> words) {
  if (IsTold(shader.hash)) return;
  const Result<std::vector<spirv::Binding>> bindings = spirv::ListBindings(words);
  const auto count = static_cast<uint32_t>(bindings.ok() ? bindings->size() : 0);
  const std::optional<Known> place = PlaceOf(shader.hash, count);
  if (!place) return;
  if (!bindings.ok()) return Refuse(shader.hash, bindings.status().message());
  if (!ClaimTelling(shader.hash, false)) return;
  for (uint32_t i = 0; i < count; ++i)
    run_.board.Describe(place->first_record + i, NoteOf(shader, i, *bindings));
}

std::optional<std::vector<uint32_t>> ShaderExperiment::Unbound(const ChangedShader& shader,
                                                               std::span<const uint32_t> words) {
  const BindingPlace& binding = run_.experiment.binding;
  if (binding.from == BindingPlace::From::kNone) {
    TellBindings(shader, words);
    return std::nullopt;
  }
  // It takes no record.
  const std::optional<Known> place = PlaceOf(shader.hash, 0);
  if (!place || place->refused) return std::nullopt;
  Result<spirv::UnboundModule> unbound = spirv::EmptyBinding(words, binding);
  if (!unbound.ok()) {
    Refuse(shader.hash, unbound.status().message());
    return std::nullopt;
  }
  if (unbound->emptied == 0) return std::nullopt;
  if (ClaimTelling(shader.hash, false)) run_.board.CountLimited();
  return std::move(unbound->words);
}
#else
std::optional<std::vector<uint32_t>> ShaderExperiment::Limited(const ChangedShader&,
                                                               std::span<const uint32_t>) {
  return std::nullopt;
}
std::optional<std::vector<uint32_t>> ShaderExperiment::Checked(const ChangedShader&,
                                                               std::span<const uint32_t>) {
  return std::nullopt;
}
std::optional<std::vector<uint32_t>> ShaderExperiment::Emptied(const ChangedShader&,
                                                               std::span<const uint32_t>) {
  return std::nullopt;
}
std::optional<std::vector<uint32_t>> ShaderExperiment::Unbound(const ChangedShader&,
                                                               std::span<const uint32_t>) {
  return std::nullopt;
}
#endif

void ShaderExperiment::KeepIdentifier(const VkShaderModuleCreateInfo& own,
                                      const VkShaderModuleCreateInfo& limited) {
  if (!has_identifiers_) return;
  VkShaderModuleIdentifierEXT of_limited = {VK_STRUCTURE_TYPE_SHADER_MODULE_IDENTIFIER_EXT};
  VkShaderModuleIdentifierEXT of_own = {VK_STRUCTURE_TYPE_SHADER_MODULE_IDENTIFIER_EXT};
  next_.GetShaderModuleCreateInfoIdentifierEXT(importer_.device, &limited, &of_limited);
  next_.GetShaderModuleCreateInfoIdentifierEXT(importer_.device, &own, &of_own);
  const std::lock_guard lock(mutex_);
  identifiers_.insert_or_assign(std::string(BytesOf(of_limited)), of_own);
}

void ShaderExperiment::RestoreIdentifier(VkShaderModuleIdentifierEXT* identifier) {
  const std::lock_guard lock(mutex_);
  if (identifiers_.empty()) return;
  const auto own = identifiers_.find(BytesOf(*identifier));
  if (own == identifiers_.end()) return;
  identifier->identifierSize = own->second.identifierSize;
  std::copy(std::begin(own->second.identifier), std::end(own->second.identifier),
            identifier->identifier);
}

void StartShaderExperiment(DeviceState& device) {
  const RecordedExperiment* const run = RecordedExperiment::Active();
  if (run == nullptr) return;
  if (device.kind == DeviceKind::kOff) {
    run->board.SetWhyNone(
        "the Vulkan device works without breadcrumbs, and without this experiment");
    return;
  }
  if (!device.has_shader_experiment_request) {
    // A reason of ShaderExperimentRequest stands there already, and stays.
    run->board.SetWhyNone("the Vulkan device could not be made with bufferDeviceAddress");
    return;
  }
  Result<std::unique_ptr<ShaderExperiment>> made = ShaderExperiment::Make(*run, device);
  if (!made.ok()) {
    run->board.SetWhyNone(made.status().message());
    return;
  }
  device.shader_experiment = std::move(*made);
  for (const std::span<const ExactFunction> table : TablesOf(*device.shader_experiment)) {
    for (const ExactFunction& function : table) function.install(device.vk, function.function);
  }
}

PFN_vkVoidFunction FindShaderExperimentFunction(const ShaderExperiment& experiment,
                                                std::string_view name) {
  for (const std::span<const ExactFunction> table : TablesOf(experiment)) {
    for (const ExactFunction& function : table) {
      if (name == function.name) return function.function;
    }
  }
  return nullptr;
}

}  // namespace cairn
