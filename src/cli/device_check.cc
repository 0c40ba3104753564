// SPDX-License-Identifier: Apache-2.0
#include "cli/device_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/verb.h"

namespace cairn::cli {
namespace {

const char* KindName(DeviceDifference::Kind kind) {
  switch (kind) {
    case DeviceDifference::Kind::kFeature: return "feature";
    case DeviceDifference::Kind::kInterface: return "interface";
    case DeviceDifference::Kind::kAllocation: return "allocation";
    case DeviceDifference::Kind::kPlacement: return "placement";
    case DeviceDifference::Kind::kStructure: return "structure";
    case DeviceDifference::Kind::kFurther: break;
  }
  return "further";
}

std::string TextOf(const std::string& path, const PlayerResult& result, uint64_t prevent) {
  std::string text;
  for (const DeviceDifference& one : result.differences) {
    text += fmt::format("{:<10}  {:<8}  {}", KindName(one.kind),
                        one.prevents ? "prevents" : "differs", VisibleText(one.text));
    if (one.count > 1 && one.kind != DeviceDifference::Kind::kFurther) {
      text += fmt::format(" ({} times)", GroupedDigits(one.count));
    }
    const bool is_call = one.number != 0 && one.kind != DeviceDifference::Kind::kPlacement;
    if (is_call) text += fmt::format(", first in call {}", GroupedDigits(one.number));
    text += "\n";
  }
  const std::string name = VisibleText(path);
  if (prevent == 0) return text + name + ": nothing that was compared prevents the playback\n";
  return text + fmt::format("{}: {} would be skipped or wrong here\n", name,
                            prevent == 1 ? "one of these" : GroupedDigits(prevent) + " of these");
}

std::string JsonOf(const std::string& path, const PlayerResult& result, uint64_t prevent) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-device-check");
  json.NumberKey("version", 1);
  json.StringKey("file", VisibleText(path));
  json.BoolKey("plays", prevent == 0);
  json.BeginArray("differences");
  for (const DeviceDifference& one : result.differences) {
    json.BeginObject();
    json.StringKey("kind", KindName(one.kind));
    json.BoolKey("prevents", one.prevents);
    json.StringKey("text", VisibleText(one.text));
    json.NumberKey("count", one.count);
    const bool is_resource = one.kind == DeviceDifference::Kind::kPlacement;
    if (one.number != 0) json.NumberKey(is_resource ? "object" : "call", one.number);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace

int PrintCheck(const std::string& path, const PlayerResult& result, bool json) {
  const auto prevent = static_cast<uint64_t>(
      std::count_if(result.differences.begin(), result.differences.end(),
                    [](const DeviceDifference& one) { return one.prevents; }));
  if (!PrintOutput("replay",
                   json ? JsonOf(path, result, prevent) : TextOf(path, result, prevent))) {
    return kExitFailed;
  }
  return prevent == 0 ? 0 : kExitLeftOut;
}

}  // namespace cairn::cli
