// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "base/shell_words.h"
#include "base/text.h"
#include "format/block/block.h"
#include "reader/view/program_bisect_text.h"
#include "reader/view/why_robust_words.h"

namespace cairn::cli {
namespace {

constexpr size_t kMostPlaces = 8;

const std::vector<LoopNote>& LoopsOf(const WhyResult& result) {
  return result.loops.alone.empty() ? result.loops.cut : result.loops.alone;
}

std::string WithInWords(const WhyResult& result) {
  const ExperimentRow& row = RowOf(result.name);
  if (result.name == ExperimentName::kCounts) {
    return fmt::format("at most {} vertices or groups in a call",
                       GroupedDigits(result.counts.limited.counts));
  }
  if (result.name == ExperimentName::kStages) {
    return fmt::format("{} shaders that do nothing", WordOf(result.stages.emptied.stage));
  }
  if (result.name != ExperimentName::kLoops) return std::string(row.with);
  return fmt::format("{} after {} trips", row.with, GroupedDigits(result.loops.limited.trips));
}

std::string ShaderOf(const WhyTold& told, const ShaderNote& note) {
  std::string text(StageWord(note));
  if (!text.empty()) text += ' ';
  text += note.translated != 0 ? fmt::format("shader DXBC {:016x}", note.translated)
                               : fmt::format("shader {:016x}", note.shader);
  if (const std::string pipeline = PipelineOf(told, note); !pipeline.empty()) {
    text += fmt::format(" of pipeline \"{}\"", pipeline);
  }
  return text;
}

std::string PlaceOf(const WhyTold& told, const ShaderNote& note) {
  if (note.line == 0) return ShaderOf(told, note);
  if (note.file.empty()) return fmt::format("shader {:016x}, line {}", note.shader, note.line);
  return fmt::format("{}:{}", note.file, note.line);
}

std::string SourceOf(const ShaderNote& note) {
  const size_t start = note.text.find_first_not_of(" \t");
  return start == std::string::npos ? "" : note.text.substr(start);
}

std::string NumberOf(const ShaderNote& note, const char* noun, Quote quote) {
  std::string text = fmt::format("{} {}", noun, note.index + 1);
  if (note.count > 1) text += fmt::format(" of {}", note.count);
  text += " of the shader";
  if (!note.function.empty()) text += ", in " + quote(note.function + "()");
  return text;
}

std::string RecordOf(const LoopNote& loop, Quote quote) {
  const LoopRecord& record = loop.record;
  std::string text =
      fmt::format("{} of {} reached the cut", GroupedDigits(record.cuts),
                  Counted(std::max<uint64_t>(record.executions, record.cuts), "execution"));
  if (record.first == 0) return text;
  if (const std::string first = InvocationText(loop.invocations, record.invocation);
      !first.empty()) {
    text += ", the first in " + first;
  }
  if (loop.comparison.empty()) return text;
  const std::string left = ValueText(record.left, loop);
  const std::string right = ValueText(record.right, loop);
  if (loop.left.empty() && loop.right.empty()) {
    return text + fmt::format("; its condition compared {}",
                              quote(fmt::format("{} {} {}", left, loop.comparison, right)));
  }
  // A value without a name stands for itself.
  const std::string condition =
      fmt::format("{} {} {}", loop.left.empty() ? left : loop.left, loop.comparison,
                  loop.right.empty() ? right : loop.right);
  return text + fmt::format("; its condition {} compared {} and {}", quote(condition), left, right);
}

// "64 bytes behind the end of a buffer of 256 bytes at 0x7f0000001000, the last one before it".
std::string DistanceOf(const AccessRecord& record) {
  const AccessRange& range = record.range;
  if (record.has_range == 0 || record.address < range.begin)
    return "no buffer begins at its address or before";
  const uint64_t offset = record.address - range.begin;
  const std::string buffer =
      fmt::format("a buffer of {} at {:#x}", Counted(range.bytes, "byte"), range.begin);
  if (offset < range.bytes) return fmt::format("it begins in {} and ends behind it", buffer);
  return fmt::format("{} behind the end of {}, the last one before it",
                     Counted(offset - range.bytes, "byte"), buffer);
}

// "3 loads missed bins (set 0, binding 2), the first in invocation (7, 0, 0): descriptor 9 of 4, element 70 of 64".
std::string IndexRecordOf(const AccessNote& access, Quote quote) {
  const AccessRecord& record = access.record;
  std::string text = fmt::format("{} missed ", Counted(record.misses, AccessWord(access.kind)));
  if (access.pointer.empty()) {
    text += fmt::format("set {}, binding {}", access.set, access.binding);
  } else {
    text +=
        fmt::format("{} (set {}, binding {})", quote(access.pointer), access.set, access.binding);
  }
  if (record.first == 0) return text;
  if (const std::string first = InvocationText(access.invocations, record.invocation);
      !first.empty()) {
    text += ", the first in " + first;
  }
  const char* separator = ": ";
  for (const ShownIndex& index : ShownIndices(access)) {
    if (index.is_inside) continue;
    text += fmt::format("{}{} {} of {}", std::exchange(separator, ", "), index.kind, index.index,
                        index.bound);
  }
  return text;
}

std::string RecordOf(const AccessNote& access, Quote quote) {
  if (access.by_descriptor) return IndexRecordOf(access, quote);
  const AccessRecord& record = access.record;
  std::string text = fmt::format("{} of {} missed", Counted(record.misses, AccessWord(access.kind)),
                                 Counted(access.bytes, "byte"));
  if (record.first == 0) return text;
  text += ", the first ";
  if (const std::string first = InvocationText(access.invocations, record.invocation);
      !first.empty()) {
    text += fmt::format("in {} ", first);
  }
  text += fmt::format("at {:#x}", record.address);
  if (!access.pointer.empty()) text += fmt::format(" ({})", quote(access.pointer));
  return text + ": " + DistanceOf(record);
}

// "vkCmdDraw(4294967295, 1)".
std::string CallOf(const CountNote& call, const uint32_t* counts) {
  return fmt::format("{}({})", call.command, fmt::join(counts, counts + call.count, ", "));
}

std::vector<ShownPlace> ShownOf(const std::vector<CountNote>& calls, Quote quote) {
  std::vector<ShownPlace> shown;
  for (size_t i = 0; i < std::min(calls.size(), kMostPlaces); ++i) {
    const CountNote& call = calls[i];
    const CountRecord& record = call.record;
    shown.push_back(
        {nullptr, CallOf(call, record.given), "",
         call.label.empty() ? "outside of labels" : "in " + quote(call.label),
         fmt::format("{} {}, {} to {}",
                     call.is_indirect ? "the GPU read these counts, which were limited" : "limited",
                     Counted(record.limited, "time"), call.is_indirect ? "the last time" : "each",
                     quote(CallOf(call, record.used)))});
  }
  return shown;
}

std::vector<ShownPlace> ShownOf(const WhyTold& told, const std::vector<BindingNote>& bindings,
                                Quote quote) {
  std::vector<ShownPlace> shown;
  for (size_t i = 0; i < std::min(bindings.size(), kMostPlaces); ++i) {
    const BindingNote& binding = bindings[i];
    shown.push_back({&binding, PlaceOf(told, binding), SourceOf(binding),
                     BindingInWords(binding, quote), "loads gave zeros, and stores went nowhere"});
  }
  return shown;
}

// Counts the places, of which ShownPlaces has the first.
size_t CountPlaces(const WhyResult& result) {
  switch (result.name) {
    case ExperimentName::kLoops: return LoopsOf(result).size();
    case ExperimentName::kCounts: return result.counts.calls.size();
    case ExperimentName::kBindings: return result.bindings.variables.size();
    default: return result.accesses.missed.size();
  }
}

template <typename Note>
std::vector<ShownPlace> ShownOf(const WhyTold& told, const std::vector<Note>& notes,
                                const char* noun, Quote quote) {
  std::vector<ShownPlace> shown;
  for (size_t i = 0; i < std::min(notes.size(), kMostPlaces); ++i) {
    const Note& note = notes[i];
    shown.push_back({&note, PlaceOf(told, note), SourceOf(note), NumberOf(note, noun, quote),
                     RecordOf(note, quote)});
  }
  return shown;
}

// "set 0, binding 3", "the push constants", "the vertex input at location 2".
std::string PlaceInWords(const BindingPlace& place) {
  switch (place.from) {
    case BindingPlace::From::kPushConstants: return "the push constants";
    case BindingPlace::From::kVertexInput:
      return fmt::format("the vertex input at location {}", place.number);
    case BindingPlace::From::kDescriptor:
    case BindingPlace::From::kNone: break;
  }
  return fmt::format("set {}, binding {}", place.set, place.number);
}

// The subject of a sentence about a control that does not fail either.
const char* HelpsInstead(ExperimentName name) {
  switch (name) {
    case ExperimentName::kCounts: return "reading the counts is";
    case ExperimentName::kStages:
    case ExperimentName::kBindings: return "the device that was made for it is";
    default: return "the changed code of the shaders is";
  }
}

// What does not help then.
const char* HelpedNothing(ExperimentName name) {
  switch (name) {
    case ExperimentName::kBounds: return "the check";
    case ExperimentName::kStages: return "an empty stage";
    case ExperimentName::kBindings: return "an empty binding";
    default: return "the limit";
  }
}

// True if a change was made and the program ran with it.
bool Asked(const WhyResult& result) {
  return result.verdict != WhyVerdict::kNotAsked && result.verdict != WhyVerdict::kDoesNotApply;
}

}  // namespace

const char* WholeWord(const WhyTold& told) {
  return told.is_trace ? "trace" : "program";
}

std::string RunsInWords(const WhyTold& told, uint64_t count) {
  return Counted(count, told.is_trace ? "replay" : "run");
}

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

const char* AccessWord(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad: return "load";
    case AccessKind::kStore: return "store";
    case AccessKind::kAtomic: return "atomic operation";
  }
  return "access";
}

