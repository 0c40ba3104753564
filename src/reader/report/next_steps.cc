// SPDX-License-Identifier: Apache-2.0
#include "reader/report/next_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "format/snapshot/incident_detail.h"

namespace cairn {
namespace {

// The time of `cairn run --hang-timeout` if it is not given.
constexpr int64_t kUsualHangTimeoutMs = 10'000;

#ifdef _WIN32
// U+2018 to U+201F, which PowerShell takes for ' and ".
bool HasQuotationMark(std::string_view word) {
  for (size_t at = 0; (at = word.find("\xe2\x80", at)) != std::string_view::npos; ++at) {
    const auto last = static_cast<uint8_t>(at + 2 < word.size() ? word[at + 2] : 0);
    if (last >= 0x98 && last <= 0x9f) return true;
  }
  return false;
}
#endif

// Returns a line that a shell of this system splits into these words again, and runs nothing else of; nothing if no
// line is safe in all of them.
std::string PastedLine(const std::vector<std::string>& words) {
#ifdef _WIN32
  // In cmd.exe and PowerShell alike.
  std::string line;
  for (const std::string& word : words) {
    if (HasQuotationMark(word) || !IsVisibleText(word) ||
        word.find_first_of("\"'`$%") != std::string::npos) {
      return {};
    }
    const bool is_plain = !word.empty() &&
                          word.find_first_of(" &|<>^();,{}") == std::string::npos &&
                          !word.starts_with('@') && !word.starts_with('#');
    if (!line.empty()) line += ' ';
    // A backslash before the last mark would take its meaning.
    line += is_plain ? word : '"' + word + (word.ends_with('\\') ? "\\" : "") + '"';
  }
  return line;
#else
  return ShellQuotedLine(words);
#endif
}

// Returns the path so that no verb takes it for an option.
std::string NoOption(std::string_view path) {
  return (path.starts_with('-') ? "./" : "") + std::string(path);
}

class StepFinder {
 public:
  StepFinder(const Snapshot& snapshot, const Findings& findings, std::string_view file)
      : snapshot_(snapshot),
        findings_(findings),
        finding_(findings.culprit),
        file_(PastedLine({NoOption(file)})),
        command_(Command(snapshot)) {}

  // What others need of this failure.
  std::vector<NextStep> FindToSend() && {
    if (finding_.kind == FindingKind::kNothingWrong || file_.empty()) return {};
    AddForFile("cairn report --markdown ",
               "for a bug tracker: this answer as text; --redact replaces names by hashes");
    Add(file_,
        IsCaptured()
            ? "for the program's or the driver's authors; holds names, paths, the command line, "
              "all recorded calls and their data"
            : "for the program's or the driver's authors; holds names, paths and the command line");
    return std::move(steps_);
  }

  std::vector<NextStep> Find() && {
    if (HasCulpritWork(finding_.kind)) {
      AddForFailedGpu();
    } else if (finding_.kind == FindingKind::kDeadlock ||
               finding_.kind == FindingKind::kEndlessWait) {
      AddForFile("cairn report --all ", "shows each wait, and the submissions that it holds back");
    } else if (finding_.kind == FindingKind::kCpuFault) {
      AddForCrash();
    }
    if (steps_.empty()) AddPage();
    return std::move(steps_);
  }

 private:
  void AddForFailedGpu() {
    // A search needs work that it can leave out.
    const bool exact = finding_.certainty == Certainty::kProven;
    if (!exact && !WritesAllEnds(Mode())) {
      AddRun("--breadcrumbs full", "also marks where work ends: fewer suspects");
    } else if (!exact && Mode() == MarkerMode::kFull) {
      AddRun("--breadcrumbs exact",
             "one GPU command at a time: if it fails again, the one in flight is the culprit");
    }
    AddSearch();
  }

  void AddPage() {
    AddForFile(
        "cairn view ",
        "in a browser: each queue's commands and waits, what was bound, when resources lived");
  }

