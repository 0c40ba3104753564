// SPDX-License-Identifier: Apache-2.0
#include "reader/view/creation_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "d3d12gen/enums.h"
#include "format/calls/special_values.h"
#include "format/calls/value_shape.h"
#include "format/model/decoded_arguments.h"

namespace cairn::cli {
namespace {

// Values of enumerations come from a trace: perhaps none that the headers know.
template <typename Enumeration>
uint32_t Number(const Enumeration& value) {
  return Load<uint32_t>(&value);
}

// "DRAW" of D3D12_INDIRECT_ARGUMENT_TYPE_DRAW.
std::string ShortEnumerator(const char* type_name, uint32_t value) {
  const EnumInfo* const type = FindEnum(type_name);
  const char* const name = type == nullptr ? nullptr : EnumeratorName(*type, value);
  if (name == nullptr) return fmt::format("type {}", value);
  std::string_view text = name;
  text.remove_prefix(std::min(text.size(), std::strlen(type_name) + 1));
  return std::string(text);
}

// A name in quotes; wide characters have 16 bits in decoded calls, whatever the system's have.
std::string Quoted(const void* characters) {
  constexpr size_t kMostBytes = 256;
  char text[kMostBytes];
  if (characters == nullptr) return "null";
  const WrittenUtf8 written = WriteUtf8({characters, 2}, text);
  return fmt::format("\"{}{}\"", VisibleText(written.text), written.cut ? "…" : "");
}

std::string ArgumentInWords(const D3D12_INDIRECT_ARGUMENT_DESC& argument) {
  constexpr uint32_t kIncrementingConstant = 11;  // newer than the headers
  const uint32_t type = Number(argument.Type);
  const std::string name = ShortEnumerator("D3D12_INDIRECT_ARGUMENT_TYPE", type);
  switch (type) {
    case D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW:
      return fmt::format("{} slot {}", name, argument.VertexBuffer.Slot);
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT:
      return fmt::format("{} root {}, {} at {}", name, argument.Constant.RootParameterIndex,
                         Counted(argument.Constant.Num32BitValuesToSet, "value"),
                         argument.Constant.DestOffsetIn32BitValues);
    case kIncrementingConstant:
      return fmt::format("INCREMENTING_CONSTANT root {}, at {}",
                         argument.Constant.RootParameterIndex,
                         argument.Constant.DestOffsetIn32BitValues);
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
    case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
    case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
      return fmt::format("{} root {}", name, argument.ConstantBufferView.RootParameterIndex);
    default: return name;
  }
}

constexpr uint32_t kWorkGraphType =
    13;  // D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH: newer than the headers

class ExportCollector {
 public:
  explicit ExportCollector(StateObjectParts* parts) : parts_(*parts) {}

  void Take(const D3D12_STATE_SUBOBJECT& part) {
    const void* const desc = part.pDesc;
    if (desc == nullptr) return;
    switch (Number(part.Type)) {
      case D3D12_STATE_SUBOBJECT_TYPE_DXIL_LIBRARY: {
        const auto library = Load<D3D12_DXIL_LIBRARY_DESC>(desc);
        const std::string from =
            fmt::format("a library of {} bytes", GroupedDigits(library.DXILLibrary.BytecodeLength));
        return AddExports("library", from, library.NumExports, library.pExports);
      }
      case D3D12_STATE_SUBOBJECT_TYPE_EXISTING_COLLECTION: {
        const auto collection = Load<D3D12_EXISTING_COLLECTION_DESC>(desc);
        const auto object = Load<uint64_t>(&collection.pExistingCollection);
        return AddExports("collection", fmt::format("state object {}", object),
                          collection.NumExports, collection.pExports);
      }
      case D3D12_STATE_SUBOBJECT_TYPE_HIT_GROUP:
        return AddHitGroup(Load<D3D12_HIT_GROUP_DESC>(desc));
      case kWorkGraphType: return AddNamed("work graph", Load<const void*>(desc));
      case kProgramType: return AddNamed("program", Load<const void*>(desc));
      default: return;
    }
  }

 private:
  void Add(const char* kind, std::string name, std::string text) {
    ++parts_.export_count;
    if (parts_.exports.size() < kMostCreationParts) {
      parts_.exports.push_back({kind, std::move(name), std::move(text)});
    }
  }
  void AddNamed(const char* kind, const void* name) {
    const std::string quoted = Quoted(name);
    Add(kind, quoted, fmt::format("{} {}", kind, quoted));
  }
  // Without a list all are exported.
  void AddExports(const char* kind, const std::string& from, uint32_t count,
                  const D3D12_EXPORT_DESC* exports) {
    if (count == 0 || exports == nullptr) return Add(kind, "", "all exports of " + from);
    for (uint32_t i = 0; i < count; ++i) {
      if (parts_.exports.size() >= kMostCreationParts) {
        parts_.export_count += count - i;
        return;
      }
      const auto each = Load<D3D12_EXPORT_DESC>(exports + i);
      const std::string name = Quoted(each.Name);
      std::string text = fmt::format("{} of {}", name, from);
      if (each.ExportToRename != nullptr) text += ", there " + Quoted(each.ExportToRename);
      Add(kind, name, std::move(text));
    }
  }
  void AddHitGroup(const D3D12_HIT_GROUP_DESC& group) {
    const std::string name = Quoted(group.HitGroupExport);
    std::string text = "hit group " + name;
    const char* separator = ": ";
    const auto add = [&](const char* what, const void* import) {
      if (import == nullptr) return;
      text += fmt::format("{}{} {}", separator, what, Quoted(import));
      separator = ", ";
    };
    add("any hit", group.AnyHitShaderImport);
    add("closest hit", group.ClosestHitShaderImport);
    add("intersection", group.IntersectionShaderImport);
    Add("hit group", name, std::move(text));
  }

