// SPDX-License-Identifier: Apache-2.0
//
// Many small frames: 10,000 of 500 calls, unless told otherwise. What grows with the length of a run,
// in Cairn or in its files, shows here. Objects come and go, and mapped memory changes with each frame.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "d3d12_work.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"

namespace {

constexpr uint32_t kSlots = 2;  // a frame is recorded while the GPU works on the one before
constexpr uint32_t kSize = 64;
constexpr uint32_t kColumns = 16;
constexpr uint32_t kCells = kColumns * kColumns;
constexpr uint32_t kCellPixels = kSize / kColumns;
constexpr uint32_t kUploadWords = 1024;
constexpr uint32_t kCallsOfADraw = 5;
constexpr uint32_t kCallsOfAFrame = 20;  // beside the draws
constexpr uint32_t kFramesOfABuffer = 16;

struct Slot {
  Slot(sample::Gpu& gpu, const sample::Queue& queue)
      : list(gpu, queue, "Frame"),
        picture(gpu, kSize, kSize),
        upload(gpu.CreateUploadBuffer(kUploadWords)),
        results(gpu.CreateReadbackBuffer(kUploadWords)) {}
  sample::List list;
  sample::Picture picture;
  sample::Buffer upload;
  sample::Buffer results;
};

struct Scene {
  explicit Scene(const sample::Options& options)
      : gpu("sample-scale-d3d12", options),
        queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics"),
        solid(sample::CreateGraphicsPipeline(gpu, "Solid",
                                             {"SolidVS", kSolidVsDxbc, sizeof(kSolidVsDxbc)},
                                             {"SolidPS", kSolidPsDxbc, sizeof(kSolidPsDxbc)}, 8)) {
    for (std::unique_ptr<Slot>& slot : slots) slot = std::make_unique<Slot>(gpu, queue);
  }
  sample::Gpu gpu;
  sample::Queue queue;
  sample::Pipeline solid;
  std::array<std::unique_ptr<Slot>, kSlots> slots;
  sample::Buffer stream;  // a new one every kFramesOfABuffer frames
};

constexpr uint32_t UploadedWord(uint32_t frame, uint32_t word) {
  return frame << 10 | word;
}

// The colour of draw `draw` of a frame: every one is different from the one before it in its cell.
constexpr uint32_t Green(uint32_t frame, uint32_t draw) {
  return (frame + draw / kCells) & 0xFF;
}

void RecordDraw(const sample::List& list, uint32_t frame, uint32_t draw) {
  constexpr float kCell = 2.0f / kColumns;
  const uint32_t cell = draw % kCells;
  const uint32_t column = cell % kColumns;
  const uint32_t row = cell / kColumns;
  const std::array<float, 8> constants = {-1.0f + kCell * (static_cast<float>(column) + 0.5f),
                                          1.0f - kCell * (static_cast<float>(row) + 0.5f),
                                          kCell / 2,
                                          kCell / 2,
                                          static_cast<float>(cell) / 255.0f,
                                          static_cast<float>(Green(frame, draw)) / 255.0f,
                                          1.0f,
                                          1.0f};
  const auto left = static_cast<LONG>(column * kCellPixels);
  const auto top = static_cast<LONG>(row * kCellPixels);
  const D3D12_RECT scissor = {left, top, left + static_cast<LONG>(kCellPixels),
                              top + static_cast<LONG>(kCellPixels)};
  const float factor[4] = {0, 0, 0, static_cast<float>(draw)};
  list->RSSetScissorRects(1, &scissor);
  list->OMSetBlendFactor(factor);
  list->OMSetStencilRef(draw);
  list->SetGraphicsRoot32BitConstants(0, constants.size(), constants.data(), 0);
  list->DrawInstanced(3, 1, 0, 0);
}

// The frame's words go into the stream's buffer and back.
void RecordUpload(Scene& scene, const Slot& slot, uint32_t frame) {
  for (uint32_t i = 0; i < kUploadWords; ++i) slot.upload.words[i] = UploadedWord(frame, i);
  ID3D12Resource* const stream = scene.stream.resource.get();
  slot.list->CopyResource(stream, slot.upload.resource.get());
  sample::Transition(slot.list, stream, D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_COPY_SOURCE);
  slot.list->CopyResource(slot.results.resource.get(), stream);
  sample::Transition(slot.list, stream, D3D12_RESOURCE_STATE_COPY_SOURCE,
                     D3D12_RESOURCE_STATE_COPY_DEST);
}

void RecordFrame(Scene& scene, uint32_t frame, uint32_t draws) {
  Slot& slot = *scene.slots[frame % kSlots];
  slot.list.Begin();
  {
    const sample::Scope pass(slot.list, CAIRN_MARKER_PASS, "Frame");
    RecordUpload(scene, slot, frame);
    slot.picture.Begin(slot.list);
    slot.list.SetPipeline(scene.solid);
    for (uint32_t draw = 0; draw < draws; ++draw) RecordDraw(slot.list, frame, draw);
    slot.picture.CopyToCpu(slot.list);
    slot.picture.Reuse(slot.list);
  }
  slot.list.End();
}

void CheckFrame(const Scene& scene, uint32_t frame, uint32_t draws) {
  const Slot& slot = *scene.slots[frame % kSlots];
  for (uint32_t i = 0; i < kUploadWords; ++i) {
    if (slot.results.words[i] != UploadedWord(frame, i)) {
      sample::Fail(fmt::format("word {} of frame {} is wrong", i, frame));
    }
  }
  // Check the last draw into each cell.
  for (uint32_t draw = draws < kCells ? 0 : draws - kCells; draw < draws; ++draw) {
    const uint32_t cell = draw % kCells;
    const uint32_t pixel = slot.picture.Pixel(cell % kColumns * kCellPixels + kCellPixels / 2,
                                              cell / kColumns * kCellPixels + kCellPixels / 2);
    if (pixel != (0xffff0000 | Green(frame, draw) << 8 | cell)) {
      sample::Fail(fmt::format("draw {} of frame {} is wrong: {:#x}", draw, frame, pixel));
    }
  }
}

void Run(const sample::Options& options, uint32_t frames, uint32_t calls) {
  Scene scene(options);
  const uint32_t draws = (calls - kCallsOfAFrame) / kCallsOfADraw;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    // One frame is at work, the one before it is done: the last two are waited for only when the
    // buffer that they use goes.
    if (frame % kFramesOfABuffer == 0) {
      scene.queue.WaitOrReportLoss(20);
      scene.stream = scene.gpu.CreateGpuBuffer(kUploadWords);
      sample::SetName(scene.stream.resource.get(), "Stream");
    }
    if (frame >= kSlots) {
      scene.queue.WaitOrReportLoss(20, kSlots - 1);
      CheckFrame(scene, frame - kSlots, draws);
    }
    RecordFrame(scene, frame, draws);
    scene.queue.Execute({&scene.slots[frame % kSlots]->list});
    scene.gpu.telling().NextFrame(scene.queue.d3d12());
  }
  scene.queue.WaitOrReportLoss(20);
  for (uint32_t frame = frames < kSlots ? 0 : frames - kSlots; frame < frames; ++frame) {
    CheckFrame(scene, frame, draws);
  }
  fmt::print("sample-scale-d3d12: {} frames of {} draws: all is correct\n", frames, draws);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Makes many small frames, and checks each.");
  sample::Options options;
  uint32_t frames = 10'000;
  uint32_t calls = 500;
  sample::AddOptions(line, &options);
  line.Number("--frames", &frames, 1u, 1'000'000u, "How many frames");
  line.Number("--calls", &calls, 50u, 100'000u,
              "About how many calls of Direct3D 12 a frame makes");
  line.Read(argc, argv);
  Run(options, frames, calls);
  return 0;
}
