// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/testing/recording_object.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

constexpr uint32_t kSlots = 128;

namespace {

constexpr uint32_t kMostArguments = 16;
constexpr size_t kMostResultBytes = 64;
constexpr uint32_t kFirstSlotBehindUnknown = 3;
constexpr uint32_t kFirstSlotBehindDevice = 44;  // of what derives from ID3D12Device

ID3D12Device* forward_to = nullptr;
uint64_t result_of_methods = 0;
std::vector<RecordingObject::Call>& Taken() {
  static auto& calls = *new std::vector<RecordingObject::Call>;
  return calls;
}

bool IsFloat(const ValueInfo& value) {
  return value.kind == ValueKind::kFloat && value.pointers == 0 && value.array_length == 1;
}

// The method behind a slot of objects of this chain; null for those of IUnknown.
const MethodInfo* MethodAt(Chain chain, uint32_t slot) {
  for (const InterfaceInfo* known = Describe(chain).newest; known != nullptr; known = known->base) {
    const std::string_view name = known->name;
    for (uint32_t i = 0; i < kMethodCount; ++i) {
      const MethodInfo& method = Describe(static_cast<Method>(i));
      const std::string_view full = method.name;
      if (method.slot == slot && full.substr(0, full.find("::")) == name) return &method;
    }
  }
  return nullptr;
}

}  // namespace

bool RecordingObject::ReturnsInMemory(const MethodInfo& method) {
  const ValueKind kind = method.result.kind;
  return method.result.pointers == 0 &&
         (kind == ValueKind::kStruct || kind == ValueKind::kCpuDescriptor ||
          kind == ValueKind::kGpuDescriptor);
}

int RecordingObject::PlaceOf(const MethodInfo& method, size_t index) {
  if (IsFloat(method.parameters[index])) return -1;
  int place = ReturnsInMemory(method) ? 1 : 0;
  for (size_t i = 0; i < index; ++i) {
    // The System V convention counts the registers of floats apart.
#if defined(CAIRN_D3D12_SYSV_ABI)
    if (IsFloat(method.parameters[i])) continue;
#endif
    ++place;
  }
  return place;
}

std::vector<RecordingObject::Call> RecordingObject::TakeCalls() {
  return std::exchange(Taken(), {});
}
void RecordingObject::SetResult(uint64_t result) {
  result_of_methods = result;
}
void RecordingObject::ForwardDevice(ID3D12Device* device) {
  forward_to = device;
}

struct Calls {
  // The object that the call goes on to with all its arguments; null: it ends here.
  static void* GoesTo(const RecordingObject& object, uint64_t slot) {
    const bool goes = object.chain_ == Chain::kID3D12Device && slot >= kFirstSlotBehindUnknown &&
                      slot < kFirstSlotBehindDevice;
    return goes ? forward_to : nullptr;
  }
  static RecordingObject* TearOffOf(RecordingObject& object, const InterfaceInfo* wanted) {
    if (wanted == nullptr || wanted->kind != InterfaceKind::kTearOff) return &object;
    RecordingObject*& tear_off = object.tear_offs_[wanted->chain];
    if (tear_off == nullptr) tear_off = new RecordingObject(wanted->chain);
    return tear_off;
  }

