// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/kept_playback.h"

#include <fmt/format.h>

#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/file.h"
#include "os/futex.h"
#include "reader/serve/picture_question.h"

namespace cairn {
namespace {

constexpr uint64_t kWaitNs = 300'000'000;
constexpr uint64_t kMostListBytes = uint64_t{16} << 20;

}  // namespace

struct KeptPlayback::Process {
  ChildStatus<PictureMemory> memory;
  Child child;
};

KeptPlayback::KeptPlayback(std::string trace, std::filesystem::path folder)
    : trace_(std::move(trace)), folder_(std::move(folder)) {}

KeptPlayback::~KeptPlayback() {
  End();
}

void KeptPlayback::End() {
  if (process_ != nullptr) (void)KillAndWait(process_->child, 10 * kWaitNs);
  process_.reset();
}

Status KeptPlayback::Start() {
  End();
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return StatusFromError(error, TextOfPath(folder_));
  Result<ChildStatus<PictureMemory>> memory = ChildStatus<PictureMemory>::Create("cairn-pictures");
  if (!memory.ok()) return memory.status();
  Result<Child> child = Child::Start({.purpose = "the playback",
                                      .arguments = {"pictures", "-o", TextOfPath(folder_), trace_},
                                      .memory = &memory->memory(),
                                      .silent = true});
  if (!child.ok()) return child.status();
  process_ =
      std::make_unique<Process>(Process{std::move(memory).value(), std::move(child).value()});
  return Status();
}

Result<std::string> KeptPlayback::Ask(const PictureQuestion& question,
                                      const std::function<bool()>& goes_on) {
  // One that keeps its place, and one that begins anew.
  for (int tries = 0; tries < 2; ++tries) {
    // It ends by itself when it is not asked for long.
    if (process_ == nullptr || process_->child.WaitForEnd(0)) CAIRN_RETURN_IF_ERROR(Start());
    PictureMemory& memory = *process_->memory;
    const uint32_t before = memory.asked;
    memory.call = question.call;
    memory.moment = static_cast<uint32_t>(question.moment);
    memory.only_completed = question.only_completed;
    for (size_t i = 0; i < kMostPictureObjects; ++i) {
      memory.objects[i] = i < question.objects.size() ? question.objects[i] : 0;
    }
    memory.asked.store(++asked_, std::memory_order_release);
    FutexWake(process_->memory.memory(), memory.asked, before);
    RemoveOldImages(asked_);
    Result<std::string> list = Wait(asked_, goes_on);
    if (list.ok() || list.status().code() != StatusCode::kInterrupted) return list;
  }
  return Status(StatusCode::kInternal, "the playback ends before it is asked");
}

Result<std::string> KeptPlayback::Wait(uint32_t question, const std::function<bool()>& goes_on) {
  PictureMemory& memory = *process_->memory;
  for (;;) {
    const uint32_t answered = memory.answered.load(std::memory_order_acquire);
    if (answered == question) break;
    if (process_->child.WaitForEnd(0)) {
      // Its answer may have come before its end.
      if (memory.answered == question) break;
      const ProcessEnd end = process_->child.End();
      const uint64_t at = memory.at;
      process_.reset();
      // It ended as it does when nobody asks, and had not seen this question.
      if (end.kind == EndKind::kExited && end.value == 0) {
        return Status(StatusCode::kInterrupted, "");
      }
      const std::string how = end.kind == EndKind::kExited
                                  ? fmt::format("ended with exit code {}", end.value)
                                  : "died of " + CauseOfDeath(end.value);
      return Status(StatusCode::kInternal,
                    fmt::format("the playback {}, at call {}", how, GroupedDigits(at)));
    }
    if (!goes_on()) return Status(StatusCode::kIo, "stopped");
    (void)FutexWait(process_->memory.memory(), memory.answered, answered, kWaitNs);
  }
  switch (memory.end.Get()) {
    case PictureEnd::kImages: return ReadList(question);
    case PictureEnd::kBehind: End(); return Status(StatusCode::kInterrupted, "");
    case PictureEnd::kError:
    case PictureEnd::kNone: break;
  }
  return Status(StatusCode::kUnsupported, memory.message.Get());
}

Result<std::string> KeptPlayback::ReadList(uint32_t question) const {
  std::error_code error;
  const File file = File::Open(FilePath(folder_ / PictureList(question)), FileMode::kRead, error);
  const uint64_t size = error ? 0 : file.facts().size_bytes;
  if (size == 0 || size > kMostListBytes) {
    return Status(StatusCode::kIo, "the list of the images cannot be read");
  }
  std::string list(size, '\0');
  size_t read_bytes = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(list)), &read_bytes);
  if (error || read_bytes != size) {
    return Status(StatusCode::kIo, "the list of the images cannot be read");
  }
  return list;
}

void KeptPlayback::RemoveOldImages(uint32_t question) const {
  if (question <= kKeptAnswers) return;
  const std::string prefix = PicturePrefix(question - kKeptAnswers);
  std::vector<std::filesystem::path> old;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder_, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (TextOfPath(at->path().filename()).starts_with(prefix)) old.push_back(at->path());
  }
  for (const std::filesystem::path& path : old) std::filesystem::remove(path, ignored);
}

}  // namespace cairn
