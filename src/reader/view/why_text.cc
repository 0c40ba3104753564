// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "reader/view/bisect_text.h"
#include "reader/view/program_bisect_text.h"

namespace cairn::cli {
namespace {

const char* VerdictWord(WhyVerdict verdict) {
  switch (verdict) {
    case WhyVerdict::kNotAsked: return "not asked";
    case WhyVerdict::kDoesNotApply: return "does not apply";
    case WhyVerdict::kFails: return "fails";
    case WhyVerdict::kFailsOtherwise: return "fails otherwise";
    case WhyVerdict::kCodeHelps: return "changed code helps";
    case WhyVerdict::kLikely: return "likely";
    case WhyVerdict::kProven: return "proven";
  }
  return "not asked";
}

std::string ValueText(uint32_t bits, const LoopNote& loop) {
  if (loop.is_float) return fmt::format("{}", std::bit_cast<float>(bits));
  if (loop.is_signed) return fmt::format("{}", static_cast<int32_t>(bits));
  return fmt::format("{}", bits);
}

// "fog.frag:41", "shader 00000000000000a1".
std::string PlaceInWords(const ShaderNote& note) {
  if (note.line == 0) return fmt::format("shader {:016x}", note.shader);
  if (note.file.empty()) return fmt::format("shader {:016x}, line {}", note.shader, note.line);
  return fmt::format("{}:{}", VisibleText(note.file), note.line);
}

// "    fog.frag:41   for (;;)   loop 2 of the shader, in march()".
void AppendPlace(const ShaderNote& note, std::string_view noun, std::string* text) {
  auto out = std::back_inserter(*text);
  std::string source(VisibleText(note.text));
  source.erase(0, source.find_first_not_of(' '));
  fmt::format_to(out, "    {}   {}{}{} {}", PlaceInWords(note), source, source.empty() ? "" : "   ",
                 noun, note.index + 1);
  if (!note.function.empty()) {
    fmt::format_to(out, " of the shader, in {}()", VisibleText(note.function));
  } else {
    *text += " of the shader";
  }
}

// "pixel (3, 4)"; "" if it is not known.
std::string InvocationText(InvocationKind kind, const uint32_t (&at)[4]) {
  switch (kind) {
    case InvocationKind::kGlobal:
      return fmt::format("invocation ({}, {}, {})", at[0], at[1], at[2]);
    case InvocationKind::kFragment: return fmt::format("pixel ({}, {})", at[0], at[1]);
    case InvocationKind::kVertex: return fmt::format("vertex {} of instance {}", at[0], at[1]);
    case InvocationKind::kLaunch: return fmt::format("ray ({}, {}, {})", at[0], at[1], at[2]);
    case InvocationKind::kUnknown: break;
  }
  return "";
}

void AppendLoop(const LoopNote& loop, std::string* text) {
  auto out = std::back_inserter(*text);
  AppendPlace(loop, "loop", text);
  fmt::format_to(out, "\n      {} of {} reached the cut", GroupedDigits(loop.record.cuts),
                 Counted(std::max(loop.record.executions, loop.record.cuts), "execution"));
  if (loop.record.first != 0) {
    if (const std::string first = InvocationText(loop.invocations, loop.record.invocation);
        !first.empty()) {
      fmt::format_to(out, ", the first in {}", first);
    }
    if (!loop.comparison.empty()) {
      fmt::format_to(out, "; its condition {} {} {} compared {} and {}", VisibleText(loop.left),
                     VisibleText(loop.comparison), VisibleText(loop.right),
                     ValueText(loop.record.left, loop), ValueText(loop.record.right, loop));
    }
  }
  *text += "\n";
}

const char* AccessWord(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad: return "load";
    case AccessKind::kStore: return "store";
    case AccessKind::kAtomic: return "atomic operation";
  }
  return "access";
}

// "64 bytes behind the end of a buffer of 256 bytes at 0x7f0000001000", for the first access that missed.
std::string MissInWords(const AccessRecord& record) {
  const AccessRange& range = record.range;
  if (record.has_range == 0 || record.address < range.begin || range.bytes == 0)
    return "no buffer begins at its address or before";
  const uint64_t offset = record.address - range.begin;
  const std::string buffer =
      fmt::format("a buffer of {} at {:#x}", Counted(range.bytes, "byte"), range.begin);
  if (offset < range.bytes) return fmt::format("it begins in {} and ends behind it", buffer);
  return fmt::format("{} behind the end of {}, the last one before it",
                     Counted(offset - range.bytes, "byte"), buffer);
}

void AppendAccess(const AccessNote& access, std::string* text) {
  auto out = std::back_inserter(*text);
  AppendPlace(access, "access", text);
  const AccessRecord& record = access.record;
  fmt::format_to(out, "\n      {} of {} missed", Counted(record.misses, AccessWord(access.kind)),
                 Counted(access.bytes, "byte"));
  if (record.first != 0) {
    *text += ", the first ";
    if (const std::string first = InvocationText(access.invocations, record.invocation);
        !first.empty()) {
      fmt::format_to(out, "in {} ", first);
    }
    fmt::format_to(out, "at {:#x}", record.address);
    if (!access.pointer.empty()) fmt::format_to(out, " ({})", VisibleText(access.pointer));
    fmt::format_to(out, ": {}", MissInWords(record));
  }
  *text += "\n";
}

std::string WithInWords(const WhyResult& result) {
  const ExperimentRow& row = RowOf(result.name);
  if (result.name != ExperimentName::kLoops) return std::string(row.with);
  return fmt::format("{} after {} trips", row.with, GroupedDigits(result.loops.limited.trips));
}

void AppendLoops(const WhyResult& result, std::string* text) {
  const LoopFindings& loops = result.loops;
  auto out = std::back_inserter(*text);
  const bool together = loops.alone.empty();
  const std::vector<LoopNote>& shown = together ? loops.cut : loops.alone;
  constexpr size_t kMost = 8;
  for (size_t i = 0; i < std::min(shown.size(), kMost); ++i) AppendLoop(shown[i], text);
  if (shown.size() > kMost) {
    fmt::format_to(out, "    and {}\n", Counted(shown.size() - kMost, "other"));
  }
  if (shown.size() > 1) {
    *text += together ? "  No single one of them was seen to be enough.\n"
                      : "  Each of them is enough alone.\n";
  }
  const RunCount& longer = loops.longer;
  if (longer.runs != 0) {
    const bool clean = longer.failed == 0 && longer.otherwise == 0;
    fmt::format_to(out, "  Cut after {} trips, the program {}.\n",
                   GroupedDigits(loops.longer_trips),
                   clean ? "does not fail either" : "fails: so many trips take too long");
  }
}

void AppendAccesses(const WhyResult& result, std::string* text) {
  const std::vector<AccessNote>& missed = result.accesses.missed;
  constexpr size_t kMost = 8;
  for (size_t i = 0; i < std::min(missed.size(), kMost); ++i) AppendAccess(missed[i], text);
  if (missed.size() > kMost) {
    *text += fmt::format("    and {}\n", Counted(missed.size() - kMost, "other"));
  }
}

void AppendCause(const WhyFound& found, const WhyResult& result, std::string* text) {
  auto out = std::back_inserter(*text);
  fmt::format_to(out, "  {}: {}\n", VerdictWord(result.verdict), RowOf(result.name).cause);
  const RunCount& without = result.without;
  fmt::format_to(out, "  With {} the program failed in {} of {}, without in {} of {}.\n",
                 WithInWords(result), result.with.failed, Counted(result.with.runs, "run"),
                 found.unchanged.failed + without.failed, found.unchanged.runs + without.runs);
  if (result.with.endless != 0) {
    fmt::format_to(out, "  {} with it went on and on, and {} ended.\n",
                   Counted(result.with.endless, "run"), Plural(result.with.endless, "was", "were"));
  }
  if (result.name == ExperimentName::kLoops) AppendLoops(result, text);
  if (result.name == ExperimentName::kBounds) AppendAccesses(result, text);
}

// "barrier in front (1 of 1 fails)".
std::string NotTheCause(const WhyResult& result) {
  const RunCount& with = result.with;
  const std::string noun(RowOf(result.name).noun);
  if (result.verdict == WhyVerdict::kFailsOtherwise) {
    return fmt::format("{} ({} in {} of {})", noun,
                       FailsInWords(result.other_kind, result.other_signal), with.otherwise,
                       with.runs);
  }
  return fmt::format("{} ({} of {} fails)", noun, with.failed, with.runs);
}

// True if a change was made and the program ran with it.
bool Asked(const WhyResult& result) {
  return result.verdict != WhyVerdict::kNotAsked && result.verdict != WhyVerdict::kDoesNotApply;
}

void AppendNoCause(const WhyFound& found, std::string* text) {
  if (!found.layers_seen) {
    *text +=
        "No experiment could be made: no layer saw the program record work of Vulkan or Direct3D "
        "12.\n";
  } else if (std::any_of(found.results.begin(), found.results.end(), Asked)) {
    *text += "No cause was found: no change makes the failure go away.\n";
  } else if (found.results.empty() || found.out_of_runs) {
    *text += "No experiment was made.\n";
  } else {
    *text += "No experiment could be made: the layers changed nothing.\n";
  }
}

void AppendNext(const WhyTold& told, const std::string& program, std::string* text) {
  auto out = std::back_inserter(*text);
  const WhyFound& found = told.found;
  constexpr double kDefaultSeconds = 10;
  const std::string options = told.hang_timeout_seconds == kDefaultSeconds
                                  ? ""
                                  : fmt::format("--hang-timeout {} ", told.hang_timeout_seconds);
  if (found.unchanged.failed == 0) {
    fmt::format_to(out,
                   "Next      --hang-timeout below {:.3g}, if what hangs elsewhere is only slow "
                   "here\n          --runs {}, if it fails only now and then\n",
                   told.hang_timeout_seconds,
                   std::min(1000u, std::max(10u, found.unchanged.runs * 5)));
  } else if (!found.layers_seen) {
    fmt::format_to(out, "Next      cairn run {}-- {}   says why the layers saw nothing\n", options,
                   program);
  } else if (found.causes.empty()) {
    fmt::format_to(out, "Next      cairn bisect {}-- {}   finds the work that it takes\n", options,
                   program);
  }
}

// A line for each reason.
void AppendDoesNotApply(const WhyFound& found, std::string* text) {
  std::vector<std::pair<std::string_view, std::string>> lists;
  for (const WhyResult& result : found.results) {
    if (result.verdict != WhyVerdict::kDoesNotApply) continue;
    const std::string noun(RowOf(result.name).noun);
    const auto same = std::find_if(lists.begin(), lists.end(),
                                   [&](const auto& list) { return list.first == result.why; });
    if (same == lists.end()) {
      lists.emplace_back(result.why, noun);
    } else {
      same->second += ", " + noun;
    }
  }
  for (const auto& [why, list] : lists) {
    *text += fmt::format("Does not apply: {} ({})\n", list, VisibleText(why));
  }
}

void AppendOthers(const WhyFound& found, std::string* text) {
  auto out = std::back_inserter(*text);
  std::string list;
  for (const WhyResult& result : found.results) {
    if (result.verdict != WhyVerdict::kFails && result.verdict != WhyVerdict::kFailsOtherwise) {
      continue;
    }
    list += (list.empty() ? "" : ", ") + NotTheCause(result);
  }
  if (!list.empty()) fmt::format_to(out, "Not the cause: {}\n", list);
  if (found.layers_seen) AppendDoesNotApply(found, text);
  for (const WhyResult& result : found.results) {
    const std::string_view noun = RowOf(result.name).noun;
    if (result.verdict == WhyVerdict::kCodeHelps) {
      fmt::format_to(out,
                     "Not proven: with {} the program does not fail, but the changed code of the "
                     "shaders is what helps, not {}\n",
                     noun, result.name == ExperimentName::kLoops ? "the limit" : "the check");
    }
    if (result.verdict == WhyVerdict::kNotAsked) fmt::format_to(out, "Not asked: {}\n", noun);
    if (Asked(result) && result.loops.refused_modules + result.loops.dropped != 0) {
      fmt::format_to(out,
                     "Not limited: {} that could not be changed, {} without room for records\n",
                     Counted(result.loops.refused_modules, "shader module"),
                     Counted(result.loops.dropped, "loop"));
    }
    const AccessFindings& accesses = result.accesses;
    if (Asked(result) && accesses.refused_modules + accesses.dropped != 0) {
      fmt::format_to(out,
                     "Not checked: {} that could not be changed, {} without room for records\n",
                     Counted(accesses.refused_modules, "shader module"),
                     Counted(accesses.dropped, "access", "accesses"));
    }
  }
}

void AppendDoubts(const WhyFound& found, std::string* text) {
  if (found.kind_varies) {
    *text += "Irregular: the program failed in different ways; any counted.\n";
  }
  if (found.out_of_runs) *text += "Ended by --max-runs; more runs may tell more.\n";
}

void WriteCount(std::string_view key, const RunCount& count, JsonWriter* json) {
  json->BeginObject(key);
  json->NumberKey("runs", count.runs);
  json->NumberKey("failed", count.failed);
  json->NumberKey("otherwise", count.otherwise);
  json->NumberKey("endless", count.endless);
  json->EndObject();
}

void WritePlace(const ShaderNote& note, JsonWriter* json) {
  json->StringKey("shader", fmt::format("{:016x}", note.shader));
  json->NumberKey("index", note.index);
  json->StringKey("function", note.function);
  json->StringKey("file", note.file);
  json->NumberKey("line", note.line);
  json->NumberKey("column", note.column);
  json->StringKey("text", note.text);
}

void WriteAccess(const AccessNote& access, JsonWriter* json) {
  const AccessRecord& record = access.record;
  json->BeginObject();
  WritePlace(access, json);
  json->StringKey("kind", AccessWord(access.kind));
  json->NumberKey("bytes", access.bytes);
  json->StringKey("pointer", access.pointer);
  json->NumberKey("misses", record.misses);
  const bool known = record.first != 0;
  json->StringKey("first", known ? InvocationText(access.invocations, record.invocation) : "");
  const bool has_range = known && record.has_range != 0;
  json->StringKey("address", known ? fmt::format("{:#x}", record.address) : "");
  json->StringKey("buffer", has_range ? fmt::format("{:#x}", record.range.begin) : "");
  json->NumberKey("buffer_bytes", has_range ? record.range.bytes : 0);
  json->EndObject();
}

void WriteLoop(const LoopNote& loop, bool alone, JsonWriter* json) {
  json->BeginObject();
  WritePlace(loop, json);
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

void WriteResult(const WhyResult& result, JsonWriter* json) {
  json->BeginObject();
  const ExperimentRow& row = RowOf(result.name);
  const bool loops = result.name == ExperimentName::kLoops;
  const bool bounds = result.name == ExperimentName::kBounds;
  json->StringKey("name", row.word);
  json->StringKey("experiment", FormatExperiment(loops    ? result.loops.limited
                                                 : bounds ? result.accesses.checked
                                                          : row.experiment));
  json->StringKey("verdict", VerdictWord(result.verdict));
  json->StringKey("sentence", Helps(result.verdict) ? row.cause : "");
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
      WriteLoop(loop, std::find(alone.begin(), alone.end(), loop) != alone.end(), json);
    }
    json->EndArray();
  }
  if (bounds) {
    const AccessFindings& accesses = result.accesses;
    WriteCount("control", accesses.control, json);
    json->NumberKey("checked_accesses", accesses.checked_accesses);
    json->NumberKey("dropped_accesses", accesses.dropped);
    json->NumberKey("refused_modules", accesses.refused_modules);
    json->BeginArray("accesses");
    for (const AccessNote& access : accesses.missed) WriteAccess(access, json);
    json->EndArray();
  }
  json->EndObject();
}

}  // namespace