std::vector<ShownIndex> ShownIndices(const AccessNote& access) {
  std::vector<ShownIndex> shown;
  if (access.record.first == 0) return shown;
  const IndexMiss miss = IndexMissOf(access.record);
  for (uint32_t i = 0; i < kMostIndices; ++i) {
    const IndexNote& index = access.indices[i];
    if (index.kind == IndexKind::kNone) continue;
    const bool is_negative = index.is_signed && static_cast<int32_t>(miss.index[i]) < 0;
    shown.push_back({index.kind == IndexKind::kDescriptor ? "descriptor" : "element",
                     is_negative ? static_cast<int32_t>(miss.index[i]) : int64_t{miss.index[i]},
                     miss.bound[i], miss.index[i] < miss.bound[i]});
  }
  return shown;
}

std::string_view StageWord(const ShaderNote& note) {
  struct Words {
    std::string_view direct3d, vulkan;
  };
  constexpr Words kWords[kStageCount] = {{"vertex", "vertex"},
                                         {"hull", "tessellation control"},
                                         {"domain", "tessellation evaluation"},
                                         {"geometry", "geometry"},
                                         {"pixel", "fragment"},
                                         {"mesh", "mesh"},
                                         {"amplification", "task"},
                                         {"compute", "compute"},
                                         {"ray tracing", "ray tracing"}};
  if (note.stage >= kStageCount) return "";
  const Words& words = kWords[note.stage];
  return note.translated != 0 ? words.direct3d : words.vulkan;
}

