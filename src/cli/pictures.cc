// SPDX-License-Identifier: Apache-2.0
//
// cairn pictures: a playback for cairn view that keeps its place, and is asked for images and answers through memory
// (reader/serve/picture_question.h). Not for people.
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "cli/command.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_file.h"
#include "os/child_status.h"
#include "os/file.h"
#include "os/futex.h"
#include "os/new_file.h"
#include "reader/analysis/findings.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/player.h"
#include "reader/serve/picture_question.h"
#include "reader/view/image_place.h"
#include "reader/view/picture_place.h"
#include "reader/view/texture_files.h"

namespace cairn::cli {
namespace {

constexpr char kPicturesExamples[] =
    "Examples:\n"
    "  cairn view game.cairn   starts it";

// It holds memory of the GPU.
constexpr uint64_t kIdleNs = uint64_t{60} * 1'000'000'000;

struct PicturesOptions {
  std::string path;
  std::string folder;
  std::string library;
};

class Pictures {
 public:
  Pictures(const PicturesOptions& options, ChildStatus<PictureMemory>* memory, TraceReader trace,
           TraceReader lookup, UnfinishedWork unfinished)
      : options_(options),
        memory_(*memory),
        trace_(std::move(trace)),
        lookup_(std::move(lookup)),
        unfinished_(unfinished) {}

  // Ends the process.
  [[noreturn]] void Run() {
    PlayerOptions options;
    options.wait_as_recorded = true;
    options.library = options_.library;
    options.most_cost_ns = PlayCost::MostNs(trace_.file().size_bytes());
    options.stops_before = [this](uint64_t call) { return StopsBefore(call); };
    options.later_omissions = &place_.omissions;
    options.later_textures = &textures_;
    options.on_call = [this](uint64_t call) { memory_->at = call; };
    options.on_texture = [this](TextureImage image) {
      if (files_) files_->Add(std::move(image));
    };
    Result<std::unique_ptr<Player>> player = Player::Create(&trace_, std::move(options));
    Status status = player.ok() ? (*player)->Run() : player.status();
    // The last question may be about the end of the trace.
    if (status.ok() && question_ == 0) (void)TakeQuestion();
    if (status.ok() && files_) {
      Publish();
    } else {
      AnswerError(status.ok() ? "the trace ends before this call" : status.message());
    }
    // Objects are not destroyed: drivers may wait for a GPU that hangs.
    (void)(player.ok() ? player->release() : nullptr);
    std::_Exit(status.ok() ? 0 : 1);
  }

 private:
  // True: the textures are wanted as they are before this call.
  bool StopsBefore(uint64_t call) {
    for (;;) {
      if (Asked() != question_) {
        if (!TakeQuestion()) continue;
      }
      if (!is_wanted_) {
        WaitForQuestion();
        continue;
      }
      if (call <= place_.last_call) break;
      if (!is_read_) return is_read_ = true;
      Publish();
    }
    passed_ = call;
    return false;
  }

  uint32_t Asked() const { return memory_->asked.load(std::memory_order_acquire); }

  void WaitForQuestion() {
    const uint32_t seen = question_;
    // A question that comes now finds nobody, and starts another one.
    if (!FutexWait(memory_.memory(), memory_->asked, seen, kIdleNs) && Asked() == seen) {
      std::_Exit(0);
    }
  }

