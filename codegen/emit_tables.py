# SPDX-License-Identifier: Apache-2.0
"""Writes the tables: methods and interfaces."""
from emit_thin import header
from emit_values import HANDLE_KINDS, LIFETIMES, ValueWriter, source
from model import SUBOBJECT_TYPES, Count, Kind

# How many bytes a returned pointer without a type points to.
RESULT_BYTES = {"GetShaderIdentifier": "D3D12_SHADER_IDENTIFIER_SIZE_IN_BYTES"}


METHODS_H = """
enum class Direction : uint8_t { kIn, kOut, kInOut };

struct ParameterInfo : ValueInfo {
  Direction direction;
  HandleKind handle;
  Lifetime lifetime;
};

inline constexpr uint16_t kNoWork = 0xFFFF;

struct MethodInfo {
  const char* name;  // "ID3D12Device::CreateFence"
  uint16_t slot;     // in the table of methods of its interface and all that derive from it
  uint16_t work;     // CairnMarkerType of what the GPU does for it; kNoWork
  ValueInfo result;  // its size is 0 for void
  std::span<const ParameterInfo> parameters;
  // The object that the method gives out by the identifier in one parameter, in another one; kNone and
  // -1 if it gives out none, or several kinds. An object without an identifier is of the parameter's type.
  Chain object_chain;
  bool object_is_new;
  int8_t identifier_parameter;
  int8_t object_parameter;
  bool has_results;  // it returns something, or has parameters that are out or inout
};

const MethodInfo& Describe(Method method);
"""


def methods_header(model):
    names = ",\n".join(f"  {interface}_{method.name}" for interface, method in model.methods())
    body = f"""
enum class Method : uint16_t {{
{names},
}};
inline constexpr uint32_t kMethodCount = {len(list(model.methods()))};
{METHODS_H}"""
    return header("d3d12gen/methods.h", ["<cstdint>", "<span>", '"d3d12gen/value_info.h"'], body)


class MethodWriter:
    def __init__(self, model, values):
        self.model = model
        self.values = values

    def parameter(self, interface, method, parameter):
        kind = self.model.parameter_kind(interface, method, parameter)
        siblings = [other.name for other in method.parameters]
        direction = {"in": "kIn", "out": "kOut", "inout": "kInOut"}[kind.direction]
        lifetime = self.model.overrides["lifetimes"].get(f"{interface}::{method.name}.{parameter.name}", "")
        spelled = parameter.type.spelled()
        return (f"    {{{{{self.values.value(parameter.name, spelled, kind, siblings)}}},\n"
                f"     Direction::{direction}, HandleKind::{HANDLE_KINDS[kind.handle_kind]}, "
                f"Lifetime::{LIFETIMES[lifetime]}}},")

    def result(self, method):
        if method.result.base == "void" and not method.result.depth:
            return '"", "void", ValueKind::kBytes, 0, false, 0, 1, kNoType, Chain::kNone, ' \
                   '{{}, 0, false, ""}'
        kind, name = self.model.base_kind(method.result.base)
        size = self.model.size_of_type(method.result.base)[0] if name != "void" else 1
        count = None
        if name == "void":
            count = Count((RESULT_BYTES[method.name],), True, RESULT_BYTES[method.name])
        return self.values.value("", method.result.spelled(),
                                 Kind(kind, name, method.result.depth, size, count=count), ())

    def has_results(self, interface, method):
        if method.result.base != "void" or method.result.depth:
            return True
        return any(self.model.parameter_kind(interface, method, parameter).direction != "in"
                   for parameter in method.parameters)

    def given(self, interface, method):
        """(chain, is it new, index of the identifier, index of the object)."""
        key = f"{interface}::{method.name}"
        for table in ("creates", "returns"):
            if key in self.model.overrides[table]:
                identifier, out = self.model.given_object(interface, method)
                index = -1 if identifier is None else method.parameters.index(identifier)
                return ("k" + self.model.overrides[table][key], table == "creates", index,
                        method.parameters.index(out))
        return "kNone", False, -1, -1

    def lines(self):
        tables, rows = [], []
        for interface, method in self.model.methods():
            key = f"{interface}::{method.name}"
            parameters = "{}"
            if method.parameters:
                parameters = f"k_{interface}_{method.name}"
                tables.append(f"constexpr ParameterInfo {parameters}[] = {{")
                tables += [self.parameter(interface, method, p) for p in method.parameters]
                tables.append("};")
            work = self.model.overrides["work"].get(key)
            chain, is_new, iid, out = self.given(interface, method)
            rows.append(f'    {{"{key}", {self.model.slot(interface, method)}, '
                        f'{f"CAIRN_MARKER_{work}" if work else "kNoWork"},\n'
                        f"     {{{self.result(method)}}},\n     {parameters}, Chain::{chain}, "
                        f'{"true" if is_new else "false"}, {iid}, {out}, '
                        f'{"true" if self.has_results(interface, method) else "false"}}},')
        return [*tables, "constexpr MethodInfo kMethods[kMethodCount] = {", *rows, "};"]


