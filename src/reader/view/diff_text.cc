// SPDX-License-Identifier: Apache-2.0
#include "reader/view/diff_text.h"

#include <fmt/format.h>

#include <string_view>

#include "base/json_writer.h"
#include "base/text.h"

namespace cairn::cli {
namespace {

// "frame 12", with what it was compared with where that is no other frame 12.
std::string FramesInWords(const CallDifference& difference) {
  const std::optional<uint64_t>& other = difference.other_frame;
  if (!other) {
    return fmt::format("frame {}, only in the {}", difference.frame,
                       difference.in_second ? "second" : "first");
  }
  if (*other == difference.frame) return fmt::format("frame {}", difference.frame);
  return fmt::format("frame {}, in the second frame {}",
                     difference.in_second ? *other : difference.frame,
                     difference.in_second ? difference.frame : *other);
}

}  // namespace

std::string CallDifferenceText::Next(const CallDifference& difference) {
  std::string text;
  std::optional<uint32_t> threads[2];
  threads[difference.in_second] = difference.thread;
  threads[!difference.in_second] = difference.other_thread;
  // The same for both sides.
  const bool is_turned = difference.in_second && difference.other_frame.has_value();
  const Place place = {is_turned ? *difference.other_frame : difference.frame,
                       is_turned ? difference.frame : difference.other_frame, threads[0],
                       threads[1]};
  if (place_ != place) {
    text += fmt::format("{}, thread {}", FramesInWords(difference),
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
  json.NumberKey("first_frame", result.first_frame);
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
    json.OptionalKey("other_frame", difference.other_frame);
    json.NumberKey("thread", difference.thread);
    json.OptionalKey("other_thread", difference.other_thread);
    json.StringKey("in", difference.in_second ? "second" : "first");
    json.NumberKey("call", difference.call);
    json.StringKey("text", difference.text);
    json.OptionalKey("changed", difference.changed);
    json.BeginObject("equal_before");
    json.NumberKey("count", difference.before.count);
    json.NumberKey("first", difference.before.first);
    json.NumberKey("last", difference.before.last);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
