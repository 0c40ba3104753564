# SPDX-License-Identifier: Apache-2.0
"""Writes what tables of methods and structs have in common: value_info.h; and the tables of enums and
structs with the checks of both."""
from emit_thin import LICENSE, header
from model import ModelError

KINDS = {
    "bool": "kBool", "unsigned": "kUnsigned", "signed": "kSigned", "float": "kFloat", "enum": "kEnum",
    "flags": "kFlags", "struct": "kStruct", "union": "kStruct", "object": "kObject", "guid": "kGuid",
    "string": "kString", "wide_string": "kWideString", "handle": "kHandle",
    "gpu_address": "kGpuAddress", "cpu_descriptor": "kCpuDescriptor",
    "gpu_descriptor": "kGpuDescriptor", "callback": "kCallback", "bytes": "kBytes",
}
HANDLE_KINDS = {"": "kNone", "event": "kEvent", "shared": "kShared", "file_mapping": "kFileMapping",
                "window": "kWindow"}
SPECIAL_STRUCTS = {"D3D12_PIPELINE_STATE_STREAM_DESC": "kPipelineStream",
                   "D3D12_STATE_OBJECT_DESC": "kStateObject",
                   "D3D12_CACHED_PIPELINE_STATE": "kCachedPipeline"}
LIFETIMES = {"": "kCall", "created": "kCreated", "object": "kObject", "unmap": "kUnmap",
             "signal": "kSignal"}

VALUE_INFO_H = """
// What a value is, once all pointers and arrays around it are taken away.
enum class ValueKind : uint8_t {
  kBool,      // 32 bits
  kUnsigned,  // size_bytes says how large
  kSigned,
  kFloat,
  kEnum,   // type_index: into Enums()
  kFlags,  // the same, several at once
  kStruct,  // type_index: into Structs(); kNoType for those of the operating system
  kObject,  // chain: what it is, kNone for those that are not wrapped
  kGuid,
  kString,      // zero-terminated; the pointer is part of the kind
  kWideString,  // the same, of the device's character size
  kHandle,
  kGpuAddress,
  kCpuDescriptor,
  kGpuDescriptor,
  kCallback,
  kBytes,  // void: nothing is known of it
};

enum class HandleKind : uint8_t { kNone, kEvent, kShared, kFileMapping, kWindow };

// How long an argument is used.
enum class Lifetime : uint8_t {
  kCall,     // until the method returns
  kCreated,  // as long as the object that it creates
  kObject,   // as long as the object that the method belongs to
  kUnmap,    // what it receives is valid until Unmap
  kSignal,   // until the event is signalled
};

// A factor of a count.
struct CountFactor {
  enum class Kind : uint8_t {
    kConstant,       // value
    kSibling,        // the parameter or field with index `value`
    kSiblingBehind,  // what the parameter with index `value` points to
    kAtMostOneIf,    // no factor: the count is at most one if the sibling with index `value` is not 0
    kCaller,         // the arguments do not say it: it follows from the object that is called
  };
  Kind kind;
  uint32_t value;
};

// The number of elements that a pointer points to: the product of the factors. No factors: one element,
// or an unknown number of bytes.
struct CountInfo {
  CountFactor factors[2];
  uint8_t factor_count;
  bool in_bytes;     // divide by size_bytes
  const char* text;  // as the definition says it, "" if it says nothing
};

inline constexpr uint16_t kNoType = 0xFFFF;

struct ValueInfo {
  const char* name;
  const char* type;  // "const D3D12_RESOURCE_BARRIER*"
  ValueKind kind;
  uint8_t pointers;        // around the value, or around its array
  bool optional;           // may be null
  uint32_t size_bytes;     // of one value, or of what the innermost pointer points to
  uint32_t array_length;   // of a fixed array, otherwise 1
  uint16_t type_index;
  Chain chain;
  CountInfo count;
};
"""

ENUMS_H = """
struct EnumeratorInfo {
  const char* name;
  uint32_t value;  // negative ones in two's complement
};

struct EnumInfo {
  const char* name;
  bool is_flags;
  std::span<const EnumeratorInfo> enumerators;  // as declared; several may have one value
};

// Sorted by name.
std::span<const EnumInfo> Enums();

// Null if there is no such enum.
const EnumInfo* FindEnum(std::string_view name);

// The first enumerator with this value; null if there is none.
const char* EnumeratorName(const EnumInfo& type, uint32_t value);

// "A | B | 0x40": the flags that are set, in order of declaration; what has no name as a number.
std::string FlagNames(const EnumInfo& type, uint32_t value);
"""

