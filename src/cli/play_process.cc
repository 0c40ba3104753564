// SPDX-License-Identifier: Apache-2.0
#include "cli/play_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "base/text.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "format/trace/trace_reader.h"
#include "os/shared_memory.h"
#include "os/terminal.h"

namespace cairn::cli {

void PlayTelling::AddTo(PlayerOptions* options, size_t trace) {
  trace_.store(static_cast<uint32_t>(trace), std::memory_order_relaxed);
  call_.store(0, std::memory_order_relaxed);
  options->on_call = [this](uint64_t number) { call_.store(number, std::memory_order_relaxed); };
  options->on_unfinished = [this](uint64_t first, uint64_t last) {
    first_unfinished_.store(first, std::memory_order_relaxed);
    last_unfinished_.store(last, std::memory_order_relaxed);
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
                              const std::function<int(PlayTelling&)>& body) {
  Result<SharedMemory> memory = TakeMemoryOfParent();
  if (!memory.ok() || memory->size_bytes() != sizeof(PlayTelling)) {
    PrintError(process.verb, "the playback failed: " + (memory.ok() ? "its memory has another size"
                                                                    : memory.status().message()));
    std::_Exit(process.failed);
  }
  auto* const telling = std::launder(reinterpret_cast<PlayTelling*>(memory->data()));
  telling->ExpectFaults();
  int exit_code = process.failed;
  try {
    exit_code = body(*telling);
  } catch (const std::exception& error) {
    PrintError("", fmt::format("the playback failed: {}", error.what()));
  }
  std::fflush(nullptr);
  telling->Ended();
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

std::string DeathInWords(const std::string& path, const ProcessEnd& end,
                         const PlayTelling& telling) {
  std::string text =
      end.kind == EndKind::kSignalled
          ? "the playback died of " + CauseOfDeath(end.value)
          : fmt::format("the driver ended the playback, with exit code {}", end.value);
  if (telling.call() == 0) return text + " before the first call";
  const std::string call = CallInWords(path, telling.call());
  switch (telling.thread()) {
    case FaultThread::kCaller:
      text += fmt::format(" at {}, in the thread that makes the calls", call);
      break;
    case FaultThread::kOther:
      text += fmt::format(" in a thread of the driver, when the playback was at {}", call);
      break;
    default: text += " at " + call; break;
  }
  const uint64_t first = telling.first_unfinished();
  const uint64_t last = telling.last_unfinished();
  if (first == 0) return text + "; all that was submitted before had ended";
  text += first == last
              ? fmt::format("; the GPU may have been at work on the submission of call {}",
                            GroupedDigits(first))
              : fmt::format(
                    "; the GPU may have been at work on the submissions of calls "
                    "{} to {}",
                    GroupedDigits(first), GroupedDigits(last));
  return text + fmt::format("; cairn bisect {} finds the work that does it", ShellQuoted(path));
}

}  // namespace

void SetOwnWords(std::vector<std::string> words) {
  g_words = std::move(words);
}

int PlayInChild(const PlayProcess& process, const std::function<int(PlayTelling&)>& body) {
  if (WasStartedAsChild()) PlayAsChild(process, body);
  Result<SharedMemory> memory = SharedMemory::Create("cairn-play", sizeof(PlayTelling));
  if (!memory.ok()) {
    PrintError(process.verb, memory.status().message());
    return process.failed;
  }
  const auto* const telling = new (memory->data()) PlayTelling;
  const Result<ProcessEnd> end =
      RunInForeground({.purpose = "the playback", .arguments = g_words, .memory = &*memory});
  if (!end.ok() || end->kind == EndKind::kUnknown) {
    PrintError(process.verb,
               end.ok() ? "how the playback ended cannot be found out" : end.status().message());
    return process.failed;
  }
  if (end->kind == EndKind::kExited && telling->ended()) return end->value;
  if (WasAskedToEnd(*end)) EndAs(*end);
  // Where the child's progress may stand.
  if (TakesEscapes(StandardStream::kError)) std::fputs("\r\x1b[K", stderr);
  const std::string& path = process.paths[std::min(telling->trace(), process.paths.size() - 1)];
  PrintError(process.verb, path + ": " + DeathInWords(path, *end, *telling));
  return process.playback_failed;
}

}  // namespace cairn::cli
