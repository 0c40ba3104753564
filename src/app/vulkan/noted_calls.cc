// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/noted_calls.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <unordered_map>

#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device.h"

namespace cairn {
namespace {

// Without a name where the block's table is full.
std::atomic<uint32_t> first_function{kMaxFunctions};

template <typename... Arguments>
CallRecord* BeginCall(uint32_t function, const void* object, const Arguments&... arguments) {
  return CallRing::Begin(first_function.load(std::memory_order_relaxed) + function, object,
                         arguments...);
}

const DeviceFunctions& FunctionsOf(VkCommandBuffer commands) {
  return *CommandBufferOf(commands)->vk;
}
const DeviceFunctions& FunctionsOf(VkDevice device) {
  return DeviceOf(device)->vk;
}
const DeviceFunctions& FunctionsOf(VkQueue queue) {
  return QueueOf(queue)->device->vk;
}

template <uint32_t kFunction, auto kMember, typename Function>
struct Noted;
template <uint32_t kFunction, auto kMember, typename Result, typename Handle, typename... Rest>
struct Noted<kFunction, kMember, Result(VKAPI_PTR*)(Handle, Rest...)> {
  using Function = Result(VKAPI_PTR*)(Handle, Rest...);
  // The same for all devices.
  static inline std::atomic<Function> ours = nullptr;

  // Without a destructor around the call: Wine ends threads that wait in one by unwinding their stacks, which
  // aborts the process where a frame has something to clean up. Such a call did not return.
  static VKAPI_ATTR Result VKAPI_CALL Call(Handle handle, Rest... rest) {
    CallRecord* const call = BeginCall(kFunction, handle, rest...);
    Function function = ours.load(std::memory_order_relaxed);
    if (function == nullptr) function = FunctionsOf(handle).*kMember;
    if constexpr (std::is_void_v<Result>) {
      function(handle, rest...);
      CallRing::End(call);
    } else {
      const Result result = function(handle, rest...);
      CallRing::End(call);
      return result;
    }
  }

  static PFN_vkVoidFunction Enter(PFN_vkVoidFunction intercept) {
    ours.store(reinterpret_cast<Function>(intercept), std::memory_order_relaxed);
    return reinterpret_cast<PFN_vkVoidFunction>(Call);
  }
};

#define CAIRN_NOTED(name, signature) kNumberOf##name,
enum Number : uint32_t {
#include "vulkangen/noted_calls.inc"
  kNumberOfAll
};
#undef CAIRN_NOTED

struct NotedFunction {
  std::string_view name;
  PFN_vkVoidFunction (*enter)(PFN_vkVoidFunction intercept);
};
#define CAIRN_NOTED(name, signature) \
  NotedFunction{"vk" #name, Noted<kNumberOf##name, &DeviceFunctions::name, PFN_vk##name>::Enter},
constexpr NotedFunction kFunctions[] = {
#include "vulkangen/noted_calls.inc"
};
#undef CAIRN_NOTED

// Format of FunctionTable.
#define CAIRN_NOTED(name, signature) signature,
constexpr const char* kSignatures[] = {
#include "vulkangen/noted_calls.inc"
};
#undef CAIRN_NOTED

}  // namespace

void StartNotingCalls(BlockWriter* block) {
  const uint32_t first = block->RegisterFunctions(kSignatures);
  first_function.store(first == BlockWriter::kTableFull ? kMaxFunctions : first,
                       std::memory_order_relaxed);
  CallRing::SetBlock(block);
}

PFN_vkVoidFunction FindNotedCall(std::string_view name, PFN_vkVoidFunction ours) {
  // Never destroyed: programs may call Vulkan while their static objects end.
  static const auto& functions = *[] {
    auto* const made = new std::unordered_map<std::string_view, const NotedFunction*>;
    for (const NotedFunction& function : kFunctions) made->emplace(function.name, &function);
    return made;
  }();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second->enter(ours);
}

}  // namespace cairn
