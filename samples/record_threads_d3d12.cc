// SPDX-License-Identifier: Apache-2.0
//
// Eight threads record the lists of a frame while the main thread submits those of the frame before.
// Each uploads, copies, dispatches and draws; every word and every cell of every frame is checked.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "d3d12_work.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"
#include "rendezvous.h"

namespace {

constexpr uint32_t kThreads = 8;
constexpr uint32_t kSlots = 2;  // a frame is recorded while the one before is submitted
constexpr uint32_t kCells = 8;  // of each thread: its row of the picture
constexpr uint32_t kCellPixels = 8;
constexpr uint32_t kSize = kCells * kCellPixels;

// Parts of a thread's buffer, in words.
constexpr uint32_t kPart = 256;
enum Part : uint32_t { kUploaded, kDispatched, kPartCount };

constexpr uint32_t Value(uint32_t thread, uint32_t frame, uint32_t part) {
  return (thread + 1) << 24 | (frame & 0xFFF) << 12 | part << 10;
}

// The objects that a thread records into for one of the frames in flight.
struct Work {
  Work(sample::Gpu& gpu, const sample::Queue& queue)
      : list(gpu, queue, "Worker"),
        upload(gpu.CreateUploadBuffer(kPart)),
        words(gpu.CreateGpuBuffer(kPart * kPartCount)),
        results(gpu.CreateReadbackBuffer(kPart * kPartCount)) {
    sample::SetName(words.resource.get(), "Particles");
  }
  sample::List list;
  sample::Buffer upload;
  sample::Buffer words;
  sample::Buffer results;
};

struct Slot {
  explicit Slot(sample::Gpu& gpu) : picture(gpu, kSize, kSize) {}
  std::vector<std::unique_ptr<Work>> works;  // by thread
  sample::Picture picture;                   // of all
};

struct Scene {
  explicit Scene(const sample::Options& options)
      : gpu("sample-record-threads-d3d12", options),
        queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics"),
        solid(sample::CreateGraphicsPipeline(gpu, "Solid",
                                             {"SolidVS", kSolidVsDxbc, sizeof(kSolidVsDxbc)},
                                             {"SolidPS", kSolidPsDxbc, sizeof(kSolidPsDxbc)}, 8)),
        fill(sample::CreateFillPipeline(gpu)) {
    for (std::unique_ptr<Slot>& slot : slots) {
      slot = std::make_unique<Slot>(gpu);
      for (uint32_t i = 0; i < kThreads; ++i) {
        slot->works.push_back(std::make_unique<Work>(gpu, queue));
      }
    }
  }
  sample::Gpu gpu;
  sample::Queue queue;
  sample::Pipeline solid;
  sample::Pipeline fill;
  std::array<std::unique_ptr<Slot>, kSlots> slots;
};

void RecordWords(const Scene& scene, Work& work, uint32_t thread, uint32_t frame) {
  sample::List& list = work.list;
  for (uint32_t i = 0; i < kPart; ++i) work.upload.words[i] = Value(thread, frame, kUploaded) + i;
  list->CopyBufferRegion(work.words.resource.get(), 0, work.upload.resource.get(), 0,
                         kPart * sizeof(uint32_t));
  sample::Transition(list, work.words.resource.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  sample::DispatchFill(list, "Simulate", scene.fill, work.words,
                       {Value(thread, frame, kDispatched), kDispatched * kPart, kPart});
  sample::Transition(list, work.words.resource.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                     D3D12_RESOURCE_STATE_COPY_SOURCE);
  list->CopyResource(work.results.resource.get(), work.words.resource.get());
  sample::Transition(list, work.words.resource.get(), D3D12_RESOURCE_STATE_COPY_SOURCE,
                     D3D12_RESOURCE_STATE_COPY_DEST);
}

// Red says which cell, green which frame.
void DrawRow(const Scene& scene, sample::List& list, uint32_t thread, uint32_t frame) {
  list.SetPipeline(scene.solid);
  constexpr float kCell = 2.0f / kCells;
  for (uint32_t i = 0; i < kCells; ++i) {
    const uint32_t cell = thread * kCells + i;
    const std::array<float, 8> constants = {-1.0f + kCell * (static_cast<float>(i) + 0.5f),
                                            1.0f - kCell * (static_cast<float>(thread) + 0.5f),
                                            kCell / 2,
                                            kCell / 2,
                                            static_cast<float>(cell) / 255.0f,
                                            static_cast<float>(frame & 0xFF) / 255.0f,
                                            1.0f,
                                            1.0f};
    list->SetGraphicsRoot32BitConstants(0, constants.size(), constants.data(), 0);
    const sample::Scope draw(list, CAIRN_MARKER_DRAW_INSTANCED, "Cell");
    list->DrawInstanced(3, 1, 0, 0);
  }
}

void RecordFrame(Scene& scene, uint32_t thread, uint32_t frame) {
  Slot& slot = *scene.slots[frame % kSlots];
  Work& work = *slot.works[thread];
  work.list.Begin();
  {
    const sample::Scope pass(work.list, CAIRN_MARKER_PASS, "Worker's part");
    RecordWords(scene, work, thread, frame);
    // The lists are executed in order: the first one clears, the last one copies.
    if (thread == 0) {
      slot.picture.Begin(work.list);
    } else {
      slot.picture.Continue(work.list);
    }
    DrawRow(scene, work.list, thread, frame);
    if (thread == kThreads - 1) {
      slot.picture.CopyToCpu(work.list);
      slot.picture.Reuse(work.list);
    }
  }
  work.list.End();
}

void SubmitFrame(Scene& scene, uint32_t frame) {
  const auto& works = scene.slots[frame % kSlots]->works;
  scene.queue.Execute({&works[0]->list, &works[1]->list, &works[2]->list, &works[3]->list,
                       &works[4]->list, &works[5]->list, &works[6]->list, &works[7]->list});
  static_assert(kThreads == 8);
  scene.gpu.telling().NextFrame(scene.queue.d3d12());
}

// Also computes a checksum of everything, to compare runs. (FNV-1a.)
class Checker {
 public:
  void Expect(uint32_t found, uint32_t expected, const char* what, uint32_t frame) {
    if (found != expected) {
      sample::Fail(fmt::format("{} of frame {} is {:#x}, not {:#x}", what, frame, found, expected));
    }
    checksum_ = (checksum_ ^ found) * 0x100000001b3;
  }
  uint64_t checksum() const { return checksum_; }

 private:
  uint64_t checksum_ = 0xcbf29ce484222325;
};

void CheckFrame(const Scene& scene, uint32_t frame, Checker& checker) {
  const Slot& slot = *scene.slots[frame % kSlots];
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const uint32_t* const words = slot.works[thread]->results.words;
    for (uint32_t part = 0; part < kPartCount; ++part) {
      for (uint32_t i = 0; i < kPart; ++i) {
        checker.Expect(words[part * kPart + i], Value(thread, frame, part) + i, "a word", frame);
      }
    }
    for (uint32_t i = 0; i < kCells; ++i) {
      const uint32_t pixel = slot.picture.Pixel(i * kCellPixels + kCellPixels / 2,
                                                thread * kCellPixels + kCellPixels / 2);
      const uint32_t cell = thread * kCells + i;
      checker.Expect(pixel, 0xffff0000 | (frame & 0xFF) << 8 | cell, "a cell", frame);
    }
  }
}

void Run(const sample::Options& options, uint32_t frames) {
  Scene scene(options);
  sample::Rendezvous may_record(kThreads + 1);
  sample::Rendezvous recorded(kThreads + 1);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t frame = 0; frame < frames; ++frame) {
        may_record.ArriveAndWait();
        RecordFrame(scene, thread, frame);
        recorded.ArriveAndWait();
      }
    });
  }
  Checker checker;
  for (uint32_t frame = 0; frame < frames; ++frame) {
    // The last submission is two frames old: its slot is free again.
    scene.queue.WaitOrReportLoss(20);
    if (frame >= kSlots) CheckFrame(scene, frame - kSlots, checker);
    may_record.ArriveAndWait();
    if (frame > 0) SubmitFrame(scene, frame - 1);
    recorded.ArriveAndWait();
  }
  for (std::thread& thread : threads) thread.join();
  SubmitFrame(scene, frames - 1);
  scene.queue.WaitOrReportLoss(20);
  for (uint32_t frame = frames < kSlots ? 0 : frames - kSlots; frame < frames; ++frame) {
    CheckFrame(scene, frame, checker);
  }
  fmt::print(
      "sample-record-threads-d3d12: {} threads, {} frames: all is correct, checksum {:016x}\n",
      kThreads, frames, checker.checksum());
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Records command lists in eight threads, and checks what they did.");
  sample::Options options;
  uint32_t frames = 30;
  sample::AddOptions(line, &options);
  line.Number("--frames", &frames, 1u, 100'000u, "How many frames");
  line.Read(argc, argv);
  Run(options, frames);
  return 0;
}
