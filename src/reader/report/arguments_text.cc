// SPDX-License-Identifier: Apache-2.0
#include "reader/report/arguments_text.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>

#include "cairn/marker_types.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "reader/analysis/arguments.h"
#include "reader/report/describe.h"

namespace cairn {
namespace {

template <typename... Values>
void Add(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

// Digits of a count are not grouped: they are searched for.
void AddCounted(uint32_t count, std::string_view one, std::string_view several, std::string& out) {
  Add(out, "{} {}", count, Plural(count, one, several));
}

void AppendDraw(const WorkArguments& arguments, std::string& out) {
  const bool indexed = arguments.main.point == ArgumentsPoint::kIndexedDraw;
  AddCounted(arguments.main.first, indexed ? "index" : "vertex", indexed ? "indices" : "vertices",
             out);
  out += ", ";
  AddCounted(arguments.main.second(), "instance", "instances", out);
  if (arguments.main.third() != 0) {
    Add(out, ", first {} {}", indexed ? "index" : "vertex", arguments.main.third());
  }
  if (arguments.more.point != ArgumentsPoint::kFirst) return;
  const int32_t vertex_offset = static_cast<int32_t>(arguments.more.second());
  if (vertex_offset != 0) Add(out, ", vertex offset {}", vertex_offset);
  if (arguments.more.first != 0) Add(out, ", first instance {}", arguments.more.first);
}

void AppendGroups(const WorkArguments& arguments, std::string& out) {
  const ArgumentNumbers& main = arguments.main;
  Add(out, "{}, {}, {}", main.first, main.second(), main.third());
  const ArgumentNumbers& base = arguments.more;
  if (base.point == ArgumentsPoint::kFirst) {
    Add(out, "; from {}, {}, {}", base.first, base.second(), base.third());
  }
}

void AppendPlace(const Snapshot& snapshot, uint32_t object, uint64_t offset, std::string& out) {
  if (object == kNone || snapshot.objects[object].state == ObjectState::kFree) {
    out += "a buffer";
  } else {
    AppendObject(snapshot, snapshot.objects[object], out);
  }
  Add(out, " + {:#x}", offset);
}

// The numbers of the first command, as its type has them.
void AppendValues(uint32_t type, const ArgumentNumbers& values, std::string& out) {
  const bool indexed = type == CAIRN_MARKER_DRAW_INDEXED_INDIRECT ||
                       type == CAIRN_MARKER_DRAW_INDEXED_INDIRECT_COUNT;
  out += ", as they are now: ";
  if (!indexed && type != CAIRN_MARKER_DRAW_INDIRECT && type != CAIRN_MARKER_DRAW_INDIRECT_COUNT) {
    return Add(out, "{}, {}, {}", values.first, values.second(), values.third());
  }
  const ArgumentsPoint point = indexed ? ArgumentsPoint::kIndexedDraw : ArgumentsPoint::kDraw;
  AppendDraw({{point, values.first, values.rest}, {}}, out);
}

void AppendIndirect(const Snapshot& snapshot, uint32_t event, const KnownArguments& arguments,
                    std::string& out) {
  const IndirectBuffers buffers = IndirectBuffersOf(snapshot, event);
  const bool has_more = arguments.more.point == ArgumentsPoint::kIndirectMore;
  const bool counted = has_more && arguments.more.rest != kNoCount;
  if (counted) out += "at most ";
  AddCounted(arguments.main.first, "command", "commands", out);
  out += " from ";
  AppendPlace(snapshot, buffers.arguments, arguments.main.rest, out);
  if (has_more && arguments.more.first != 0) Add(out, ", stride {}", arguments.more.first);
  if (counted) {
    out += ", count from ";
    AppendPlace(snapshot, buffers.count, arguments.more.rest, out);
  }
  if (arguments.values.point != ArgumentsPoint::kNone) {
    AppendValues(snapshot.events[event].type, arguments.values, out);
  }
}

void AppendTransfer(const WorkArguments& arguments, std::string& out) {
  const ArgumentNumbers& main = arguments.main;
  if (main.point == ArgumentsPoint::kBytes) {
    const bool whole = main.rest == UINT64_MAX;  // VK_WHOLE_SIZE
    if (whole) {
      out += "to the end of the buffer";
    } else if (main.rest != 0 || main.first == 0) {
      Add(out, "{} {}", main.rest, Plural(main.rest, "byte", "bytes"));
    }
    if (main.first > 1) Add(out, "{}{} regions", main.rest != 0 ? " in " : "", main.first);
    return;
  }
  Add(out, "{} x {} x {}", main.first, main.second(), main.third());
  if (arguments.more.point == ArgumentsPoint::kRegions) {
    Add(out, ", the first of {} regions", arguments.more.first);
  }
}

// Keys and values, in the order of the numbers.
void WriteNumbers(JsonWriter* json, const WorkArguments& arguments) {
  const ArgumentNumbers& main = arguments.main;
  const ArgumentNumbers& more = arguments.more;
  const bool has_first = more.point == ArgumentsPoint::kFirst;
  switch (main.point) {
    case ArgumentsPoint::kDraw:
    case ArgumentsPoint::kIndexedDraw: {
      const bool indexed = main.point == ArgumentsPoint::kIndexedDraw;
      json->NumberKey(indexed ? "indices" : "vertices", main.first);
      json->NumberKey("instances", main.second());
      json->NumberKey(indexed ? "first_index" : "first_vertex", main.third());
      if (indexed)
        json->SignedKey("vertex_offset", has_first ? static_cast<int32_t>(more.second()) : 0);
      json->NumberKey("first_instance", has_first ? more.first : 0);
      return;
    }
    case ArgumentsPoint::kGroups:
      json->BeginArray("groups");
      for (const uint32_t number : {main.first, main.second(), main.third()}) json->Number(number);
      json->EndArray();
      if (!has_first) return;
      json->BeginArray("base");
      for (const uint32_t number : {more.first, more.second(), more.third()}) json->Number(number);
      json->EndArray();
      return;
    case ArgumentsPoint::kBytes:
      json->NumberKey("regions", main.first);
      main.rest == UINT64_MAX ? json->NullKey("bytes") : json->NumberKey("bytes", main.rest);
      return;
    case ArgumentsPoint::kTexels:
      json->BeginArray("extent");
      for (const uint32_t number : {main.first, main.second(), main.third()}) json->Number(number);
      json->EndArray();
      json->NumberKey("regions", more.point == ArgumentsPoint::kRegions ? more.first : 1);
      return;
    default: return;
  }
}

void WriteIndirect(const Snapshot& snapshot, uint32_t event, const KnownArguments& arguments,
                   JsonWriter* json) {
  json->NumberKey("commands", arguments.main.first);
  if (const ArgumentNumbers& values = arguments.values; values.point != ArgumentsPoint::kNone) {
    json->BeginArray("values");
    for (const uint32_t number : {values.first, values.second(), values.third()}) {
      json->Number(number);
    }
    json->EndArray();
  }
  if (arguments.main.point == ArgumentsPoint::kIndirectAddress) {
    return json->HexKey("address", arguments.main.rest);
  }
  const IndirectBuffers buffers = IndirectBuffersOf(snapshot, event);
  json->IndexKey("buffer", buffers.arguments);
  json->NumberKey("offset", arguments.main.rest);
  if (arguments.more.point != ArgumentsPoint::kIndirectMore) return;
  json->NumberKey("stride", arguments.more.first);
  if (arguments.more.rest == kNoCount) return;
  json->IndexKey("count_buffer", buffers.count);
  json->NumberKey("count_offset", arguments.more.rest);
}

}  // namespace

void AppendArguments(const Snapshot& snapshot, uint32_t event, std::string& out) {
  const KnownArguments arguments = ArgumentsOf(snapshot, event);
  if (arguments.main.point == ArgumentsPoint::kNone) return;
  out += '(';
  switch (arguments.main.point) {
    case ArgumentsPoint::kDraw:
    case ArgumentsPoint::kIndexedDraw: AppendDraw(arguments, out); break;
    case ArgumentsPoint::kGroups: AppendGroups(arguments, out); break;
    case ArgumentsPoint::kIndirect: AppendIndirect(snapshot, event, arguments, out); break;
    case ArgumentsPoint::kIndirectAddress:
      AddCounted(arguments.main.first, "command", "commands", out);
      Add(out, " from address {:#x}", arguments.main.rest);
      break;
    case ArgumentsPoint::kBytes:
    case ArgumentsPoint::kTexels: AppendTransfer(arguments, out); break;
    default:  // A value of a newer version.
      Add(out, "{}, {}, {}", arguments.main.first, arguments.main.second(), arguments.main.third());
      break;
  }
  out += ')';
}

void WriteArguments(const Snapshot& snapshot, uint32_t event, std::string& scratch,
                    JsonWriter* json) {
  const KnownArguments arguments = ArgumentsOf(snapshot, event);
  if (arguments.main.point == ArgumentsPoint::kNone) return;
  scratch.clear();
  AppendArguments(snapshot, event, scratch);
  json->BeginObject("arguments");
  json->StringKey("words", scratch);
  if (arguments.main.point == ArgumentsPoint::kIndirect ||
      arguments.main.point == ArgumentsPoint::kIndirectAddress) {
    WriteIndirect(snapshot, event, arguments, json);
  } else {
    WriteNumbers(json, arguments);
  }
  json->EndObject();
}

}  // namespace cairn
