// SPDX-License-Identifier: Apache-2.0
//
// The device of why_d3d12_program, and the few steps that its faults are made of. Device, queues and lists are those of
// the samples: whatever cannot be made ends the program with 2; a lost device, and work that goes on and on, with 1.
#ifndef CAIRN_TESTS_TRUTH_WHY_D3D12_MACHINE_H_
#define CAIRN_TESTS_TRUTH_WHY_D3D12_MACHINE_H_

#include <cstdint>

#include "d3d12_device.h"
#include "truth/why/cause.h"
#include "truth/why/size.h"

namespace cairn::truth::why::d3d12 {

using sample::ComPtr;

// Root constants of all shaders; shaders/why.hlsl.
struct Constants {
  uint32_t most_trips = UINT32_MAX;
  uint32_t count = 0;
  float start = 0;
  float step = 0;
  float limit = 0;
  uint32_t value = 0;
};

// Words that the CPU has written; shaders/why.hlsl.
enum Place : uint32_t { kList = 64, kFlag = 80, kBound = 81, kWordCount = 128 };
inline constexpr uint32_t kResultCount = 1024;

inline constexpr uint32_t kPictureWidth = 8;

class Machine {
 public:
  Machine();

  // Fills size() by measuring.
  void Measure(double seconds);
  void SetSize(const Size& size) { size_ = size; }
  const Size& size() const { return size_; }
  // Waits give up then.
  void SetLimit(double seconds) { limit_s_ = seconds; }
  bool on_cpu() const { return on_cpu_; }
  // The work of healthy_loops and writer.
  uint32_t short_count() const { return ShortCount(size_, on_cpu()); }
  uint32_t short_groups() const { return ShortGroups(size_, on_cpu()); }

  sample::Gpu& gpu() { return gpu_; }
  ID3D12Device* device() const { return gpu_.device(); }
  sample::Queue& queue() { return queue_; }
  const sample::Buffer& results() const { return results_; }

  sample::Pipeline Compute(const char* name, Shader shader);
  sample::Pipeline Draws(const char* name, Shader vertex, Shader pixel);

  // Memory of the GPU alone, which nobody has written: D3D12_HEAP_FLAG_CREATE_NOT_ZEROED.
  ComPtr<ID3D12Resource> CreateUnwritten(uint64_t bytes, const char* name);
  // The same in a heap of the program's, at an offset.
  ComPtr<ID3D12Heap> CreateHeap(uint64_t bytes);
  ComPtr<ID3D12Resource> Place(ID3D12Heap* heap, uint64_t offset, uint64_t bytes, const char* name);
  // A heap with one view, which claims so many words of the buffer.
  ComPtr<ID3D12DescriptorHeap> View(ID3D12Resource* buffer, uint32_t words);

  // The constants and views of a dispatch.
  struct Bindings {
    Constants constants = {};
    ID3D12DescriptorHeap* view = nullptr;   // null: the results
    D3D12_GPU_VIRTUAL_ADDRESS address = 0;  // 0: the results
  };
  // Within an event.
  void Dispatch(sample::List& list, const char* label, const sample::Pipeline& pipeline,
                const Bindings& bindings, uint32_t groups);
  // `arguments`: three words.
  void DispatchIndirect(sample::List& list, const char* label, const sample::Pipeline& pipeline,
                        const Bindings& bindings, ID3D12Resource* arguments);
  // Into `picture`, from its beginning on.
  void Draw(sample::List& list, const char* label, const sample::Pipeline& pipeline,
            sample::Picture& picture, const Constants& constants, uint32_t vertices,
            uint32_t instances);
  // Executes one list, whose recording ends, and waits.
  void Finish(sample::List& list);
  void Wait(const sample::Queue& queue) { queue.WaitOrReportLoss(limit_s_); }

  // With most_trips.
  Constants Bounded(Constants constants = {}) const;

 private:
  void Bind(sample::List& list, const sample::Pipeline& pipeline, const Bindings& bindings);
  double Time(const sample::Pipeline& pipeline, const Constants& constants, uint32_t groups);

  sample::Gpu gpu_;
  sample::Queue queue_;
  bool on_cpu_;
  Size size_;
  double limit_s_ = 60;
  ComPtr<ID3D12RootSignature> signature_;
  ComPtr<ID3D12CommandSignature> dispatches_;
  sample::Buffer words_;
  sample::Buffer results_;
  ComPtr<ID3D12DescriptorHeap> results_view_;
};

}  // namespace cairn::truth::why::d3d12

#endif  // CAIRN_TESTS_TRUTH_WHY_D3D12_MACHINE_H_
