// SPDX-License-Identifier: Apache-2.0
//
// The state of a command list, in words and as JSON.
#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "format/calls/value_output.h"
#include "reader/view/bound_state.h"

namespace cairn::cli {
namespace {

// ---- In words ----

void AddLine(std::string* text, size_t indent, std::string_view key, std::string_view value) {
  constexpr size_t kMostBytes = 160;
  const std::string visible = VisibleText(value);
  const std::string_view kept = Utf8Prefix(visible, kMostBytes);
  *text += fmt::format("{:{}}{}{}{}{}\n", "", indent, key, key.empty() ? "" : "  ", kept,
                       kept.size() == visible.size() ? "" : " ...");
}

void AddSetting(std::string* text, size_t indent, std::string_view key,
                const ListState::Setting& setting) {
  AddLine(text, indent, key, fmt::format("{} (set by call {})", setting.words, setting.set_by));
}

std::string NameOrNone(const ListState::Object& object, const char* none) {
  return object.number == kNoObject ? none : object.name;
}

std::string CallInLine(const std::optional<ListState::Call>& call) {
  if (!call.has_value()) return "an unknown call";
  return fmt::format("call {}: {}", call->number, call->words);
}

void AddPipeline(std::string* text, const ListState& state) {
  if (state.pipeline.number == kNoObject) return AddLine(text, 0, "pipeline", "none");
  AddSetting(text, 0, "pipeline", {state.pipeline_set_by, state.pipeline.name, ""});
  const std::optional<ListState::Call>& creation = state.pipeline_creation;
  if (!creation.has_value()) return;
  AddLine(text, 2, "created by", fmt::format("call {}: {}", creation->number, creation->method));
  std::string_view members = creation->members;
  while (!members.empty()) {
    const size_t end = members.find('\n');
    AddLine(text, 4, "", members.substr(0, end));
    members.remove_prefix(end + 1);
  }
}

std::string ConstantsInLine(const std::vector<uint32_t>& constants) {
  TextOutput out(/*whole=*/true);
  out.BeginArray();
  for (const uint32_t constant : constants) {
    out.BeginElement();
    out.Unsigned(constant);
    out.EndElement();
  }
  out.EndArray();
  return out.text;
}

void AddRoot(std::string* text, const char* name, const ListState::Root& root) {
  if (root.signature.number == kNoObject && root.arguments.empty()) return;
  AddLine(text, 0, name, NameOrNone(root.signature, "no root signature"));
  for (const auto& [place, argument] : root.arguments) {
    ListState::Setting setting = argument.value;
    setting.words = argument.constants.empty()
                        ? fmt::format("{}: {}", argument.kind, setting.words)
                        : fmt::format("{} from {}: {}", argument.kind, place.second,
                                      ConstantsInLine(argument.constants));
    AddSetting(text, 2, std::to_string(place.first), setting);
    for (const ListState::Descriptor& descriptor : argument.descriptors) {
      AddLine(text, 6, fmt::format("[{}]", descriptor.index), CallInLine(descriptor.written_by));
    }
  }
}

void AddSlots(std::string* text, const char* name,
              const std::map<uint32_t, ListState::Setting>& slots) {
  for (const auto& [slot, view] : slots)
    AddSetting(text, 0, fmt::format("{} {}", name, slot), view);
}

void AddFences(std::string* text, const std::vector<ListState::Fence>& fences) {
  for (const ListState::Fence& fence : fences) {
    AddLine(text, 0, fence.object.name,
            fence.completed ? fmt::format("completed {} (known by {})", *fence.completed,
                                          fence.completed_known_by)
                            : "completed unknown");
    for (const ListState::FenceValue& signal : fence.signals) {
      AddLine(text, 2, "signal",
              fmt::format("{} by {} (call {})", signal.value,
                          NameOrNone(signal.queue, "an unknown queue"), signal.call));
    }
    for (const ListState::FenceValue& wait : fence.queue_waits) {
      AddLine(text, 2, "wait",
              fmt::format("for {} by {} (call {})", wait.value,
                          NameOrNone(wait.queue, "an unknown queue"), wait.call));
    }
    for (const ListState::FenceValue& wait : fence.cpu_waits) {
      AddLine(text, 2, "wait", fmt::format("for {} by the CPU (call {})", wait.value, wait.call));
    }
  }
}

void AddParts(std::string* text, const ExecutedParts& parts) {
  AddLine(
      text, 0, parts.kind + "s",
      fmt::format("{}{}, {}", parts.count_is_limit ? "up to " : "", GroupedDigits(parts.count),
                  parts.executed_by == 0 ? "which no ExecuteCommandLists of the trace executes"
                                         : fmt::format("executed by call {}", parts.executed_by)));
  if (!parts.made_of.empty()) AddLine(text, 2, "of", parts.made_of);
  for (size_t i = 0; i < parts.parts.size();) {
    const ExecutedParts::Part& part = parts.parts[i];
    const size_t first = i++;
    if (part.unknown.empty()) {
      AddLine(text, 2, "", part.text);
      continue;
    }
    // Neighbours with one reason share a line.
    while (i < parts.parts.size() && parts.parts[i].unknown == part.unknown) ++i;
    const std::string more = i - first == 1 ? "" : fmt::format(" and {} more", i - first - 1);
    AddLine(text, 2, "", fmt::format("{}{}: unknown, {}", part.text, more, part.unknown));
  }
}

// ---- JSON ----

void WriteObject(std::string_view key, const ListState::Object& object, JsonWriter* json) {
  if (object.number == kNoObject) return json->NullKey(key);
  json->BeginObject(key);
  json->NumberKey("object", object.number);
  json->StringKey("text", object.name);
  json->EndObject();
}

void CallKeys(const ListState::Call& call, JsonWriter* json) {
  json->NumberKey("number", call.number);
  json->StringKey("method", call.method);
  json->JsonKey("arguments", call.arguments);
}

void WriteCall(std::string_view key, const std::optional<ListState::Call>& call, JsonWriter* json) {
  if (!call.has_value()) return json->NullKey(key);
  json->BeginObject(key);
  CallKeys(*call, json);
  json->EndObject();
}

// The call whose state it is.
void WriteOwnCall(const ListState& state, JsonWriter* json) {
  if (!state.call.has_value()) return json->NullKey("call");
  json->BeginObject("call");
  CallKeys(*state.call, json);
  json->NumberKey("frame", state.frame);
  json->NumberKey("thread", state.thread);
  json->EndObject();
}

void WritePipeline(const ListState& state, JsonWriter* json) {
  if (state.pipeline.number == kNoObject) return json->NullKey("pipeline");
  json->BeginObject("pipeline");
  json->NumberKey("object", state.pipeline.number);
  json->StringKey("text", state.pipeline.name);
  json->NumberKey("set_by", state.pipeline_set_by);
  WriteCall("created_by", state.pipeline_creation, json);
  json->EndObject();
}

void WriteRootArgument(uint32_t index, uint64_t offset, const ListState::RootArgument& argument,
                       JsonWriter* json) {
  json->BeginObject();
  json->NumberKey("index", index);
  json->StringKey("kind", argument.kind);
  json->NumberKey("set_by", argument.value.set_by);
  if (argument.constants.empty()) {
    json->JsonKey("value", argument.value.json);
  } else {
    json->NumberKey("offset", offset);
    json->BeginArray("values");
    for (const uint32_t constant : argument.constants) json->Number(constant);
    json->EndArray();
  }
  if (argument.table.has_value()) {
    json->BeginArray("descriptors");
    for (const ListState::Descriptor& descriptor : argument.descriptors) {
      json->BeginObject();
      json->NumberKey("index", descriptor.index);
      WriteCall("written_by", descriptor.written_by, json);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteRoot(std::string_view key, const ListState::Root& root, JsonWriter* json) {
  json->BeginObject(key);
  WriteObject("root_signature", root.signature, json);
  json->BeginArray("root_arguments");
  for (const auto& [place, argument] : root.arguments) {
    WriteRootArgument(place.first, place.second, argument, json);
  }
  json->EndArray();
  json->EndObject();
}

void WriteTargets(const std::vector<ListState::Target>& targets, JsonWriter* json) {
  json->BeginArray("targets");
  for (const ListState::Target& target : targets) {
    json->BeginObject();
    json->StringKey("kind", target.is_depth ? "depth stencil" : "render target");
    WriteCall("written_by", target.written_by, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteSlots(std::string_view key, const std::map<uint32_t, ListState::Setting>& slots,
                JsonWriter* json) {
  json->BeginArray(key);
  for (const auto& [slot, view] : slots) {
    json->BeginObject();
    json->NumberKey("slot", slot);
    json->NumberKey("set_by", view.set_by);
    json->JsonKey("view", view.json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteFenceValues(std::string_view key, const std::vector<ListState::FenceValue>& values,
                      bool of_queues, JsonWriter* json) {
  json->BeginArray(key);
  for (const ListState::FenceValue& value : values) {
    json->BeginObject();
    if (of_queues) WriteObject("queue", value.queue, json);
    json->NumberKey("value", value.value);
    json->NumberKey("call", value.call);
    json->EndObject();
  }
  json->EndArray();
}

void WriteFences(const std::vector<ListState::Fence>& fences, JsonWriter* json) {
  json->BeginArray("fences");
  for (const ListState::Fence& fence : fences) {
    json->BeginObject();
    json->NumberKey("object", fence.object.number);
    json->StringKey("text", fence.object.name);
    if (fence.completed) {
      json->NumberKey("completed", *fence.completed);
    } else {
      json->NullKey("completed");
    }
    json->NumberKey("known_by", fence.completed_known_by);
    WriteFenceValues("signals", fence.signals, /*of_queues=*/true, json);
    WriteFenceValues("queue_waits", fence.queue_waits, /*of_queues=*/true, json);
    WriteFenceValues("cpu_waits", fence.cpu_waits, /*of_queues=*/false, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteParts(const ExecutedParts& parts, JsonWriter* json) {
  json->BeginObject("parts");
  json->StringKey("kind", parts.kind);
  json->NumberKey("count", parts.count);
  json->BoolKey("count_is_limit", parts.count_is_limit);
  if (parts.executed_by != 0) json->NumberKey("executed_by", parts.executed_by);
  if (!parts.made_of.empty()) json->StringKey("of", parts.made_of);
  json->BeginArray("listed");
  for (const ExecutedParts::Part& part : parts.parts) {
    json->BeginObject();
    json->StringKey("text", part.text);
    if (!part.unknown.empty()) json->StringKey("unknown", part.unknown);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

std::string ListStateInWords(const ListState& state) {
  std::string text;
  AddLine(&text, 0, "", CallInLine(state.call));
  AddLine(&text, 0, "list",
          fmt::format("{}, recorded since call {}", NameOrNone(state.list, "none"),
                      state.recorded_since));
  if (state.parts) AddParts(&text, *state.parts);
  AddPipeline(&text, state);
  AddRoot(&text, "graphics root signature", state.graphics);
  AddRoot(&text, "compute root signature", state.compute);
  for (const auto& [key, setting] : state.settings) AddSetting(&text, 0, key, setting);
  for (const ListState::Target& target : state.targets) {
    AddLine(&text, 2, target.is_depth ? "depth" : "target", CallInLine(target.written_by));
  }
  AddSlots(&text, "vertex_buffers", state.vertex_buffers);
  AddSlots(&text, "stream_output", state.stream_output);
  AddFences(&text, state.fences);
  return text;
}

std::string ListStateJson(const ListState& state) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("format", "cairn-state");
  json.NumberKey("version", 1);
  WriteOwnCall(state, &json);
  WriteObject("list", state.list, &json);
  json.NumberKey("recorded_since", state.recorded_since);
  if (state.parts) WriteParts(*state.parts, &json);
  WritePipeline(state, &json);
  WriteRoot("graphics", state.graphics, &json);
  WriteRoot("compute", state.compute, &json);
  for (const auto& [key, setting] : state.settings) {
    json.BeginObject(key);
    json.NumberKey("set_by", setting.set_by);
    json.JsonKey("arguments", setting.json);
    json.EndObject();
  }
  WriteTargets(state.targets, &json);
  WriteSlots("vertex_buffers", state.vertex_buffers, &json);
  WriteSlots("stream_output", state.stream_output, &json);
  WriteFences(state.fences, &json);
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
