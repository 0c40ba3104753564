// SPDX-License-Identifier: Apache-2.0
//
// Pipelines of devices with breadcrumbs: which shaders they are made of, and their numbers in the
// device's Context. A pipeline gets a number when it is first bound: programs make many more than they
// use.
//
// Threads: any, except that a pipeline is not destroyed while it is used, as the API asks.
#ifndef CAIRN_APP_VULKAN_PIPELINES_H_
#define CAIRN_APP_VULKAN_PIPELINES_H_

#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/vulkan/device.h"
#include "app/vulkan/shaders.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {

// The pipeline's number in the device's Context, which it is registered with when it is first bound; 0
// where it is not known or there is no room. Without a lock once it is registered.
CairnPipeline PipelineNumberFor(DeviceState& device, VkPipeline pipeline);

// Returns true if the stages of the structure are part of the pipeline; otherwise, as in a library of the vertex
// input, the pointer may be anything.
bool HasStages(const VkGraphicsPipelineCreateInfo& info);

// The pipelines of one device.
class Pipelines {
 public:
  explicit Pipelines(DeviceState& device) : device_(device) {}
  // The pipelines that are left are not found any more; their numbers end with the Context.
  ~Pipelines();

  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Adds a pipeline. `description`: format/block/pipeline_description.h. May throw std::bad_alloc: the pipeline is
  // then unknown. Ignores a null handle.
  void Add(VkPipeline pipeline, StageShaders shaders, uint64_t description);
  // Adds the stages of a pipeline or a library; adds none for an unknown one. May throw
  // std::bad_alloc.
  void AddStagesOf(VkPipeline library, StageShaders* shaders);
  void SetName(uint64_t pipeline, std::string_view name);  // HandleValue of it
  void Remove(VkPipeline pipeline);

  // Pipelines that a deferred operation will write to `pipelines`, which stays valid until the operation
  // has completed.
  void Defer(VkDeferredOperationKHR operation, const VkPipeline* pipelines,
             std::vector<StageShaders> shaders);
  // The operation has completed, but the application does not know it yet. Later calls do nothing, and
  // return once the first has read what the application may free from then on.
  void Complete(VkDeferredOperationKHR operation);
  void Abandon(VkDeferredOperationKHR operation);

 private:
  friend CairnPipeline PipelineNumberFor(DeviceState& device, VkPipeline pipeline);
  struct State {
    DeviceState* device = nullptr;
    VkPipeline handle = VK_NULL_HANDLE;
    std::atomic<CairnPipeline> number{0};
    std::mutex mutex;  // what follows
    bool refused = false;
    std::string name;
    StageShaders shaders;
    uint64_t description = 0;
  };
  struct Deferred {
    const VkPipeline* pipelines = nullptr;
    std::vector<StageShaders> shaders;
  };

  static CairnPipeline Register(State& state);

  DeviceState& device_;
  ShardedMap<std::unique_ptr<State>> states_;
  ShardedMap<Deferred> deferred_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_PIPELINES_H_
