// SPDX-License-Identifier: Apache-2.0
#include "os/thread.h"

#include <algorithm>
#include <utility>

#include "os/linux_half.h"
#include "os/windows/function_table.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

using GetDescription = HRESULT(WINAPI*)(HANDLE, PWSTR*);
using SetDescription = HRESULT(WINAPI*)(HANDLE, PCWSTR);

// Returns a function of kernel32 that exists from Windows 10 on.
template <typename Function>
Function InKernel(const char* name) {
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), name)));
}

}  // namespace

uint32_t CurrentThreadId() {
  if (const LinuxHalf* const half = FindLinuxHalf()) return half->ThreadId();
  return GetCurrentThreadId();
}

std::array<char, kThreadNameBytes> CurrentThreadName() {
  std::array<char, kThreadNameBytes> name{};
  static const auto get = InKernel<GetDescription>("GetThreadDescription");
  PWSTR wide = nullptr;
  if (get == nullptr || get(GetCurrentThread(), &wide) < 0) return name;
  const std::string narrow = Utf8(wide);
  LocalFree(wide);
  std::copy_n(narrow.begin(), std::min(narrow.size(), name.size() - 1), name.begin());
  return name;
}

// Windows has no signals: no handler of the program runs on this thread, except for faults.
std::thread StartInnerThread(const char* name, std::function<void()> body) {
  return std::thread([name, body = std::move(body)] {
    static const auto set = InKernel<SetDescription>("SetThreadDescription");
    if (set != nullptr) set(GetCurrentThread(), Wide(name).c_str());
    body();
  });
}

// A slot with a callback: fiber-local, which threads without fibers have as well.
void ThreadSlot::Open(void (*at_end)(void*)) {
  KeepLibraryOf(reinterpret_cast<const void*>(at_end));
  const DWORD index = FlsAlloc(reinterpret_cast<PFLS_CALLBACK_FUNCTION>(at_end));
  if (index != FLS_OUT_OF_INDEXES) key_ = index;
}

void* ThreadSlot::Get() const {
  return key_ == ~uint32_t{0} ? nullptr : FlsGetValue(key_);
}

void ThreadSlot::Set(void* value) const {
  if (key_ != ~uint32_t{0}) FlsSetValue(key_, value);
}

}  // namespace cairn
