// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/play_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

namespace cairn {

namespace {

// The most kinds of skipped calls; further kinds are counted together.
constexpr size_t kMostKinds = 1000;

// "fence 7 came to 0x80" -> "fence # came to #"
std::string WithoutNumbers(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      result += text[i];
      continue;
    }
    const bool hex = text.substr(i).starts_with("0x");
    if (hex) ++i;
    while (i + 1 < text.size() &&
           (is_digit(text[i + 1]) ||
            (hex && std::isxdigit(static_cast<unsigned char>(text[i + 1]))))) {
      ++i;
    }
    result += '#';
  }
  return result;
}

}  // namespace

void PlayLog::LeaveOut(uint64_t number, const std::string& what) {
  ++result_.skipped;
  const auto [known, added] = kinds_.try_emplace(WithoutNumbers(what), result_.left_out.size());
  if (!added) {
    ++result_.left_out[known->second].count;
    return;
  }
  if (result_.left_out.size() > kMostKinds) {
    kinds_.erase(known);
    ++result_.left_out.back().count;
    return;
  }
  const bool is_last = result_.left_out.size() == kMostKinds;
  result_.left_out.push_back({is_last ? "other kinds" : what, number, 1});
  if (options_.on_note) options_.on_note(fmt::format("skipped: call {}, {}", number, what));
}

void PlayLog::Note(const std::string& note) {
  constexpr size_t kMostNotes = 1000;
  if (noted_.size() >= kMostNotes || !noted_.insert(note).second) return;
  result_.notes.push_back(note);
  if (options_.on_note) options_.on_note(note);
}

void PlayLog::NotCompared(const std::string& note) {
  ++result_.not_compared;
  Note("not compared: " + note);
}

void PlayLog::SetFailure(PlayerFailure failure, uint64_t number) {
  if (failed()) return;
  failure_ = failure;
  failed_call_ = number;
}

Status PlayLog::Fail(PlayerFailure failure, uint64_t number, const std::string& what,
                     StatusCode code) {
  SetFailure(failure, number);
  return Status(code, fmt::format("record {}: {}", number, what));
}

Status PlayLog::FailCall(PlayerFailure failure, uint64_t number, const char* method,
                         const std::string& what) {
  SetFailure(failure, number);
  return Status(StatusCode::kUnsupported, fmt::format("call {}, {}: {}", number, method, what));
}

bool PlayLog::Interrupted() {
  if (!options_.interrupted || !options_.interrupted()) return false;
  result_.interrupted = true;
  return true;
}

void PlayLog::Finish() {
  std::vector<LeftOut>& kinds = result_.left_out;
  // The common entry for further kinds stays last.
  const size_t known = std::min(kinds.size(), kMostKinds);
  std::sort(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(known),
            [](const LeftOut& a, const LeftOut& b) { return a.first < b.first; });
  kinds_.clear();
}

}  // namespace cairn