std::string PipelineOf(const WhyTold& told, const ShaderNote& note) {
  const auto found = told.pipelines.find(note.translated != 0 ? note.translated : note.shader);
  return found == told.pipelines.end() ? "" : found->second;
}

std::string HeadlineOf(const WhyTold& told) {
  const WhyFound& found = told.found;
  const std::string program = VisibleText(told.program);
  if (found.unchanged.failed == 0) {
    return fmt::format("{}: no cause: {}.", program, CleanInWords(told));
  }
  return fmt::format("{} {}, {}.", program, FailsInWords(found.kind, found.signal),
                     UnchangedInWords(told));
}

std::string BindingInWords(const BindingNote& binding, Quote quote) {
  const BindingPlace& place = binding.place;
  const bool is_descriptor = place.from == BindingPlace::From::kDescriptor;
  const std::string_view kind = WordsOf(binding.kind);
  if (binding.name.empty())
    return PlaceInWords(place) + (is_descriptor ? fmt::format(" ({})", kind) : "");
  const std::string name = quote(binding.name);
  switch (place.from) {
    case BindingPlace::From::kPushConstants: return fmt::format("the push constants ({})", name);
    case BindingPlace::From::kVertexInput:
      return fmt::format("the vertex input {} (location {})", name, place.number);
    case BindingPlace::From::kDescriptor:
    case BindingPlace::From::kNone: break;
  }
  return fmt::format("{} ({}, {})", name, PlaceInWords(place), kind);
}