  StateObjectParts& parts_;
};

// Names without their quotes, for programs.
void StripQuotes(std::string* name) {
  if (name->size() >= 2 && name->front() == '"') *name = name->substr(1, name->size() - 2);
}

}  // namespace

SignatureParts PartsOf(const D3D12_COMMAND_SIGNATURE_DESC& desc) {
  SignatureParts parts;
  parts.stride_bytes = desc.ByteStride;
  if (desc.pArgumentDescs == nullptr) return parts;
  parts.argument_count = desc.NumArgumentDescs;
  const uint32_t shown = std::min<uint32_t>(desc.NumArgumentDescs, kMostCreationParts);
  for (uint32_t i = 0; i < shown; ++i) {
    D3D12_INDIRECT_ARGUMENT_DESC argument;
    std::memcpy(&argument, desc.pArgumentDescs + i, sizeof(argument));
    parts.arguments.push_back(ArgumentInWords(argument));
  }
  return parts;
}

StateObjectParts PartsOf(const D3D12_STATE_OBJECT_DESC& desc) {
  StateObjectParts parts;
  parts.kind = ShortEnumerator("D3D12_STATE_OBJECT_TYPE", Number(desc.Type));
  ExportCollector collector(&parts);
  for (uint32_t i = 0; desc.pSubobjects != nullptr && i < desc.NumSubobjects; ++i) {
    D3D12_STATE_SUBOBJECT part;
    std::memcpy(&part, desc.pSubobjects + i, sizeof(part));
    collector.Take(part);
  }
  for (StateObjectParts::Export& each : parts.exports) StripQuotes(&each.name);
  return parts;
}

std::string InWords(const SignatureParts& parts) {
  std::string text = fmt::format("{} bytes each", GroupedDigits(parts.stride_bytes));
  const char* separator = ": ";
  for (const std::string& argument : parts.arguments) {
    text += separator + argument;
    separator = "; ";
  }
  const uint64_t more = parts.argument_count - parts.arguments.size();
  if (more != 0) text += fmt::format("; … {} more", GroupedDigits(more));
  return text;
}

std::string InWords(const StateObjectParts& parts) {
  std::string text = parts.kind;
  if (parts.grows != kNoObject) text += fmt::format(", adds to state object {}", parts.grows);
  const char* separator = ": ";
  for (const StateObjectParts::Export& each : parts.exports) {
    text += separator + each.text;
    separator = "; ";
  }
  const uint64_t more = parts.export_count - parts.exports.size();
  if (more != 0) text += fmt::format("; … {} more", GroupedDigits(more));
  return text;
}

void CreationParts::OnCall(const Record& record) {
  const std::optional<Method> method = trace_.MethodOf(record);
  const bool is_signature = method == Method::ID3D12Device_CreateCommandSignature;
  const bool grows = method == Method::ID3D12Device7_AddToStateObject;
  if (!is_signature && !grows && method != Method::ID3D12Device5_CreateStateObject) return;
  if (text_budget_ == 0) return;
  arena_.Reset();
  DecodeOptions options;
  options.blobs = &trace_;
  DecodedCall call;
  if (!DecodeArguments(Describe(*method), record.body, options, &arena_, &call).ok()) return;
  uint64_t text_bytes = 0;
  if (is_signature) {
    const auto* const desc = Array<D3D12_COMMAND_SIGNATURE_DESC>(call, 0);
    if (desc == nullptr) return;
    SignatureParts& parts = new_.signatures[record.number] = PartsOf(*desc);
    for (const std::string& argument : parts.arguments) text_bytes += argument.size();
  } else {
    const auto* const desc = Array<D3D12_STATE_OBJECT_DESC>(call, 0);
    if (desc == nullptr) return;
    StateObjectParts& parts = new_.state_objects[record.number] = PartsOf(*desc);
    if (grows) parts.grows = Value<uint64_t>(call, 1);
    for (const auto& each : parts.exports) text_bytes += each.name.size() + each.text.size();
  }
  text_budget_ -= std::min(text_budget_, text_bytes + sizeof(StateObjectParts));
}

void CreationParts::OnObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok() || body->creator == 0) return;
  const auto move = [&](auto* from, auto* to) {
    const auto found = from->find(body->creator);
    if (found == from->end()) return;
    (*to)[record.object] = std::move(found->second);
    from->erase(found);
  };
  move(&new_.signatures, &parts_.signatures);
  move(&new_.state_objects, &parts_.state_objects);
}

void CreationParts::OnResult(const Record& record) {
  if (new_.signatures.empty() && new_.state_objects.empty()) return;
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return;
  new_.signatures.erase(body->call);
  new_.state_objects.erase(body->call);
}

void CreationParts::Look(const Record& record) {
  switch (record.kind) {
    case RecordKind::kCall: return OnCall(record);
    case RecordKind::kObject: return OnObject(record);
    case RecordKind::kResult: return OnResult(record);
    default: return;
  }
}

}  // namespace cairn::cli