std::string WhyAsText(const WhyTold& told) {
  const WhyFound& found = told.found;
  const std::string program = VisibleText(told.program);
  std::string text;
  auto out = std::back_inserter(text);
  const std::string runs = Counted(found.unchanged.runs, "run");
  if (found.unchanged.failed == 0) {
    fmt::format_to(out, "{}: no cause: the program does not fail: {} of {} were clean.\n", program,
                   found.unchanged.runs, runs);
  } else {
    fmt::format_to(out, "{} {}, in {} of {}.\n\n", program, FailsInWords(found.kind, found.signal),
                   found.unchanged.failed, runs);
    if (found.causes.empty()) AppendNoCause(found, &text);
  }
  for (size_t i = 0; i < found.causes.size(); ++i) {
    if (i < 2) text += i == 0 ? "Why\n" : "Helps as well\n";
    AppendCause(found, found.results[found.causes[i]], &text);
  }
  AppendOthers(found, &text);
  AppendDoubts(found, &text);
  AppendNext(told, program, &text);
  fmt::format_to(out, "{}, {:.1f} s.\n", Counted(found.runs, "run"),
                 static_cast<double>(told.duration_ns) / 1e9);
  return text;
}

std::string WhyAsJson(const WhyTold& told) {
  const WhyFound& found = told.found;
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-why");
  json.NumberKey("version", 1);
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
  for (const WhyResult& result : found.results) WriteResult(result, &json);
  json.EndArray();
  json.BoolKey("out_of_runs", found.out_of_runs);
  json.BoolKey("layers_seen", found.layers_seen);
  json.StringsKey("devices", found.devices);
  json.SignedKey("exit_code", found.exit_code);
  json.NumberKey("undecided", found.undecided);
  json.RealKey("hang_timeout_seconds", told.hang_timeout_seconds);
  json.RealKey("survive_seconds", told.survive_seconds);
  json.NumberKey("runs", found.runs);
  json.RealKey("seconds", static_cast<double>(told.duration_ns) / 1e9);
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
