// SPDX-License-Identifier: Apache-2.0
// "GET calls?first=0" and "POST images?call=7": any bytes are a question or refused; what is asked has all that it
// needs, and of what was written a verb is told numbers alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reader/serve/file_question.h"

namespace {

using cairn::Asked;

void Check(bool holds) {
  if (!holds) std::abort();
}

bool IsNumber(const std::string& word) {
  return cairn::ParseDigits(word).has_value();
}

bool IsOurs(const std::string& word) {
  constexpr std::string_view kOurs[] = {
      "--json",     "diff",  "--align", "--limit",     "2000",          "images",
      "--frame",    "-o",    "bisect",  "--no-output", "--no-why",      "--journal",
      "--progress", "/file", "/other",  "/images",     "/other-images", "/journal"};
  return std::ranges::find(kOurs, word) != std::end(kOurs);
}

bool IsOrder(Asked asked) {
  return asked == Asked::kImages || asked == Asked::kFrameImages || asked == Asked::kOtherImages ||
         asked == Asked::kStartBisect || asked == Asked::kStopBisect;
}

bool OfFrame(Asked asked) {
  return asked == Asked::kFrameImages || asked == Asked::kOtherImages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto of_dump = cairn::ReadDumpQuestion(line)) {
    const std::string_view before = line.substr(0, line.size() - of_dump->rest.size());
    Check(before.starts_with("dump/") && before.ends_with('/'));
    Check(cairn::ParseDigits(before.substr(5, before.size() - 6)) == of_dump->number);
  }
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  const bool is_order = line.substr(0, blank) == "POST";
  const auto question = cairn::ReadFileQuestion(line.substr(blank + 1), is_order);
  if (!question.ok()) {
    const cairn::StatusCode code = question.status().code();
    Check(code == cairn::StatusCode::kNotFound || code == cairn::StatusCode::kInvalidArgument);
    Check(!question.status().message().empty());
    return 0;
  }
  const Asked asked = question->asked;
  Check(is_order == IsOrder(asked));
  Check(question->call.has_value() == (asked == Asked::kState || asked == Asked::kImages));
  Check(question->number.has_value() == (asked == Asked::kLine));
  if (OfFrame(asked)) Check(question->frame.has_value());
  Check(question->name.empty() == (asked != Asked::kImage && asked != Asked::kOtherImage));
  Check(!question->name.starts_with('.'));
  Check(question->name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos);
  const std::vector<std::string> words = cairn::VerbFor(*question, {.file = "/file",
                                                                    .other = "/other",
                                                                    .images = "/images",
                                                                    .other_images = "/other-images",
                                                                    .journal = "/journal"});
  Check(words.empty() ==
        (asked != Asked::kStartBisect && asked != Asked::kCompare && !OfFrame(asked)));
  for (const std::string& word : words) Check(IsOurs(word) || (OfFrame(asked) && IsNumber(word)));
  Check(question->objects.size() <= cairn::FileQuestion::kMostObjects);
  Check(question->moment.empty() || question->moment == "before" || question->moment == "after");
  return 0;
}
