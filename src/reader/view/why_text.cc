// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/shell_words.h"
#include "base/text.h"
#include "reader/view/bisect_text.h"
#include "reader/view/program_bisect_text.h"
#include "reader/view/why_words.h"

namespace cairn::cli {
namespace {

std::string Visible(std::string_view text) {
  return VisibleText(text);
}

void AppendLines(const std::vector<std::string>& lines, std::string_view before,
                 std::string* text) {
  for (const std::string& line : lines) *text += fmt::format("{}{}\n", before, line);
}

std::vector<std::string_view> LinesOf(const ShaderExcerpt& excerpt) {
  std::vector<std::string_view> lines;
  const std::string_view text = excerpt.lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The page has more of them.
void AppendExcerpt(const ShaderExcerpt& excerpt, std::string* text) {
  constexpr size_t kBefore = 1, kBehind = 6;
  const std::vector<std::string_view> lines = LinesOf(excerpt);
  const size_t marked = std::min<size_t>(excerpt.marked, lines.size());
  for (size_t i = marked - std::min(marked, kBefore);
       i < std::min(lines.size(), marked + kBehind + 1); ++i) {
    *text += fmt::format("      {} {}\n", i == marked ? '>' : ' ', VisibleText(lines[i]));
  }
}

void AppendPlace(const ShownPlace& shown, std::string* text) {
  const std::string source = VisibleText(shown.source);
  *text += fmt::format("    {}   {}{}{}\n      {}\n", VisibleText(shown.place), source,
                       source.empty() ? "" : "   ", shown.number, shown.record);
}

void AppendCause(const WhyTold& told, const WhyResult& result, std::string* text) {
  *text += fmt::format("  {}: {}\n", VerdictWord(result.verdict), CauseInWords(result, Visible));
  AppendLines(CountsInWords(told, result), "  ", text);
  const std::vector<ShownPlace> places = ShownPlaces(told, result, Visible);
  for (const ShownPlace& shown : places) {
    AppendPlace(shown, text);
    // A line of the source says it better.
    const bool needs_lines = &shown == places.data() && shown.source.empty();
    if (needs_lines && shown.note != nullptr) AppendExcerpt(shown.note->excerpt, text);
  }
  AppendLines(PlacesInWords(told, result, Visible), "  ", text);
}

void AppendNext(const WhyTold& told, std::string* text) {
  auto out = std::back_inserter(*text);
  const WhyFound& found = told.found;
  const std::string options = told.hang_timeout_seconds == WhyTold().hang_timeout_seconds
                                  ? ""
                                  : fmt::format("--hang-timeout {} ", told.hang_timeout_seconds);
  const std::string program = VisibleText(told.is_trace ? ShellQuoted(told.program) : told.program);
  if (found.unchanged.failed == 0) {
    fmt::format_to(out,
                   "Next      --hang-timeout below {:.3g}, if what hangs elsewhere is only slow "
                   "here\n          --runs {}, if it fails only now and then\n",
                   told.hang_timeout_seconds,
                   std::min(1000u, std::max(10u, found.unchanged.runs * 5)));
  } else if (!found.layers_seen) {
    fmt::format_to(out, "Next      cairn run {}-- {}{}   says why the layers saw nothing\n",
                   options, told.is_trace ? "cairn replay --in-process " : "", program);
  } else if (found.causes.empty()) {
    fmt::format_to(out, "Next      cairn bisect {}{}{}   finds the work that it takes\n", options,
                   told.is_trace ? "" : "-- ", program);
  }
}

// The causes, or that there is none; what is none, and what is not known.
void AppendFindings(const WhyTold& told, std::string* text) {
  const WhyFound& found = told.found;
  std::string_view heading;
  for (const size_t cause : found.causes) {
    const std::string_view next = HeadingOf(found, cause);
    if (next != heading) *text += fmt::format("{}\n", next);
    heading = next;
    AppendCause(told, found.results[cause], text);
  }
  if (const std::vector<std::string> none = NotTheCause(found); !none.empty()) {
    *text += fmt::format("Not the cause: {}\n", fmt::join(none, ", "));
  }
  AppendLines(DoesNotApply(found, Visible), "Does not apply: ", text);
  AppendLines(DoubtsInWords(told), "", text);
}

std::string RunsLine(const WhyTold& told) {
  return fmt::format("{}, {:.1f} s.", RunsInWords(told, told.found.runs),
                     static_cast<double>(told.duration_ns) / 1e9);
}

void WriteCount(std::string_view key, const RunCount& count, JsonWriter* json) {
  json->BeginObject(key);
  json->NumberKey("runs", count.runs);
  json->NumberKey("failed", count.failed);
  json->NumberKey("otherwise", count.otherwise);
  json->NumberKey("endless", count.endless);
  json->EndObject();
}

void WriteExcerpt(const ShaderExcerpt& excerpt, JsonWriter* json) {
  if (excerpt.lines.empty()) {
    json->NullKey("excerpt");
    return;
  }
  json->BeginObject("excerpt");
  json->StringKey("of", excerpt.first_line != 0 ? "source" : "SPIR-V");
  json->NumberKey("first_line", excerpt.first_line);
  json->NumberKey("marked", excerpt.marked);
  json->BeginArray("lines");
  for (const std::string_view line : LinesOf(excerpt)) json->String(line);
  json->EndArray();
  json->EndObject();
}

void WritePlace(const WhyTold& told, const ShaderNote& note, JsonWriter* json) {
  json->StringKey("shader", fmt::format("{:016x}", note.shader));
  json->StringKey("dxbc", note.translated != 0 ? fmt::format("{:016x}", note.translated) : "");
  json->StringKey("stage", StageWord(note));
  json->StringKey("pipeline", PipelineOf(told, note));
  json->NumberKey("index", note.index);
  json->NumberKey("count", note.count);
  json->StringKey("function", note.function);
  json->StringKey("file", note.file);
  json->NumberKey("line", note.line);
  json->NumberKey("column", note.column);
  json->StringKey("text", note.text);
  WriteExcerpt(note.excerpt, json);
}

void WriteAccess(const WhyTold& told, const AccessNote& access, JsonWriter* json) {
  const AccessRecord& record = access.record;
  json->BeginObject();
  WritePlace(told, access, json);
  json->StringKey("kind", AccessWord(access.kind));
  json->NumberKey("bytes", access.bytes);
  json->StringKey("pointer", access.pointer);
  json->NumberKey("misses", record.misses);
  const bool known = record.first != 0;
  json->StringKey("first", known ? InvocationText(access.invocations, record.invocation) : "");
  const bool has_address = known && !access.by_descriptor;
  const bool has_range = has_address && record.has_range != 0;
  json->StringKey("address", has_address ? fmt::format("{:#x}", record.address) : "");
  json->StringKey("buffer", has_range ? fmt::format("{:#x}", record.range.begin) : "");
  json->NumberKey("buffer_bytes", has_range ? record.range.bytes : 0);
  if (access.by_descriptor) {
    json->NumberKey("set", access.set);
    json->NumberKey("binding", access.binding);
    json->BeginArray("indices");
    for (const ShownIndex& index : ShownIndices(access)) {
      json->BeginObject();
      json->StringKey("kind", index.kind);
      json->SignedKey("index", index.index);
      json->NumberKey("bound", index.bound);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteCall(const CountNote& call, JsonWriter* json) {
  const auto numbers = [&](std::string_view key, const uint32_t* counts) {
    json->BeginArray(key);
    for (uint32_t i = 0; i < call.count; ++i) json->Number(counts[i]);
    json->EndArray();
  };
  json->BeginObject();
  json->StringKey("command", call.command);
  json->StringKey("label", call.label);
  json->BoolKey("indirect", call.is_indirect);
  numbers("counts", call.record.given);
  numbers("limited_to", call.record.used);
  json->NumberKey("limited", call.record.limited);
  json->EndObject();
}

void WriteLoop(const WhyTold& told, const LoopNote& loop, bool alone, JsonWriter* json) {
  json->BeginObject();
  WritePlace(told, loop, json);
  json->NumberKey("executions", loop.record.executions);
  json->NumberKey("cuts", loop.record.cuts);
  json->NumberKey("most_trips", loop.record.most_trips);
  const bool known = loop.record.first != 0;
  json->StringKey("first", known ? InvocationText(loop.invocations, loop.record.invocation) : "");
  const bool compares = known && !loop.comparison.empty();
  json->StringKey("left", loop.left);
  json->StringKey("comparison", loop.comparison);
  json->StringKey("right", loop.right);
  json->StringKey("left_value", compares ? ValueText(loop.record.left, loop) : "");
  json->StringKey("right_value", compares ? ValueText(loop.record.right, loop) : "");
  json->BoolKey("alone", alone);
  json->EndObject();
}

void WriteBinding(const WhyTold& told, const BindingNote& binding, JsonWriter* json) {
  json->BeginObject();
  WritePlace(told, binding, json);
  json->StringKey("kind", WordsOf(binding.kind));
  json->StringKey("name", binding.name);
  const BindingPlace& place = binding.place;
  if (place.from == BindingPlace::From::kDescriptor) {
    json->NumberKey("set", place.set);
    json->NumberKey("binding", place.number);
  } else if (place.from == BindingPlace::From::kVertexInput) {
    json->NumberKey("location", place.number);
  }
  json->EndObject();
}

void WriteBindings(const WhyTold& told, const BindingFindings& bindings, JsonWriter* json) {
  WriteCount("control", bindings.control, json);
  json->NumberKey("not_asked", bindings.not_asked);
  json->NumberKey("not_emptied", bindings.not_emptied);
  json->NumberKey("endless_bindings", bindings.endless);
  json->NumberKey("dropped_bindings", bindings.dropped);
  json->NumberKey("refused_modules", bindings.refused_modules);
  json->BeginArray("bindings");
  for (const BindingNote& binding : bindings.variables) WriteBinding(told, binding, json);
  json->EndArray();
  json->BeginArray("also");
  for (const BindingNote& binding : bindings.also) WriteBinding(told, binding, json);
  json->EndArray();
}

void WriteResult(const WhyTold& told, const WhyResult& result, JsonWriter* json) {
  json->BeginObject();
  const ExperimentRow& row = RowOf(result.name);
  const bool loops = result.name == ExperimentName::kLoops;
  const bool bounds = result.name == ExperimentName::kBounds;
  const bool counts = result.name == ExperimentName::kCounts;
  const bool stages = result.name == ExperimentName::kStages;
  const bool bindings = result.name == ExperimentName::kBindings;
  json->StringKey("name", row.word);
  json->StringKey("words", row.noun);
  json->StringKey("experiment", FormatExperiment(loops      ? result.loops.limited
                                                 : bounds   ? result.accesses.checked
                                                 : counts   ? result.counts.limited
                                                 : stages   ? result.stages.emptied
                                                 : bindings ? result.bindings.emptied
                                                            : row.experiment));
  json->StringKey("verdict", VerdictWord(result.verdict));
  json->StringKey("sentence", Helps(result.verdict) ? CauseInWords(result, Visible) : "");
  json->StringKey("why", result.why);
  WriteCount("with", result.with, json);
  WriteCount("without", result.without, json);
  json->NumberKey("changes", result.changes);
  json->StringKey("other_failure", FailureWord(result.other_kind));
  if (loops) {
    WriteCount("control", result.loops.control, json);
    WriteCount("longer", result.loops.longer, json);
    json->NumberKey("longer_trips", result.loops.longer_trips);
    json->NumberKey("limited_loops", result.loops.limited_loops);
    json->NumberKey("dropped_loops", result.loops.dropped);
    json->NumberKey("refused_modules", result.loops.refused_modules);
    json->BeginArray("loops");
    const auto& alone = result.loops.alone;
    for (const LoopNote& loop : result.loops.cut) {
      WriteLoop(told, loop, std::find(alone.begin(), alone.end(), loop) != alone.end(), json);
    }
    json->EndArray();
  }
  if (counts) {
    WriteCount("control", result.counts.control, json);
    json->NumberKey("not_limited", result.counts.not_limited);
    json->BeginArray("calls");
    for (const CountNote& call : result.counts.calls) WriteCall(call, json);
    json->EndArray();
  }
  if (stages) {
    json->StringKey("stage", Helps(result.verdict) ? WordOf(result.stages.emptied.stage) : "");
    json->NumberKey("refused_modules", result.stages.refused_modules);
  }
  if (result.name == ExperimentName::kRobust) {
    json->BeginObject("features");
    const auto write = [json](std::string_view key, RobustFeatures features) {
      json->BeginArray(key);
      for (const std::string_view name : NamesOf(features)) json->String(name);
      json->EndArray();
    };
    write("enabled", result.robust.enabled);
    write("of_program", result.robust.own);
    write("missing", result.robust.missing);
    write("left", result.robust.left);
    json->EndObject();
  }
  if (bindings) WriteBindings(told, result.bindings, json);
  if (result.name == ExperimentName::kTime) {
    json->RealKey("longest_seconds", static_cast<double>(result.longest_ms) / 1e3);
  }
  if (bounds) {
    const AccessFindings& accesses = result.accesses;
    WriteCount("control", accesses.control, json);
    json->NumberKey("checked_accesses", accesses.checked_accesses);
    json->BeginArray("unchecked_accesses");
    for (const UncheckedAccesses& unchecked : accesses.unchecked) {
      json->BeginObject();
      json->NumberKey("accesses", unchecked.count);
      json->BoolKey("partly", unchecked.partly);
      json->StringKey("why", unchecked.why);
      json->EndObject();
    }
    json->EndArray();
    json->NumberKey("dropped_accesses", accesses.dropped);
    json->NumberKey("refused_modules", accesses.refused_modules);
    json->BeginArray("accesses");
    for (const AccessNote& access : accesses.missed) WriteAccess(told, access, json);
    json->EndArray();
  }
  json->EndObject();
}

// A cause in words, as the text has it.
void WriteCause(const WhyTold& told, size_t cause, JsonWriter* json) {
  const WhyResult& result = told.found.results[cause];
  json->BeginObject();
  json->StringKey("heading", HeadingOf(told.found, cause));
  json->StringKey("name", RowOf(result.name).word);
  json->StringKey("verdict", VerdictWord(result.verdict));
  json->StringKey("sentence", CauseInWords(result, Visible));
  json->StringsKey("counts", CountsInWords(told, result));
  json->BeginArray("places");
  for (const ShownPlace& shown : ShownPlaces(told, result, Visible)) {
    json->BeginObject();
    if (shown.note != nullptr) {
      json->StringKey("shader", fmt::format("{:016x}", shown.note->shader));
      json->NumberKey("index", shown.note->index);
    }
    json->StringKey("place", shown.place);
    json->StringKey("number", shown.number);
    json->StringKey("record", shown.record);
    json->EndObject();
  }
  json->EndArray();
  json->StringsKey("behind", PlacesInWords(told, result, Visible));
  json->EndObject();
}

void WriteAnswer(const WhyTold& told, JsonWriter* json) {
  const WhyFound& found = told.found;
  json->BeginObject("answer");
  json->StringKey("headline", HeadlineOf(told));
  const bool none = found.unchanged.failed != 0 && found.causes.empty();
  json->StringKey("none", none ? NoCauseInWords(told) : "");
  json->BeginArray("causes");
  for (const size_t cause : found.causes) WriteCause(told, cause, json);
  json->EndArray();
  json->StringsKey("not_the_cause", NotTheCause(found));
  json->StringsKey("does_not_apply", DoesNotApply(found, Visible));
  json->StringsKey("doubts", DoubtsInWords(told));
  json->StringKey("runs", RunsLine(told));
  json->StringKey("command", CommandOf(told));
  json->StringKey("markdown", WhyAsMarkdown(told));
  json->EndObject();
}

}  // namespace

std::string WhyAsText(const WhyTold& told) {
  const WhyFound& found = told.found;
  std::string text = HeadlineOf(told) + "\n";
  if (found.unchanged.failed != 0) text += "\n";
  if (found.unchanged.failed != 0 && found.causes.empty()) text += NoCauseInWords(told) + "\n";
  AppendFindings(told, &text);
  AppendNext(told, &text);
  return text + RunsLine(told) + "\n";
}

std::string WhyBehindBisect(const WhyTold& told) {
  std::string text = "\n";
  if (told.found.unchanged.failed == 0) {
    text += fmt::format("Why\n  Not known: {}.\n", CleanInWords(told));
  } else if (told.found.causes.empty()) {
    text += fmt::format("Why\n  {}\n", NoCauseInWords(told));
  }
  AppendFindings(told, &text);
  return text + RunsLine(told) + "\n";
}

std::string WhyAsJson(const WhyTold& told, int line_levels) {
  const WhyFound& found = told.found;
  std::string text;
  JsonWriter json(&text, line_levels);
  json.BeginObject();
  json.StringKey("format", "cairn-why");
  json.NumberKey("version", 1);
  json.StringKey("subject", WholeWord(told));
  json.StringKey("program", told.program);
  json.BoolKey("found", !found.causes.empty());
  json.StringKey("failure", FailureWord(found.kind));
  json.NumberKey("signal", static_cast<uint32_t>(found.signal));
  json.BoolKey("failures_differ", found.kind_varies);
  WriteCount("unchanged", found.unchanged, &json);
  json.BeginArray("causes");
  for (const size_t cause : found.causes) json.String(RowOf(found.results[cause].name).word);
  json.EndArray();
  json.BeginArray("experiments");
  for (const WhyResult& result : found.results) WriteResult(told, result, &json);
  json.EndArray();
  json.BoolKey("out_of_runs", found.out_of_runs);
  json.BoolKey("layers_seen", found.layers_seen);
  json.StringsKey("devices", found.devices);
  json.StringKey("driver", told.driver);
  json.SignedKey("exit_code", found.exit_code);
  json.NumberKey("undecided", found.undecided);
  json.RealKey("hang_timeout_seconds", told.hang_timeout_seconds);
  json.RealKey("survive_seconds", told.survive_seconds);
  json.NumberKey("runs", found.runs);
  json.RealKey("seconds", static_cast<double>(told.duration_ns) / 1e9);
  WriteAnswer(told, &json);
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
