// SPDX-License-Identifier: Apache-2.0
//
// The kind of device that libvkd3d takes.
#ifndef CAIRN_TESTS_TRUTH_WHY_D3D12_ADAPTER_H_
#define CAIRN_TESTS_TRUTH_WHY_D3D12_ADAPTER_H_

namespace cairn::truth::why::d3d12 {

// True if Vulkan has no GPU on this machine: libvkd3d prefers one.
bool AdapterIsCpu();

}  // namespace cairn::truth::why::d3d12

#endif  // CAIRN_TESTS_TRUTH_WHY_D3D12_ADAPTER_H_
