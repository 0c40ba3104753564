// SPDX-License-Identifier: Apache-2.0
//
// The functions that this library puts in front of those of libvkd3d, libvkd3d-utils, a native
// vkd3d-proton and the Vulkan loader when it is preloaded. Each calls the one behind it with real
// objects, and wraps what comes back.
//
//   vkd3d_create_device          every device of libvkd3d: libvkd3d-utils calls it, too
//   D3D12CreateDevice            every device of vkd3d-proton; libvkd3d-utils' own is passed on to
//   vkd3d_... with COM pointers  libvkd3d insists on its own objects; an implementation with one that is not
//                                here gets no layer at all
//   vkd3d_create_instance        says how wide the characters of its devices' names are
//   vkQueuePresentKHR            ends a frame
//   dlsym                        programs that look one of the above up get it as well
//
// Everything is passed on untouched in programs without Direct3D 12, where nothing here is called, no
// thread is started and nothing is written.
#include <dlfcn.h>

#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "app/breadcrumbs/driver_half.h"
#include "app/entry/entry.h"
#include "app/entry/entry_vkd3d.h"
#include "app/entry/linux/entry_known.h"
#include "app/entry/linux/entry_next.h"
#include "app/settings/log.h"
#include "os/library.h"

#define CAIRN_ENTRY extern "C" __attribute__((visibility("default")))

using cairn::EntryBridge;
using cairn::EntryGuid;
using cairn::MsBridge;
using cairn::SysvBridge;
using cairn::Vkd3dDeviceCreateInfo;
using cairn::Vkd3dInstance;
using cairn::Vkd3dInstanceCreateInfo;

CAIRN_ENTRY int32_t vkd3d_create_instance(const Vkd3dInstanceCreateInfo* info,
                                          Vkd3dInstance** instance);
CAIRN_ENTRY int32_t vkd3d_create_device(const Vkd3dDeviceCreateInfo* info, const EntryGuid& iid,
                                        void** device);
CAIRN_ENTRY void* vkd3d_get_device_parent(void* device);
CAIRN_ENTRY void* vkd3d_get_vk_device(void* device);
CAIRN_ENTRY void* vkd3d_get_vk_physical_device(void* device);
CAIRN_ENTRY Vkd3dInstance* vkd3d_instance_from_device(void* device);
CAIRN_ENTRY uint32_t vkd3d_get_vk_queue_family_index(void* queue);
CAIRN_ENTRY void* vkd3d_acquire_vk_queue(void* queue);
CAIRN_ENTRY void vkd3d_release_vk_queue(void* queue);
CAIRN_ENTRY int32_t vkd3d_queue_signal_on_cpu(void* queue, void* fence, uint64_t value);
CAIRN_ENTRY int32_t vkd3d_create_image_resource(void* device, const void* info, void** resource);
CAIRN_ENTRY uint32_t vkd3d_resource_incref(void* resource);
CAIRN_ENTRY uint32_t vkd3d_resource_decref(void* resource);
CAIRN_ENTRY int32_t vkQueuePresentKHR(void* queue, const void* info);
// Functions for either calling convention: no C++ function can serve both.
CAIRN_ENTRY void D3D12CreateDevice();
CAIRN_ENTRY void CairnDlsym() __asm__("dlsym");