  // Returns false if it was answered with an error.
  bool TakeQuestion() {
    question_ = Asked();
    is_wanted_ = is_read_ = false;
    const auto moment = static_cast<PictureMoment>(memory_->moment.load());
    Result<PicturePlace> place = FindPicturePlace(
        lookup_, memory_->call, moment, memory_->only_completed ? unfinished_ : UnfinishedWork());
    if (!place.ok()) return AnswerError(place.status().message());
    // `passed_` was played, perhaps without what the place before leaves out.
    const bool is_spoiled = place_.is_partial() && passed_ >= place_.first_left_out;
    if (is_spoiled || passed_ > place->last_call || passed_ >= place->first_left_out) {
      Answer(PictureEnd::kBehind);
      std::_Exit(0);
    }
    Result<ImageObjects> objects = ImageObjects::Read(lookup_, {.call = place->last_call},
                                                      [](uint64_t, uint64_t) { return true; });
    if (!objects.ok()) return AnswerError(objects.status().message());
    textures_.clear();
    for (const std::atomic<uint64_t>& object : memory_->objects) {
      if (object != 0) textures_.insert(object);
    }
    place_ = std::move(place).value();
    objects_ = std::move(objects).value();
    files_.emplace(options_.folder, *objects_, /*stretch=*/false, PicturePrefix(question_));
    return is_wanted_ = true;
  }

  void Publish() {
    if (!files_->status().ok()) {
      (void)AnswerError(files_->status().message());
    } else {
      const std::string list = files_->Json(options_.path, {.call = memory_->call.load()});
      const std::error_code error = ReplaceFile(
          FilePath(options_.folder + "/" + PictureList(question_)), std::as_bytes(std::span(list)));
      if (error) {
        (void)AnswerError(error.message());
      } else {
        Answer(PictureEnd::kImages);
      }
    }
    files_.reset();
    is_wanted_ = is_read_ = false;
  }

  bool AnswerError(const std::string& message) {
    memory_->message.Set(message);
    Answer(PictureEnd::kError);
    return false;
  }
  void Answer(PictureEnd end) {
    const uint32_t before = memory_->answered;
    memory_->end.Set(end);
    memory_->answered.store(question_, std::memory_order_release);
    FutexWake(memory_.memory(), memory_->answered, before);
  }

  const PicturesOptions& options_;
  ChildStatus<PictureMemory>& memory_;
  TraceReader trace_;
  TraceReader lookup_;
  const UnfinishedWork unfinished_;
  uint32_t question_ = 0;
  bool is_wanted_ = false;  // the question is not answered
  bool is_read_ = false;    // its textures were given
  uint64_t passed_ = 0;     // the last call that was played
  PicturePlace place_;
  std::unordered_set<uint64_t> textures_;  // beside the targets
  std::optional<ImageObjects> objects_;
  std::optional<TextureFiles> files_;
};

UnfinishedWork UnfinishedOf(TraceReader& trace) {
  const Result<Snapshot> snapshot = ReadSnapshot(trace.file());
  if (!snapshot.ok()) return UnfinishedWork::Of(trace, nullptr, {});
  return UnfinishedWork::Of(trace, &*snapshot, AnalyseDump(*snapshot).analysis);
}

int AnswerPictures(const PicturesOptions& options) {
  Result<ChildStatus<PictureMemory>> memory = ChildStatus<PictureMemory>::OfThisProcess();
  if (!memory.ok()) {
    PrintError("pictures", "cairn view starts it; say cairn view FILE");
    return kExitUsage;
  }
  LeaveNoDump();
  try {
    Result<TraceReader> trace = TraceReader::Open(options.path);
    Result<TraceReader> lookup = TraceReader::Open(options.path);
    if (trace.ok() && lookup.ok()) {
      (void)lookup->LimitCost();
      const UnfinishedWork unfinished = UnfinishedOf(*lookup);
      Pictures(options, &*memory, std::move(trace).value(), std::move(lookup).value(), unfinished)
          .Run();
    }
  } catch (const std::exception&) {
    // Its parent says that it ended.
  }
  std::_Exit(kExitFailed);
}

}  // namespace

Verb AddPicturesVerb(CLI::App& root) {
  auto options = std::make_shared<PicturesOptions>();
  Command command(root, "pictures", "Plays a trace for cairn view.", "cairn pictures",
                  kPicturesExamples);
  command.TraceFile(&options->path);
  command.Option("-o,--output", &options->folder, "FOLDER", "The folder for the images");
  command.Library(&options->library);
  command.Hide();
  return {.app = command.app(), .run = [options] { return AnswerPictures(*options); }};
}

}  // namespace cairn::cli
