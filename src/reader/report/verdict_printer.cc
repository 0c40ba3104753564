// SPDX-License-Identifier: Apache-2.0
#include "reader/report/verdict_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.h"
#include "reader/analysis/work_class.h"
#include "reader/report/describe.h"
#include "reader/report/reason_text.h"
#include "reader/report/suspect_text.h"

namespace cairn {
namespace {

constexpr size_t kSuspectsShown = 4;
constexpr size_t kListCandidatesShown = 16;
constexpr size_t kBindingsShown = 12;

// No line of the answer is longer.
constexpr size_t kHeadlineColumns = 100;
constexpr int kLabelColumns = 9;
constexpr char kCandidatePrefix[] = "    [>] ";
constexpr char kDetailPrefix[] = "        ";

}  // namespace

VerdictPrinter::VerdictPrinter(const Snapshot& snapshot, const Findings& findings,
                               const TextOptions& options)
    : snapshot_(snapshot),
      findings_(findings),
      analysis_(findings.analysis),
      file_(options.file),
      print_flags_(options.print_flags),
      all_((options.print_flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0),
      with_pipelines_((options.print_flags & CAIRN_PRINT_SKIP_PIPELINE_INFO) == 0) {
  text_.reserve(1024);
  const std::vector<SuspectWork>& suspects = findings.culprit.suspects;
  several_queues_ =
      std::any_of(suspects.begin(), suspects.end(), [&suspects](const SuspectWork& suspect) {
        return suspect.verdict != suspects.front().verdict;
      });
}

void VerdictPrinter::PrintFinding(LineSink& sink) {
  const AnswerText answer = AnswerInWords(snapshot_, findings_, print_flags_);
  PrintHeadline(sink, answer);
  const auto print = [&](std::string_view label, std::string_view text) {
    sink.Prose(fmt::format("  {:<{}} ", label, kLabelColumns), text);
  };
  std::string_view label;
  for (const AnswerRow& row : answer.rows) {
    print(row.label == label ? "" : row.label, row.text);
    label = row.label;
  }
  if (!file_.empty()) {
    PrintSteps(sink, "next", "or", NextSteps(snapshot_, findings_, file_));
    PrintSteps(sink, "send", "file", StepsToSend(snapshot_, findings_, file_));
  }
  PrintSuspects(sink);
}

void VerdictPrinter::PrintSteps(LineSink& sink, std::string_view label, std::string_view others,
                                const std::vector<NextStep>& steps) {
  for (const NextStep& step : steps) {
    sink.Whole(fmt::format("  {:<{}} ", &step == steps.data() ? label : others, kLabelColumns),
               step.command);
    sink.Prose(fmt::format("  {:<{}} ", "", kLabelColumns), step.effect);
  }
}

// Puts the certainty at the right of the first line, where the eye finds it.
void VerdictPrinter::PrintHeadline(LineSink& sink, const AnswerText& answer) {
  const size_t columns =
      sink.width() == 0 ? kHeadlineColumns : std::min(sink.width(), kHeadlineColumns);
  if (answer.how_sure.empty()) return sink.Prose("", answer.headline);
  const std::string headline = VisibleText(answer.headline);
  const size_t sure = CodePointCount(answer.how_sure);
  size_t end = headline.size();
  // The end, where the headline has no blank there or the terminal is narrow.
  while (end != std::string::npos && end != 0 &&
         CodePointCount(std::string_view(headline).substr(0, end)) + sure + 2 > columns) {
    end = headline.rfind(' ', end - 1);
  }
  if (end == std::string::npos || end == 0) {
    return sink.Prose("", fmt::format("{} ({})", headline, answer.how_sure));
  }
  const size_t used = CodePointCount(std::string_view(headline).substr(0, end)) + sure;
  sink.Prose("", headline.substr(0, end) + std::string(columns - used, ' ') + answer.how_sure);
  if (end != headline.size()) sink.Prose("  ", headline.substr(end + 1));
}

void VerdictPrinter::PrintSuspects(LineSink& sink) {
  const std::vector<SuspectWork>& suspects = findings_.culprit.suspects;
  if (suspects.size() <= 1 && !all_) return PrintBindingsOfOnlySuspect(sink);
  if (suspects.empty()) return;
  sink.Blank();
  text_ = HeadingOfSuspects(findings_);
  if (suspects.size() > 1) text_ += ", the most likely first";
  AppendLegend(suspects);
  sink.Heading(text_);
  const size_t shown = all_ ? suspects.size() : std::min(suspects.size(), kSuspectsShown);
  for (size_t i = 0; i < shown && !sink.full(); ++i) PrintSuspect(sink, i + 1, suspects[i]);
  if (shown == suspects.size()) return;
  text_ = fmt::format("… {} more; --all shows them", suspects.size() - shown);
  sink.Prose("    ", text_);
}

// Appends the states that suspects are in: "([>] in flight)".
void VerdictPrinter::AppendLegend(const std::vector<SuspectWork>& suspects) {
  std::string_view separator = " (";
  for (const WorkStateText& each : kWorkStates) {
    const WorkState state = each.state;
    if (std::none_of(suspects.begin(), suspects.end(), [this, state](const SuspectWork& suspect) {
          return StateOf(suspect) == state;
        })) {
      continue;
    }
    fmt::format_to(std::back_inserter(text_), "{}{} {}", separator, each.mark, each.word);
    separator = ", ";
  }
  if (separator == ", ") text_ += ')';
}

WorkState VerdictPrinter::StateOf(const SuspectWork& suspect) const {
  return suspect.scope == kNone ? WorkState::kInFlight : analysis_.scopes[suspect.scope].state;
}

// The rows of the answer have told the rest of it.
void VerdictPrinter::PrintBindingsOfOnlySuspect(LineSink& sink) {
  if (findings_.culprit.suspects.empty()) return;
  const CandidateContext* const context =
      FindContext(analysis_, findings_.culprit.suspects.front());
  if (context == nullptr || context->binding_count == 0) return;
  sink.Blank();
  const auto begin = analysis_.bindings.begin() + context->first_binding;
  const bool all_alive = std::all_of(begin, begin + context->binding_count, IsHarmless);
  sink.Heading(all_alive ? "Resources bound for this command"
                         : "Resources bound for this command (! destroyed, or in no known object)");
  PrintBindings(sink, *context);
}

void VerdictPrinter::PrintSuspect(LineSink& sink, size_t number, const SuspectWork& suspect) {
  text_.clear();
  AppendSuspectWork(snapshot_, findings_, suspect, text_);
  sink.Prose(fmt::format(" {}. {} ", number, StateMark(StateOf(suspect))), text_);
  // Everything that the first one uses follows.
  const bool details = number == 1 && !all_;
  text_.clear();
  AppendPipelineAndReason(suspect, !details);
  if (!text_.empty()) sink.Prose(kDetailPrefix, text_);
  if (!details) return;
  const CandidateContext* const context = FindContext(analysis_, suspect);
  if (context != nullptr) PrintContext(sink, *context);
}

void VerdictPrinter::AppendPipelineAndReason(const SuspectWork& suspect, bool with_binding) {
  const uint32_t pipeline = suspect.scope == kNone || !with_pipelines_
                                ? kNone
                                : PipelineOf(snapshot_, analysis_.scopes[suspect.scope]);
  if (pipeline != kNone) AppendPipeline(snapshot_, pipeline, text_);
  // The sentence has named the only suspect completely.
  if (suspect.reason == SuspectReason::kOnlyWorkRunning) return;
  if (pipeline != kNone) text_ += ": ";
  AppendSuspectReason(snapshot_, findings_, suspect, with_binding, text_);
  if (!several_queues_) return;
  text_ += "; on ";
  AppendQueue(snapshot_, analysis_.verdicts[suspect.verdict].queue, text_);
}

void VerdictPrinter::PrintQueues(LineSink& sink) {
  sink.Blank();
  // Their sentences name marker events.
  const bool names_events = std::any_of(
      analysis_.verdicts.begin(), analysis_.verdicts.end(), [this](const QueueVerdict& verdict) {
        return IsShown(verdict.device) && verdict.reason.first_in_flight != kNone;
      });
  sink.Heading(names_events ? "Queues (marker event N: the Nth begin, end or binding in its list)"
                            : "Queues");
  bool any = false;
  for (const QueueVerdict& verdict : analysis_.verdicts) {
    if (!IsShown(verdict.device)) continue;
    if (sink.full()) return;
    PrintQueue(sink, verdict);
    any = true;
  }
  if (!any) sink.Prose(" - ", "Nothing is known: no command list is registered.");
}

void VerdictPrinter::PrintQueue(LineSink& sink, const QueueVerdict& verdict) {
  text_.clear();
  AppendQueue(snapshot_, verdict.queue, text_);
  const auto out = std::back_inserter(text_);
  const size_t count = verdict.candidates.size() + verdict.list_candidates.size();
  if (verdict.unknown) {
    text_ += ": unknown";
  } else if (count == 0) {
    text_ += ": nothing was running";
  } else if (verdict.exact) {
    text_ += ": exactly one command was running";
  } else if (verdict.ends_unseen) {
    fmt::format_to(out, ": unknown, {} candidate{} whose end cannot be seen", count,
                   Plural(count, "", "s"));
  } else {
    fmt::format_to(out, ": {} {}{} may have been running", count,
                   verdict.list_candidates.empty() ? "command" : "command or list",
                   Plural(count, "", "s"));
  }
  sink.Prose(" - ", text_);
  if (all_ || findings_.culprit.suspects.empty()) PrintCandidates(sink, verdict);
  text_.clear();
  AppendQueueReason(snapshot_, analysis_, verdict, text_);
  sink.Prose("    ", text_);
}

void VerdictPrinter::PrintCandidates(LineSink& sink, const QueueVerdict& verdict) {
  // Candidates with a context are shown: the first and the last ones.
  uint32_t next = 0;
  for (const CandidateContext& context : verdict.contexts) {
    if (context.candidate != next) PrintHidden(sink, context.candidate - next, "candidates");
    next = context.candidate + 1;
    PrintCandidate(sink, verdict, context);
  }
  const size_t lists_shown = std::min(verdict.list_candidates.size(), kListCandidatesShown);
  for (size_t i = 0; i < lists_shown; ++i) {
    text_.clear();
    AppendListPath(snapshot_, analysis_.executions[verdict.list_candidates[i]], text_);
    text_ += " > (commands without a marker)";
    sink.Prose(kCandidatePrefix, text_);
  }
  if (lists_shown < verdict.list_candidates.size()) {
    PrintHidden(sink, verdict.list_candidates.size() - lists_shown, "command lists");
  }
  PrintLateSuspect(sink, verdict);
}

void VerdictPrinter::PrintCandidate(LineSink& sink, const QueueVerdict& verdict,
                                    const CandidateContext& context) {
  const Scope& scope = analysis_.scopes[verdict.candidates[context.candidate]];
  text_.clear();
  AppendCallOf(snapshot_, scope, text_);
  AppendListPath(snapshot_, analysis_.executions[verdict.candidate_executions[context.candidate]],
                 text_);
  AppendScopePath(snapshot_, analysis_, scope, text_);
  sink.Prose(kCandidatePrefix, text_);
  PrintPipeline(sink, scope);
  PrintContext(sink, context);
}

void VerdictPrinter::PrintLateSuspect(LineSink& sink, const QueueVerdict& verdict) {
  if (verdict.late_suspect == kNone) return;
  const Scope& scope = analysis_.scopes[verdict.late_suspect];
  text_.clear();
  AppendCallOf(snapshot_, scope, text_);
  AppendListPath(snapshot_, analysis_.executions[verdict.late_suspect_execution], text_);
  AppendScopePath(snapshot_, analysis_, scope, text_);
  sink.Prose("    [X] ", text_);
  PrintPipeline(sink, scope);
}

void VerdictPrinter::PrintPipeline(LineSink& sink, const Scope& scope) {
  const uint32_t pipeline = PipelineOf(snapshot_, scope);
  if (pipeline == kNone || !with_pipelines_) return;
  text_.clear();
  AppendPipeline(snapshot_, pipeline, text_);
  sink.Prose(kDetailPrefix, text_);
}

void VerdictPrinter::PrintContext(LineSink& sink, const CandidateContext& context) {
  if (context.annotation_scope != kNone) {
    const Event& marker = snapshot_.events[analysis_.scopes[context.annotation_scope].event];
    const Annotation& annotation = snapshot_.annotations[marker.detail];
    if (annotation.event_id != 0) {
      text_ = "EventID ";
      AppendEventId(annotation.event_id, text_);
      fmt::format_to(std::back_inserter(text_), ", \"{}\"", snapshot_.Text(annotation.name));
      sink.Prose(kDetailPrefix, text_);
    }
  }
  PrintBindings(sink, context);
}

void VerdictPrinter::PrintBindings(LineSink& sink, const CandidateContext& context) {
  const auto begin = analysis_.bindings.begin() + context.first_binding;
  const auto end = begin + context.binding_count;
  size_t shown = 0;
  const size_t limit = all_ ? context.binding_count : kBindingsShown;
  // Bindings with a fault come first.
  for (const bool alive : {false, true}) {
    for (auto binding = begin; binding != end; ++binding) {
      if (IsHarmless(*binding) != alive || shown == limit) continue;
      ++shown;
      text_.clear();
      AppendBinding(snapshot_, *binding, text_);
      sink.Prose(alive ? kDetailPrefix : "      ! ", text_);
    }
  }
  if (shown == context.binding_count) return;
  text_ = fmt::format("… {} more; --all shows them", context.binding_count - shown);
  sink.Prose(kDetailPrefix, text_);
}

void VerdictPrinter::PrintHidden(LineSink& sink, size_t count, const char* what) {
  text_ = fmt::format("… {} more {}", count, what);
  sink.Prose(kDetailPrefix, text_);
}

}  // namespace cairn