std::string CauseInWords(const WhyResult& result, Quote quote) {
  if (result.name != ExperimentName::kBindings || result.bindings.variables.empty())
    return std::string(RowOf(result.name).cause);
  const std::vector<BindingNote>& variables = result.bindings.variables;
  const BindingNote& first = variables.front();
  const bool differ =
      std::any_of(variables.begin(), variables.end(), [&first](const BindingNote& other) {
        return other.name != first.name || other.kind != first.kind;
      });
  return fmt::format("The failure depends on what the shaders{} read from {}, or write to it.",
                     differ ? " below" : "",
                     differ ? PlaceInWords(first.place) : BindingInWords(first, quote));
}

std::string UnchangedInWords(const WhyTold& told) {
  const RunCount& unchanged = told.found.unchanged;
  return fmt::format("in {} of {}", unchanged.failed, RunsInWords(told, unchanged.runs));
}

std::string CleanInWords(const WhyTold& told) {
  const uint32_t runs = told.found.unchanged.runs;
  return fmt::format("the {} does not fail{}: {} of {} {} clean", WholeWord(told),
                     told.is_trace ? " on this device" : "", runs, RunsInWords(told, runs),
                     Plural(runs, "was", "were"));
}

std::vector<std::string> CountsInWords(const WhyTold& told, const WhyResult& result) {
  const RunCount& unchanged = told.found.unchanged;
  std::vector<std::string> sentences = {
      fmt::format("With {} the {} failed in {} of {}, without in {} of {}.", WithInWords(result),
                  WholeWord(told), result.with.failed, RunsInWords(told, result.with.runs),
                  unchanged.failed + result.without.failed, unchanged.runs + result.without.runs)};
  if (result.with.endless != 0) {
    sentences.push_back(fmt::format("{} with it did not end, and {} ended by cairn.",
                                    RunsInWords(told, result.with.endless),
                                    Plural(result.with.endless, "was", "were")));
  }
  return sentences;
}

std::vector<ShownPlace> ShownPlaces(const WhyTold& told, const WhyResult& result, Quote quote) {
  if (result.name == ExperimentName::kLoops) return ShownOf(told, LoopsOf(result), "loop", quote);
  if (result.name == ExperimentName::kBounds) {
    return ShownOf(told, result.accesses.missed, "access", quote);
  }
  if (result.name == ExperimentName::kCounts) return ShownOf(result.counts.calls, quote);
  if (result.name == ExperimentName::kBindings) {
    return ShownOf(told, result.bindings.variables, quote);
  }
  return {};
}

