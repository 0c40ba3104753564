// SPDX-License-Identifier: Apache-2.0
//
// The experiments "loops", "bounds", "stages" and "bindings" (docs/internals/why.md): the driver gets modules whose loops
// end after a number of trips, whose accesses are checked, which do nothing in one stage, or of which one binding is empty,
// in the place of the program's. In every other run RecordedExperiment::Active() is null, and nothing of this is used.
//
//   recorded_experiment.h         the change of this run, and the board for its records
//   shader_experiment_request.h   what a device has to be made with
//   shader_experiment.h           the device: its memory of records, and the changed modules
//   shader_experiment_calls.cc    the calls that take modules
//   access_ranges.h               bounds: the buffers that may be accessed
//   access_calls.cc               bounds: the calls that make and end buffers
//
// It stands between the intercepts of the layer and the next layer, as mode exact does (exact.h): what the layer keeps
// and names is the program's own code. So there is one place for devices with breadcrumbs and for those that an
// implementation of Direct3D drives.
#ifndef CAIRN_APP_VULKAN_SHADER_EXPERIMENT_H_
#define CAIRN_APP_VULKAN_SHADER_EXPERIMENT_H_

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "app/vulkan/access_ranges.h"
#include "app/vulkan/device.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/recorded_experiment.h"
#include "base/status.h"

namespace cairn {

// A module of the program's, or of an implementation of Direct3D.
struct ChangedShader {
  uint64_t hash = 0;
  uint64_t translated = 0;           // ShaderNote::translated
  std::optional<ShaderStage> stage;  // of all its entry points
};

// One device whose shaders are changed. Threads: any.
class ShaderExperiment {
 public:
  // Imports the records of `run`, which outlives it, into the device, which has been made with a ShaderExperimentRequest.
  // kUnsupported: the driver refused something.
  static Result<std::unique_ptr<ShaderExperiment>> Make(const RecordedExperiment& run,
                                                        const DeviceState& device);
  ShaderExperiment(const ShaderExperiment&) = delete;
  ShaderExperiment& operator=(const ShaderExperiment&) = delete;

  // Returns the functions of the next layer, or of exact.h.
  const DeviceFunctions& next() const { return next_; }

  // Returns the changed module; nothing where the driver is to get the program's own: it has no loops or accesses, is not
  // asked for, is of another stage, or is refused, which the board then counts. The records of a module are shared by all that have its
  // code. May throw std::bad_alloc. Cost: that of spirv::LimitLoops, spirv::CheckAccesses,
  // spirv::EmptyStage, spirv::EmptyBinding or spirv::ListBindings.
  std::optional<std::vector<uint32_t>> Changed(const void* code, size_t size_bytes);
  // To be called before a module is made of the limited code: for the driver the two have different identifiers, and
  // the program is to have that of its own. May throw std::bad_alloc.
  void KeepIdentifier(const VkShaderModuleCreateInfo& own, const VkShaderModuleCreateInfo& limited);
  // Replaces the identifier of a changed module by that of the program's own; leaves all others.
  void RestoreIdentifier(VkShaderModuleIdentifierEXT* identifier);
  // The buffers; null unless accesses are checked.
  AccessRanges* ranges() const { return ranges_.get(); }
  // Counts a shader whose code is not at hand.
  void CountRefused(const char* why) const { run_.board.CountRefused(why); }

 private:
  struct Known {
    uint32_t first_record = 0;
    bool told = false;  // the board has it
    bool refused = false;
  };
  ShaderExperiment(const RecordedExperiment& run, const DeviceState& device);
  bool IsAskedFor(const ChangedShader& shader) const;
  std::optional<std::vector<uint32_t>> Limited(const ChangedShader& shader,
                                               std::span<const uint32_t> words);
  std::optional<std::vector<uint32_t>> Checked(const ChangedShader& shader,
                                               std::span<const uint32_t> words);
  std::optional<std::vector<uint32_t>> Emptied(const ChangedShader& shader,
                                               std::span<const uint32_t> words);
  std::optional<std::vector<uint32_t>> Unbound(const ChangedShader& shader,
                                               std::span<const uint32_t> words);
  // Tells the board which bindings a module has, and changes nothing.
  void TellBindings(const ChangedShader& shader, std::span<const uint32_t> words);
  // Returns the module's place among the records; nothing if there is no room.
  std::optional<Known> PlaceOf(uint64_t shader, uint32_t count);
  bool IsTold(uint64_t shader);
  // Returns true once for a module: the caller tells the board.
  bool ClaimTelling(uint64_t shader, bool refused);
  void Refuse(uint64_t shader, const std::string& why);

  const RecordedExperiment& run_;
  const DeviceFunctions next_;
  const bool is_driven_;  // by an implementation of Direct3D
  VulkanDevice importer_;
  VulkanBuffer records_;
  std::unique_ptr<AccessRanges> ranges_;
  uint64_t address_ = 0;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Known> modules_;  // by hash; guarded by mutex_
  bool has_identifiers_ = false;                 // VK_EXT_shader_module_identifier
  // From identifiers of limited modules to those of the program's own; guarded by mutex_.
  std::map<std::string, VkShaderModuleIdentifierEXT, std::less<>> identifiers_;
};

// For a device that has started, once all that calls the next layer for itself has its functions, or that works without
// breadcrumbs; nothing unless the run asks for it. A device that cannot take part runs as it was, and the board gets the
// reason. May throw std::bad_alloc.
void StartShaderExperiment(DeviceState& device);

// Tables, one for each file that has some.
std::span<const ExactFunction> ShaderExperimentFunctions();
std::span<const ExactFunction> AccessFunctions();  // with ShaderExperiment::ranges()

// Ours of that name, or null.
PFN_vkVoidFunction FindShaderExperimentFunction(const ShaderExperiment& loops,
                                                std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SHADER_EXPERIMENT_H_
