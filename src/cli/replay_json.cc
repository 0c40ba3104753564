// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_json.h"

#include "base/json_writer.h"
#include "base/text.h"

namespace cairn::cli {

std::string ReplayJson(const std::string& path, const PlayerResult& result) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-replay");
  json.NumberKey("version", 1);
  json.StringKey("file", VisibleText(path));
  json.NumberKey("frames", result.frames);
  json.NumberKey("calls", result.calls);
  json.NumberKey("skipped", result.skipped);
  json.BeginObject("moved");
  json.NumberKey("structures", result.moved.structures);
  json.NumberKey("scratches", result.moved.scratches);
  json.NumberKey("resources", result.moved.resources);
  json.EndObject();
  json.BeginArray("notes");
  for (const std::string& note : result.notes) json.String(VisibleText(note));
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