namespace {

constexpr int32_t kFail = static_cast<int32_t>(0x80004005);  // E_FAIL
constexpr int32_t kOutOfMemory = static_cast<int32_t>(0x8007000E);
constexpr int32_t kVulkanInitializationFailed = -3;
constexpr char kVkd3d[] = "libvkd3d";

template <typename Function>
void* AddressOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

// The order of the list above, so that each entry point has its own without a look-up.
enum Entry {
  kCreateInstance,
  kCreateDevice,
  kGetDeviceParent,
  kGetVkDevice,
  kGetVkPhysicalDevice,
  kInstanceFromDevice,
  kGetVkQueueFamilyIndex,
  kAcquireVkQueue,
  kReleaseVkQueue,
  kQueueSignalOnCpu,
  kCreateImageResource,
  kResourceIncref,
  kResourceDecref,
  kQueuePresent,
  kD3d12CreateDevice,
  kEntryCount
};

cairn::NextFunction* Entries() {
#define CAIRN_NEXT(name, library) \
  { #name, AddressOf(&name), library }
  static std::array<cairn::NextFunction, kEntryCount> entries = {{
      CAIRN_NEXT(vkd3d_create_instance, kVkd3d),
      CAIRN_NEXT(vkd3d_create_device, kVkd3d),
      CAIRN_NEXT(vkd3d_get_device_parent, kVkd3d),
      CAIRN_NEXT(vkd3d_get_vk_device, kVkd3d),
      CAIRN_NEXT(vkd3d_get_vk_physical_device, kVkd3d),
      CAIRN_NEXT(vkd3d_instance_from_device, kVkd3d),
      CAIRN_NEXT(vkd3d_get_vk_queue_family_index, kVkd3d),
      CAIRN_NEXT(vkd3d_acquire_vk_queue, kVkd3d),
      CAIRN_NEXT(vkd3d_release_vk_queue, kVkd3d),
      CAIRN_NEXT(vkd3d_queue_signal_on_cpu, kVkd3d),
      CAIRN_NEXT(vkd3d_create_image_resource, kVkd3d),
      CAIRN_NEXT(vkd3d_resource_incref, kVkd3d),
      CAIRN_NEXT(vkd3d_resource_decref, kVkd3d),
      CAIRN_NEXT(vkQueuePresentKHR, "libvulkan.so"),
      CAIRN_NEXT(D3D12CreateDevice, kVkd3d),
  }};
#undef CAIRN_NEXT
  return entries.data();
}

// The function behind `own`, which has the same type; null if there is none.
template <typename Function>
Function* Next(Entry entry, Function*) {
  return Entries()[entry].As<Function*>();
}

// Returns false, and logs why, if this implementation has an unknown function that may take
// objects: it does not know wrappers. Asked once for each implementation: devices with the layer
// and without it do not mix.
bool CanHaveWrappers(void* create_device) {
  std::array<std::string_view, kEntryCount> ours;
  for (size_t i = 0; i < ours.size(); ++i) ours[i] = Entries()[i].name();
  const std::string unknown = cairn::UnknownFunction(create_device, kVkd3d, ours);
  if (unknown.empty()) return true;
  cairn::Log(
      cairn::LogLevel::kWarning,
      "this version of Cairn does not know " + unknown +
          ", which may take objects: the program's devices work without the layer, and nothing "
          "is recorded of them; a newer version may know it");
  return false;
}

// The instance's facts for devices that are created on it.
struct InstanceFacts {
  uint32_t wchar_bytes = sizeof(wchar_t);
  std::string application;
};

InstanceFacts ReadFacts(const Vkd3dInstanceCreateInfo& info) {
  InstanceFacts facts;
  facts.wchar_bytes = static_cast<uint32_t>(info.wchar_size);
  for (const cairn::Vkd3dStruct* next = info.next; next != nullptr; next = next->next) {
    if (next->type != cairn::kVkd3dApplicationInfo) continue;
    const auto* const application = reinterpret_cast<const cairn::Vkd3dApplicationInfo*>(next);
    if (application->application_name != nullptr) facts.application = application->application_name;
  }
  return facts;
}

// An instance that is gone leaves its facts behind until another takes its address.
class Instances {
 public:
  static Instances& Get() {
    static auto* const instances = new Instances;  // calls may come after static destructors
    return *instances;
  }
  void Set(const Vkd3dInstance* instance, InstanceFacts facts) {
    const std::lock_guard lock(mutex_);
    facts_[instance] = std::move(facts);
  }
  InstanceFacts Of(const Vkd3dInstance* instance) {
    const std::lock_guard lock(mutex_);
    const auto found = facts_.find(instance);
    return found == facts_.end() ? InstanceFacts() : found->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const Vkd3dInstance*, InstanceFacts> facts_;
};

InstanceFacts FactsOf(const Vkd3dDeviceCreateInfo& info) {
  if (info.instance != nullptr) return Instances::Get().Of(info.instance);
  const Vkd3dInstanceCreateInfo* const instance = info.instance_create_info;
  if (instance == nullptr || instance->type != cairn::kVkd3dInstanceCreateInfo) return {};
  return ReadFacts(*instance);
}

}  // namespace

CAIRN_ENTRY int32_t vkd3d_create_instance(const Vkd3dInstanceCreateInfo* info,
                                          Vkd3dInstance** instance) {
  const auto next = Next(kCreateInstance, &vkd3d_create_instance);
  if (next == nullptr) return kFail;
  const int32_t result = next(info, instance);
  if (result >= 0 && info != nullptr && info->type == cairn::kVkd3dInstanceCreateInfo &&
      instance != nullptr) {
    Instances::Get().Set(*instance, ReadFacts(*info));
  }
  return result;
}

CAIRN_ENTRY int32_t vkd3d_create_device(const Vkd3dDeviceCreateInfo* info, const EntryGuid& iid,
                                        void** device) {
  const auto next = Next(kCreateDevice, &vkd3d_create_device);
  if (next == nullptr) return kFail;
  static const bool wraps = CanHaveWrappers(AddressOf(next));
  // The Vulkan layer may be looking at what is created below.
  const cairn::DeviceCreationScope creating;
  // Without a place for the device this asks only whether one could be created.
  if (!wraps || info == nullptr || info->type != cairn::kVkd3dDeviceCreateInfo ||
      device == nullptr) {
    return next(info, iid, device);
  }
  const EntryBridge& layer = MsBridge();
  const InstanceFacts facts = FactsOf(*info);
  void* real = *device;
  const int32_t result = next(info, *layer.device_iid, &real);
  if (result < 0 || real == nullptr) {
    *device = real;
    return result;
  }
  const int32_t wrapped = layer.wrap_device(real, facts.wchar_bytes, facts.application.c_str(),
                                            info->minimum_feature_level, iid, device);
  return wrapped < 0 ? wrapped : result;
}

CAIRN_ENTRY void* vkd3d_get_device_parent(void* device) {
  const auto next = Next(kGetDeviceParent, &vkd3d_get_device_parent);
  return next == nullptr ? nullptr : next(MsBridge().real_object(device));
}

CAIRN_ENTRY void* vkd3d_get_vk_device(void* device) {
  const auto next = Next(kGetVkDevice, &vkd3d_get_vk_device);
  return next == nullptr ? nullptr : next(MsBridge().real_object(device));
}

CAIRN_ENTRY void* vkd3d_get_vk_physical_device(void* device) {
  const auto next = Next(kGetVkPhysicalDevice, &vkd3d_get_vk_physical_device);
  return next == nullptr ? nullptr : next(MsBridge().real_object(device));
}

CAIRN_ENTRY Vkd3dInstance* vkd3d_instance_from_device(void* device) {
  const auto next = Next(kInstanceFromDevice, &vkd3d_instance_from_device);
  return next == nullptr ? nullptr : next(MsBridge().real_object(device));
}

CAIRN_ENTRY uint32_t vkd3d_get_vk_queue_family_index(void* queue) {
  const auto next = Next(kGetVkQueueFamilyIndex, &vkd3d_get_vk_queue_family_index);
  return next == nullptr ? 0 : next(MsBridge().real_object(queue));
}

CAIRN_ENTRY void* vkd3d_acquire_vk_queue(void* queue) {
  const auto next = Next(kAcquireVkQueue, &vkd3d_acquire_vk_queue);
  // Until the release nothing can be submitted to the queue.
  if (next == nullptr) return nullptr;
  MsBridge().before_present(queue);
  MsBridge().holds_queue(true);
  return next(MsBridge().real_object(queue));
}

CAIRN_ENTRY void vkd3d_release_vk_queue(void* queue) {
  const auto next = Next(kReleaseVkQueue, &vkd3d_release_vk_queue);
  if (next == nullptr) return;
  next(MsBridge().real_object(queue));
  MsBridge().holds_queue(false);
}

CAIRN_ENTRY int32_t vkd3d_queue_signal_on_cpu(void* queue, void* fence, uint64_t value) {
  const auto next = Next(kQueueSignalOnCpu, &vkd3d_queue_signal_on_cpu);
  return next == nullptr ? kFail : MsBridge().signal_on_cpu(queue, fence, value, next);
}

CAIRN_ENTRY int32_t vkd3d_create_image_resource(void* device, const void* info, void** resource) {
  const auto next = Next(kCreateImageResource, &vkd3d_create_image_resource);
  if (next == nullptr) return kFail;
  const EntryBridge& layer = MsBridge();
  const int32_t result = next(layer.real_object(device), info, resource);
  if (result >= 0 && resource != nullptr && *resource != nullptr) {
    // Images are in the common state at first, and presented in it unless the program says otherwise.
    uint32_t present_state = 0;
    const auto* const image = static_cast<const cairn::Vkd3dImageResourceCreateInfo*>(info);
    if (image->type == cairn::kVkd3dImageResourceCreateInfo &&
        (image->flags & cairn::kVkd3dPresentStateTransition) != 0) {
      present_state = image->present_state;
    }
    *resource = layer.wrap_resource(device, *resource, 0, present_state);
    if (*resource == nullptr) return kOutOfMemory;
  }
  return result;
}

CAIRN_ENTRY uint32_t vkd3d_resource_incref(void* resource) {
  const auto next = Next(kResourceIncref, &vkd3d_resource_incref);
  uint32_t count = 0;
  if (next == nullptr || MsBridge().hold_resource(resource, &count)) return count;
  return next(resource);
}

CAIRN_ENTRY uint32_t vkd3d_resource_decref(void* resource) {
  const auto next = Next(kResourceDecref, &vkd3d_resource_decref);
  uint32_t count = 0;
  if (next == nullptr || MsBridge().drop_resource(resource, &count)) return count;
  return next(resource);
}

CAIRN_ENTRY int32_t vkQueuePresentKHR(void* queue, const void* info) {
  const auto next = Next(kQueuePresent, &vkQueuePresentKHR);
  if (next == nullptr) return kVulkanInitializationFailed;
  const int32_t result = next(queue, info);
  MsBridge().end_frame();
  SysvBridge().end_frame();
  return result;
}

// ---- D3D12CreateDevice, whose convention is the implementation's --------------------------------

namespace {

using SysvCreateDevice = int32_t (*)(void* adapter, int32_t level, const EntryGuid& iid,
                                     void** device);

// The depth of this thread's calls of D3D12CreateDevice: look-ups of a vkd3d-proton while it
// creates a device are its own.
thread_local int t_creating = 0;

int32_t CreateSysvDevice(void* adapter, int32_t level, const EntryGuid& iid, void** device) {
  const auto next = Entries()[kD3d12CreateDevice].As<SysvCreateDevice>();
  static const bool wraps = CanHaveWrappers(reinterpret_cast<void*>(next));
  const cairn::DeviceCreationScope creating;
  if (!wraps || device == nullptr || t_creating > 0) return next(adapter, level, iid, device);
  const EntryBridge& layer = SysvBridge();
  // A result that the implementation does not write keeps the program's value.
  void* real = *device;
  ++t_creating;
  const int32_t result = next(adapter, level, *layer.device_iid, &real);
  --t_creating;
  if (result < 0 || real == nullptr) {
    *device = real;
    return result;
  }
  const int32_t wrapped =
      layer.wrap_device(real, sizeof(char16_t), "", static_cast<uint32_t>(level), iid, device);
  return wrapped < 0 ? wrapped : result;
}

int32_t CreateNoDevice() {
  return kFail;
}

// libvkd3d-utils keeps the Windows convention, and gets its devices from vkd3d_create_device, which
// is above. A library with only D3D12CreateDevice is built for the platform's own convention.
bool IsUtilities(void* create_device) {
  const std::string path = cairn::LibraryPathOf(create_device);
  void* const library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool utilities = cairn::FindSymbol(library, "D3D12CreateDeviceVKD3D") != nullptr;
  dlclose(library);
  return utilities;
}

}  // namespace

// The target of D3D12CreateDevice: chosen by the first call that finds an implementation.
extern "C" {
__attribute__((visibility("hidden"))) void* g_cairn_create_device = nullptr;
__attribute__((visibility("hidden"), used)) void* CairnChooseCreateDevice();
__attribute__((visibility("hidden"), used)) void* CairnLookUp(void* handle, const char* name);
__attribute__((visibility("hidden"))) void* g_cairn_dlsym = nullptr;
}

void* CairnChooseCreateDevice() {
  void* const next = Entries()[kD3d12CreateDevice].Address();
  if (next == nullptr) return AddressOf(&CreateNoDevice);
  void* const chosen = IsUtilities(next) ? next : AddressOf(&CreateSysvDevice);
  __atomic_store_n(&g_cairn_create_device, chosen, __ATOMIC_RELEASE);
  return chosen;
}

// Null: the answer is that of dlsym itself.
void* CairnLookUp(void* handle, const char* name) {
  if (__atomic_load_n(&g_cairn_dlsym, __ATOMIC_ACQUIRE) == nullptr) {
    __atomic_store_n(&g_cairn_dlsym, cairn::FindSymbol(RTLD_NEXT, "dlsym"), __ATOMIC_RELEASE);
  }
  // A caller that looks behind itself replaces functions, as this library does.
  if (name == nullptr || handle == RTLD_NEXT || t_creating > 0) return nullptr;
  if (name[0] != 'v' && name[0] != 'D') return nullptr;
  cairn::NextFunction* const entries = Entries();
  for (int i = 0; i < kEntryCount; ++i) {
    if (std::strcmp(name, entries[i].name()) != 0) continue;
    void* const found = cairn::FindSymbol(handle, name);
    return found != nullptr && entries[i].Adopt(found) ? entries[i].own() : nullptr;
  }
  return nullptr;
}

// Both jump to what they stand in front of with every argument, and the caller's address, in place:
// D3D12CreateDevice because it does not know where its arguments are, dlsym because the real one looks
// at who called it. The registers of both conventions' arguments are kept across the calls.
__asm__(R"(
  .text
  .globl D3D12CreateDevice
  .type D3D12CreateDevice, @function
D3D12CreateDevice:
  .cfi_startproc
  endbr64
  mov g_cairn_create_device(%rip), %rax
  test %rax, %rax
  jz 1f
  jmp *%rax
1:
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdx
  .cfi_adjust_cfa_offset 8
  push %rcx
  .cfi_adjust_cfa_offset 8
  push %r8
  .cfi_adjust_cfa_offset 8
  push %r9
  .cfi_adjust_cfa_offset 8
  sub $168, %rsp
  .cfi_adjust_cfa_offset 168
  movaps %xmm6, (%rsp)
  movaps %xmm7, 16(%rsp)
  movaps %xmm8, 32(%rsp)
  movaps %xmm9, 48(%rsp)
  movaps %xmm10, 64(%rsp)
  movaps %xmm11, 80(%rsp)
  movaps %xmm12, 96(%rsp)
  movaps %xmm13, 112(%rsp)
  movaps %xmm14, 128(%rsp)
  movaps %xmm15, 144(%rsp)
  call CairnChooseCreateDevice
  movaps (%rsp), %xmm6
  movaps 16(%rsp), %xmm7
  movaps 32(%rsp), %xmm8
  movaps 48(%rsp), %xmm9
  movaps 64(%rsp), %xmm10
  movaps 80(%rsp), %xmm11
  movaps 96(%rsp), %xmm12
  movaps 112(%rsp), %xmm13
  movaps 128(%rsp), %xmm14
  movaps 144(%rsp), %xmm15
  add $168, %rsp
  .cfi_adjust_cfa_offset -168
  pop %r9
  .cfi_adjust_cfa_offset -8
  pop %r8
  .cfi_adjust_cfa_offset -8
  pop %rcx
  .cfi_adjust_cfa_offset -8
  pop %rdx
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size D3D12CreateDevice, . - D3D12CreateDevice

  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call CairnLookUp
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  test %rax, %rax
  jz 1f
  ret
1:
  jmp *g_cairn_dlsym(%rip)
  .cfi_endproc
  .size dlsym, . - dlsym
)");