ENUMS_CC = """
std::span<const EnumInfo> Enums() {
  return kEnums;
}

const EnumInfo* FindEnum(std::string_view name) {
  const auto* const found = std::lower_bound(
      std::begin(kEnums), std::end(kEnums), name,
      [](const EnumInfo& known, std::string_view wanted) { return known.name < wanted; });
  return found != std::end(kEnums) && found->name == name ? found : nullptr;
}

const char* EnumeratorName(const EnumInfo& type, uint32_t value) {
  for (const EnumeratorInfo& enumerator : type.enumerators) {
    if (enumerator.value == value) return enumerator.name;
  }
  return nullptr;
}

std::string FlagNames(const EnumInfo& type, uint32_t value) {
  if (const char* const name = EnumeratorName(type, value)) return name;
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty()) text += " | ";
    text += part;
  };
  uint32_t left = value;
  for (const EnumeratorInfo& enumerator : type.enumerators) {
    if (std::has_single_bit(enumerator.value) && (left & enumerator.value) != 0) {
      add(enumerator.name);
      left &= ~enumerator.value;
    }
  }
  if (left != 0 || text.empty()) {
    char number[16];
    std::snprintf(number, sizeof(number), "0x%x", left);
    add(number);
  }
  return text;
}
"""

STRUCTS_H = """
// A field. Those of anonymous unions and structs stand among the others; those of a struct with a name
// but without a type are called "VertexBuffer.Slot".
struct FieldInfo : ValueInfo {
  uint32_t offset_bytes;
  uint8_t bit_offset;  // of bit fields, in the value at offset_bytes
  uint8_t bit_count;   // 0: no bit field
  // In the struct's union. If the union has a tag: the member is meant if the tag has one of these
  // values; none: nothing says so.
  bool in_union;
  // What it points to leads back to a struct of the same type: a list, which is not followed.
  bool is_list;
  std::span<const uint32_t> tag_values;
};

// What says which member of a struct's union is meant. kByteSize: the member that points to as many
// bytes as `tag_field` says; in structs that are unions as a whole, too.
enum class UnionRule : uint8_t { kNone, kTag, kByteSize, kRaytracingInputs };

// Structs whose parts no field describes.
enum class SpecialStruct : uint8_t { kNone, kPipelineStream, kStateObject, kCachedPipeline };

struct StructInfo {
  const char* name;
  uint32_t size_bytes;
  uint32_t alignment_bytes;
  bool is_union;       // all of it
  int16_t tag_field;   // which says what member of the anonymous union is meant; -1: none does
  bool holds_objects;  // itself, or in what it points to
  UnionRule union_rule;
  SpecialStruct special;
  bool is_flat;       // no pointers, strings, objects: its bytes are all there is
  bool is_universal;  // flat, and no address, descriptor or handle: it means the same in any process
  std::span<const FieldInfo> fields;
};

// Sorted by name.
std::span<const StructInfo> Structs();

// Null if there is no such struct.
const StructInfo* FindStruct(std::string_view name);
"""

STRUCTS_CC = """
std::span<const StructInfo> Structs() {
  return kStructs;
}

const StructInfo* FindStruct(std::string_view name) {
  const auto* const found = std::lower_bound(
      std::begin(kStructs), std::end(kStructs), name,
      [](const StructInfo& known, std::string_view wanted) { return known.name < wanted; });
  return found != std::end(kStructs) && found->name == name ? found : nullptr;
}
"""


