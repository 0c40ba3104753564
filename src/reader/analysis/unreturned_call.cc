// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/unreturned_call.h"

#include <algorithm>
#include <string_view>

#include "format/snapshot/object_kinds.h"

namespace cairn {
namespace {

// "Dispatch" of "ID3D12GraphicsCommandList::Dispatch".
std::string_view MethodOf(const Snapshot& snapshot, const Call& call) {
  const std::string_view function = snapshot.Text(call.function);
  const size_t colons = function.rfind("::");
  return colons == std::string_view::npos ? std::string_view() : function.substr(colons + 2);
}

// Returns the call that sets the descriptor tables that `method` uses, of compute or of graphics;
// "" for a method that uses none.
std::string_view SetterFor(std::string_view method) {
  if (method.starts_with("Dispatch") && method != "DispatchMesh") {
    return "SetComputeRootDescriptorTable";
  }
  if (method.starts_with("Draw") || method == "DispatchMesh")
    return "SetGraphicsRootDescriptorTable";
  return "";
}

void SetTable(std::span<const CallArgument> arguments, std::vector<BoundTable>* tables) {
  if (arguments.size() != 2 || arguments[1].kind != ArgumentKind::kGpuDescriptor) return;
  const auto parameter = static_cast<uint32_t>(arguments[0].value);
  const auto at = std::lower_bound(
      tables->begin(), tables->end(), parameter,
      [](const BoundTable& table, uint32_t wanted) { return table.parameter < wanted; });
  if (at == tables->end() || at->parameter != parameter) {
    tables->insert(at, {parameter, arguments[1].value, kNone});
  } else {
    at->handle = arguments[1].value;
  }
}

bool Holds(const Object& heap, uint64_t handle) {
  return handle >= heap.gpu_address && handle - heap.gpu_address < heap.size_bytes;
}

}  // namespace

UnreturnedCall FindUnreturnedCall(const Snapshot& snapshot) {
  UnreturnedCall found;
  for (uint32_t i = 0; i < snapshot.threads.size(); ++i) {
    const Thread& thread = snapshot.threads[i];
    if (!thread.crashed) continue;
    found.thread = i;
    for (uint32_t call = thread.first_call; call < thread.first_call + thread.call_count; ++call) {
      if (!snapshot.calls[call].returned) found.call = call;
    }
  }
  return found;
}

std::span<const CallArgument> ArgumentsOf(const Snapshot& snapshot, const Thread& thread,
                                          const Call& call) {
  const auto all =
      std::span(snapshot.call_arguments).subspan(thread.first_argument, thread.argument_count);
  const auto begin = std::partition_point(
      all.begin(), all.end(),
      [&call](const CallArgument& argument) { return argument.call < call.number; });
  const auto end = std::partition_point(begin, all.end(), [&call](const CallArgument& argument) {
    return argument.call == call.number;
  });
  return {begin, end};
}

BoundTables FindBoundTables(const Snapshot& snapshot, const UnreturnedCall& unreturned) {
  BoundTables bound;
  if (unreturned.call == kNone) return bound;
  const Thread& thread = snapshot.threads[unreturned.thread];
  const Call& crashed = snapshot.calls[unreturned.call];
  const std::string_view setter = SetterFor(MethodOf(snapshot, crashed));
  if (setter.empty()) return bound;
  for (uint32_t i = thread.first_call; i < unreturned.call; ++i) {
    const Call& call = snapshot.calls[i];
    if (call.object != crashed.object) continue;
    const std::string_view method = MethodOf(snapshot, call);
    if (method == "Reset" || method == "ClearState") bound.tables.clear();
    if (method == setter) SetTable(ArgumentsOf(snapshot, thread, call), &bound.tables);
  }
  if (bound.tables.empty()) return bound;
  for (uint32_t i = 0; i < snapshot.objects.size(); ++i) {
    const Object& object = snapshot.objects[i];
    if (object.state != ObjectState::kAlive || object.kind != kD3D12DescriptorHeapKind ||
        object.gpu_address == 0 || object.size_bytes == 0) {
      continue;
    }
    bound.heaps.push_back(i);
    for (BoundTable& table : bound.tables) {
      if (Holds(object, table.handle)) table.heap = i;
    }
  }
  return bound;
}

}  // namespace cairn
