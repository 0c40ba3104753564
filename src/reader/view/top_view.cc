// SPDX-License-Identifier: Apache-2.0
#include "reader/view/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json_writer.h"
#include "base/text.h"
#include "format/snapshot/marker_type_name.h"
#include "reader/analysis/work_class.h"
#include "reader/report/describe.h"
#include "reader/report/line_sink.h"
#include "reader/report/words.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint32_t kJsonVersion = 1;

template <typename... Arguments>
void Add(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

std::string Seconds(uint64_t ns) {
  return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

// Returns the greatest age of the GPU's words when they are read.
std::string AgeOfWords(const Device& device) {
  switch (device.memory) {
    case WordMemory::kImported: return "imported: exact";
    case WordMemory::kMirrored:
      return fmt::format("mirrored: up to {} \u00b5s old", device.mirror_period_us);
    case WordMemory::kCallback: return "callback: as the program's own backend writes them";
    case WordMemory::kNone: break;
  }
  return "none";
}

// Returns the time since the execution was submitted, if it was reported.
std::optional<uint64_t> SubmittedAgo(const LiveLook& look, const Execution& execution) {
  if (execution.submission == kNone) return std::nullopt;
  const uint64_t time_ns = look.snapshot.submissions[execution.submission].time_ns;
  if (time_ns == 0 || time_ns > look.monotonic_ns) return std::nullopt;
  return look.monotonic_ns - time_ns;
}

class TextWriter {
 public:
  TextWriter(const LiveLook& look, uint32_t width, bool colour, std::string* out)
      : look_(look), sink_(width, colour, out) {}

  void Write() {
    const Process& process = look_.snapshot.process;
    std::string title;
    AppendVisibleText(look_.snapshot.Text(process.program), title);
    sink_.Heading(fmt::format("{} (PID {}), {}", title, process.process_id,
                              TimeInWords(process.snapshot_time_ns)));
    for (uint32_t i = 0; i < look_.snapshot.devices.size(); ++i) WriteDevice(i);
    for (const LiveQueue& queue : look_.view.queues) WriteQueue(queue);
    if (look_.view.queues.empty()) {
      sink_.line() = "no queue was used so far";
      sink_.EndLine();
    }
    for (const TextRef loss : look_.snapshot.losses) {
      sink_.Prose("lost: ", look_.snapshot.Text(loss));
    }
  }

 private:
  void WriteDevice(uint32_t index) {
    const Device& device = look_.snapshot.devices[index];
    if (device.api == Api::kNone || device.destroyed) return;
    std::string& line = sink_.line();
    Add(line, "device {}: {}, ", index, ApiName(device.api));
    AppendVisibleText(look_.snapshot.Text(device.name), line);
    Add(line, "; breadcrumbs {}, words {}", ModeWord(device.mode), AgeOfWords(device));
    sink_.EndLine();
    if (!device.device_lost) return;
    Add(sink_.line(), "  lost: {}", DeviceLostCodeInWords(device.device_lost_code));
    sink_.EndLine();
  }

  void WriteQueue(const LiveQueue& queue) {
    sink_.Blank();
    std::string& line = sink_.line();
    AppendQueue(look_.snapshot, queue.queue, line);
    if (queue.device != kNone) Add(line, " of device {}", queue.device);
    Add(line, ": {} submitted, {} pending", queue.submitted, queue.pending);
    const std::optional<ProgressAge> age =
        look_.clock.AgeOf(queue.queue, queue.device, look_.monotonic_ns);
    if (age.has_value() && queue.running_count != 0) {
      Add(line, ", {} {}{}", age->at_least ? "no progress for" : "last progress",
          Seconds(age->age_ns), age->at_least ? "" : " ago");
    }
    sink_.EndLine();
    for (const LiveExecution& live : queue.running) WriteExecution(live);
    if (queue.running_count > queue.running.size()) {
      Add(sink_.line(), "  and {} more command lists {}",
          queue.running_count - queue.running.size(), kInFlightWord);
      sink_.EndLine();
    }
    if (queue.not_started_count != 0) {
      Add(sink_.line(), "  [ ] {} command lists wait behind", queue.not_started_count);
      sink_.EndLine();
    }
    if (queue.running_count == 0) {
      sink_.line() = queue.unknown ? "  [?] unknown: the GPU writes nothing there" : "  idle";
      sink_.EndLine();
    }
  }

  void WriteExecution(const LiveExecution& live) {
    const Execution& execution = look_.analysis.executions[live.execution];
    std::string& line = sink_.line();
    line = "  ";
    const size_t mark_offset = line.size();
    line += StateMark(WorkState::kInFlight);
    const size_t mark_bytes = line.size() - mark_offset;
    line += ' ';
    AppendListPath(look_.snapshot, execution, line);
    if (live.scope != kNone) {
      AppendScopePath(look_.snapshot, look_.analysis, look_.analysis.scopes[live.scope], line);
    }
    sink_.EndLine(WorkState::kInFlight, mark_offset, mark_bytes);
    WritePipeline(live);
    Add(line, "      reached marker event {}, completed {} of {}", live.reached, live.passed,
        live.event_count);
    if (live.candidate_count > 1) {
      Add(line, "; {} commands may be running", live.candidate_count);
    }
    if (live.submission != 0) Add(line, "; submission {}", live.submission);
    if (const auto ago = SubmittedAgo(look_, execution)) Add(line, ", {} ago", Seconds(*ago));
    sink_.EndLine();
  }

  void WritePipeline(const LiveExecution& live) {
    if (live.scope == kNone) return;
    const uint32_t pipeline = PipelineOf(look_.snapshot, look_.analysis.scopes[live.scope]);
    if (pipeline == kNone) return;
    sink_.line() = "      ";
    AppendPipeline(look_.snapshot, pipeline, sink_.line());
    sink_.EndLine();
  }

  const LiveLook& look_;
  LineSink sink_;
};

class Json {
 public:
  Json(const LiveLook& look, std::string* out) : look_(look), json_(out) {}

  void Write() {
    const Process& process = look_.snapshot.process;
    json_.BeginObject();
    json_.StringKey("format", "cairn-top");
    json_.NumberKey("version", kJsonVersion);
    json_.BeginObject("process");
    json_.NumberKey("pid", process.process_id);
    json_.StringKey("program", look_.snapshot.Text(process.program));
    json_.StringKey("time", TimeInWords(process.snapshot_time_ns));
    json_.EndObject();
    json_.BeginArray("devices");
    for (uint32_t i = 0; i < look_.snapshot.devices.size(); ++i) WriteDevice(i);
    json_.EndArray();
    json_.BeginArray("queues");
    for (const LiveQueue& queue : look_.view.queues) WriteQueue(queue);
    json_.EndArray();
    json_.BeginArray("losses");
    for (const TextRef loss : look_.snapshot.losses) json_.String(look_.snapshot.Text(loss));
    json_.EndArray();
    json_.EndObject();
  }

 private:
  void Milliseconds(std::string_view key, std::optional<uint64_t> ns) {
    ns.has_value() ? json_.NumberKey(key, *ns / kNsPerMs) : json_.NullKey(key);
  }

  void WriteDevice(uint32_t index) {
    const Device& device = look_.snapshot.devices[index];
    if (device.api == Api::kNone || device.destroyed) return;
    json_.BeginObject();
    json_.NumberKey("device", index);
    json_.StringKey("api", ApiWord(device.api));
    json_.StringKey("name", look_.snapshot.Text(device.name));
    json_.StringKey("mode", ModeWord(device.mode));
    json_.StringKey("memory", MemoryWord(device.memory));
    json_.NumberKey("words_age_us",
                    device.memory == WordMemory::kMirrored ? device.mirror_period_us : 0);
    json_.NumberKey("frame", device.frame);
    device.device_lost ? json_.SignedKey("lost_code", device.device_lost_code)
                       : json_.NullKey("lost_code");
    json_.EndObject();
  }

  void WriteQueue(const LiveQueue& live) {
    json_.BeginObject();
    json_.IndexKey("queue", live.queue);
    json_.IndexKey("device", live.device);
    const Queue* const queue = live.queue == kNone ? nullptr : &look_.snapshot.queues[live.queue];
    json_.StringKey("name", queue == nullptr ? "" : look_.snapshot.Text(queue->name));
    json_.StringKey("type", queue == nullptr ? "unknown" : QueueTypeWord(queue->type));
    json_.NumberKey("submitted", live.submitted);
    json_.NumberKey("finished", live.finished);
    json_.NumberKey("pending", live.pending);
    json_.BoolKey("unknown", live.unknown);
    const std::optional<ProgressAge> age =
        look_.clock.AgeOf(live.queue, live.device, look_.monotonic_ns);
    Milliseconds("progress_age_ms", age.has_value() ? std::optional(age->age_ns) : std::nullopt);
    json_.BoolKey("progress_age_at_least", age.has_value() && age->at_least);
    json_.NumberKey("running_count", live.running_count);
    json_.NumberKey("not_started_count", live.not_started_count);
    json_.BeginArray("running");
    for (const LiveExecution& execution : live.running) WriteExecution(execution);
    json_.EndArray();
    json_.EndObject();
  }

  void WriteExecution(const LiveExecution& live) {
    const Execution& execution = look_.analysis.executions[live.execution];
    const Recording& recording = look_.snapshot.recordings[execution.recording];
    json_.BeginObject();
    json_.StringKey("list", look_.snapshot.Text(recording.name));
    json_.NumberKey("recording", recording.recording_id);
    json_.NumberKey("frame", execution.frame);
    json_.NumberKey("execution", execution.run);
    json_.NumberKey("submission", live.submission);
    Milliseconds("submitted_age_ms", SubmittedAgo(look_, execution));
    json_.NumberKey("reached", live.reached);
    json_.NumberKey("passed", live.passed);
    json_.NumberKey("events", live.event_count);
    json_.NumberKey("candidates", live.candidate_count);
    WriteScope(live.scope);
    json_.EndObject();
  }

  void WriteScope(uint32_t scope) {
    json_.BeginArray("path");
    std::string words;
    for (const uint32_t part : ScopePath(look_.analysis, scope)) {
      words.clear();
      AppendScope(look_.snapshot, look_.analysis.scopes[part], ScopeDetail::kName, words);
      json_.String(words);
    }
    json_.EndArray();
    const Event* const event =
        scope == kNone ? nullptr : &look_.snapshot.events[look_.analysis.scopes[scope].event];
    words.clear();
    if (event != nullptr) AppendMarkerType(event->type, words);
    json_.StringKey("type", words);
    json_.StringKey("name", event == nullptr ? "" : look_.snapshot.Text(event->name));
    words.clear();
    if (event != nullptr && event->pipeline != kNone) {
      AppendPipeline(look_.snapshot, event->pipeline, words);
    }
    json_.StringKey("pipeline", words);
  }

  const LiveLook& look_;
  JsonWriter json_;
};

}  // namespace

void ProgressClock::Look(std::span<const QueueProgress> queues, uint64_t now_ns) {
  for (const QueueProgress& progress : queues) {
    auto seen = std::find_if(seen_.begin(), seen_.end(), [&progress](const Seen& known) {
      return known.queue == progress.queue &&
             (progress.queue != kNone || known.device == progress.device);
    });
    if (seen == seen_.end()) {
      seen = seen_.insert(
          seen_.end(), {progress.queue, progress.device, progress.fingerprint, now_ns, false, 0});
    }
    ++seen->looks;
    if (seen->fingerprint == progress.fingerprint) continue;
    seen->fingerprint = progress.fingerprint;
    seen->since_ns = now_ns;
    seen->moved = true;
  }
}

std::optional<ProgressAge> ProgressClock::AgeOf(uint32_t queue, uint32_t device,
                                                uint64_t now_ns) const {
  for (const Seen& seen : seen_) {
    if (seen.queue != queue || (queue == kNone && seen.device != device)) continue;
    if (seen.looks < 2) return std::nullopt;
    return ProgressAge{now_ns - std::min(now_ns, seen.since_ns), !seen.moved};
  }
  return std::nullopt;
}

std::string LiveText(const LiveLook& look, uint32_t width, bool colour) {
  std::string text;
  TextWriter(look, width, colour, &text).Write();
  return text;
}

std::string LiveJson(const LiveLook& look) {
  std::string text;
  Json(look, &text).Write();
  return text;
}

}  // namespace cairn::cli
