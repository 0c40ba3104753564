// SPDX-License-Identifier: Apache-2.0
//
// marks.exe [LIBRARY]: a program that is linked with libcairn.dll and marks its work itself, with LIBRARY in it, or not.
#include <windows.h>

#include <cstdio>

#include "cairn/breadcrumbs.h"

#include "tests/windows/layered/use_device.h"

int main(int argc, char** argv) {
  if (argc > 1 && LoadLibraryA(argv[1]) == nullptr) return 1;
  cairn::ComPtr<ID3D12Device> device;
  if (FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                               device.Receive()))) {
    return 2;
  }
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  const CairnD3D12Desc d3d12 = {sizeof(d3d12), device.get()};
  CairnContext* context = nullptr;
  const CairnResult result = cairnCreateContextD3D12(&desc, &d3d12, &context);
  if (result != CAIRN_OK) std::fprintf(stderr, "%s\n", cairnGetLastErrorMessage());
  if (context != nullptr) cairnDestroyContext(context);
  return result == CAIRN_OK ? 0 : 3;
}
