// SPDX-License-Identifier: Apache-2.0
#include "reader/view/program_bisect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json_writer.h"
#include "base/text.h"
#include "format/snapshot/marker_type_name.h"
#include "reader/bisect/probe_answer.h"
#include "reader/view/bisect_text.h"

namespace cairn::cli {
namespace {

std::string TypeOf(const WorkNote& work) {
  const std::string_view name = MarkerTypeName(work.type);
  return name.empty() ? fmt::format("work of type {}", work.type) : std::string(name);
}

std::vector<std::string> VisiblePath(const WorkNote& work) {
  std::vector<std::string> path;
  for (const std::string& label : work.path) path.push_back(VisibleText(label));
  return path;
}

std::string TimesInWords(uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", GroupedDigits(count));
}

std::string RunsInWords(uint64_t count) {
  return Counted(count, "run");
}

std::string PiecesInWords(uint64_t count) {
  return Counted(count, "piece of work", "pieces of work");
}

void AppendCulprit(const ProgramCulprit& culprit, std::string* text) {
  auto out = std::back_inserter(*text);
  const WorkNote& work = culprit.work;
  switch (culprit.suspect.kind) {
    case Suspect::Kind::kCall:
      fmt::format_to(out, "  {}", TypeOf(work));
      // Elsewhere ordinals count all work of a type; this one counts work that is alike in all
      // else.
      if (culprit.alike > 1) {
        fmt::format_to(out, ", number {} of {} alike there", work.ordinal, culprit.alike);
      }
      *text += "\n";
      break;
    case Suspect::Kind::kList:
      fmt::format_to(out, "  {} of type {}{}\n", PiecesInWords(culprit.count), TypeOf(work),
                     Plural(culprit.count, "", " together"));
      break;
    case Suspect::Kind::kSubmission:
      fmt::format_to(out, "  {}{} of a scope{}\n", Plural(culprit.count, "the ", "all "),
                     PiecesInWords(culprit.count), Plural(culprit.count, "", " together"));
      break;
  }
  const std::vector<std::string> path = VisiblePath(work);
  fmt::format_to(out, "    in        {}\n",
                 path.empty() ? "no label" : fmt::format("{}", fmt::join(path, " > ")));
  if (culprit.suspect.kind != Suspect::Kind::kSubmission && !work.pipeline.empty()) {
    fmt::format_to(out, "    pipeline  {}\n", VisibleText(work.pipeline));
  }
  if (culprit.suspect.kind != Suspect::Kind::kCall) return;
  fmt::format_to(out, "    recorded  {}, submitted {} in a run of the whole program\n",
                 TimesInWords(work.recorded), TimesInWords(work.submitted));
}

// "it", "them"; "one of them" where each of several fails by itself.
struct Pronouns {
  const char* with;
  const char* without;
};
Pronouns PronounsOf(const ProgramFound& found) {
  if (found.culprits.size() > 1) return {"one of them", "any of them"};
  return found.answer.culprits.size() == 1 ? Pronouns{"it", "it"} : Pronouns{"them", "them"};
}

void AppendConfidence(const ProgramTold& told, std::string* text) {
  auto out = std::back_inserter(*text);
  const ProgramFound& found = told.found;
  const auto [with, without] = PronounsOf(found);
  fmt::format_to(out, "The program failed in {} of {} with {}, in {} of {} without {}.\n",
                 found.failed_with, RunsInWords(found.runs_with), with, found.failed_without,
                 RunsInWords(found.runs_without), without);
  switch (found.answer.without) {
    case ProbeOutcome::kClean:
      fmt::format_to(out, "Without {} everything else {}.\n", without,
                     told.survive_seconds != 0 ? "runs on" : "runs to its end");
      break;
    case ProbeOutcome::kFails:
      fmt::format_to(out,
                     "Without {} everything else fails, too: there are more culprits, or what is "
                     "skipped was needed.\n",
                     without);
      break;
    case ProbeOutcome::kUndecided:
    case ProbeOutcome::kInvalid:
      fmt::format_to(out, "Without {} the program does not end, which shows nothing.\n", without);
      break;
  }
}

// Appends the reasons that weaken an answer.
void AppendDoubts(const ProgramTold& told, std::string* text) {
  auto out = std::back_inserter(*text);
  if (told.found.answer.kind_varies) {
    *text += "Irregular: the whole program failed in different ways; each counted as a failure.\n";
  }
  if (told.found.work_not_in_all != 0) {
    fmt::format_to(out, "Irregular: {} of {} {} not in every run of the whole.\n",
                   GroupedDigits(told.found.work_not_in_all), PiecesInWords(told.found.work),
                   Plural(told.found.work_not_in_all, "was", "were"));
  }
  if (told.found.failed_otherwise != 0) {
    fmt::format_to(out, "{} failed in another way, which counts as no failure.\n",
                   RunsInWords(told.found.failed_otherwise));
  }
  if (told.found.stuck != 0) {
    fmt::format_to(out, "{} did not end without a part of the work, and counted as no failure.\n",
                   RunsInWords(told.found.stuck));
  }
  if (told.found.work_dropped != 0) {
    fmt::format_to(out, "{} did not fit into the list of work: skipped with others only.\n",
                   PiecesInWords(told.found.work_dropped));
  }
}

void AppendNextSteps(const ProgramTold& told, std::string* text) {
  auto out = std::back_inserter(*text);
  const BisectAnswer& answer = told.found.answer;
  if (!told.found.layers_seen) {
    *text +=
        "Saw       no Vulkan or Direct3D 12 work; cairn run -- PROGRAM says whether the layers "
        "are loaded into it\n";
  }
  if (answer.failed != 0) return;
  for (const std::string& device : told.found.devices) {
    fmt::format_to(out, "Device    {}\n", VisibleText(device));
  }
  fmt::format_to(out, "Ended     {}\n",
                 told.found.survived
                     ? fmt::format("by cairn, after {:.3g} s", told.survive_seconds)
                     : fmt::format("by itself, with exit code {}", told.found.exit_code));
  fmt::format_to(
      out,
      "Next      --hang-timeout below {:.3g}, if what hangs elsewhere is only slow here\n"
      "          --runs {}, if it fails only now and then\n",
      told.hang_timeout_seconds, std::min(1000u, std::max(10u, answer.asked * 5)));
  if (told.found.survived) *text += "          a longer --survive, if it fails later\n";
}

void WriteCulprit(const ProgramCulprit& culprit, JsonWriter* json) {
  const WorkNote& work = culprit.work;
  json->BeginObject();
  switch (culprit.suspect.kind) {
    case Suspect::Kind::kCall: json->StringKey("kind", "work"); break;
    case Suspect::Kind::kList: json->StringKey("kind", "group"); break;
    case Suspect::Kind::kSubmission: json->StringKey("kind", "scope"); break;
  }
  json->StringsKey("path", VisiblePath(work));
  json->StringKey("type", TypeOf(work));
  json->NumberKey("ordinal", work.ordinal);
  json->NumberKey("alike", culprit.alike);
  json->NumberKey("count", culprit.count);
  json->StringKey("pipeline", VisibleText(work.pipeline));
  json->NumberKey("recorded", work.recorded);
  json->NumberKey("submitted", work.submitted);
  json->HexKey("key", work.key);
  json->EndObject();
}

std::string RunsLine(const ProgramTold& told) {
  const BisectAnswer& answer = told.found.answer;
  std::string text = RunsInWords(answer.probes);
  if (answer.undecided != 0) {
    text += fmt::format(", of which {} gave no answer and {} repeated",
                        GroupedDigits(answer.undecided), Plural(answer.undecided, "was", "were"));
  }
  return text + fmt::format(", {:.1f} s.\n", static_cast<double>(told.duration_ns) / 1e9);
}

}  // namespace

std::string FailsInWords(FailureKind kind, int signal) {
  switch (kind) {
    case FailureKind::kHang: return "hangs";
    case FailureKind::kLost: return "loses the device";
    case FailureKind::kDied: return fmt::format("dies of {}", SignalName(signal));
    case FailureKind::kNone: break;
  }
  return "fails";
}

std::string ProgramAnswerAsText(const ProgramTold& told) {
  const BisectAnswer& answer = told.found.answer;
  const std::string program = VisibleText(told.program);
  if (!answer.found) {
    std::string text =
        fmt::format("{}: no culprit: {}.\n", program, NoCulpritInWords(answer, ProgramWords()));
    AppendDoubts(told, &text);
    AppendNextSteps(told, &text);
    return text + RunsLine(told);
  }
  std::string text =
      fmt::format("{} {}, in {} of {}.\n\n", program, FailsInWords(answer.kind, answer.signal),
                  answer.failed, RunsInWords(answer.asked));
  text += answer.culprits.size() == 1
              ? "The culprit\n"
              : fmt::format("The culprits: it takes all {}\n", answer.culprits.size());
  for (size_t i = 0; i < told.found.culprits.size(); ++i) {
    if (i != 0) text += "And without that\n";
    for (const ProgramCulprit& culprit : told.found.culprits[i]) AppendCulprit(culprit, &text);
  }
  text += "\n";
  AppendConfidence(told, &text);
  AppendDoubts(told, &text);
  if (!told.report_path.empty()) {
    text += fmt::format("The report of a run with nothing else: cairn report {}\n",
                        ShellQuoted(told.report_path));
  }
  return text + RunsLine(told);
}

std::string ProgramAnswerAsJson(const ProgramTold& told) {
  const BisectAnswer& answer = told.found.answer;
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-bisect-program");
  json.NumberKey("version", 1);
  json.StringKey("program", told.program);
  json.BoolKey("found", answer.found);
  json.StringKey("reason", NoCulpritInWords(answer, ProgramWords()));
  for (const char* const key :
       {"fails_without_gpu_work", "not_to_blame"}) {  // the second: deprecated
    json.BoolKey(key, answer.no_culprit == NoCulprit::kFailsAnyway);
  }
  json.StringKey("failure", FailureWord(answer.kind));
  json.NumberKey("signal", static_cast<uint32_t>(answer.signal));
  json.BoolKey("failures_differ", answer.kind_varies);
  json.NumberKey("failed", answer.failed);
  json.NumberKey("asked", answer.asked);
  json.BeginArray("culprits");
  for (const ProgramCulprits& together : told.found.culprits) {
    json.BeginArray();
    for (const ProgramCulprit& culprit : together) WriteCulprit(culprit, &json);
    json.EndArray();
  }
  json.EndArray();
  json.NumberKey("runs_with", told.found.runs_with);
  json.NumberKey("failed_with", told.found.failed_with);
  json.NumberKey("runs_without", told.found.runs_without);
  json.NumberKey("failed_without", told.found.failed_without);
  json.StringKey("without", WithoutWord(answer.without));
  json.NumberKey("failed_otherwise", told.found.failed_otherwise);
  json.NumberKey("stuck", told.found.stuck);
  json.NumberKey("undecided", answer.undecided);
  json.NumberKey("work", told.found.work);
  json.NumberKey("work_not_in_all", told.found.work_not_in_all);
  json.NumberKey("work_dropped", told.found.work_dropped);
  json.BoolKey("layers_seen", told.found.layers_seen);
  json.StringsKey("devices", told.found.devices);
  json.SignedKey("exit_code", told.found.exit_code);
  json.RealKey("hang_timeout_seconds", told.hang_timeout_seconds);
  json.RealKey("survive_seconds", told.survive_seconds);
  json.StringKey("report", told.report_path);
  json.NumberKey("runs", answer.probes);
  json.RealKey("seconds", static_cast<double>(told.duration_ns) / 1e9);
  if (!told.why_json.empty()) json.JsonKey("why", told.why_json);
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
