// SPDX-License-Identifier: Apache-2.0
//
// Mode exact: the GPU does one piece of work at a time. For a crash that comes again, where cost does not
// matter. docs/reference/exact.md says what it changes and what it leaves alone.
//
// It stands between the intercepts of the layer and the next layer: when a device in mode exact starts,
// the functions in DeviceState::vk are replaced by those of the tables below, which call the next layer's and
// record what is needed behind them. So there is one place for devices with breadcrumbs and for those
// that an implementation of Direct3D drives, and no other mode passes by here.
//
// The experiments "barrier-before" and "barrier-after" of `cairn why` (docs/internals/why.md) are a part of it: the
// barriers alone. Render passes stay whole, and there is no canary. The experiment "counts" (count_limits.h) has neither
// barriers nor canaries: it needs to know what mode exact knows.
//
//   exact.h              the device, the command buffer, and what stands behind each piece of work
//   exact_work.h         around one command; the generated functions (vulkangen/exact.cc) use it
//   exact_commands.cc    commands that begin or end something
//   exact_passes.cc      begins and ends of render passes
//   exact_canary.h       a dispatch of ours behind each piece of work, exact_compute_state.h what it disturbs
//   exact_newer.cc       commands that only newer headers know
//   exact_pass_parts.h   what it takes to begin a render pass again, one part after the other
//   exact_render_pass.h  the render passes of the parts, for VkRenderPass
#ifndef CAIRN_APP_VULKAN_EXACT_H_
#define CAIRN_APP_VULKAN_EXACT_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "app/vulkan/count_limits.h"
#include "app/vulkan/device.h"
#include "app/vulkan/exact_canary.h"
#include "app/vulkan/exact_compute_state.h"
#include "app/vulkan/exact_pass_parts.h"
#include "app/vulkan/exact_render_pass.h"
#include "vulkangen/device_functions.h"

namespace cairn {

enum class ExactUse : uint8_t {
  kMode,
  kBarrierBefore,  // the experiments
  kBarrierAfter,
  kCounts,
};

// The state of one device in mode exact, or in one of the experiments. Threads: any.
class ExactDevice {
 public:
  // `device` outlives it.
  ExactDevice(const DeviceState& device, ExactUse use);
  ExactDevice(const ExactDevice&) = delete;
  ExactDevice& operator=(const ExactDevice&) = delete;

  const DeviceState& device() const { return device_; }
  ExactUse use() const { return use_; }
  // Returns true if render passes may be cut.
  bool cuts_passes() const { return use_ == ExactUse::kMode; }
  // Returns true in the experiments with barriers.
  bool has_barriers_alone() const {
    return use_ == ExactUse::kBarrierBefore || use_ == ExactUse::kBarrierAfter;
  }
  // Returns the functions of the next layer.
  const DeviceFunctions& next() const { return next_; }
  ExactRenderPasses& render_passes() { return render_passes_; }
  // Null where it could not be made.
  const ExactCanary* canary() const { return canary_.get(); }
  // In the experiment "counts" only; else null.
  CountLimits* counts() const { return counts_.get(); }
  // Returns true if command buffers of such a pool may run the canary, or the dispatches of the experiment "counts".
  bool MayRunCanary(const VkCommandPoolCreateInfo& pool) const;

 private:
  const DeviceState& device_;
  const ExactUse use_;
  const DeviceFunctions next_;
  ExactRenderPasses render_passes_;
  std::unique_ptr<ExactCanary> canary_;
  std::unique_ptr<CountLimits> counts_;
};

// The layer's facts of a command buffer.
struct ExactCommandsDesc {
  VkCommandBuffer handle = VK_NULL_HANDLE;
  bool secondary = false;
  bool canary = false;  // ExactDevice::MayRunCanary of its pool
  // Called with `owner` when inside_pass() may have changed; may be null.
  void (*changed)(void* owner) = nullptr;
  void* owner = nullptr;
};

// The state of one command buffer, from its allocation until it is freed. Threads: like the command
// buffer.
class ExactCommands {
 public:
  // The constructor may throw std::bad_alloc.
  ExactCommands(ExactDevice& device, const ExactCommandsDesc& desc);
  ~ExactCommands();
  ExactCommands(const ExactCommands&) = delete;
  ExactCommands& operator=(const ExactCommands&) = delete;

  ExactDevice& device() const { return device_; }
  const DeviceFunctions& next() const { return device_.next(); }

  // vkBeginCommandBuffer succeeded.
  void Begin(const VkCommandBufferBeginInfo& info);

  // Called in front of a piece of work. In the experiment "barrier-before" it records a barrier where one may stand.
  void Precede();
  // Records a barrier: earlier commands end before later ones start. Does nothing where no barrier
  // may stand, nor in the experiment "barrier-before"; in the other one there is none behind synchronisation. Behind
  // work that may have done harm mode exact also runs the canary, where that is allowed.
  enum class Behind : uint8_t { kWork, kSynchronisation };
  void Serialise(Behind behind);
  // Returns true if such a barrier stands behind all work so far.
  bool serial() const { return !inside_pass() && !suspended_ && !in_video_; }