def methods_source(model):
    lines = MethodWriter(model, ValueWriter(model)).lines()
    body = "\n".join(["namespace {", "", *lines, "", "}  // namespace", "",
                      "const MethodInfo& Describe(Method method) {",
                      "  return kMethods[static_cast<size_t>(method)];", "}", ""])
    return source("d3d12gen/methods.h", ['"cairn/marker_types.h"'], body)


SUBOBJECTS_H = """
// A part of a pipeline state stream, or what a sub-object of a state object points to.
struct SubobjectInfo {
  uint32_t type;
  uint32_t alignment_bytes;
  ValueInfo value;  // its name is that of the type
};

// Null if nothing is known of this type.
const SubobjectInfo* FindPipelineSubobject(uint32_t type);
const SubobjectInfo* FindStateSubobject(uint32_t type);
"""

SUBOBJECTS_CC = """
namespace {

const SubobjectInfo* Find(std::span<const SubobjectInfo> table, uint32_t type) {
  for (const SubobjectInfo& known : table) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

}  // namespace

const SubobjectInfo* FindPipelineSubobject(uint32_t type) {
  return Find(k_pipeline_subobjects, type);
}

const SubobjectInfo* FindStateSubobject(uint32_t type) {
  return Find(k_state_subobjects, type);
}
"""


def subobjects_source(model):
    values = ValueWriter(model)
    lines = ["namespace {", ""]
    for table, enum in SUBOBJECT_TYPES.items():
        types = dict(model.api.enums[enum].enumerators) if model.overrides[table] else {}
        lines.append(f"constexpr SubobjectInfo k_{table}[] = {{")
        for name, held in model.overrides[table].items():
            base = held.rstrip("*")
            depth = len(held) - len(base)
            if name in types:
                kind, resolved = model.base_kind(base)
                size, alignment = model.size_of_type(base)
                value = values.value(name, held, Kind(kind, resolved, depth, size), ())
                lines.append(f"    {{{types[name]}, {alignment}, {{{value}}}}},")
        lines.append("};")
    body = "\n".join([*lines, "", "}  // namespace"]) + "\n" + SUBOBJECTS_CC
    return source("d3d12gen/subobjects.h", ["<span>"], body)


def interface_id(iid):
    first, second, third, fourth, fifth = iid.split("-")
    tail = ", ".join(f"0x{(fourth + fifth)[i:i + 2]}" for i in range(0, 16, 2))
    return f"{{0x{first}, 0x{second}, 0x{third}, {{{tail}}}}}"


def known_interfaces(model):
    """(name, iid, base, chain, kind), bases first. Versions that are refused are left out."""
    yield "IUnknown", "00000000-0000-0000-c000-000000000046", "", None, "kShared"
    for name, interface in model.api.interfaces.items():
        chain = model.chain_of.get(name)
        if chain:
            yield name, interface.iid, interface.base, chain, \
                "kWrapped" if chain.kind == "wrapped" else "kTearOff"
        elif name in model.shared:
            yield name, interface.iid, interface.base, None, "kShared"
        elif any(name in model.line_of_versions(first, set(model.passed)) for first in model.passed):
            yield name, interface.iid, interface.base, None, "kPassed"


def sorted_interfaces(model):
    """Bases before what derives from them."""
    rows = {row[0]: row for row in known_interfaces(model)}
    done = []

    def add(name):
        if name in rows and rows[name] not in done:
            add(rows[name][2])
            done.append(rows[name])

    for name in rows:
        add(name)
    return done


