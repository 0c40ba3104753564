// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/description.h"

namespace cairn::cli {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;  // between the columns, at least
constexpr size_t kContinued = 6;
constexpr size_t kColumn = 28;  // where explanations of options stand, on 100 columns
constexpr uint32_t kNarrowest = 40;
constexpr uint32_t kNoLimit = 10'000;

// An option or a command, and its explanation.
struct Entry {
  std::string left;
  std::string right;
};

class Page {
 public:
  explicit Page(uint32_t columns)
      : columns_(columns == 0 ? kNoLimit : std::max(columns, kNarrowest)) {}

  void Blank() {
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
  }
  void Put(std::string_view text) { text_ += text; }
  // Wraps at spaces. The text begins at `column`, where the last line may have come to; other lines begin at `indent`.
  // `end` stands behind each line but the last.
  void Wrap(std::string_view text, size_t column, size_t indent, std::string_view end = "");
  // Entries below each other, explanations in one column.
  void Entries(const std::vector<Entry>& entries, size_t column);
  // The same with the column that fits to them.
  void Entries(const std::vector<Entry>& entries);
  // Examples, sentences and tables, whose lines may be broken anywhere.
  void Lines(std::string_view lines);

  std::string Take() { return std::move(text_); }
  size_t columns() const { return columns_; }

 private:
  size_t columns_;
  std::string text_;
};

void Page::Wrap(std::string_view text, size_t column, size_t indent, std::string_view end) {
  bool first = true;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(text.size(), space + 1));
    if (word.empty()) continue;
    const size_t width = CodePointCount(word);
    if (!first && column + 1 + width + end.size() > columns_) {
      text_ += fmt::format("{}\n{:{}}", end, "", indent);
      column = indent;
      first = true;
    }
    text_ += first ? "" : " ";
    text_ += word;
    column += width + (first ? 0 : 1);
    first = false;
  }
  text_ += '\n';
}

void Page::Entries(const std::vector<Entry>& entries, size_t column) {
  for (const Entry& entry : entries) {
    const size_t left = kIndent + CodePointCount(entry.left);
    text_.append(kIndent, ' ');
    if (left > columns_) {
      Wrap(entry.left, kIndent, kContinued, " \\");
    } else {
      text_ += entry.left;
      if (left + kGap > column || entry.right.empty()) text_ += '\n';
    }
    if (entry.right.empty()) continue;
    const bool same_line = left + kGap <= column;
    text_.append(same_line ? column - left : column, ' ');
    Wrap(entry.right, column, column);
  }
}

void Page::Entries(const std::vector<Entry>& entries) {
  // Explanations have half of the line at least; those of longer entries stand below them.
  const size_t most = columns_ / 2;
  size_t column = 0;
  for (const Entry& entry : entries) {
    const size_t width = kIndent + CodePointCount(entry.left) + kGap;
    if (width <= most) column = std::max(column, width);
  }
  Entries(entries, column == 0 ? kContinued : column);
}

void Page::Lines(std::string_view lines) {
  std::vector<Entry> entries;
  std::string paragraph;
  const auto end = [&] {
    if (!entries.empty()) Entries(entries);
    entries.clear();
    if (!paragraph.empty()) Wrap(paragraph, 0, 0);
    paragraph.clear();
  };
  while (!lines.empty()) {
    const size_t line_end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, line_end);
    lines.remove_prefix(std::min(lines.size(), line_end + 1));
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    if (line.empty()) {
      end();
      Blank();
    } else if (indent == 0) {
      // A sentence may begin a line of its own.
      if (!entries.empty() || paragraph.ends_with('.') || paragraph.ends_with(':')) end();
      paragraph += paragraph.empty() ? "" : " ";
      paragraph += line;
    } else if (indent >= kContinued && !entries.empty()) {
      entries.back().right += entries.back().right.empty() ? "" : " ";
      entries.back().right += line;
    } else {
      if (!paragraph.empty()) end();
      const size_t gap = std::min(line.find("  "), line.size());
      const size_t right = std::min(line.find_first_not_of(' ', gap), line.size());
      entries.push_back({std::string(line.substr(0, gap)), std::string(line.substr(right))});
    }
  }
  end();
}

std::string OrJoined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Entry EntryOf(const OptionDescription& option) {
  Entry entry = {fmt::format("{}", fmt::join(option.names, ", ")), option.help};
  const std::string type = option.value_optional ? "[" + option.type + "]" : option.type;
  if (!option.type.empty()) entry.left += (entry.left.empty() ? "" : " ") + type;
  if (!option.words.empty()) entry.left += fmt::format("[={}]", fmt::join(option.words, "|"));
  const bool told = std::all_of(
      option.values.begin(), option.values.end(),
      [&](const std::string& value) { return option.help.find(value) != std::string::npos; });
  if (!told) entry.right += fmt::format("; one of {}", OrJoined(option.values));
  if (!option.default_value.empty()) {
    entry.right += fmt::format("; {} if not given", option.default_value);
  }
  if (!option.excludes.empty()) {
    entry.right += fmt::format("; not with {}", OrJoined(option.excludes));
  }
  return entry;
}

void AddUsage(std::string_view usage, Page* page) {
  constexpr std::string_view kTitle = "Usage: ";
  for (std::string_view title = kTitle; !usage.empty(); title = {}) {
    const size_t end = std::min(usage.find('\n'), usage.size());
    std::string_view line = usage.substr(0, end);
    usage.remove_prefix(std::min(usage.size(), end + 1));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    page->Put(fmt::format("{:{}}", title, kTitle.size()));
    page->Wrap(line, kTitle.size(), kTitle.size() + kIndent);
  }
}

void AddEntries(std::string_view title, const std::vector<Entry>& entries, Page* page) {
  if (entries.empty()) return;
  page->Blank();
  page->Put(title);
  page->Put("\n");
  page->Entries(entries, std::min(kColumn, page->columns() * kColumn / 100));
}

// Those of a group stand together.
void AddVerbs(const std::vector<VerbDescription>& verbs, Page* page) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (!verbs[i].name.empty()) entries.push_back({verbs[i].name, verbs[i].purpose});
    if (i + 1 < verbs.size() && verbs[i + 1].group == verbs[i].group) continue;
    AddEntries(verbs[i].group + ":", entries, page);
    entries.clear();
  }
}

}  // namespace

std::string HelpText(const VerbDescription& verb, const std::vector<VerbDescription>& verbs,
                     uint32_t columns) {
  Page page(columns);
  page.Wrap(verb.purpose, 0, 0);
  AddUsage(verb.usage, &page);
  std::vector<Entry> words;
  std::vector<Entry> options;
  for (const OptionDescription& option : verb.options) {
    (option.names.empty() ? words : options).push_back(EntryOf(option));
  }
  AddEntries("Arguments:", words, &page);
  AddEntries("Options:", options, &page);
  if (verb.name.empty()) AddVerbs(verbs, &page);
  page.Blank();
  page.Lines(verb.footer);
  return page.Take();
}

}  // namespace cairn::cli
