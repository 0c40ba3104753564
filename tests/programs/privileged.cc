// SPDX-License-Identifier: Apache-2.0
//
// A program that is linked with libcairn-d3d12.so, for its file to be given more rights than its user has:
// says whether the kernel calls it secure, makes a Direct3D 12 device, and asks for a watcher.
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

#include "cairn/breadcrumbs.h"

#include "d3d12abi/com_ptr.h"

int main() {
  std::printf("secure %lu, user %u\n", getauxval(AT_SECURE), static_cast<unsigned>(geteuid()));
  cairn::ComPtr<ID3D12Device> device;
  const HRESULT made =
      D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive());
  std::printf("device %s\n", SUCCEEDED(made) ? "made" : "failed");
  CairnWatcherDesc desc{};
  desc.struct_size = sizeof(desc);
  const CairnResult started = cairnStartWatcher(&desc);
  std::printf("watcher %s%s%s\n", cairnResultString(started), started == CAIRN_OK ? "" : ": ",
              started == CAIRN_OK ? "" : cairnGetLastErrorMessage());
  return SUCCEEDED(made) ? 0 : 3;
}
