// SPDX-License-Identifier: Apache-2.0
#include "reader/view/image_diff_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/text.h"

namespace cairn::cli {
namespace {

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

}  // namespace cairn::cli
