// SPDX-License-Identifier: Apache-2.0
//
// The compute work of the Direct3D 12 samples: short dispatches, and one that is as long as one likes.
#ifndef CAIRN_SAMPLES_D3D12_WORK_H_
#define CAIRN_SAMPLES_D3D12_WORK_H_

#include "d3d12_device.h"

namespace sample {

// fill.cs: stores value + i at word first + i, for every i below count.
struct FillConstants {
  uint32_t value;
  uint32_t first;
  uint32_t count;
};
Pipeline CreateFillPipeline(Gpu& gpu);
// Records a dispatch inside a marker, and a barrier after it.
void DispatchFill(List& list, const char* name, const Pipeline& pipeline, const Buffer& buffer,
                  const FillConstants& constants);
// True if the buffer holds what DispatchFill stores.
bool Filled(const Buffer& buffer, const FillConstants& constants);

// The size that the view claims in samples that store out of range: far more than any neighbour of
// the buffer in memory.
inline constexpr uint32_t kClaimedWords = 1u << 27;
// A heap with a view of the buffer that claims so many words, for u0 of fault.cs.
ComPtr<ID3D12DescriptorHeap> CreateTooLargeView(const Gpu& gpu, const Buffer& buffer);

// A dispatch that takes about as many seconds as asked on whatever device this is, and always ends:
// for the samples that pretend to hang (hang.cs).
class SlowWork {
 public:
  // Measures the device with short dispatches on `queue`, then sizes the work. `seconds` is 0.1 to
  // 600. The bounds of the shader and of dispatches cap the result.
  SlowWork(Gpu& gpu, Queue& queue, const char* name, double seconds);

  // Binds what Dispatch() needs, which then records nothing but the dispatch.
  void Bind(List& list) const;
  void Dispatch(List& list) const;

  // To see a dispatch begin: forgets the results so far, before it is executed; then true as soon as
  // the first results are there. Needs memory that shows the GPU's writes at once, as most does.
  void ForgetResults() const;
  bool Started() const;

 private:
  // The two numbers that make a dispatch longer.
  struct Size {
    uint32_t group_count = 1;
    uint32_t trips = 0;
  };
  static Size SizeOf(double amount);
  double Measure(Gpu& gpu, Queue& queue);

  Pipeline pipeline_;
  Buffer buffer_;
  Size size_;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_D3D12_WORK_H_
