// SPDX-License-Identifier: Apache-2.0
//
// Frames in flight: two bundles that were recorded once, one of draws and one of a dispatch, take what differs from the
// list that executes them; enhanced barriers go around them. The CPU waits for the event of a frame when it needs the
// memory of that frame again, three frames later. With --fault a frame executes the bundle of the dispatch without the
// root view that it inherits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "d3d12_device.h"
#include "embedded/cell.ps.dxil.h"
#include "embedded/cell.vs.dxil.h"
#include "embedded/fill.cs.dxil.h"
#include "wait_event.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 8;
constexpr uint32_t kCells = kColumns * kColumns;
constexpr uint32_t kGroupSize = 64;
constexpr uint32_t kInFlight = 3;
constexpr uint32_t kTimeoutMs = 20'000;

void NeedEnhancedBarriers(ID3D12Device* device) {
  D3D12_FEATURE_DATA_D3D12_OPTIONS12 options = {};
  if (FAILED(
          device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS12, &options, sizeof(options))) ||
      !options.EnhancedBarriersSupported) {
    sample::Lack("enhanced barriers");
  }
}

// An image that has a layout, and no state.
sample::ComPtr<ID3D12Resource> CreateImage(sample::Gpu& gpu) {
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_DESC1 desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = kSize;
  desc.Height = kSize;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  sample::ComPtr<ID3D12Resource> image;
  sample::Check(sample::Newer<ID3D12Device10>(gpu.device())
                    ->CreateCommittedResource3(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                               D3D12_BARRIER_LAYOUT_UNDEFINED, nullptr, nullptr, 0,
                                               nullptr, __uuidof(ID3D12Resource), image.Receive()),
                "CreateCommittedResource3");
  sample::SetName(image.get(), "Picture");
  return image;
}

D3D12_TEXTURE_BARRIER TextureBarrier(ID3D12Resource* image) {
  D3D12_TEXTURE_BARRIER barrier = {};
  barrier.pResource = image;
  barrier.Subresources.IndexOrFirstMipLevel = 0xFFFFFFFF;  // all of them
  return barrier;
}

D3D12_BARRIER_GROUP Group(const D3D12_TEXTURE_BARRIER& barrier) {
  D3D12_BARRIER_GROUP group = {D3D12_BARRIER_TYPE_TEXTURE, 1, {}};
  group.pTextureBarriers = &barrier;
  return group;
}

// The bundle's own list and memory.
struct Bundle {
  explicit Bundle(ID3D12Device* device) {
    sample::Check(
        device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_BUNDLE,
                                       __uuidof(ID3D12CommandAllocator), allocator.Receive()),
        "CreateCommandAllocator");
    sample::Check(
        device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_BUNDLE, allocator.get(), nullptr,
                                  __uuidof(ID3D12GraphicsCommandList), list.Receive()),
        "CreateCommandList");
  }
  sample::ComPtr<ID3D12CommandAllocator> allocator;
  sample::ComPtr<ID3D12GraphicsCommandList> list;
};

struct Slot {
  Slot(sample::Gpu& gpu, const sample::Queue& queue)
      : list(gpu, queue, "Frame"),
        picture(gpu, kSize, kSize, CreateImage(gpu)),
        read(gpu.CreateReadbackBuffer(kGroupSize)) {}
  sample::List list;
  sample::Picture picture;
  sample::Buffer read;
  sample::WaitEvent done;
};

struct Scene {
  explicit Scene(sample::Gpu& gpu)
      : draw(sample::CreateGraphicsPipeline(gpu, "Cell",
                                            {"CellVS", kCellVsDxil, sizeof(kCellVsDxil)},
                                            {"CellPS", kCellPsDxil, sizeof(kCellPsDxil)}, 2)),
        fill(sample::CreateComputePipeline(
            gpu, "Fill", {"FillCS", kFillCsDxil, sizeof(kFillCsDxil)}, 2, sample::Output::kRaw)),
        cells(gpu.device()),
        results_bundle(gpu.device()),
        results(gpu.CreateGpuBuffer(kGroupSize, D3D12_RESOURCE_STATE_COMMON)) {
    sample::SetName(results.resource.get(), "Results");
    cells.list->SetPipelineState(draw.state.get());
    cells.list->SetGraphicsRootSignature(draw.root_signature.get());
    cells.list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    for (uint32_t cell = 0; cell < kCells; ++cell) {
      cells.list->SetGraphicsRoot32BitConstants(0, 1, &cell, 0);
      cells.list->DrawInstanced(3, 1, 0, 0);
    }
    sample::Check(cells.list->Close(), "ID3D12GraphicsCommandList::Close");
    results_bundle.list->SetPipelineState(fill.state.get());
    results_bundle.list->SetComputeRootSignature(fill.root_signature.get());
    results_bundle.list->Dispatch(1, 1, 1);
    sample::Check(results_bundle.list->Close(), "ID3D12GraphicsCommandList::Close");
  }
  sample::Pipeline draw;
  sample::Pipeline fill;
  Bundle cells;
  Bundle results_bundle;
  sample::Buffer results;
};

