// SPDX-License-Identifier: Apache-2.0
//
// Work that goes from one device to another through the CPU: the first draws the left half of a picture, the second
// gets that picture and draws the right half. With --fault a dispatch of the second stores far outside of its buffer.
#include <fmt/format.h>

#include <array>

#include "d3d12_work.h"
#include "d3d12abi/aggregates.h"
#include "embedded/fault.cs.dxbc.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kCells = kColumns * kColumns;
constexpr char kProgram[] = "sample-two-devices-d3d12";

// A device with a picture and what draws into it.
struct Painter {
  Painter(const sample::Options& options, uint32_t adapter, const char* name)
      : gpu(kProgram, options, D3D_SHADER_MODEL_5_1, adapter),
        queue(gpu, CAIRN_QUEUE_DIRECT, name),
        solid(sample::CreateGraphicsPipeline(gpu, "Solid",
                                             {"SolidVS", kSolidVsDxbc, sizeof(kSolidVsDxbc)},
                                             {"SolidPS", kSolidPsDxbc, sizeof(kSolidPsDxbc)}, 8)),
        picture(gpu, kSize, kSize),
        list(gpu, queue, name) {}

  // The cells of these columns, in a colour that holds the number of each.
  void DrawColumns(uint32_t first, uint32_t end) {
    const sample::Scope pass(list, CAIRN_MARKER_PASS, "Cells");
    list.SetPipeline(solid);
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      if (cell % kColumns < first || cell % kColumns >= end) continue;
      constexpr float kCell = 2.0f / kColumns;
      const std::array<float, 8> constants = {
          -1.0f + kCell * (static_cast<float>(cell % kColumns) + 0.5f),
          1.0f - kCell * (static_cast<float>(cell / kColumns) + 0.5f),
          kCell / 2,
          kCell / 2,
          static_cast<float>(cell) / 255.0f,
          1.0f,
          first == 0 ? 0.0f : 1.0f,
          1.0f};
      list->SetGraphicsRoot32BitConstants(0, constants.size(), constants.data(), 0);
      list->DrawInstanced(3, 1, 0, 0);
    }
  }

  void Execute() {
    list.End();
    queue.Execute({&list});
    queue.WaitOrReportLoss(20);
  }

  sample::Gpu gpu;
  sample::Queue queue;
  sample::Pipeline solid;
  sample::Picture picture;
  sample::List list;
};

// Records the copy of those pixels into the picture.
void Upload(const sample::Picture& from, const sample::Buffer& pixels, Painter& to) {
  const sample::Scope pass(to.list, CAIRN_MARKER_PASS, "Take over");
  for (uint32_t i = 0; i < kSize * kSize; ++i) pixels.words[i] = from.Pixel(i % kSize, i / kSize);
  ID3D12Resource* const image = to.picture.image();
  sample::Transition(to.list, image, D3D12_RESOURCE_STATE_RENDER_TARGET,
                     D3D12_RESOURCE_STATE_COPY_DEST);
  D3D12_TEXTURE_COPY_LOCATION source = {};
  source.pResource = pixels.resource.get();
  source.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  source.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, kSize, kSize, 1,
                                      kSize * sizeof(uint32_t)};
  D3D12_TEXTURE_COPY_LOCATION destination = {};
  destination.pResource = image;
  destination.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  to.list->CopyTextureRegion(&destination, 0, 0, 0, &source, nullptr);
  sample::Transition(to.list, image, D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_RENDER_TARGET);
}

void CheckPicture(const sample::Picture& picture) {
  constexpr uint32_t kCell = kSize / kColumns;
  for (uint32_t cell = 0; cell < kCells; ++cell) {
    const uint32_t column = cell % kColumns;
    const uint32_t pixel =
        picture.Pixel(column * kCell + kCell / 2, cell / kColumns * kCell + kCell / 2);
    const uint32_t blue = column < kColumns / 2 ? 0 : 0xff0000;
    if (pixel != (0xff00ff00 | blue | cell)) {
      sample::Fail(fmt::format("cell {} is wrong: {:#x}", cell, pixel));
    }
  }
}

// Pipeline and views of a dispatch that stores out of range.
struct Fault {
  explicit Fault(sample::Gpu& gpu)
      : scatter(sample::CreateComputePipeline(gpu, "Scatter",
                                              {"ScatterCS", kFaultCsDxbc, sizeof(kFaultCsDxbc)}, 2,
                                              sample::Output::kTyped)),
        buffer(gpu.CreateBuffer(64)),
        views(sample::CreateTooLargeView(gpu, buffer)) {}

  void Dispatch(sample::List& list) const {
    const sample::Scope pass(list, CAIRN_MARKER_PASS, "Scatter");
    ID3D12DescriptorHeap* const heap = views.get();
    const uint32_t constants[] = {sample::kClaimedWords - 1, 7};
    list->SetDescriptorHeaps(1, &heap);
    list.SetPipeline(scatter);
    list->SetComputeRoot32BitConstants(0, 2, constants, 0);
    list->SetComputeRootDescriptorTable(1, cairn::GetGpuStart(heap));
    list->Dispatch(1, 1, 1);
  }

  sample::Pipeline scatter;
  sample::Buffer buffer;
  sample::ComPtr<ID3D12DescriptorHeap> views;
};

void Run(const sample::Options& options, bool fault, uint32_t adapter, const std::string& path) {
  Painter first(options, 0, "First");
  Painter second(options, adapter, "Second");
  first.list.Begin();
  first.picture.Begin(first.list);
  first.DrawColumns(0, kColumns / 2);
  first.picture.CopyToCpu(first.list);
  first.Execute();

  const sample::Buffer pixels = second.gpu.CreateUploadBuffer(kSize * kSize);
  const Fault scatter(second.gpu);
  second.list.Begin();
  Upload(first.picture, pixels, second);
  second.picture.Continue(second.list);
  second.DrawColumns(kColumns / 2, kColumns);
  if (fault) scatter.Dispatch(second.list);
  second.picture.CopyToCpu(second.list);
  second.Execute();
  if (fault) {
    fmt::print("{}: this device ignored the store\n", kProgram);
    return;
  }
  CheckPicture(second.picture);
  if (const std::string error = path.empty() ? "" : second.picture.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print("{}: the halves of two devices are correct\n", kProgram);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Draws a picture with two devices, one half each.");
  sample::Options options;
  sample::AddOptions(line, &options);
  bool fault = false;
  std::string path;
  uint32_t adapter = 0;
  line.Flag("--fault", &fault, "let a dispatch of the second device store out of range");
  line.Text("--output", &path, "a PNG to write");
  line.Number("--second-adapter", &adapter, 0, 63,
              "the adapter of the second device; 0, the first's, by default");
  line.Read(argc, argv);
  Run(options, fault, adapter, path);
  return 0;
}
