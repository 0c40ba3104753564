// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "reader/report/markdown.h"
#include "reader/view/program_bisect_text.h"
#include "reader/view/why_text.h"
#include "reader/view/why_words.h"

namespace cairn::cli {
namespace {

std::string Paragraph(const std::vector<std::string>& sentences) {
  return sentences.empty() ? "" : fmt::format("\n{}\n", fmt::join(sentences, " "));
}

std::string List(std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("\n{}\n\n", heading);
  for (const std::string& item : items) text += fmt::format("- {}\n", item);
  return text;
}

std::string PlaceLine(const ShownPlace& shown) {
  std::string text = CodeSpan(shown.place);
  if (!shown.source.empty()) text += ": " + CodeSpan(shown.source);
  return fmt::format("{}, {}. {}", text, shown.number, shown.record);
}

std::string Cause(const WhyTold& told, const WhyResult& result) {
  const auto index = static_cast<size_t>(&result - told.found.results.data());
  std::string text = fmt::format("\n**{}, {}: {}**\n", HeadingOf(told.found, index),
                                 VerdictWord(result.verdict), CauseInWords(result, CodeSpan));
  text += Paragraph(CountsInWords(told, result));
  std::vector<std::string> lines;
  for (const ShownPlace& shown : ShownPlaces(told, result, CodeSpan)) {
    lines.push_back(PlaceLine(shown));
  }
  return text + List("The place:", lines) + Paragraph(PlacesInWords(told, result, CodeSpan));
}

}  // namespace

std::string WhyAsMarkdown(const WhyTold& told) {
  const WhyFound& found = told.found;
  const std::string program = CodeSpan(told.program);
  std::string text;
  if (found.unchanged.failed == 0) {
    text = fmt::format("### {}: no cause\n", program) +
           Paragraph({fmt::format("No cause: {}.", CleanInWords(told))});
  } else {
    text = fmt::format("### {} {}, {}\n", program, FailsInWords(found.kind, found.signal),
                       UnchangedInWords(told));
    if (found.causes.empty()) text += Paragraph({NoCauseInWords(told)});
  }
  for (const size_t cause : found.causes) text += Cause(told, found.results[cause]);
  text += List("Not the cause:", NotTheCause(found));
  text += List("Does not apply:", DoesNotApply(found, CodeSpan));
  text += List("Not known:", DoubtsInWords(told));
  for (const std::string& device : found.devices) {
    text += fmt::format("\nDevice: {}\n", CodeSpan(device));
  }
  if (!told.driver.empty()) text += fmt::format("\nDriver: {}\n", CodeSpan(told.driver));
  return text + fmt::format("\nRepeated by {}, in {}\n", CodeSpan(CommandOf(told)),
                            RunsInWords(told, found.runs));
}

}  // namespace cairn::cli
