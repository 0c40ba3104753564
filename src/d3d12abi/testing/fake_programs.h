// SPDX-License-Identifier: Apache-2.0
//
// Programs of state objects on the fake device. It has the programs that its work graphs and generic programs name. As
// implementations do, it believes what it is given; where that would harm it, it aborts: identifiers that it did not
// give or whose state object is gone, programs of another device or type, memory of a work graph that is too small or
// was not initialised for it.
//
// All programs write one word to where the compute root signature's view of an unordered access buffer lies: a work graph the sum of its
// records, which are one word each, at the entry points 0 and 1; other programs, by Dispatch, their place in the state object.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_PROGRAMS_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_PROGRAMS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/testing/fake_stubs.h"
#include "d3d12gen/supplement.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as in fake_stubs.h

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The least memory of each work graph.
inline constexpr UINT64 kFakeGraphBytes = 4096;

class NoNewestCommandList : public NoCommandListOf<ID3D12GraphicsCommandList10> {
 public:
  void STDMETHODCALLTYPE RSSetShadingRate(D3D12_SHADING_RATE,
                                          const D3D12_SHADING_RATE_COMBINER*) override {}
  void STDMETHODCALLTYPE RSSetShadingRateImage(ID3D12Resource*) override {}
  void STDMETHODCALLTYPE DispatchMesh(UINT, UINT, UINT) override {}
  void STDMETHODCALLTYPE Barrier(UINT32, const D3D12_BARRIER_GROUP*) override {}
  void STDMETHODCALLTYPE OMSetFrontAndBackStencilRef(UINT, UINT) override {}
  void STDMETHODCALLTYPE RSSetDepthBias(FLOAT, FLOAT, FLOAT) override {}
  void STDMETHODCALLTYPE
  IASetIndexBufferStripCutValue(D3D12_INDEX_BUFFER_STRIP_CUT_VALUE) override {}

 protected:
  ~NoNewestCommandList() = default;
};

HRESULT CreateFakeStateObject(ID3D12Device* device, const D3D12_STATE_OBJECT_DESC& desc,
                              REFIID riid, void** object);

// The commands of a list, in the order in which executing it calls them.
using FakeCommands = std::vector<std::function<void()>>;

// The program of a list.
class FakePrograms {
 public:
  void SetRootView(D3D12_GPU_VIRTUAL_ADDRESS address) { root_view_ = address; }
  void Set(ID3D12Device* device, const D3D12_SET_PROGRAM_DESC& desc, FakeCommands* commands);
  void Dispatch(FakeCommands* commands);
  void DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC& desc, FakeCommands* commands);

 private:
  D3D12_GPU_VIRTUAL_ADDRESS root_view_ = 0;
  std::array<UINT64, 4> program_ = {};          // zeros: none
  D3D12_GPU_VIRTUAL_ADDRESS graph_memory_ = 0;  // of a work graph
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#pragma GCC diagnostic pop

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_PROGRAMS_H_