  // `word(i)` is argument i behind the object.
  template <typename Word>
  static uint64_t Come(uint32_t slot, RecordingObject* object, const Word& word) {
    if (slot == 0) {
      const auto* const iid = reinterpret_cast<const InterfaceGuid*>(word(0));
      if (iid == nullptr) return result_of_methods;
      *reinterpret_cast<void**>(word(1)) = TearOffOf(*object, FindInterface(*iid));
      return S_OK;
    }
    if (slot < kFirstSlotBehindUnknown) return 0;  // nobody counts
    const MethodInfo* const method = MethodAt(object->chain_, slot);
    RecordingObject::Call call = {object, slot, {}};
    if (method == nullptr) return result_of_methods;
    for (size_t i = 0; i < method->parameters.size() + 1 && i < kMostArguments; ++i) {
      call.arguments.push_back(word(i));
    }
    Taken().push_back(std::move(call));
    if (!RecordingObject::ReturnsInMemory(*method)) return result_of_methods;
    std::memset(reinterpret_cast<void*>(word(0)), 0,
                std::min<size_t>(method->result.size_bytes, kMostResultBytes));
    return word(0);
  }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

using cairn::Calls;
using cairn::RecordingObject;

extern "C" {
__attribute__((visibility("hidden"), used)) void* g_recording_goes_to = nullptr;

#if defined(CAIRN_D3D12_SYSV_ABI)
// `registers`: rdi, rsi, rdx, rcx, r8, r9.
__attribute__((visibility("hidden"), used)) uint64_t RecordingOnCall(uint64_t slot,
                                                                     const uint64_t* registers,
                                                                     const uint64_t* stack) {
  // AddressSanitizer cannot know the owner of the caller's arguments.
  const auto word = [&](size_t i) __attribute__((no_sanitize_address)) {
    return i < 5 ? registers[i + 1] : stack[i - 5];
  };
  auto* const object = reinterpret_cast<RecordingObject*>(registers[0]);
#else
// `words`: all arguments in a row.
__attribute__((visibility("hidden"), used, ms_abi)) uint64_t RecordingOnCall(
    uint64_t slot, const uint64_t* words) {
  const auto word = [&](size_t i) __attribute__((no_sanitize_address)) {
    return words[i + 1];
  };
  auto* const object = reinterpret_cast<RecordingObject*>(words[0]);
#endif
  g_recording_goes_to = Calls::GoesTo(*object, slot);
  return g_recording_goes_to != nullptr ? 0
                                        : Calls::Come(static_cast<uint32_t>(slot), object, word);
}

extern const void* const g_recording_table[cairn::kSlots] __attribute__((visibility("hidden")));
}

// One function a slot. With the Windows convention the caller left room for the arguments in registers
// in front of the others; with the platform's they are pushed. A call that goes on has its registers as
// they came (floats in registers are not kept: no method that goes on has any).
#if defined(CAIRN_D3D12_SYSV_ABI)
__asm__(R"(
  .text
recording_common:
  push %r9
  push %r8
  push %rcx
  push %rdx
  push %rsi
  push %rdi
  push %r10
  mov %r10, %rdi
  lea 8(%rsp), %rsi
  lea 64(%rsp), %rdx
  call RecordingOnCall
  pop %r10
  pop %rdi
  pop %rsi
  pop %rdx
  pop %rcx
  pop %r8
  pop %r9
  mov g_recording_goes_to(%rip), %r11
  test %r11, %r11
  jnz 1f
  ret
1:
  mov %r11, %rdi
  mov (%rdi), %r11
  jmp *(%r11, %r10, 8)
)");
#else
__asm__(R"(
  .text
recording_common:
  mov %rcx, 8(%rsp)
  mov %rdx, 16(%rsp)
  mov %r8, 24(%rsp)
  mov %r9, 32(%rsp)
  push %r10
  mov %r10, %rcx
  lea 16(%rsp), %rdx
  sub $32, %rsp
  call RecordingOnCall
  add $32, %rsp
  pop %r10
  mov g_recording_goes_to(%rip), %r11
  test %r11, %r11
  jnz 1f
  ret
1:
  mov %r11, %rcx
  mov 16(%rsp), %rdx
  mov 24(%rsp), %r8
  mov 32(%rsp), %r9
  mov (%rcx), %r11
  jmp *(%r11, %r10, 8)
)");
#endif

// The table in memory that the loader writes, as it holds addresses.
#if defined(_WIN32)
#define CAIRN_TABLE_SECTION ".data\n"
#else
#define CAIRN_TABLE_SECTION ".section .data.rel.ro, \"aw\"\n.hidden g_recording_table\n"
#endif

__asm__(R"(
  .text
  .balign 16
  .set slot, 0
recording_slots:
  .rept 128
  mov $slot, %r10d
  jmp recording_common
  .balign 16
  .set slot, slot + 1
  .endr
)" CAIRN_TABLE_SECTION R"(
  .globl g_recording_table
  .balign 8
g_recording_table:
  .set slot, 0
  .rept 128
  .quad recording_slots + 16 * slot
  .set slot, slot + 1
  .endr
  .text
)");

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

RecordingObject::RecordingObject(Chain chain) : vtable_(g_recording_table), chain_(chain) {}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
