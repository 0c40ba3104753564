// SPDX-License-Identifier: Apache-2.0
//
// ffx_sample_d3d12 before|after [stay]: FidelityFX Breadcrumbs' sample with Direct3D 12.
#include <cstdlib>
#include <memory>
#include <vector>

#include "cairn/compat/ffx_dx12.h"

#include "d3d12_device.h"
#include "embedded/triangle.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"
#include "programs/ffx_sample.h"

namespace {

constexpr uint32_t kSize = 64;

class D3D12Scene final : public ffx_sample::Scene {
 public:
  explicit D3D12Scene(sample::Gpu& gpu)
      : queue_(gpu, CAIRN_QUEUE_DIRECT, "Graphics"),
        list_(gpu, queue_, "the list's own name"),
        picture_(gpu, kSize, kSize),
        indices_(gpu.CreateUploadBuffer(3)) {
    for (uint32_t i = 0; i < 3; ++i) indices_.words[i] = i;
    for (sample::Pipeline& pipeline : pipelines_) {
      pipeline = sample::CreateGraphicsPipeline(
          gpu, "the pipeline's own name", {"VS", kTriangleVsDxbc, sizeof(kTriangleVsDxbc)},
          {"PS", kTrianglePsDxbc, sizeof(kTrianglePsDxbc)}, 0);
    }
  }

  FfxCommandList List() override { return ffxGetCommandListDX12(list_.d3d12()); }
  FfxPipeline Pipeline(ffx_sample::Draw draw) override {
    return ffxGetPipelineDX12(PipelineOf(draw).state.get());
  }
  FfxBreadcrumbsMarkerType Type(ffx_sample::Draw draw) override {
    return draw == ffx_sample::Draw::kFirst ? FFX_BREADCRUMBS_MARKER_DRAW_INSTANCED
                                            : FFX_BREADCRUMBS_MARKER_DRAW_INDEXED_INSTANCED;
  }
  void Open() override { list_.Begin(); }
  void Record(ffx_sample::Draw draw) override {
    picture_.Continue(list_);
    list_.SetPipeline(PipelineOf(draw));
    if (draw == ffx_sample::Draw::kFirst) {
      list_->DrawInstanced(3, 1, 0, 0);
      return;
    }
    const D3D12_INDEX_BUFFER_VIEW view = {indices_.resource->GetGPUVirtualAddress(),
                                          3 * sizeof(uint32_t), DXGI_FORMAT_R32_UINT};
    list_->IASetIndexBuffer(&view);
    list_->DrawIndexedInstanced(3, 1, 0, 0, 0);
  }
  void Clear() override { picture_.Begin(list_); }
  void Execute() override {
    list_.End();
    // Text of 8 bits, which PIX's metadata 1 means.
    queue_.d3d12()->BeginEvent(1, "Execution", sizeof("Execution"));
    queue_.Execute({&list_});
    queue_.d3d12()->SetMarker(1, "Executed", sizeof("Executed"));
    queue_.d3d12()->EndEvent();
    queue_.WaitOrReportLoss(20);
  }

 private:
  const sample::Pipeline& PipelineOf(ffx_sample::Draw draw) const {
    return pipelines_[draw == ffx_sample::Draw::kFirst ? 0 : 1];
  }

  sample::Queue queue_;
  sample::List list_;
  sample::Picture picture_;
  sample::Buffer indices_;
  sample::Pipeline pipelines_[2];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  sample::Gpu gpu("ffx_sample_d3d12", {});
  D3D12Scene scene(gpu);
  FfxBreadcrumbsContextDescription desc = {};
  const size_t size = ffxGetScratchMemorySizeDX12(1);
  const auto scratch = std::make_unique<uint8_t[]>(size);
  ffx_sample::Check(ffxGetInterfaceDX12(&desc.backendInterface, ffxGetDeviceDX12(gpu.device()),
                                        scratch.get(), size, 1),
                    "ffxGetInterfaceDX12");
  const int result = ffx_sample::Run(scene, desc, argv[1]);
  // With another argument nothing is destroyed: a queue's markers go with it.
  if (argc > 2) std::_Exit(result);
  return result;
}
