// SPDX-License-Identifier: Apache-2.0
//
// The functions of libraries that the layer replaces.
#ifndef CAIRN_APP_ENTRY_WINDOWS_FUNCTIONS_H_
#define CAIRN_APP_ENTRY_WINDOWS_FUNCTIONS_H_

#include <span>
#include <string_view>

namespace cairn {

struct ReplacedFunction {
  std::string_view library;  // in small letters
  const char* name;
  // Same meaning as Replacement::Over.
  void* (*over)(void* function);
  // GetProcAddress answers with ours, too. False for functions of the loader, which a caller may
  // want to call in another process.
  bool when_looked_up;
};

std::span<const ReplacedFunction> ReplacedFunctions();

// Returns the replacement for `found`, a function that one of these libraries exports under this
// name, or `found` itself. Waits for the system's loader.
void* InPlaceOf(void* found, const char* name);

// Returns true if a library called `name` exports the function: its own library, or a library of
// the system that stands for it. Ignores case.
bool IsLibraryOf(const ReplacedFunction& function, std::string_view name);

// D3D12CreateDevice, D3D12GetInterface (d3d12_functions.cc).
void* OverCreateDevice(void* function);
void* OverGetInterface(void* function);

// D3D11CreateDevice, D3D11CreateDeviceAndSwapChain (d3d11_functions.cc).
void* OverCreateDevice11(void* function);
void* OverCreateDeviceAndSwapChain11(void* function);

// CreateDXGIFactory and those that came after it (dxgi_functions.cc).
void* OverCreateFactory(void* function);
void* OverCreateFactory2(void* function);

// D3D11On12CreateDevice (on12_functions.cc).
void* OverCreateOn12(void* function);

// LoadLibrary and GetProcAddress; ExitProcess (loader_functions.cc).
void* OverLoadLibraryA(void* function);
void* OverLoadLibraryW(void* function);
void* OverLoadLibraryExA(void* function);
void* OverLoadLibraryExW(void* function);
void* OverGetProcAddress(void* function);
void* OverExitProcess(void* function);

// CreateProcess (child_functions.cc).
void* OverCreateProcessA(void* function);
void* OverCreateProcessW(void* function);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_FUNCTIONS_H_
