// SPDX-License-Identifier: Apache-2.0
#include "cli/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "base/ascii_marks.h"
#include "base/text.h"
#include "os/terminal.h"

namespace cairn::cli {
namespace {

bool output_unchanged = false;

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

void PrintError(std::string_view verb, std::string_view message) {
  PrintOnError(fmt::format("cairn{}{}: {}\n", verb.empty() ? "" : " ", verb, VisibleText(message)));
}

void PrintOnError(std::string_view text) {
  const std::string ascii = LocaleIsUtf8() ? "" : AsciiMarks(text);
  if (!ascii.empty()) text = ascii;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void PrintWarning(std::string_view verb, std::string_view message) {
  PrintError(verb, fmt::format("warning: {}", message));
}

void PrintOutputUnchanged() {
  output_unchanged = true;
}

bool PrintOutput(std::string_view verb, std::string_view text) {
  const std::string ascii = output_unchanged || LocaleIsUtf8() ? "" : AsciiMarks(text);
  if (!ascii.empty()) text = ascii;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // `cairn report FILE | head`: the reader has seen enough.
  if (!written && !OutputHasNoReader()) {
    PrintError(verb, fmt::format("the output cannot be written: {}", strerror(errno)));
  }
  return written;
}

std::string ClosestWord(const std::string& word, const std::vector<std::string>& known) {
  std::string closest;
  // A third of the letters may be wrong; more would be a guess.
  size_t closest_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < closest_distance) {
      closest = candidate;
      closest_distance = distance;
    }
  }
  return closest;
}

}  // namespace cairn::cli
