// SPDX-License-Identifier: Apache-2.0
#include "reader/view/diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json_writer.h"
#include "base/text.h"

namespace cairn::cli {
namespace {

std::string Counted(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", GroupedDigits(count), what, count == 1 ? "" : "s");
}

uint64_t CountDifferent(std::span<const ImagePair> pairs) {
  return static_cast<uint64_t>(
      std::ranges::count_if(pairs, [](const ImagePair& pair) { return !pair.same; }));
}

std::string ImageLine(const std::string (&names)[2], const ImagePair& pair) {
  const std::string what = VisibleText(pair.what);
  if (!pair.present[0] || !pair.present[1]) {
    return fmt::format("{}: only in {}\n", what, VisibleText(names[pair.present[0] ? 0 : 1]));
  }
  if (!pair.problem.empty()) return fmt::format("{}: differs; {}\n", what, pair.problem);
  if (!pair.difference.same_size) return fmt::format("{}: not of the same size\n", what);
  return fmt::format("{}: {} different, by {} of 255 at most\n", what,
                     Counted(pair.difference.different_pixels, "pixel"), pair.difference.largest);
}

void WritePair(const ImagePair& pair, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("what", pair.what);
  json->BoolKey("first", pair.present[0]);
  json->BoolKey("second", pair.present[1]);
  json->BoolKey("same_size", pair.difference.same_size);
  json->NumberKey("different_pixels", pair.difference.different_pixels);
  json->NumberKey("largest_difference", pair.difference.largest);
  if (!pair.problem.empty()) json->StringKey("problem", pair.problem);
  json->EndObject();
}

}  // namespace

std::string ImagePairsText(const std::string (&names)[2], std::span<const ImagePair> pairs,
                           uint64_t limit) {
  std::string text;
  uint64_t shown = 0;
  for (const ImagePair& pair : pairs) {
    if (pair.same) continue;
    if (shown++ == limit) break;
    text += ImageLine(names, pair);
  }
  const std::string compared = Counted(pairs.size(), "image") + " compared, ";
  const uint64_t different = CountDifferent(pairs);
  return text + compared +
         (different == 0 ? "all the same\n" : fmt::format("{} different\n", different));
}

std::string ImagePairsJson(const std::string (&names)[2], std::span<const ImagePair> pairs,
                           uint64_t limit) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-diff-images");
  json.NumberKey("version", 1);
  json.StringKey("first", names[0]);
  json.StringKey("second", names[1]);
  json.NumberKey("compared_images", pairs.size());
  json.NumberKey("different_images", CountDifferent(pairs));
  json.BeginArray("images");
  uint64_t shown = 0;
  for (const ImagePair& pair : pairs) {
    if (pair.same) continue;
    if (shown++ == limit) break;
    WritePair(pair, &json);
  }
  json.EndArray();
  json.EndObject();
  return text;
}

std::string CallDifferenceText::Next(const CallDifference& difference) {
  std::string text;
  std::optional<uint32_t> threads[2];
  threads[difference.in_second] = difference.thread;
  threads[!difference.in_second] = difference.other_thread;
  const Place place = {difference.frame, threads[0], threads[1]};
  if (place_ != place) {
    text += fmt::format("frame {}, thread {}", difference.frame,
                        threads[0] ? *threads[0] : *threads[1]);
    if (threads[0] && threads[1] && threads[0] != threads[1]) {
      text += fmt::format(", in the second thread {}", *threads[1]);
    }
    text += "\n";
  }
  place_ = place;
  // Descriptions of pipelines take thousands of characters; JSON has them whole.
  constexpr size_t kMostBytes = 400;
  const std::string_view shown = Utf8Prefix(difference.text, kMostBytes);
  const char* const colour = !colour_ ? "" : difference.in_second ? "\x1b[32m" : "\x1b[31m";
  return text + fmt::format("{}{} {:>10}  {}{}{}\n", colour, difference.in_second ? '+' : '-',
                            GroupedDigits(difference.call), VisibleText(shown),
                            shown.size() == difference.text.size() ? "" : " ...",
                            colour_ ? "\x1b[0m" : "");
}

std::string DiffSummary(const TraceDiffResult& result, bool cut) {
  std::string text =
      result.differences == 0
          ? fmt::format("{} in {}: no call differs", Counted(result.calls[0], "call"),
                        Counted(result.frames[0], "frame"))
          : fmt::format("{} only in one of {} and {} calls{}", Counted(result.differences, "call"),
                        GroupedDigits(result.calls[0]), GroupedDigits(result.calls[1]),
                        cut ? "; --limit 0 shows all" : "");
  if (result.frames[0] != result.frames[1]) {
    text += fmt::format("; {} and {} frames", GroupedDigits(result.frames[0]),
                        GroupedDigits(result.frames[1]));
  }
  if (!result.different_images.empty()) {
    text += fmt::format("; recorded hashes of images: {} of {} differ, the first that of frame {}",
                        GroupedDigits(result.different_images.size()),
                        GroupedDigits(result.compared_images), result.different_images.front());
  } else if (result.compared_images != 0) {
    text +=
        fmt::format("; recorded hashes of {}: the same", Counted(result.compared_images, "image"));
  }
  return text + "\n";
}

std::string UndecodedWarning(const TraceDiffResult& result) {
  return fmt::format(
      "{} could not be read, or say more than a file of its size may, and were compared by their "
      "functions only; cairn verify lists those that are damaged",
      Counted(result.undecoded, "call"));
}

std::string CallDifferencesJson(const std::string (&names)[2], const TraceDiffResult& result,
                                std::span<const CallDifference> differences, bool cut) {
  std::string text;
  JsonWriter json(&text);
  const auto numbers = [&json](std::string_view key, std::span<const uint64_t> values) {
    json.BeginArray(key);
    for (const uint64_t value : values) json.Number(value);
    json.EndArray();
  };
  json.BeginObject();
  json.StringKey("format", "cairn-diff-calls");
  json.NumberKey("version", 1);
  json.StringKey("first", names[0]);
  json.StringKey("second", names[1]);
  numbers("frames", result.frames);
  numbers("calls", result.calls);
  json.NumberKey("different_calls", result.differences);
  json.NumberKey("compared_images", result.compared_images);
  numbers("different_images", result.different_images);
  json.BoolKey("complete", !cut);
  json.BeginArray("differences");
  for (const CallDifference& difference : differences) {
    json.BeginObject();
    json.NumberKey("frame", difference.frame);
    json.NumberKey("thread", difference.thread);
    json.StringKey("in", difference.in_second ? "second" : "first");
    json.NumberKey("call", difference.call);
    json.StringKey("text", difference.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