constexpr uint32_t FirstResult(uint32_t frame) {
  return (frame + 1) * 1000;
}

// Draws into the image, whose contents nobody needs any more.
void DrawCells(const Scene& scene, Slot& slot, ID3D12GraphicsCommandList7* list, uint32_t frame) {
  const sample::Scope pass(slot.list, CAIRN_MARKER_PASS, "Cells");
  D3D12_TEXTURE_BARRIER begin = TextureBarrier(slot.picture.image());
  begin.SyncAfter = D3D12_BARRIER_SYNC_RENDER_TARGET;
  begin.AccessBefore = D3D12_BARRIER_ACCESS_NO_ACCESS;
  begin.AccessAfter = D3D12_BARRIER_ACCESS_RENDER_TARGET;
  begin.LayoutBefore = D3D12_BARRIER_LAYOUT_UNDEFINED;
  begin.LayoutAfter = D3D12_BARRIER_LAYOUT_RENDER_TARGET;
  begin.Flags = D3D12_TEXTURE_BARRIER_FLAG_DISCARD;
  const D3D12_BARRIER_GROUP group = Group(begin);
  list->Barrier(1, &group);
  slot.picture.Begin(slot.list);
  list->SetGraphicsRootSignature(scene.draw.root_signature.get());
  const uint32_t constants[] = {0, frame};  // the bundle sets the first
  list->SetGraphicsRoot32BitConstants(0, 2, constants, 0);
  list->ExecuteBundle(scene.cells.list.get());
}

void FillResults(const Scene& scene, const Slot& slot, ID3D12GraphicsCommandList7* list,
                 uint32_t frame, bool fault) {
  const sample::Scope pass(slot.list, CAIRN_MARKER_PASS, "Fill");
  // The copies of the frame before have ended.
  const D3D12_GLOBAL_BARRIER before = {D3D12_BARRIER_SYNC_COPY, D3D12_BARRIER_SYNC_COMPUTE_SHADING,
                                       D3D12_BARRIER_ACCESS_COPY_SOURCE,
                                       D3D12_BARRIER_ACCESS_UNORDERED_ACCESS};
  D3D12_BARRIER_GROUP group = {D3D12_BARRIER_TYPE_GLOBAL, 1, {}};
  group.pGlobalBarriers = &before;
  list->Barrier(1, &group);
  list->SetComputeRootSignature(scene.fill.root_signature.get());
  const uint32_t constants[] = {0, FirstResult(frame)};
  list->SetComputeRoot32BitConstants(0, 2, constants, 0);
  if (!fault) {
    list->SetComputeRootUnorderedAccessView(1, scene.results.resource->GetGPUVirtualAddress());
  }
  list->ExecuteBundle(scene.results_bundle.list.get());
}

