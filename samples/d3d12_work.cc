// SPDX-License-Identifier: Apache-2.0
#include "d3d12_work.h"

#include <algorithm>
#include <cstring>

#include "embedded/fill.cs.dxbc.h"
#include "embedded/hang.cs.dxbc.h"
#include "work_clock.h"

namespace sample {

namespace {

constexpr uint32_t kFillGroupSize = 64;
constexpr uint32_t kMaxGroups = 65535;
constexpr uint32_t kWordsPerGroup = 64;
constexpr uint32_t kTrips = 4096;
constexpr uint32_t kMaxTrips = 1u << 24;
constexpr double kLongEnoughToMeasure = 0.1;

}  // namespace

Pipeline CreateFillPipeline(Gpu& gpu) {
  return CreateComputePipeline(gpu, "Fill", {"FillCS", kFillCsDxbc, sizeof(kFillCsDxbc)}, 3,
                               Output::kRaw);
}

void DispatchFill(List& list, const char* name, const Pipeline& pipeline, const Buffer& buffer,
                  const FillConstants& constants) {
  list.SetPipeline(pipeline);
  list->SetComputeRoot32BitConstants(0, 3, &constants, 0);
  list->SetComputeRootUnorderedAccessView(1, buffer.resource->GetGPUVirtualAddress());
  {
    const Scope dispatch(list, CAIRN_MARKER_DISPATCH, name);
    list->Dispatch((constants.count + kFillGroupSize - 1) / kFillGroupSize, 1, 1);
  }
  list.Barrier();
}

ComPtr<ID3D12DescriptorHeap> CreateTooLargeView(const Gpu& gpu, const Buffer& buffer) {
  return CreateView(gpu.device(), buffer.resource.get(), kClaimedWords);
}

bool Filled(const Buffer& buffer, const FillConstants& constants) {
  for (uint32_t i = 0; i < constants.count; ++i) {
    if (buffer.words[constants.first + i] != constants.value + i) return false;
  }
  return true;
}

SlowWork::SlowWork(Gpu& gpu, Queue& queue, const char* name, double seconds)
    : pipeline_(CreateComputePipeline(gpu, name, {"SlowCS", kHangCsDxbc, sizeof(kHangCsDxbc)}, 2,
                                      Output::kRaw)),
      buffer_(gpu.CreateBuffer(kMaxGroups * kWordsPerGroup)) {
  double amount = 1;
  double measured_s = 0;
  Measure(gpu, queue);  // what a device does only once shall not count
  for (int attempt = 0; attempt < 28; ++attempt) {
    size_ = SizeOf(amount);
    measured_s = std::min(Measure(gpu, queue), Measure(gpu, queue));
    if (measured_s >= kLongEnoughToMeasure) break;
    amount *= 2;
  }
  size_ = SizeOf(amount * seconds / measured_s);
  gpu.telling().BeginFrame();
}

// More groups until a GPU is full of them, then more trips. Software drivers end long loops early;
// they never get that far.
SlowWork::Size SlowWork::SizeOf(double amount) {
  if (amount <= kMaxGroups) return {static_cast<uint32_t>(std::max(amount, 1.0)), kTrips};
  const double trips = std::min(kTrips * (amount / kMaxGroups), static_cast<double>(kMaxTrips));
  return {kMaxGroups, static_cast<uint32_t>(trips)};
}

double SlowWork::Measure(Gpu& gpu, Queue& queue) {
  List list(gpu, queue, "Calibration");
  list.Begin();
  Bind(list);
  {
    const Scope scope(list, CAIRN_MARKER_DISPATCH);
    Dispatch(list);
  }
  list.End();
  const WorkClock clock;
  queue.Execute({&list});
  queue.WaitOrReportLoss(60);
  return clock.Seconds();
}

void SlowWork::ForgetResults() const {
  std::memset(buffer_.words, 0, buffer_.word_count * sizeof(uint32_t));
}

bool SlowWork::Started() const {
  const volatile uint32_t* const words = buffer_.words;
  for (uint32_t i = 0; i < kWordsPerGroup; ++i) {
    if (words[i] != 0) return true;
  }
  return false;
}

void SlowWork::Bind(List& list) const {
  const uint32_t constants[] = {size_.trips, 1};
  list.SetPipeline(pipeline_);
  list->SetComputeRoot32BitConstants(0, 2, constants, 0);
  list->SetComputeRootUnorderedAccessView(1, buffer_.resource->GetGPUVirtualAddress());
}

void SlowWork::Dispatch(List& list) const {
  list->Dispatch(size_.group_count, 1, 1);
}

}  // namespace sample
