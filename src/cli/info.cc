// SPDX-License-Identifier: Apache-2.0
//
// cairn info: what a .cairn file consists of.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/dump_file.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "cli/verb.h"
#include "format/snapshot/snapshot_file.h"
#include "reader/view/trace_views.h"

namespace cairn::cli {
namespace {

constexpr char kInfoExamples[] =
    "Examples:\n"
    "  cairn info game.cairn           incidents, process, counts; size and chunks of the file\n"
    "  cairn info --json game.cairn    for programs; the schema is docs/formats/info.schema.json";

using Text = fmt::memory_buffer;

template <typename... Arguments>
void Add(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string TimeInWords(uint64_t realtime_ns) {
  if (realtime_ns == 0) return "at an unknown time";
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(seconds),
                     realtime_ns / 1'000'000 % 1000);
}

std::string IncidentInWords(const Incident& incident) {
  switch (incident.kind) {
    case IncidentKind::kRequested: return "somebody asked for this file";
    case IncidentKind::kExited: return fmt::format("exited with code {}", incident.value);
    case IncidentKind::kSignal:
      return incident.value == 0 ? "ended with GPU work unfinished"
                                 : "died with " + SignalInWords(incident.value);
    case IncidentKind::kDeviceLost: return fmt::format("lost its device, code {}", incident.value);
    case IncidentKind::kHang:
      return fmt::format("hang: no progress for {}",
                         SecondsInWords(static_cast<uint64_t>(incident.value) * 1'000'000));
    case IncidentKind::kNone: break;
  }
  return "unknown incident";
}

struct ChunkTotal {
  ChunkType type = 0;
  uint64_t count = 0;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
};

std::vector<ChunkTotal> TotalsByType(const std::vector<ChunkInfo>& chunks) {
  std::vector<ChunkTotal> totals;
  for (const ChunkInfo& chunk : chunks) {
    auto total = std::find_if(totals.begin(), totals.end(),
                              [&](const ChunkTotal& known) { return known.type == chunk.type; });
    if (total == totals.end()) total = totals.insert(totals.end(), ChunkTotal{chunk.type});
    ++total->count;
    total->stored_bytes += chunk.stored_bytes;
    total->raw_bytes += chunk.raw_bytes;
  }
  return totals;
}

void AddChunkLine(Text& text, const std::string& name, const ChunkTotal& total) {
  const double ratio = total.stored_bytes == 0 ? 1.0
                                               : static_cast<double>(total.raw_bytes) /
                                                     static_cast<double>(total.stored_bytes);
  Add(text, "  {:<8} {:>8} {:>14} {:>14} {:>7.2f}\n", name, Grouped(total.count),
      Grouped(total.stored_bytes), Grouped(total.raw_bytes), ratio);
}

void AddFile(Text& text, const std::string& path, const FileReader& reader) {
  const FileVersion version = reader.version();
  Add(text, "File      {}\n", VisibleText(path));
  Add(text, "Format    {}.{}, {}\n", version.major, version.minor,
      reader.has_index() ? "finished"
                         : "not finished, or cut off: its chunks were found by scanning");
}

void AddChunks(Text& text, const FileReader& reader) {
  Add(text, "\n  {:<8} {:>8} {:>14} {:>14} {:>7}\n", "chunk", "count", "stored bytes", "raw bytes",
      "ratio");
  ChunkTotal all;
  for (const ChunkTotal& total : TotalsByType(reader.chunks())) {
    AddChunkLine(text, VisibleText(ChunkTypeName(total.type)), total);
    all.count += total.count;
    all.stored_bytes += total.stored_bytes;
    all.raw_bytes += total.raw_bytes;
  }
  AddChunkLine(text, "all", all);
}

std::vector<std::pair<const char*, size_t>> CountsOf(const Snapshot& snapshot) {
  return {{"queues", snapshot.queues.size()},
          {"pipelines", snapshot.pipelines.size()},
          {"command lists", snapshot.recordings.size()},
          {"marker events", snapshot.events.size()},
          {"submissions", snapshot.submissions.size()},
          {"raw markers", snapshot.raw_markers.size()},
          {"annotations", snapshot.annotations.size()},
          {"objects", snapshot.objects.size()},
          {"threads", snapshot.threads.size()},
          {"last calls", snapshot.calls.size()},
          {"user data", snapshot.user_data.size()}};
}

// First: what most people want to know of a file.
void AddIncidents(Text& text, const Snapshot& snapshot) {
  for (const Incident& incident : snapshot.incidents) {
    Add(text, "Incident  {}, {}\n", IncidentInWords(incident), TimeInWords(incident.time_ns));
  }
}

void AddSnapshot(Text& text, const Snapshot& snapshot) {
  const Process& process = snapshot.process;
  Add(text, "\nProcess   {} (PID {})\n", VisibleText(snapshot.Text(process.program)),
      process.process_id);
  if (!process.command_line.empty()) {
    Add(text, "Command   {}\n", VisibleText(snapshot.Text(process.command_line)));
  }
  if (process.start_time_ns != 0) Add(text, "Started   {}\n", TimeInWords(process.start_time_ns));
  if (!process.library_version.empty()) {
    Add(text, "libcairn  {}\n", VisibleText(snapshot.Text(process.library_version)));
  }
  for (const Device& device : snapshot.devices) {
    if (device.api == Api::kNone) continue;
    Add(text, "Device    {}\n", VisibleText(snapshot.Text(device.name)));
    if (!device.application.empty()) {
      Add(text, "          application {}\n", VisibleText(snapshot.Text(device.application)));
    }
    if (!device.annotation_driver.empty()) {
      Add(text, "          annotations: {}{}\n",
          VisibleText(snapshot.Text(device.annotation_driver)),
          device.annotations_forced ? ", forced by d3dconfig" : "");
    }
  }
  Add(text, "\n");
  for (const auto& [name, count] : CountsOf(snapshot))
    Add(text, "  {:<14} {:>12}\n", name, Grouped(count));
}

// Returns the losses of file, trace and snapshot, each once.
std::vector<std::string> LossesOf(const FileReader& reader, const TraceReader* trace,
                                  const Snapshot* snapshot) {
  std::vector<std::string> losses;
  const auto add = [&](std::string_view loss) {
    std::string visible = VisibleText(loss);
    if (std::find(losses.begin(), losses.end(), visible) == losses.end()) {
      losses.push_back(std::move(visible));
    }
  };
  for (const Loss& loss : reader.losses()) add(loss.reason);
  if (const std::string unknown = UnknownEncodingInWords(reader); !unknown.empty()) add(unknown);
  if (trace != nullptr) {
    for (const Loss& loss : trace->losses()) add(loss.reason);
  }
  if (snapshot != nullptr) {
    for (const TextRef loss : snapshot->losses) add(snapshot->Text(loss));
  }
  return losses;
}

std::string InfoJson(const std::string& path, const FileReader& reader, TraceReader* trace,
                     const Snapshot* snapshot, const std::vector<std::string>& losses) {
  const FileVersion version = reader.version();
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-info");
  json.NumberKey("version", 1);
  json.StringKey("file", VisibleText(path));
  json.StringKey("file_version", fmt::format("{}.{}", version.major, version.minor));
  json.BoolKey("finished", reader.has_index());
  json.BeginArray("chunks");
  for (const ChunkTotal& total : TotalsByType(reader.chunks())) {
    json.BeginObject();
    json.StringKey("type", VisibleText(ChunkTypeName(total.type)));
    json.NumberKey("count", total.count);
    json.NumberKey("stored_bytes", total.stored_bytes);
    json.NumberKey("raw_bytes", total.raw_bytes);
    json.EndObject();
  }
  json.EndArray();
  if (trace != nullptr) {
    json.Key("trace");
    WriteTraceInfo(*trace, &json);
  }
  if (snapshot != nullptr) {
    json.BeginObject("snapshot");
    json.StringKey("program", VisibleText(snapshot->Text(snapshot->process.program)));
    json.NumberKey("process_id", snapshot->process.process_id);
    json.BeginArray("incidents");
    for (const Incident& incident : snapshot->incidents) json.String(IncidentInWords(incident));
    json.EndArray();
    json.BeginObject("counts");
    for (const auto& [name, count] : CountsOf(*snapshot)) json.NumberKey(name, count);
    json.EndObject();
    json.EndObject();
  }
  json.StringsKey("losses", losses);
  json.EndObject();
  return text;
}

struct InfoOptions {
  std::string path;
  bool json = false;
};

int Run(const InfoOptions& options) {
  const std::string& path = options.path;
  std::optional<FileReader> reader = OpenDumpFile("info", path);
  if (!reader.has_value()) return path.empty() ? kExitUsage : kExitFailed;
  if (!reader->losses().empty() || !UnknownEncodingInWords(*reader).empty()) {
    PrintWarning("info", fmt::format("{} is {}; what is lost is listed at the end", path,
                                     reader->has_index() ? "damaged" : "cut off or damaged"));
  }
  // A file without a snapshot or a trace is still a file that can be described.
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  Result<TraceReader> trace = TraceReader::Open(path);
  if (trace.status().code() == StatusCode::kUnsupported) {
    PrintWarning("info", trace.status().message());
  }
  const std::vector<std::string> losses =
      LossesOf(*reader, trace.ok() ? &*trace : nullptr, snapshot.ok() ? &*snapshot : nullptr);
  if (options.json) {
    const std::string json = InfoJson(path, *reader, trace.ok() ? &*trace : nullptr,
                                      snapshot.ok() ? &*snapshot : nullptr, losses);
    return PrintOutput("info", json) ? 0 : kExitFailed;
  }
  Text text;
  if (snapshot.ok()) AddIncidents(text, *snapshot);
  AddFile(text, path, *reader);
  if (snapshot.ok()) {
    AddSnapshot(text, *snapshot);
  } else if (!trace.ok()) {
    Add(text, "\nNo snapshot: {}\n", VisibleText(snapshot.status().message()));
  }
  if (trace.ok()) {
    Add(text, "{}", TraceInfoText(*trace));
  } else if (trace.status().code() != StatusCode::kNotFound) {
    Add(text, "\nNo trace: {}\n", VisibleText(trace.status().message()));
  }
  AddChunks(text, *reader);
  Add(text, "\n{}\n", losses.empty() ? "Nothing is lost." : "Lost:");
  for (const std::string& loss : losses) Add(text, "  {}\n", loss);
  const std::string fitted = FittedToTerminal(std::string_view(text.data(), text.size()));
  return PrintOutput("info", fitted) ? 0 : kExitFailed;
}

}  // namespace

Verb AddInfoVerb(CLI::App& root) {
  auto options = std::make_shared<InfoOptions>();
  Command command(root, "info", "Shows the parts of a .cairn file, and its counts.",
                  "cairn info [OPTIONS] FILE", kInfoExamples);
  command.DumpFile(&options->path);
  command.Json(&options->json);
  return {.app = command.app(), .run = [options] { return Run(*options); }, .pages = true};
}

}  // namespace cairn::cli
