// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/indirect_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/text.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_state.h"

namespace cairn {
namespace {

template <typename T>
T ArgumentAt(const DecodedCall& call, size_t index) {
  T value;
  std::memcpy(&value, call.arguments[index], sizeof(value));
  return value;
}

// Decodes calls of one trace, one after the other.
class CallReader {
 public:
  explicit CallReader(TraceReader* trace) : trace_(trace) {}

  // Decodes the record. False: it is another method, or damaged.
  bool Decode(const Record& record, Method method) {
    if (trace_->MethodOf(record) != method) return false;
    arena_.Reset();
    DecodeOptions options;
    options.blobs = trace_;
    return DecodeArguments(Describe(method), record.body, options, &arena_, &call_).ok();
  }
  const DecodedCall& call() const { return call_; }

 private:
  TraceReader* const trace_;
  Arena arena_;
  DecodedCall call_;
};

Status NoSuch(uint64_t call, const char* what) {
  return Status(StatusCode::kNotFound, fmt::format("call {}: {}", call, what));
}

// Finds the call that made the signature of the ExecuteIndirect.
Result<uint64_t> ReadCall(TraceReader* trace, uint64_t number, IndirectCall* indirect) {
  TraceState state(*trace);
  CallReader reader(trace);
  TraceCursor cursor(*trace);
  Record record;
  while (cursor.Next(&record) && record.number <= number) {
    (void)state.Apply(record);
    if (record.number != number || record.kind != RecordKind::kCall) continue;
    if (!reader.Decode(record, Method::ID3D12GraphicsCommandList_ExecuteIndirect)) break;
    indirect->max_count = ArgumentAt<uint32_t>(reader.call(), 1);
    indirect->arguments = ArgumentAt<uint64_t>(reader.call(), 2);
    indirect->offset_bytes = ArgumentAt<uint64_t>(reader.call(), 3);
    indirect->count_buffer = ArgumentAt<uint64_t>(reader.call(), 4);
    indirect->count_offset_bytes = ArgumentAt<uint64_t>(reader.call(), 5);
    indirect->signature = ArgumentAt<uint64_t>(reader.call(), 0);
    const TracedObject* const signature = state.Find(indirect->signature);
    if (signature == nullptr) return NoSuch(number, "its command signature is not in the trace");
    return signature->creator;
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  return NoSuch(number, "not an ExecuteIndirect");
}

uint32_t WordAt(std::span<const std::byte> bytes, size_t index) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

std::string Constants(uint32_t parameter, std::span<const std::byte> bytes) {
  constexpr size_t kMostShown = 8;
  const size_t count = bytes.size() / sizeof(uint32_t);
  std::string text =
      fmt::format("root constant{} of parameter {}:", count == 1 ? "" : "s", parameter);
  for (size_t i = 0; i < std::min(count, kMostShown); ++i) {
    text += fmt::format("{} 0x{:x}", i == 0 ? "" : ",", WordAt(bytes, i));
  }
  if (count > kMostShown) text += fmt::format(", … {} more", count - kMostShown);
  return text;
}

std::string Groups(const char* method, std::span<const std::byte> bytes) {
  return fmt::format("{}: {} × {} × {} groups", method, GroupedDigits(WordAt(bytes, 0)),
                     GroupedDigits(WordAt(bytes, 1)), GroupedDigits(WordAt(bytes, 2)));
}

std::string Draw(std::span<const std::byte> bytes) {
  return fmt::format("DrawInstanced: {}, {}, first vertex {}, first instance {}",
                     Counted(WordAt(bytes, 0), "vertex", "vertices"),
                     Counted(WordAt(bytes, 1), "instance"), GroupedDigits(WordAt(bytes, 2)),
                     GroupedDigits(WordAt(bytes, 3)));
}

std::string IndexedDraw(std::span<const std::byte> bytes) {
  return fmt::format(
      "DrawIndexedInstanced: {}, {}, first index {}, base vertex {}, first instance {}",
      Counted(WordAt(bytes, 0), "index", "indices"), Counted(WordAt(bytes, 1), "instance"),
      GroupedDigits(WordAt(bytes, 2)), static_cast<int32_t>(WordAt(bytes, 3)),
      GroupedDigits(WordAt(bytes, 4)));
}

// `bytes`: of the argument, all of them.
std::string ArgumentInWords(const IndirectLayout::Argument& argument,
                            std::span<const std::byte> bytes) {
  switch (argument.type) {
    case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW: return Draw(bytes);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED: return IndexedDraw(bytes);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH: return Groups("Dispatch", bytes);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_MESH: return Groups("DispatchMesh", bytes);
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT: return Constants(argument.parameter, bytes);
    case D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW:
      return fmt::format("vertex buffer {}: {} bytes, {} each", argument.parameter,
                         GroupedDigits(WordAt(bytes, 2)), GroupedDigits(WordAt(bytes, 3)));
    case D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW:
      return fmt::format("index buffer: {} bytes", GroupedDigits(WordAt(bytes, 2)));
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
      return fmt::format("root constant buffer of parameter {}", argument.parameter);
    case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
      return fmt::format("root shader resource of parameter {}", argument.parameter);
    case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
      return fmt::format("root unordered access of parameter {}", argument.parameter);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS: {
      constexpr size_t kWidth = offsetof(D3D12_DISPATCH_RAYS_DESC, Width) / sizeof(uint32_t);
      return fmt::format("DispatchRays: {} × {} × {}", GroupedDigits(WordAt(bytes, kWidth)),
                         GroupedDigits(WordAt(bytes, kWidth + 1)),
                         GroupedDigits(WordAt(bytes, kWidth + 2)));
    }
    case kIncrementingConstant:
      return fmt::format("root constant of parameter {}: the command's number", argument.parameter);
    default: return "";
  }
}

// The bytes that the text of an argument reads.
size_t BytesOf(const IndirectLayout::Argument& argument) {
  switch (argument.type) {
    case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW: return sizeof(D3D12_DRAW_ARGUMENTS);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED: return sizeof(D3D12_DRAW_INDEXED_ARGUMENTS);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH:
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_MESH: return sizeof(D3D12_DISPATCH_ARGUMENTS);
    case D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW:
    case D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW: return sizeof(D3D12_VERTEX_BUFFER_VIEW);
    case D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS: return sizeof(D3D12_DISPATCH_RAYS_DESC);
    default: return argument.size_bytes;
  }
}

bool HasIncrements(const IndirectLayout& layout) {
  return std::any_of(layout.arguments.begin(), layout.arguments.end(),
                     [](const auto& argument) { return argument.type == kIncrementingConstant; });
}

}  // namespace

Result<IndirectCall> ReadIndirectCall(TraceReader* trace, uint64_t call) {
  IndirectCall indirect;
  const Result<uint64_t> creator = ReadCall(trace, call, &indirect);
  if (!creator.ok()) return creator.status();
  CallReader reader(trace);
  TraceCursor cursor(*trace);
  Record record;
  while (cursor.Next(&record) && record.number <= *creator) {
    if (record.number != *creator || record.kind != RecordKind::kCall) continue;
    if (!reader.Decode(record, Method::ID3D12Device_CreateCommandSignature)) break;
    const auto* const desc = ArgumentAt<const D3D12_COMMAND_SIGNATURE_DESC*>(reader.call(), 0);
    if (desc == nullptr) break;
    indirect.layout = LayoutOfSignature(*desc);
    return indirect;
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  return NoSuch(call, "the description of its command signature is not in the trace");
}

CallParts PartsOf(const IndirectCall& indirect, uint64_t call) {
  CallParts parts;
  parts.call = call;
  parts.count = indirect.max_count;
  parts.stride_bytes = indirect.layout.stride_bytes;
  parts.only_prefixes = HasIncrements(indirect.layout);
  parts.count_is_limit = indirect.count_buffer != 0;
  parts.word = "command";
  return parts;
}

BytesToRead ArgumentsOf(const IndirectCall& indirect, uint64_t command, uint64_t submission) {
  const uint64_t stride = indirect.layout.stride_bytes;
  if (stride == 0 || command >= indirect.max_count ||
      indirect.offset_bytes > std::numeric_limits<uint64_t>::max() - command * stride) {
    return {};
  }
  return {submission, indirect.arguments, indirect.offset_bytes + command * stride,
          std::min(stride, BytesToRead::kMostBytes)};
}

BytesToRead CountOf(const IndirectCall& indirect, uint64_t submission) {
  if (indirect.count_buffer == 0) return {};
  return {submission, indirect.count_buffer, indirect.count_offset_bytes, sizeof(uint32_t)};
}

std::string CommandInWords(const IndirectLayout& layout, std::span<const std::byte> bytes) {
  std::string text;
  // Arguments without bytes are as many as the trace says.
  constexpr size_t kMostShown = 16;
  size_t count = 0;
  // The work is the last of its arguments: it comes first here.
  for (auto argument = layout.arguments.rbegin(); argument != layout.arguments.rend(); ++argument) {
    if (argument->offset_bytes > bytes.size()) continue;
    const std::span<const std::byte> own = bytes.subspan(argument->offset_bytes);
    const size_t needed = BytesOf(*argument);
    if (needed > own.size()) continue;
    const std::string words = ArgumentInWords(*argument, own.first(needed));
    if (words.empty()) continue;
    if (++count <= kMostShown) text += text.empty() ? words : "; " + words;
  }
  if (count > kMostShown) text += fmt::format("; … {} more", GroupedDigits(count - kMostShown));
  if (layout.unknown_type) {
    text += fmt::format("{}further arguments of unknown type {}", text.empty() ? "" : "; ",
                        *layout.unknown_type);
  }
  return text;
}

}  // namespace cairn