class ValueWriter:
    """Entries of ValueInfo."""

    def __init__(self, model):
        self.model = model
        self.enum_index = {name: i for i, name in enumerate(sorted(model.api.enums))}
        self.struct_index = {name: i for i, name in enumerate(sorted(model.described))}

    def count(self, count, siblings):
        if count is None:
            return '{{}, 0, false, ""}'
        factors = []
        for factor in count.factors:
            name = factor.lstrip("*?")
            if factor == "@caller":
                factors.append("{CountFactor::Kind::kCaller, 0}")
            elif factor.startswith("?"):
                factors.append(f"{{CountFactor::Kind::kAtMostOneIf, {siblings.index(name)}}}")
            elif name in siblings:
                kind = "kSiblingBehind" if factor.startswith("*") else "kSibling"
                factors.append(f"{{CountFactor::Kind::{kind}, {siblings.index(name)}}}")
            elif name.isdigit():
                factors.append(f"{{CountFactor::Kind::kConstant, {name}}}")
            elif name in self.model.api.constants:
                factors.append(f"{{CountFactor::Kind::kConstant, {self.model.api.constants[name]}}}")
            else:
                found = [dict(enum.enumerators)[name] for enum in self.model.api.enums.values()
                         if name in dict(enum.enumerators)]
                if not found:
                    raise ModelError(f"count {count.text!r}: what is {name}?")
                factors.append(f"{{CountFactor::Kind::kConstant, {found[0]}}}")
        in_bytes = "true" if count.bytes else "false"
        return f'{{{{{", ".join(factors)}}}, {len(factors)}, {in_bytes}, "{count.text}"}}'

    def value(self, name, spelled, kind, siblings):
        index = "kNoType"
        if kind.kind in ("enum", "flags"):
            index = str(self.enum_index[kind.type])
        elif kind.kind in ("struct", "union", "cpu_descriptor", "gpu_descriptor") \
                and kind.type in self.struct_index:
            index = str(self.struct_index[kind.type])
        chain = "kNone"
        if kind.kind == "object" and kind.type in self.model.chain_of:
            chain = "k" + self.model.chain_of[kind.type].name
        optional = "true" if kind.optional else "false"
        return (f'"{name}", "{spelled}", ValueKind::{KINDS[kind.kind]}, {kind.depth}, {optional}, '
                f"{kind.size}, {self.model.array_length(kind.dims)}, {index}, Chain::{chain},\n"
                f"      {self.count(kind.count, siblings)}")


def enums(model):
    lines = ["namespace {", ""]
    names = sorted(model.api.enums)
    for name in names:
        lines.append(f"constexpr EnumeratorInfo k_{name}[] = {{")
        lines += [f'    {{"{enumerator}", {value & 0xFFFFFFFF:#x}}},'
                  for enumerator, value in model.api.enums[name].enumerators]
        lines.append("};")
    lines.append("constexpr EnumInfo kEnums[] = {")
    lines += [f'    {{"{name}", {"true" if model.api.enums[name].flags else "false"}, k_{name}}},'
              for name in names]
    lines += ["};", "", "}  // namespace"]
    text = "\n".join(lines) + "\n" + ENUMS_CC
    includes = "<algorithm> <bit> <cstdio> <iterator>".split()
    return {
        "enums.h": header("d3d12gen/enums.h", ["<cstdint>", "<span>", "<string>", "<string_view>"], ENUMS_H),
        "enums.cc": source("d3d12gen/enums.h", includes, text),
    }


def source(path, includes, body):
    lines = "".join(f"#include {include}\n" for include in includes)
    return f'{LICENSE}#include "{path}"\n\n{lines}\nnamespace cairn {{\n{body}\n}}  // namespace cairn\n'


