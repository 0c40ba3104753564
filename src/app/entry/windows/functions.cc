// SPDX-License-Identifier: Apache-2.0
#include "app/entry/windows/functions.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "os/library.h"

namespace cairn {
namespace {

constexpr std::string_view kKernel = "kernel32.dll";

constexpr ReplacedFunction kFunctions[] = {
    {"d3d12.dll", "D3D12CreateDevice", &OverCreateDevice, true},
    {"d3d12.dll", "D3D12GetInterface", &OverGetInterface, true},
    {"d3d11.dll", "D3D11CreateDevice", &OverCreateDevice11, true},
    {"d3d11.dll", "D3D11CreateDeviceAndSwapChain", &OverCreateDeviceAndSwapChain11, true},
    {"d3d11.dll", "D3D11On12CreateDevice", &OverCreateOn12, true},
    {"dxgi.dll", "CreateDXGIFactory", &OverCreateFactory, true},
    {"dxgi.dll", "CreateDXGIFactory1", &OverCreateFactory, true},
    {"dxgi.dll", "CreateDXGIFactory2", &OverCreateFactory2, true},
    {kKernel, "LoadLibraryA", &OverLoadLibraryA, false},
    {kKernel, "LoadLibraryW", &OverLoadLibraryW, false},
    {kKernel, "LoadLibraryExA", &OverLoadLibraryExA, false},
    {kKernel, "LoadLibraryExW", &OverLoadLibraryExW, false},
    {kKernel, "GetProcAddress", &OverGetProcAddress, false},
    {kKernel, "ExitProcess", &OverExitProcess, false},
    {kKernel, "CreateProcessA", &OverCreateProcessA, false},
    {kKernel, "CreateProcessW", &OverCreateProcessW, false},
};

char Small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `small` is in small letters.
bool Begins(std::string_view text, std::string_view small) {
  return text.size() >= small.size() && std::equal(small.begin(), small.end(), text.begin(),
                                                   [](char a, char b) { return a == Small(b); });
}

}  // namespace

std::span<const ReplacedFunction> ReplacedFunctions() {
  return kFunctions;
}

void* InPlaceOf(void* found, const char* name) try {
  for (const ReplacedFunction& function : kFunctions) {
    if (!function.when_looked_up || std::strcmp(function.name, name) != 0) continue;
    if (!IsLibraryOf(function, LibraryNameOf(found))) continue;
    void* const ours = function.over(found);
    return ours == nullptr ? found : ours;
  }
  return found;
} catch (const std::bad_alloc&) {
  return found;
}

bool IsLibraryOf(const ReplacedFunction& function, std::string_view name) {
  if (function.library == kKernel) {
    // Newer programs import by names that stand for no file.
    return Begins(name, kKernel) || Begins(name, "kernelbase.dll") ||
           Begins(name, "api-ms-win-core-");
  }
  return name.size() == function.library.size() && Begins(name, function.library);
}

}  // namespace cairn
