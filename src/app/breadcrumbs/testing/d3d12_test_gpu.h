// SPDX-License-Identifier: Apache-2.0
//
// The environment of the tests and benchmarks of the Direct3D 12 backend: a device of libvkd3d, the
// words that a context would have in its block, and work of any duration.
#ifndef CAIRN_APP_BREADCRUMBS_TESTING_D3D12_TEST_GPU_H_
#define CAIRN_APP_BREADCRUMBS_TESTING_D3D12_TEST_GPU_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/d3d12_buffers.h"
#include "app/breadcrumbs/d3d12_submitter.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Longer than any test needs on the slowest machine: a limit, not an expectation.
inline constexpr std::chrono::milliseconds kTestLimit(60000);

// The first Direct3D 12 device of the machine. Ends the program with a message if there is none.
ComPtr<ID3D12Device> TestDevice();

// Memory laid out as a context lays out its words: raw markers unwritten, everything else 0.
class TestWords {
 public:
  TestWords(uint32_t recording_capacity, uint32_t raw_marker_count);

  const WordRegion& region() const { return region_; }
  const ProgressWords& progress(uint32_t slot) const;
  uint64_t raw_marker(uint32_t index) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  WordRegion region_;
};

// Work of a chosen length: the shaders hang.cs and hang.ps of the samples. `trips` is at most 65,535,
// because lavapipe ends longer loops early.
class SlowWork {
 public:
  explicit SlowWork(ID3D12Device* device);

  // Every thread runs `trips` trips and then stores a number that is not 0.
  void RecordDispatch(ID3D12GraphicsCommandList* list, uint32_t trips);
  // A triangle into a small target, `trips` trips a pixel.
  void RecordDraw(ID3D12GraphicsCommandList* list, uint32_t trips);

  // Every thread of the dispatch has stored its number.
  bool DispatchFinished() const;
  void ClearResult();

 private:
  ComPtr<ID3D12RootSignature> root_signature_;
  ComPtr<ID3D12PipelineState> compute_;
  ComPtr<ID3D12PipelineState> graphics_;
  ComPtr<ID3D12DescriptorHeap> target_views_;
  ComPtr<ID3D12Resource> target_;
  D3D12MappedBuffer result_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_TESTING_D3D12_TEST_GPU_H_
