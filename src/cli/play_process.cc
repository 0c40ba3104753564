// SPDX-License-Identifier: Apache-2.0
#include "cli/play_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/text.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "format/trace/trace_reader.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/terminal.h"
#include "reader/replay/image_file.h"

namespace cairn::cli {

void PlayStatus::AddTo(PlayerOptions* options, size_t trace_index) {
  trace = static_cast<uint32_t>(trace_index);
  call = 0;
  options->on_call = [this](uint64_t number) { call.store(number, std::memory_order_relaxed); };
  options->on_unfinished = [this](uint64_t first, uint64_t last) {
    first_unfinished.store(first, std::memory_order_relaxed);
    last_unfinished.store(last, std::memory_order_relaxed);
  };
}

Status ParsePlayTimeout(std::string_view timeout, PlayerOptions* options) {
  options->wait_as_recorded = timeout.empty();
  if (timeout.empty()) return Status();
  const Result<uint64_t> timeout_ns = ParseTimeoutOf("--timeout", timeout);
  if (!timeout_ns.ok()) return timeout_ns.status();
  options->wait_timeout_ns = *timeout_ns;
  return Status();
}

namespace {

std::vector<std::string> g_words;

[[noreturn]] void PlayAsChild(const PlayProcess& process,
                              const std::function<int(PlayStatus&)>& body) {
  Result<ChildStatus<PlayStatus>> status = ChildStatus<PlayStatus>::OfThisProcess();
  if (!status.ok()) {
    PrintError(process.verb, "the playback failed: " + status.status().message());
    std::_Exit(process.failed);
  }
  TellFaults(&(*status)->thread);
  int exit_code = process.failed;
  try {
    exit_code = body(**status);
  } catch (const std::exception& error) {
    PrintError("", fmt::format("the playback failed: {}", error.what()));
  }
  std::fflush(nullptr);
  (*status)->ended = true;
  std::_Exit(exit_code);
}

// "call 1,234, ID3D12Device::CreateFence"
std::string CallInWords(const std::string& path, uint64_t number) {
  std::string words = fmt::format("call {}", GroupedDigits(number));
  Result<TraceReader> trace = TraceReader::Open(path);
  if (!trace.ok()) return words;
  TraceCursor cursor(*trace);
  Record record;
  if (!cursor.SeekNumber(number).ok() || !cursor.Next(&record) || record.number != number) {
    return words;
  }
  return fmt::format("{}, {}", words, trace->MethodName(record));
}

std::string DeathInWords(const std::string& path, const ProcessEnd& end, const PlayStatus& status) {
  std::string text =
      end.kind == EndKind::kSignalled
          ? "the playback died of " + CauseOfDeath(end.value)
          : fmt::format("the driver ended the playback, with exit code {}", end.value);
  if (status.call == 0) return text + " before the first call";
  const std::string call = CallInWords(path, status.call);
  switch (status.thread) {
    case FaultThread::kCaller:
      text += fmt::format(" at {}, in the thread that makes the calls", call);
      break;
    case FaultThread::kOther:
      text += fmt::format(" in a thread of the driver, when the playback was at {}", call);
      break;
    default: text += " at " + call; break;
  }
  const uint64_t first = status.first_unfinished;
  const uint64_t last = status.last_unfinished;
  if (first == 0) return text + "; all that was submitted before had ended";
  text += first == last ? fmt::format("; the GPU may have been executing the submission of call {}",
                                      GroupedDigits(first))
                        : fmt::format(
                              "; the GPU may have been executing the submissions of calls "
                              "{} to {}",
                              GroupedDigits(first), GroupedDigits(last));
  return text + fmt::format("; cairn bisect {} finds the work that does it", ShellQuoted(path));
}

}  // namespace

void SetOwnWords(std::vector<std::string> words) {
  g_words = std::move(words);
}

int PlayInChild(const PlayProcess& process, const std::function<int(PlayStatus&)>& body) {
  if (WasStartedAsChild()) PlayAsChild(process, body);
  const Result<ChildStatus<PlayStatus>> status = ChildStatus<PlayStatus>::Create("cairn-play");
  if (!status.ok()) {
    PrintError(process.verb, status.status().message());
    return process.failed;
  }
  const Result<ProcessEnd> end = RunInForeground(
      {.purpose = "the playback", .arguments = g_words, .memory = &status->memory()});
  if (!end.ok() || end->kind == EndKind::kUnknown) {
    PrintError(process.verb,
               end.ok() ? "how the playback ended cannot be found out" : end.status().message());
    return process.failed;
  }
  if (end->kind == EndKind::kExited && (*status)->ended) return end->value;
  if (WasAskedToEnd(*end)) {
    if (!process.new_folder.empty()) RemoveEmptyFolder(process.new_folder);
    EndAs(*end);
  }
  // Where the child's progress may stand.
  if (TakesEscapes(StandardStream::kError)) std::fputs("\r\x1b[K", stderr);
  const std::string& path =
      process.paths[std::min<size_t>((*status)->trace, process.paths.size() - 1)];
  PrintError(process.verb, path + ": " + DeathInWords(path, *end, **status));
  return process.playback_failed;
}

}  // namespace cairn::cli