std::vector<std::string> PlacesInWords(const WhyTold& told, const WhyResult& result, Quote quote) {
  if (result.name == ExperimentName::kRobust) return RobustInWords(told.found, result);
  std::vector<std::string> sentences;
  const bool loops = result.name == ExperimentName::kLoops;
  const size_t count = CountPlaces(result);
  if (count > kMostPlaces) {
    sentences.push_back(fmt::format("And {}.", Counted(count - kMostPlaces, "other")));
  }
  if (loops && count > 1) {
    sentences.emplace_back(result.loops.alone.empty()
                               ? "No single one of them was seen to be enough."
                               : "Each of them is enough alone.");
  }
  if (!result.bindings.also.empty()) {
    std::vector<std::string> also;
    for (const BindingNote& binding : result.bindings.also)
      also.push_back(BindingInWords(binding, quote));
    sentences.push_back(
        fmt::format("It does not fail either with one of these empty: {}.", fmt::join(also, "; ")));
  }
  if (result.name == ExperimentName::kTime) {
    sentences.push_back(fmt::format("The longest of these {} took {:.1f} s.",
                                    told.is_trace ? "replays" : "runs",
                                    static_cast<double>(result.longest_ms) / 1e3));
  }
  const RunCount& longer = result.loops.longer;
  if (longer.runs != 0) {
    const bool clean = longer.failed == 0 && longer.otherwise == 0;
    sentences.push_back(fmt::format(
        "Cut after {} trips, the {} {}.", GroupedDigits(result.loops.longer_trips), WholeWord(told),
        clean ? "does not fail either" : "fails: so many trips take too long"));
  }
  return sentences;
}

const char* HeadingOf(const WhyFound& found, size_t cause) {
  const auto is_place = [&](size_t result) {
    return ChangesShaders(RowOf(found.results[result].name).experiment.change);
  };
  if (cause == found.causes.front()) return "Why";
  if (found.results[cause].name == ExperimentName::kTime) return "With more time";
  const bool is_binding = found.results[cause].name == ExperimentName::kBindings;
  return is_binding || (is_place(cause) && !is_place(found.causes.front())) ? "Where it shows"
                                                                            : "Helps as well";
}

std::string NoCauseInWords(const WhyTold& told) {
  const WhyFound& found = told.found;
  if (!found.layers_seen) {
    return fmt::format(
        "No experiment could be made: no layer saw the {} record work of Vulkan or Direct3D 12.",
        WholeWord(told));
  }
  const auto is_doubt = [](const WhyResult& result) {
    return result.verdict == WhyVerdict::kCodeHelps;
  };
  if (std::any_of(found.results.begin(), found.results.end(), is_doubt)) {
    return "No cause was found: a change makes the failure go away, but only by its side effects.";
  }
  if (std::any_of(found.results.begin(), found.results.end(), Asked)) {
    return "No cause was found: no change makes the failure go away.";
  }
  if (found.results.empty() || found.out_of_runs) return "No experiment was made.";
  return "No experiment could be made: the layers changed nothing.";
}

std::vector<std::string> NotTheCause(const WhyFound& found) {
  std::vector<std::string> list;
  for (const WhyResult& result : found.results) {
    const RunCount& with = result.with;
    const std::string_view noun = RowOf(result.name).noun;
    if (result.verdict == WhyVerdict::kFailsOtherwise) {
      const std::string fails = result.other_kind == FailureKind::kNone
                                    ? "fails in other ways"
                                    : FailsInWords(result.other_kind, result.other_signal);
      list.push_back(fmt::format("{} ({} in {} of {})", noun, fails, with.otherwise, with.runs));
    } else if (result.verdict == WhyVerdict::kFails) {
      const std::string otherwise = with.otherwise == 0
                                        ? ""
                                        : fmt::format(", {} {} otherwise", with.otherwise,
                                                      Plural(with.otherwise, "fails", "fail"));
      list.push_back(fmt::format("{} ({} of {} {}{})", noun, with.failed, with.runs,
                                 Plural(with.failed, "fails", "fail"), otherwise));
    }
  }
  return list;
}

std::vector<std::string> DoesNotApply(const WhyFound& found, Quote quote) {
  std::vector<std::pair<std::string_view, std::string>> lists;
  if (!found.layers_seen) return {};
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
  std::vector<std::string> lines;
  for (const auto& [why, list] : lists) lines.push_back(fmt::format("{} ({})", list, quote(why)));
  return lines;
}

