// SPDX-License-Identifier: Apache-2.0
#include "reader/view/bisect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/json_writer.h"
#include "base/text.h"
#include "reader/analysis/analysis.h"
#include "reader/bisect/probe_answer.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kBarWidth = 20;

}  // namespace

const char* FailureWord(FailureKind kind) {
  switch (kind) {
    case FailureKind::kHang: return "hang";
    case FailureKind::kLost: return "device lost";
    case FailureKind::kDied: return "death";
    case FailureKind::kNone: break;
  }
  return "";
}

const char* WithoutWord(ProbeOutcome without) {
  switch (without) {
    case ProbeOutcome::kClean: return "clean";
    case ProbeOutcome::kFails: return "fails";
    case ProbeOutcome::kUndecided:
    case ProbeOutcome::kInvalid: break;
  }
  return "unknown";
}

namespace {

std::string FailureInWords(const BisectAnswer& failure) {
  switch (failure.kind) {
    case FailureKind::kHang: return "hangs";
    case FailureKind::kLost: return "loses the device";
    case FailureKind::kDied:
      return failure.signal == 0
                 ? "ends the process"
                 : fmt::format("kills the process ({})", SignalName(failure.signal));
    case FailureKind::kNone: break;
  }
  return "fails";
}

std::string Joined(const std::vector<std::string>& path) {
  return fmt::format("{}", fmt::join(path, " > "));
}

// "[2] to [5] of 64 together, the last"
std::string PartInWords(const PartsText& parts, const PartsText::Part& part) {
  const std::string of = parts.count_is_limit
                             ? fmt::format("at most {}", GroupedDigits(parts.count))
                             : GroupedDigits(parts.count);
  if (part.end - part.first == 1) return fmt::format("[{}] of {}", GroupedDigits(part.first), of);
  return fmt::format("[{}] to [{}] of {} together{}", GroupedDigits(part.first),
                     GroupedDigits(part.end - 1), of, part.text.empty() ? "" : ", the last");
}

void AppendParts(const PartsText& parts, std::string* text) {
  auto out = std::back_inserter(*text);
  if (parts.needs_none) {
    fmt::format_to(
        out,
        "    {:<9} none is needed: with everything else in place the trace fails without any "
        "of its {}s\n",
        parts.word, parts.word);
  }
  for (const PartsText::Part& part : parts.guilty) {
    fmt::format_to(out, "    {:<9} {}{}{}\n", parts.word, PartInWords(parts, part),
                   part.text.empty() ? "" : ": ", part.text);
  }
  if (parts.guilty.empty() || parts.all_looked_at) return;
  fmt::format_to(out, "    {:<9} {}\n", parts.word,
                 parts.more ? "others behind these make it fail as well"
                            : "those behind this one were not tried by themselves");
}

void AppendCulprit(const CulpritText& culprit, std::string* text) {
  const Suspect& suspect = culprit.suspect;
  auto out = std::back_inserter(*text);
  const std::string number = GroupedDigits(suspect.call);
  switch (suspect.kind) {
    case Suspect::Kind::kCall: fmt::format_to(out, "  call {}: {}\n", number, culprit.call); break;
    case Suspect::Kind::kList:
      fmt::format_to(out, "  list {} of submission {}, whatever it holds\n", suspect.list, number);
      break;
    case Suspect::Kind::kSubmission:
      fmt::format_to(out, "  submission {}, whatever it holds\n", number);
      break;
  }
  if (culprit.parts) AppendParts(*culprit.parts, text);
  if (!culprit.path.empty()) fmt::format_to(out, "    in        {}\n", Joined(culprit.path));
  if (!culprit.pipeline.empty()) fmt::format_to(out, "    pipeline  {}\n", culprit.pipeline);
  if (!culprit.list.empty()) fmt::format_to(out, "    list      {}\n", culprit.list);
  if (culprit.submission != 0) {
    fmt::format_to(out, "    executed  by call {} on {}, frame {}\n",
                   GroupedDigits(culprit.submission), culprit.queue, GroupedDigits(culprit.frame));
  }
}

void AppendRest(const BisectTold& told, std::string* text) {
  const BisectAnswer& answer = told.answer;
  auto out = std::back_inserter(*text);
  const std::string_view them = Plural(answer.culprits.size(), "it", "them");
  switch (answer.without) {
    case ProbeOutcome::kClean:
      fmt::format_to(out, "Without {} the trace runs to its end.\n", them);
      break;
    case ProbeOutcome::kFails:
      fmt::format_to(out,
                     "Without {} the trace still fails, for another reason: in submission {}.\n",
                     them, GroupedDigits(answer.other_place));
      break;
    case ProbeOutcome::kUndecided:
    case ProbeOutcome::kInvalid:
      fmt::format_to(out, "Without {} the trace cannot be played.\n", them);
      break;
  }
  if (told.minimal_path.empty()) return;
  fmt::format_to(out, "{} alone in {}, which fails as well: cairn replay {}\n",
                 Plural(answer.culprits.size(), "It is", "They are"),
                 VisibleText(told.minimal_path), ShellQuoted(told.minimal_path));
}

void WriteParts(const PartsText& parts, JsonWriter* json) {
  json->BeginObject("parts");
  json->StringKey("kind", parts.word);
  json->NumberKey("count", parts.count);
  json->BoolKey("count_is_limit", parts.count_is_limit);
  json->BoolKey("needs_none", parts.needs_none);
  json->BoolKey("complete", parts.all_looked_at);
  json->BeginArray("guilty");
  for (const PartsText::Part& part : parts.guilty) {
    json->BeginObject();
    json->NumberKey("first", part.first);
    json->NumberKey("last", part.end - 1);
    json->StringKey("text", part.text);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteCulprit(const CulpritText& culprit, JsonWriter* json) {
  json->BeginObject();
  switch (culprit.suspect.kind) {
    case Suspect::Kind::kCall:
      json->StringKey("kind", "call");
      json->NumberKey("call", culprit.suspect.call);
      json->StringKey("text", culprit.call);
      break;
    case Suspect::Kind::kList: json->StringKey("kind", "list"); break;
    case Suspect::Kind::kSubmission: json->StringKey("kind", "submission"); break;
  }
  json->NumberKey("submission", culprit.submission);
  json->NumberKey("list_index", culprit.list_index);
  json->NumberKey("frame", culprit.frame);
  json->StringKey("queue", culprit.queue);
  json->StringKey("list", culprit.list);
  json->StringKey("pipeline", culprit.pipeline);
  json->StringsKey("path", culprit.path);
  if (culprit.parts) WriteParts(*culprit.parts, json);
  json->EndObject();
}

// The scopes around the one of a call, outermost first, without itself.
std::vector<std::string> PathOf(const Snapshot& snapshot, const Analysis& analysis, uint64_t call) {
  std::vector<std::string> path;
  const auto found =
      std::find_if(analysis.scopes.begin(), analysis.scopes.end(),
                   [&](const Scope& scope) { return snapshot.events[scope.event].call == call; });
  if (found == analysis.scopes.end()) return path;
  for (uint32_t parent = found->parent; parent != kNone; parent = analysis.scopes[parent].parent) {
    std::string name;
    AppendScope(snapshot, analysis.scopes[parent], ScopeDetail::kName, name);
    path.insert(path.begin(), std::move(name));
  }
  return path;
}

double Seconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

std::string DeviceLine(const DeviceFacts& device) {
  std::string text = device.name.empty() ? "a device that does not say its name" : device.name;
  if (!device.driver.empty()) text += fmt::format(" ({})", device.driver);
  if (!device.library.empty()) text += ", with " + device.library;
  return text;
}

// Appends the calls that were not played, and what they mean for the answer.
void AppendLeftOut(const BisectTold& told, std::string* text) {
  if (told.left_out.empty()) return;
  fmt::format_to(std::back_inserter(*text),
                 "Not played on this device: {}\n"
                 "So the answer is not exact: the program may have done something else.\n",
                 told.left_out);
}

// Appends the trials without a failure, and the next thing to try.
void AppendTried(const BisectTold& told, std::string* text) {
  auto out = std::back_inserter(*text);
  const BisectAnswer& answer = told.answer;
  fmt::format_to(out, "Tried     {} replay{} of the whole trace", answer.asked,
                 Plural(answer.asked, "", "s"));
  if (told.whole_plays != 0) {
    fmt::format_to(out, ", {:.1f} s each", Seconds(told.whole_plays_ns / told.whole_plays));
  }
  fmt::format_to(out, "\nDevice    {}\n", DeviceLine(told.device));
  if (told.slowest_submission != 0) {
    fmt::format_to(out,
                   "Slowest   submission {} took {:.3g} s; what takes more than {:.3g} s counts as "
                   "a hang\n",
                   GroupedDigits(told.slowest_submission), Seconds(told.slowest_ns),
                   Seconds(told.hang_timeout_ns));
  }
  if (told.recorded.empty()) *text += "Recorded  no report of a hang, a loss or a death\n";
  for (const std::string& sentence : told.recorded) {
    fmt::format_to(out, "Recorded  {}\n", sentence);
  }
  *text += "Next      the device and the driver on which it failed, if this is another\n";
  // The shortest time-out that makes sense.
  constexpr uint64_t kShortestNs = 2'000'000;
  if (told.slowest_submission != 0 && told.slowest_ns >= kShortestNs) {
    fmt::format_to(out,
                   "          --hang-timeout below {:.3g}, if what hung there is only slow here\n",
                   Seconds(told.slowest_ns));
  }
  fmt::format_to(out, "          --runs {}, if it fails only now and then\n",
                 std::min(1000u, std::max(10u, answer.asked * 5)));
}

}  // namespace

std::vector<std::string> RecordedIncidents(const Snapshot& snapshot) {
  std::vector<std::string> sentences;
  for (const Incident& incident : snapshot.incidents) {
    sentences.push_back(VisibleText(IncidentSentence(snapshot, incident)));
  }
  return sentences;
}

void AddBreadcrumbPaths(const Snapshot& snapshot, std::vector<CulpritText>* culprits) {
  const bool wanted = std::any_of(culprits->begin(), culprits->end(), [](const CulpritText& text) {
    return text.path.empty() && text.suspect.kind == Suspect::Kind::kCall;
  });
  if (!wanted) return;
  const Analysis analysis = Analyse(snapshot);
  for (CulpritText& culprit : *culprits) {
    if (culprit.suspect.kind == Suspect::Kind::kCall && culprit.path.empty()) {
      culprit.path = PathOf(snapshot, analysis, culprit.suspect.call);
    }
  }
}

std::string NoCulpritInWords(const BisectAnswer& answer, const BisectWords& words) {
  switch (answer.no_culprit) {
    case NoCulprit::kNone: break;
    case NoCulprit::kRefused: return "the device refuses what the trace asks for: see cairn replay";
    case NoCulprit::kNeverFails:
      return fmt::format("the {} does not fail{}: {} of {} {} clean", words.whole, words.here,
                         answer.asked, Counted(answer.repeats, words.play),
                         Plural(answer.repeats, "was", "were"));
    case NoCulprit::kFailsAnyway:
      return fmt::format("the {} fails even with all {}s skipped: the GPU's work is not the cause",
                         words.whole, words.submission);
    case NoCulprit::kContradiction:
      return fmt::format(
          "the answers contradict each other: what failed once did not fail again, in {} probes; "
          "try again with larger --runs, and with nothing else on the machine",
          answer.contradicted_after);
  }
  return "";
}

std::string AnswerAsText(const BisectTold& told) {
  const BisectAnswer& answer = told.answer;
  std::string probes = Counted(answer.probes, "probe");
  if (answer.undecided != 0) {
    probes += fmt::format(", of which {} gave no answer and {} repeated",
                          GroupedDigits(answer.undecided), Plural(answer.undecided, "was", "were"));
  }
  probes += fmt::format(", {:.1f} s.\n", Seconds(told.duration_ns));
  const std::string path = VisibleText(told.path);
  if (!answer.found) {
    std::string text = fmt::format("{}: no culprit: {}.\n", path, NoCulpritInWords(answer, {}));
    if (!told.refused.empty()) text += fmt::format("Refused: {}\n", told.refused);
    AppendLeftOut(told, &text);
    if (answer.failed == 0 && answer.asked != 0) AppendTried(told, &text);
    return text + probes;
  }
  std::string text =
      fmt::format("{} {} in submission {}, in {} of {} replays.\n\n", path, FailureInWords(answer),
                  GroupedDigits(answer.place), answer.failed, answer.asked);
  text += answer.culprits.size() == 1
              ? "The culprit\n"
              : fmt::format("The culprits: it takes all {}\n", answer.culprits.size());
  for (const CulpritText& culprit : told.culprits) AppendCulprit(culprit, &text);
  text += "\n";
  AppendRest(told, &text);
  AppendLeftOut(told, &text);
  return text + probes;
}

std::string AnswerAsJson(const BisectTold& told) {
  const BisectAnswer& answer = told.answer;
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-bisect");
  json.NumberKey("version", 1);
  json.StringKey("file", told.path);
  json.BoolKey("found", answer.found);
  json.StringKey("reason", NoCulpritInWords(answer, {}));
  json.StringKey("failure", FailureWord(answer.kind));
  json.NumberKey("signal", static_cast<uint32_t>(answer.signal));
  json.NumberKey("submission", answer.place);
  json.NumberKey("failed", answer.failed);
  json.NumberKey("asked", answer.asked);
  json.NumberKey("undecided", answer.undecided);
  json.StringKey("device", told.device.name);
  json.StringKey("driver", told.device.driver);
  json.StringKey("library", told.device.library);
  json.RealKey("hang_timeout_seconds", Seconds(told.hang_timeout_ns));
  json.NumberKey("slowest_submission", told.slowest_submission);
  json.RealKey("slowest_seconds", Seconds(told.slowest_ns));
  json.StringsKey("recorded", told.recorded);
  json.StringKey("left_out", told.left_out);
  json.StringKey("refused", told.refused);
  json.BeginArray("culprits");
  for (const CulpritText& culprit : told.culprits) WriteCulprit(culprit, &json);
  json.EndArray();
  json.StringKey("without", WithoutWord(answer.without));
  json.StringKey("minimal_trace", told.minimal_path);
  json.NumberKey("probes", answer.probes);
  json.RealKey("seconds", Seconds(told.duration_ns));
  if (!told.why_json.empty()) json.JsonKey("why", told.why_json);
  json.EndObject();
  return text;
}

std::string ProgressLine(const BisectProgress& progress, uint64_t average_ms) {
  const uint64_t expected = std::max(progress.probes_expected, progress.probes_done + 1);
  const uint64_t done = progress.probes_done * kBarWidth / expected;
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {} of about {} probes", "", done, "",
                                 kBarWidth - done, progress.probes_done, expected);
  if (average_ms != 0) {
    const uint64_t left_s = ((expected - progress.probes_done) * average_ms + 999) / 1000;
    line += fmt::format(", {} s left", GroupedDigits(left_s));
  }
  return line + ": " + progress.what;
}

}  // namespace cairn::cli
