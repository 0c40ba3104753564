// SPDX-License-Identifier: Apache-2.0
//
// layered.exe STEP...: does these one after the other, and says in a line each what came of it.
//   load:NAME   loads a library
//   import      makes a device by the function that it imports
//   lookup      by the one that GetProcAddress gives for its name
//   number      by the one that GetProcAddress gives for its number
//   late        in late-user.dll, which is loaded now
//   ask         asks whether a device could be made
//   fail        asks for a device that cannot be made
//   overlay     how many calls overlay.dll has seen
//   made        how many calls the implementation got
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/windows/layered/use_device.h"

namespace cairn {
namespace {

template <typename Function>
Function Find(const char* library, const char* name) {
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(GetProcAddress(LoadLibraryA(library), name)));
}

std::string Number(unsigned (*count)()) {
  return count == nullptr ? "not there" : std::to_string(count());
}

std::string HresultText(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08lx", result);
  return text;
}

std::string Do(const std::string& step) {
  constexpr uintptr_t kNumber = 101;
  if (step.starts_with("load:"))
    return LoadLibraryA(step.substr(5).c_str()) != nullptr ? "yes" : "no";
  if (step == "import") return WhoseDevice(&D3D12CreateDevice);
  if (step == "lookup") return WhoseDevice(Find<CreateDevice>("d3d12.dll", "D3D12CreateDevice"));
  if (step == "number") {
    return WhoseDevice(Find<CreateDevice>("d3d12.dll", reinterpret_cast<const char*>(kNumber)));
  }
  if (step == "late") return Find<const char* (*)()>("late-user.dll", "UseDevice")();
  if (step == "ask") {
    return HresultText(
        D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr));
  }
  if (step == "fail") {
    int untouched = 0;
    void* device = &untouched;
    const HRESULT result =
        D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_12_2, __uuidof(ID3D12Device), &device);
    return HresultText(result) + (device == &untouched ? ", untouched" : ", changed");
  }
  if (step == "overlay") return Number(Find<unsigned (*)()>("overlay.dll", "OverlayCalls"));
  if (step == "made") return Number(Find<unsigned (*)()>("d3d12.dll", "FakeCalls"));
  return "unknown step";
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::printf("%s: %s\n", argv[i], cairn::Do(argv[i]).c_str());
    std::fflush(stdout);
  }
}
