// SPDX-License-Identifier: Apache-2.0
#include "tests/windows/layered/use_device.h"

// The table of imports is filled in when this library is loaded.
extern "C" __declspec(dllexport) const char* UseDevice() {
  return cairn::WhoseDevice(&D3D12CreateDevice);
}