  void AddSearch() {
    if (IsCaptured()) {
      AddForFile("cairn bisect ",
                 "finds the call without which a replay of this file does not fail, then why");
    } else if (!command_.empty()) {
      Add(fmt::format("cairn bisect {}-- {}", HangTimeout(), command_),
          HasCulpritWork(finding_.kind) && finding_.certainty == Certainty::kProven
              ? "finds why: runs the program with one thing changed each time"
              : "finds the culprit, then why: runs the program with one thing changed each time");
    }
  }

  void AddForCrash() {
    // In a thread that made no call: where the CPU does the GPU's work, work in flight may have made the fault.
    if (!finding_.suspects.empty() && finding_.crash.thread == kNone) AddSearch();
    if (IsCaptured()) {
      AddForFile("cairn verify ", "looks for what cannot be right in the calls up to the crash");
    } else if (CanBeCaptured()) {
      AddRun("--capture", "records the calls up to the crash, for cairn verify and cairn calls");
    }
  }

  void AddForFile(std::string_view command, std::string_view effect) {
    if (!file_.empty()) Add(std::string(command) + file_, effect);
  }
  void AddRun(std::string_view option, std::string_view effect) {
    if (command_.empty()) return;
    Add(fmt::format("cairn run {} {}{}-- {}", option, HangTimeout(), KillOnHang(), command_),
        effect);
  }
  void Add(std::string command, std::string_view effect) {
    steps_.push_back({std::move(command), std::string(effect)});
  }

  // The words of the program and its arguments are quoted anew: anyone may have made the file that they stand in.
  static std::string Command(const Snapshot& snapshot) {
    std::vector<std::string> words = WordsOfShellLine(snapshot.Text(snapshot.process.command_line));
#ifndef _WIN32
    if (!words.empty() && IsWindowsProgram(words.front())) words.insert(words.begin(), "wine");
#endif
    return PastedLine(words);
  }

  // "--hang-timeout 2 ", if a hang was noticed after another time than the usual one.
  std::string HangTimeout() const {
    for (const Incident& incident : snapshot_.incidents) {
      if (incident.kind != IncidentKind::kHang || incident.value <= 0) continue;
      if (incident.value == kUsualHangTimeoutMs) return "";
      return fmt::format("--hang-timeout {:g} ", static_cast<double>(incident.value) / 1000);
    }
    return "";
  }

  // "--kill-on-hang ", if the run had it.
  std::string KillOnHang() const {
    const bool had = std::any_of(snapshot_.incidents.begin(), snapshot_.incidents.end(),
                                 [this](const Incident& incident) {
                                   return incident.kind == IncidentKind::kHang &&
                                          snapshot_.Text(incident.detail) == kKillOnHangDetail;
                                 });
    return had ? std::string(kKillOnHangDetail) + ' ' : "";
  }

  // The same file holds a trace: its work knows the calls that made it.
  bool IsCaptured() const {
    return std::any_of(snapshot_.events.begin(), snapshot_.events.end(),
                       [](const Event& event) { return event.call != 0; });
  }

  // Calls of Direct3D 12 alone are recorded.
  bool CanBeCaptured() const {
    return std::any_of(snapshot_.devices.begin(), snapshot_.devices.end(),
                       [](const Device& device) { return device.api == Api::kD3D12; });
  }

  // The mode of the device that the suspects ran on, or of the first one.
  MarkerMode Mode() const {
    uint32_t device = findings_.device == kNone ? 0 : findings_.device;
    if (!finding_.suspects.empty()) {
      device = findings_.analysis.verdicts[finding_.suspects.front().verdict].device;
    }
    return device < snapshot_.devices.size() ? snapshot_.devices[device].mode : MarkerMode::kOff;
  }

  const Snapshot& snapshot_;
  const Findings& findings_;
  const CulpritFinding& finding_;  // of these
  const std::string file_;         // "" if no line can name it
  const std::string command_;      // "" if it is not known
  std::vector<NextStep> steps_;
};

}  // namespace

std::vector<NextStep> NextSteps(const Snapshot& snapshot, const Findings& findings,
                                std::string_view file) {
  return StepFinder(snapshot, findings, file).Find();
}

std::vector<NextStep> StepsToSend(const Snapshot& snapshot, const Findings& findings,
                                  std::string_view file) {
  return StepFinder(snapshot, findings, file).FindToSend();
}

}  // namespace cairn
