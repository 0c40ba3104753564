// SPDX-License-Identifier: Apache-2.0
#include "reader/report/call_text.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "format/snapshot/made_at.h"
#include "reader/report/describe.h"

namespace cairn {
namespace {

constexpr size_t kHeapsNamed = 3;

// Returns the living object with this handle, else the one that was made last; null if there is
// none.
const Object* ObjectWithHandle(const Snapshot& snapshot, uint64_t handle) {
  const Object* found = nullptr;
  for (const Object& object : snapshot.objects) {
    if (object.state == ObjectState::kFree || object.native_handle != handle) continue;
    const bool alive = object.state == ObjectState::kAlive;
    const bool better = found == nullptr || (alive && found->state != ObjectState::kAlive) ||
                        (found->state == object.state && MadeAt(object) > MadeAt(*found));
    if (better) found = &object;
  }
  return found;
}

std::string ValueInWords(const CallArgument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kUnsigned: return fmt::format("{}", argument.value);
    case ArgumentKind::kSigned: return fmt::format("{}", static_cast<int64_t>(argument.value));
    case ArgumentKind::kFloat:
      return fmt::format("{:g}", std::bit_cast<float>(static_cast<uint32_t>(argument.value)));
    case ArgumentKind::kPointer:
      if (argument.value == 0) return "null";
      break;
    case ArgumentKind::kGpuAddress:
    case ArgumentKind::kGpuDescriptor:
    case ArgumentKind::kOther: break;
  }
  return fmt::format("{:#x}", argument.value);
}

}  // namespace

void AppendArgument(const Snapshot& snapshot, const CallArgument& argument, std::string& out) {
  AppendVisibleText(snapshot.Text(argument.name), out);
  out += " = ";
  out += ValueInWords(argument);
}

void AppendCallWithArguments(const Snapshot& snapshot, const Thread& thread, const Call& call,
                             std::string& out) {
  if (call.function.empty()) {
    out += "unknown function";
    return;
  }
  AppendVisibleText(snapshot.Text(call.function), out);
  const char* separator = "(";
  for (const CallArgument& argument : ArgumentsOf(snapshot, thread, call)) {
    out += separator;
    AppendArgument(snapshot, argument, out);
    separator = ", ";
  }
  if (*separator == ',') out += ')';
}

void AppendUnreturnedCall(const Snapshot& snapshot, const UnreturnedCall& unreturned,
                          std::string& out) {
  if (unreturned.call == kNone) return;
  const Thread& thread = snapshot.threads[unreturned.thread];
  const Call& call = snapshot.calls[unreturned.call];
  out += " in ";
  AppendCallWithArguments(snapshot, thread, call, out);
  if (const Object* const object = ObjectWithHandle(snapshot, call.object); object != nullptr) {
    out += " of ";
    AppendObject(snapshot, *object, out);
  }
  fmt::format_to(std::back_inserter(out), ", which did not return, on thread {}", thread.thread_id);
  if (thread.name.empty()) return;
  out += " \"";
  AppendVisibleText(snapshot.Text(thread.name), out);
  out += '"';
}

void AppendStrayTables(const Snapshot& snapshot, const BoundTables& bound, std::string& out) {
  if (bound.heaps.empty()) return;
  for (const BoundTable& table : bound.tables) {
    if (table.heap != kNone) continue;
    fmt::format_to(std::back_inserter(out),
                   " The list's root parameter {} is the descriptor table {:#x}, which lies in no "
                   "descriptor heap",
                   table.parameter, table.handle);
    for (size_t i = 0; i < bound.heaps.size() && i < kHeapsNamed; ++i) {
      const Object& heap = snapshot.objects[bound.heaps[i]];
      out += i == 0 ? ": " : "; ";
      AppendObject(snapshot, heap, out);
      fmt::format_to(std::back_inserter(out), " has {:#x} to {:#x}", heap.gpu_address,
                     heap.gpu_address + heap.size_bytes - 1);
    }
    if (bound.heaps.size() > kHeapsNamed) {
      fmt::format_to(std::back_inserter(out), "; {} more", bound.heaps.size() - kHeapsNamed);
    }
    out += '.';
  }
}

void WriteArgument(const Snapshot& snapshot, const CallArgument& argument, JsonWriter* json) {
  json->BeginObject();
  json->StringKey("name", snapshot.Text(argument.name));
  json->StringKey("value", ValueInWords(argument));
  json->EndObject();
}

}  // namespace cairn