std::vector<std::string> DoubtsInWords(const WhyTold& told) {
  std::vector<std::string> lines;
  for (const WhyResult& result : told.found.results) {
    const std::string_view noun = RowOf(result.name).noun;
    if (result.verdict == WhyVerdict::kCodeHelps) {
      lines.push_back(
          fmt::format("Not proven: with {} the {} does not fail, but {} what helps, not {}", noun,
                      WholeWord(told), HelpsInstead(result.name), HelpedNothing(result.name)));
    }
    if (result.verdict == WhyVerdict::kNotAsked)
      lines.push_back(fmt::format("Not asked: {}", noun));
    if (Asked(result) && result.loops.refused_modules + result.loops.dropped != 0) {
      lines.push_back(
          fmt::format("Not limited: {} that could not be changed, {} without room for records",
                      Counted(result.loops.refused_modules, "shader module"),
                      Counted(result.loops.dropped, "loop")));
    }
    if (Asked(result) && result.counts.not_limited != 0) {
      lines.push_back(fmt::format(
          "Not limited: the counts of {}: indirect draws, and others that cannot be limited",
          Counted(result.counts.not_limited, "recorded command")));
    }
    const BindingFindings& bindings = result.bindings;
    if (Asked(result) && bindings.not_asked + bindings.not_emptied != 0) {
      lines.push_back(fmt::format("Not asked: {}, and {} that cannot be emptied",
                                  Counted(bindings.not_asked, "more binding"),
                                  Counted(bindings.not_emptied, "binding")));
    }
    if (Asked(result) && bindings.endless != 0) {
      lines.push_back(
          fmt::format("Not known: {}: with one of them empty the {} does not end, and its GPU "
                      "work does not hang",
                      Counted(bindings.endless, "binding"), WholeWord(told)));
    }
    const uint32_t not_emptied = bindings.refused_modules + result.stages.refused_modules;
    if (Asked(result) && not_emptied + bindings.dropped != 0) {
      std::string& line = lines.emplace_back(fmt::format(
          "Not emptied: {} that could not be changed", Counted(not_emptied, "shader module")));
      if (bindings.dropped != 0) {
        line += fmt::format(", {} without room for records", Counted(bindings.dropped, "binding"));
      }
    }
    for (std::string& line : RobustDoubts(result)) lines.push_back(std::move(line));
    const AccessFindings& accesses = result.accesses;
    if (Asked(result) && accesses.refused_modules + accesses.dropped != 0) {
      lines.push_back(
          fmt::format("Not checked: {} that could not be changed, {} without room for records",
                      Counted(accesses.refused_modules, "shader module"),
                      Counted(accesses.dropped, "access", "accesses")));
    }
    for (const UncheckedAccesses& unchecked : accesses.unchecked) {
      if (!Asked(result)) break;
      lines.push_back(fmt::format("Not checked: {}{}: {}", unchecked.partly ? "an index of " : "",
                                  Counted(unchecked.count, "access", "accesses"),
                                  VisibleText(unchecked.why)));
    }
  }
  if (told.found.kind_varies) {
    lines.push_back(fmt::format(
        "Irregular: the {} failed in different ways; each counted as a failure.", WholeWord(told)));
  }
  if (told.found.out_of_runs) lines.emplace_back("Ended by --max-runs; more runs may tell more.");
  return lines;
}

std::string CommandOf(const WhyTold& told) {
  const WhyTold defaults;
  std::string text = "cairn why ";
  if (told.hang_timeout_seconds != defaults.hang_timeout_seconds) {
    text += fmt::format("--hang-timeout {} ", told.hang_timeout_seconds);
  }
  if (told.survive_seconds != 0) text += fmt::format("--survive {} ", told.survive_seconds);
  if (told.found.unchanged.runs != WhyOptions().runs) {
    text += fmt::format("--runs {} ", told.found.unchanged.runs);
  }
  if (told.trips != defaults.trips) text += fmt::format("--trips {} ", told.trips);
  if (told.counts != defaults.counts) text += fmt::format("--counts {} ", told.counts);
  return text + (told.is_trace ? ShellQuoted(told.program) : "-- " + told.program);
}

}  // namespace cairn::cli