class StructWriter:
    def __init__(self, model, values, name):
        self.model = model
        self.values = values
        self.name = name
        self.struct = model.api.structs[name]
        self.rule = model.overrides["unions"].get(name, {})
        self.leaves = list(self.flatten(model.layout(name), 0, "", None))
        self.siblings = [path for path, _, _, _ in self.leaves]
        unions = [field for field in self.struct.fields if field.type is None and field.is_union]
        if unions and name not in model.overrides["unions"]:
            model.warnings.append(f"{name} has a union that overrides.toml, [unions], does not know")

    def flatten(self, layout, start, prefix, member):
        """(name, placed field, offset, member of the union) of every field with a type."""
        for placed in layout.fields:
            path = prefix + placed.field.name
            if placed.inner is None:
                yield path, placed, start + placed.offset, member
            else:
                inner_prefix = path + "." if placed.field.name else prefix
                for inner in self.flatten(placed.inner, start + placed.offset, inner_prefix, member):
                    is_union = placed.field.is_union and not placed.field.name
                    yield (*inner[:3], inner[0].partition(".")[0] if is_union else inner[3])

    def tag_values(self, member):
        if not member or not self.rule.get("tag"):
            return []
        tag = next(field for field in self.struct.fields if field.name == self.rule["tag"])
        values = dict(self.model.api.enums[self.model.resolve(tag.type.base)].enumerators)
        return [values[name] & 0xFFFFFFFF for name in self.rule["members"].get(member, ()) if name in values]

    def lines(self):
        result, rows = [], []
        for index, (path, placed, offset, member) in enumerate(self.leaves):
            field = placed.field
            kind = self.model.field_kind(self.name, field)
            tags = self.tag_values(member)
            if tags:
                result.append(f"constexpr uint32_t k_{self.name}_{index}[] = "
                              f"{{{', '.join(map(str, tags))}}};")
            tag_text = f"k_{self.name}_{index}" if tags else "{}"
            in_union = "true" if member else "false"
            is_list = "true" if kind.depth and self.model.leads_back(kind.type) else "false"
            rows.append(f"    {{{{{self.values.value(path, field.type.spelled(), kind, self.siblings)}}},\n"
                        f"     {offset}, {placed.bit}, {field.bits}, {in_union}, {is_list}, {tag_text}}},")
        return [*result, f"constexpr FieldInfo k_{self.name}[] = {{", *rows, "};"]

    def row(self):
        layout = self.model.layout(self.name)
        rule, tag = self.union_rule()
        flags = ["true" if flag else "false" for flag in
                 (self.struct.is_union, self.model.holds_objects(self.name), self.model.is_flat(self.name),
                  self.model.is_flat(self.name, universal=True))]
        return (f'    {{"{self.name}", {layout.size}, {layout.alignment}, {flags[0]}, {tag}, {flags[1]},\n'
                f"     UnionRule::{rule}, SpecialStruct::{SPECIAL_STRUCTS.get(self.name, 'kNone')}, "
                f"{flags[2]}, {flags[3]}, k_{self.name}}},")

    def union_rule(self):
        """(UnionRule, index of the field that says which member is meant)."""
        if self.rule.get("tag"):
            return "kTag", self.siblings.index(self.rule["tag"])
        if self.name == "D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS":
            return "kRaytracingInputs", -1
        if self.rule and "DataSize" in self.siblings:
            return "kByteSize", self.siblings.index("DataSize")
        return "kNone", -1


def structs(model, values):
    writers = [StructWriter(model, values, name) for name in sorted(model.described)]
    lines = ["namespace {", ""]
    for writer in writers:
        lines += writer.lines()
    lines += ["constexpr StructInfo kStructs[] = {", *[writer.row() for writer in writers], "};", "",
              "}  // namespace"]
    return {
        "structs.h": header("d3d12gen/structs.h",
                            ["<cstdint>", "<span>", "<string_view>", '"d3d12gen/value_info.h"'], STRUCTS_H),
        "structs.cc": source("d3d12gen/structs.h", ["<algorithm>", "<iterator>"],
                             "\n".join(lines) + "\n" + STRUCTS_CC),
        "checks.cc": checks(model, writers),
        # For tests that ask the compiler about everything that the tables say.
        "interface_names.inc": "".join(f"CAIRN_INTERFACE({name})\n" for name in model.api.interfaces
                                       if name.startswith("ID3D12")),
        "method_names.inc": "".join(f"CAIRN_METHOD({interface}, {method.name})\n"
                                    for interface, method in model.methods()),
    }


def checks(model, writers):
    """What the tables say of layouts and enumerators, as the compiler sees it."""
    lines = []
    for name in sorted(model.api.enums):
        lines += [f"static_assert(static_cast<uint32_t>({enumerator}) == {value & 0xFFFFFFFF:#x}u);"
                  for enumerator, value in model.api.enums[name].enumerators]
    for writer in writers:
        layout = model.layout(writer.name)
        lines.append(f"static_assert(sizeof({writer.name}) == {layout.size});")
        lines.append(f"static_assert(alignof({writer.name}) == {layout.alignment});")
        lines += [f"static_assert(offsetof({writer.name}, {path}) == {offset});"
                  for path, placed, offset, _ in writer.leaves if not placed.field.bits]
    return (f"{LICENSE}// Fails to compile if the tables and the headers do not agree.\n"
            '#include <cstddef>\n#include <cstdint>\n\n#include "d3d12gen/supplement.h"\n\n'
            + "\n".join(lines) + "\n")


def files(model):
    values = ValueWriter(model)
    result = {"value_info.h": header("d3d12gen/value_info.h", ["<cstdint>", '"d3d12gen/chains.h"'],
                                     VALUE_INFO_H)}
    result.update(enums(model))
    result.update(structs(model, values))
    return result
