// SPDX-License-Identifier: Apache-2.0
//
// render_for_ever SEED: records frames of random shape and lets a simulated GPU execute them in
// another thread, until somebody kills it. Logs on stdout, one write a line, what the GPU does:
//   before FRAME REACHED PASSED   the words that the next write will leave
//   after FRAME REACHED PASSED    the same once the write has been done and is in the shared block
// as sequence numbers, and "list FRAME LAST" with the last sequence number when a frame is submitted.
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "programs/simulated_device.h"

namespace {

constexpr uint32_t kSequenceMask = (1u << 22) - 1;
constexpr size_t kMaxFramesInFlight = 2;

struct Frame {
  uint32_t number = 0;
  SimulatedCommandList commands;
};

// One call of write: a line arrives whole or not at all.
void Log(const char* what, uint32_t frame, uint32_t first, uint32_t second) {
  char line[64];
  const int size = std::snprintf(line, sizeof(line), "%s %u %u %u\n", what, frame, first, second);
  if (write(STDOUT_FILENO, line, static_cast<size_t>(size)) != size) std::exit(74);
}

class Renderer {
 public:
  explicit Renderer(uint32_t seed) : random_(seed), gpu_([this] { ExecuteForEver(); }) {}

  void RenderFrame(uint32_t number) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return submitted_.size() < kMaxFramesInFlight; });
    }
    auto frame = std::make_unique<Frame>();
    frame->number = number;
    Must(cairnBeginFrame(device_.context()), "cairnBeginFrame");
    const std::string name = "List " + std::to_string(number);
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = &frame->commands;
    desc.queue = device_.queue();
    desc.name = name.c_str();
    CairnCommandList* list = nullptr;
    Must(cairnBeginCommandList(device_.context(), &desc, &list), "cairnBeginCommandList");
    Record(list, 0);
    Must(cairnEndCommandList(list), "cairnEndCommandList");
    uint32_t last = 0;
    for (const auto& write : frame->commands.writes) last = write.value & kSequenceMask;
    Log("list", number, last, 0);
    Must(cairnNotifySubmit(device_.context(), device_.queue(), &list, 1), "cairnNotifySubmit");
    const std::scoped_lock lock(mutex_);
    submitted_.push_back(std::move(frame));
    changed_.notify_all();
  }

 private:
  void Record(CairnCommandList* list, int depth) {
    const uint32_t count = 1 + random_() % 4;
    for (uint32_t i = 0; i < count; ++i) {
      const bool is_pass = depth < 3 && random_() % 2 == 0;
      Must(cairnBeginMarker(list, is_pass ? CAIRN_MARKER_PASS : CAIRN_MARKER_DRAW_INDEXED, "Work",
                            CAIRN_NAME_STATIC),
           "cairnBeginMarker");
      if (is_pass) Record(list, depth + 1);
      Must(cairnEndMarker(list), "cairnEndMarker");
    }
  }

  void ExecuteForEver() {
    for (;;) {
      Frame* frame = nullptr;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !submitted_.empty(); });
        frame = submitted_.front().get();
      }
      Execute(*frame);
      const std::scoped_lock lock(mutex_);
      submitted_.pop_front();
      changed_.notify_all();
    }
  }

  void Execute(Frame& frame) {
    uint32_t reached = 0;
    uint32_t passed = 0;
    while (!frame.commands.finished()) {
      const SimulatedCommandList::Write& write = frame.commands.writes[frame.commands.executed];
      (write.is_begin ? reached : passed) = write.value & kSequenceMask;
      Log("before", frame.number, reached, passed);
      device_.Step(frame.commands);
      cairnRefresh(device_.context());
      Log("after", frame.number, reached, passed);
    }
  }

  SimulatedDevice device_;
  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Frame>> submitted_;
  std::thread gpu_;  // last: it uses all of the above
};

}  // namespace

int main(int argc, char** argv) {
  Renderer renderer(argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 0);
  std::printf("ready %d\n", getpid());
  std::fflush(stdout);
  for (uint32_t frame = 1;; ++frame) renderer.RenderFrame(frame);
}