  // Returns true if the driver has a render pass open. A pass that is cut into parts is closed
  // between them.
  bool inside_pass() const { return pass_ == Pass::kWhole || pass_ == Pass::kOpen; }

  // Begins of render passes. SetParts keeps what it takes to cut it, and returns true if it may be cut
  // (PassParts::Set). Otherwise it is begun already when EnterWhole is called, and stays whole.
  template <typename... Arguments>
  bool SetParts(Arguments&&... arguments) {
    return device_.cuts_passes() && parts_.Set(std::forward<Arguments>(arguments)...);
  }
  void EnterParts();
  void EnterWhole(bool suspends);
  // Ends: true if the pass was cut, and has ended; false before the end of a whole one, which calls
  // LeaveWhole afterwards.
  bool LeaveParts();
  void LeaveWhole();
  // Around a command inside of a pass; nothing unless it is cut.
  void OpenPart();
  void ClosePart();
  // Around what has to begin and end in one part: a query, say.
  void Hold();
  void Release();

  // Queries count what the canary does, perhaps: it waits for their end.
  void BeginQuery() { ++queries_; }
  void EndQuery() { queries_ -= queries_ != 0; }
  ExactComputeState& compute() { return compute_; }
  CommandPlaces& places() { return places_; }
  // Returns true if a dispatch of our own may stand here.
  bool may_dispatch() const { return serial() && CanaryMayRun(); }

  void SetInVideo(bool in_video) { in_video_ = in_video; }
  // A dynamic render pass goes on that was suspended, perhaps in another command buffer.
  void Resume() { suspended_ = false; }

 private:
  enum class Pass : uint8_t {
    kNone,
    kWhole,   // not cut: its commands are one piece
    kOpen,    // cut; a part is open
    kClosed,  // cut; between two parts
  };
  void SetPass(Pass pass);
  void Barrier();
  bool CanaryMayRun() const {
    return desc_.canary && queries_ == 0 && !inherits_queries_ && compute_.restorable();
  }

  ExactDevice& device_;
  const ExactCommandsDesc desc_;
  PassParts parts_;
  ExactComputeState compute_;
  CommandPlaces places_;  // in the experiment "counts"
  Pass pass_ = Pass::kNone;
  uint32_t holds_ = 0;
  uint32_t queries_ = 0;           // that are active
  bool inherits_queries_ = false;  // of the primary
  bool suspends_ = false;          // the pass that it is in
  bool suspended_ = false;  // between a dynamic pass that suspends and the one that resumes it
  bool in_video_ = false;   // inside of the scope of video coding
};

// Null for command buffers of devices without DeviceState::exact; never null in a function of the tables.
ExactCommands* ExactCommandsOf(VkCommandBuffer commands);

// Backend::Serial: of a VkCommandBuffer.
bool IsSerial(void* commands);

// Starts mode exact, or the experiment with barriers that the run asks for, once all that calls the next layer for
// itself has its functions; does nothing in other runs. Mode exact serialises more than the experiments, which change
// nothing then. May throw std::bad_alloc.
void StartExact(DeviceState& device);

// A function that mode exact stands in front of.
struct ExactFunction {
  const char* name;  // "vkCmdDraw"
  PFN_vkVoidFunction function;
  void (*install)(DeviceFunctions& functions, PFN_vkVoidFunction function);  // where there is one
};

template <typename Member>
struct TypeOfMember;
template <typename Function>
struct TypeOfMember<Function DeviceFunctions::*> {
  using Type = Function;
};

// One line of a table: Replace<&DeviceFunctions::CmdDraw>("vkCmdDraw", CmdDraw).
template <auto kMember>
ExactFunction Replace(const char* name, typename TypeOfMember<decltype(kMember)>::Type function) {
  using Function = typename TypeOfMember<decltype(kMember)>::Type;
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function),
          [](DeviceFunctions& functions, PFN_vkVoidFunction ours) {
            if (functions.*kMember != nullptr) {
              functions.*kMember = reinterpret_cast<Function>(ours);
            }
          }};
}

// The same for a function that only newer headers know, by which the layer itself calls nothing.
template <typename Function>
ExactFunction OnlyByName(const char* name, Function function) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function),
          [](DeviceFunctions&, PFN_vkVoidFunction) {}};
}

// Tables, one for each file that has some.
std::span<const ExactFunction> ExactWorkFunctions();  // generated
std::span<const ExactFunction> ExactCommandFunctions();
std::span<const ExactFunction> ExactPassFunctions();
std::span<const ExactFunction> ExactRenderPassFunctions();
std::span<const ExactFunction> ExactNewerFunctions();

// Ours of that name, or null.
PFN_vkVoidFunction FindExactFunction(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_EXACT_H_