INTERFACES_H = """
// A GUID, without the header of any graphics API.
struct InterfaceGuid {
  uint32_t data1;
  uint16_t data2;
  uint16_t data3;
  uint8_t data4[8];
  friend bool operator==(const InterfaceGuid&, const InterfaceGuid&) = default;
};

enum class InterfaceKind : uint8_t {
  kWrapped,  // of a chain that we wrap
  kTearOff,  // asked of a wrapped object by QueryInterface; a class of ours
  kShared,   // a base of several chains
  kPassed,   // given out as the implementation's own object
};

struct InterfaceInfo {
  const char* name;
  InterfaceGuid iid;
  const InterfaceInfo* base;  // null for IUnknown
  Chain chain;                // kNone for shared and passed ones
  InterfaceKind kind;
};

// All interfaces that are known, bases before what derives from them.
std::span<const InterfaceInfo> Interfaces();

// Null if the interface is not known.
const InterfaceInfo* FindInterface(const InterfaceGuid& iid);
template <typename Guid>
  requires(sizeof(Guid) == sizeof(InterfaceGuid) && !std::is_same_v<Guid, InterfaceGuid>)
const InterfaceInfo* FindInterface(const Guid& guid) {
  return FindInterface(std::bit_cast<InterfaceGuid>(guid));
}

struct ChainInfo {
  const InterfaceInfo* first;
  const InterfaceInfo* newest;  // the one that our class implements, with all before it
  Chain owner;                  // of tear-offs: which object is asked for them
};

// Not for Chain::kNone.
const ChainInfo& Describe(Chain chain);

// An object of this chain serves the interface with its own pointer: a version, or a base of the first.
inline bool IsVersionOf(Chain chain, const InterfaceInfo& wanted) {
  const InterfaceInfo* known = Describe(chain).newest;
  while (known != nullptr && known != &wanted) known = known->base;
  return known != nullptr;
}
inline bool HasTearOff(const InterfaceInfo& wanted) {
  return wanted.kind == InterfaceKind::kTearOff;
}
inline bool IsPassed(const InterfaceInfo& wanted) {
  return wanted.kind == InterfaceKind::kPassed;
}
"""


def interfaces_header():
    return header("d3d12gen/interfaces.h",
                  ["<bit>", "<cstdint>", "<span>", "<type_traits>", '"d3d12gen/chains.h"'], INTERFACES_H)


def interfaces_source(model):
    rows = sorted_interfaces(model)
    index = {row[0]: i for i, row in enumerate(rows)}
    entries = []
    for name, iid, base, chain, kind in rows:
        base_text = f"&kInterfaces[{index[base]}]" if base else "nullptr"
        chain_text = f"Chain::k{chain.name}" if chain else "Chain::kNone"
        entries.append(f'    {{"{name}",\n     {interface_id(iid)},\n     {base_text}, {chain_text}, '
                       f"InterfaceKind::{kind}}},")
    by_iid = sorted(rows, key=lambda row: row[1])
    order = ", ".join(str(index[row[0]]) for row in by_iid)
    chains = [f"    {{&kInterfaces[{index[c.members[0]]}], &kInterfaces[{index[c.newest]}], "
              f"Chain::k{c.owner or 'None'}}},  // {c.name}" for c in model.chains]
    body = "\n".join([
        "namespace {", "", "// Entries refer to entries before them.",
        f"constexpr size_t kInterfaceCount = {len(rows)};",
        "extern const InterfaceInfo kInterfaces[kInterfaceCount];",
        "const InterfaceInfo kInterfaces[kInterfaceCount] = {", *entries, "};", "",
        "// Indices into kInterfaces in the order of the identifiers.",
        f"constexpr uint16_t kById[kInterfaceCount] = {{{order}}};", "",
        "constexpr ChainInfo kChains[kChainCount] = {",
        "    {nullptr, nullptr, Chain::kNone},", *chains, "};", "",
        "auto SortKey(const InterfaceGuid& iid) {",
        "  return std::tuple(iid.data1, iid.data2, iid.data3, std::to_array(iid.data4));",
        "}", "", "}  // namespace", "",
        "std::span<const InterfaceInfo> Interfaces() {", "  return kInterfaces;", "}", "",
        "const InterfaceInfo* FindInterface(const InterfaceGuid& iid) {",
        "  const auto key = SortKey(iid);",
        "  const auto* const found = std::lower_bound(",
        "      std::begin(kById), std::end(kById), key,",
        "      [](uint16_t index, const auto& wanted) { return SortKey(kInterfaces[index].iid) < wanted; });",
        "  if (found == std::end(kById) || !(kInterfaces[*found].iid == iid)) return nullptr;",
        "  return &kInterfaces[*found];", "}", "",
        "const ChainInfo& Describe(Chain chain) {", "  return kChains[static_cast<size_t>(chain)];", "}", ""])
    return source("d3d12gen/interfaces.h", ["<algorithm>", "<array>", "<iterator>", "<tuple>"], body)


def files(model):
    return {"methods.h": methods_header(model), "methods.cc": methods_source(model),
            "subobjects.h": header("d3d12gen/subobjects.h", ["<cstdint>", '"d3d12gen/value_info.h"'],
                                   SUBOBJECTS_H),
            "subobjects.cc": subobjects_source(model),
            "interfaces.h": interfaces_header(), "interfaces.cc": interfaces_source(model)}