void Record(const Scene& scene, Slot& slot, uint32_t frame, bool fault) {
  const auto list = sample::Newer<ID3D12GraphicsCommandList7>(slot.list.d3d12());
  slot.list.Begin();
  {
    const sample::Scope scope(slot.list, CAIRN_MARKER_PASS, "Frame");
    DrawCells(scene, slot, list.get(), frame);
    // A split barrier: it ends before the copy, and what is between need not wait.
    D3D12_TEXTURE_BARRIER drawn = TextureBarrier(slot.picture.image());
    drawn.SyncBefore = D3D12_BARRIER_SYNC_RENDER_TARGET;
    drawn.SyncAfter = D3D12_BARRIER_SYNC_SPLIT;
    drawn.AccessBefore = D3D12_BARRIER_ACCESS_RENDER_TARGET;
    drawn.AccessAfter = D3D12_BARRIER_ACCESS_COPY_SOURCE;
    drawn.LayoutBefore = D3D12_BARRIER_LAYOUT_RENDER_TARGET;
    drawn.LayoutAfter = D3D12_BARRIER_LAYOUT_COPY_SOURCE;
    const D3D12_BARRIER_GROUP begin = Group(drawn);
    list->Barrier(1, &begin);
    FillResults(scene, slot, list.get(), frame, fault);
    drawn.SyncBefore = D3D12_BARRIER_SYNC_SPLIT;
    drawn.SyncAfter = D3D12_BARRIER_SYNC_COPY;
    const D3D12_BUFFER_BARRIER filled = {D3D12_BARRIER_SYNC_COMPUTE_SHADING,
                                         D3D12_BARRIER_SYNC_COPY,
                                         D3D12_BARRIER_ACCESS_UNORDERED_ACCESS,
                                         D3D12_BARRIER_ACCESS_COPY_SOURCE,
                                         scene.results.resource.get(),
                                         0,
                                         UINT64_MAX};
    std::array<D3D12_BARRIER_GROUP, 2> ends = {Group(drawn), {D3D12_BARRIER_TYPE_BUFFER, 1, {}}};
    ends[1].pBufferBarriers = &filled;
    list->Barrier(ends.size(), ends.data());
    list->CopyResource(slot.read.resource.get(), scene.results.resource.get());
    slot.picture.CopyPixels(slot.list);
  }
  slot.list.End();
}

void CheckFrame(const Slot& slot, uint32_t frame) {
  constexpr uint32_t kCell = kSize / kColumns;
  for (uint32_t cell = 0; cell < kCells; ++cell) {
    const uint32_t pixel = slot.picture.Pixel(cell % kColumns * kCell + kCell / 2,
                                              cell / kColumns * kCell + kCell / 2);
    if (pixel != (0xff00ff00 | frame << 16 | cell)) {
      sample::Fail(fmt::format("cell {} of frame {} is wrong: {:#x}", cell, frame, pixel));
    }
  }
  for (uint32_t i = 0; i < kGroupSize; ++i) {
    if (slot.read.words[i] != FirstResult(frame) + i) {
      sample::Fail(fmt::format("word {} of frame {} is wrong: {}", i, frame, slot.read.words[i]));
    }
  }
}

void Run(const sample::Options& options, bool fault, const std::string& path, uint32_t frames) {
  sample::Gpu gpu("sample-bundles-d3d12", options, D3D_SHADER_MODEL_6_0);
  NeedEnhancedBarriers(gpu.device());
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  const Scene scene(gpu);
  std::array<std::unique_ptr<Slot>, kInFlight> slots;
  for (std::unique_ptr<Slot>& slot : slots) slot = std::make_unique<Slot>(gpu, queue);
  for (uint32_t frame = 0; frame < frames + kInFlight; ++frame) {
    Slot& slot = *slots[frame % kInFlight];
    if (frame >= kInFlight && frame - kInFlight < frames) {
      const uint32_t before = frame - kInFlight;
      slot.done.Wait(kTimeoutMs);
      queue.WaitOrReportLoss(0, std::min(kInFlight, frames - before) - 1);
      if (fault && before == frames - 1) {
        fmt::print("sample-bundles-d3d12: this device ignored the fault\n");
        return;
      }
      CheckFrame(slot, before);
    }
    if (frame >= frames) continue;
    Record(scene, slot, frame, fault && frame == frames - 1);
    queue.Execute({&slot.list});
    queue.SetEvent(slot.done.handle());
    gpu.telling().NextFrame(queue.d3d12());
  }
  const sample::Picture& last = slots[(frames - 1) % kInFlight]->picture;
  if (const std::string error = path.empty() ? "" : last.WritePng(path); !error.empty()) {
    sample::Fail(error);
  }
  fmt::print("sample-bundles-d3d12: {} frames of two bundles are correct\n", frames);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Executes bundles between enhanced barriers, three frames in flight.");
  sample::Options options;
  sample::AddOptions(line, &options);
  bool fault = false;
  std::string path;
  uint32_t frames = 6;
  line.Flag("--fault", &fault, "execute a bundle without the root view that it inherits");
  line.Text("--output", &path, "a PNG of the last frame to write");
  line.Number("--frames", &frames, 1, 255, "how many frames");
  line.Read(argc, argv);
  Run(options, fault, path, frames);
  return 0;
}
