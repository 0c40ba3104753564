# SPDX-License-Identifier: Apache-2.0
"""Writes the tables: methods and interfaces."""
from emit_thin import LICENSE, header


def source(path, body):
    return f'{LICENSE}#include "{path}"\n\nnamespace cairn {{\n{body}\n}}  // namespace cairn\n'


def methods_header(model):
    names = ",\n".join(f"  {interface}_{method.name}" for interface, method in model.methods())
    body = f"""
enum class Method : uint16_t {{
{names},
}};
inline constexpr uint32_t kMethodCount = {len(list(model.methods()))};
"""
    return header("d3d12gen/methods.h", ["<cstdint>"], body)


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
        f"constexpr uint8_t kById[kInterfaceCount] = {{{order}}};", "",
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
        "      [](uint8_t index, const auto& wanted) { return SortKey(kInterfaces[index].iid) < wanted; });",
        "  if (found == std::end(kById) || !(kInterfaces[*found].iid == iid)) return nullptr;",
        "  return &kInterfaces[*found];", "}", "",
        "const ChainInfo& Describe(Chain chain) {", "  return kChains[static_cast<size_t>(chain)];", "}", ""])
    text = source("d3d12gen/interfaces.h", body)
    return text.replace('interfaces.h"\n', 'interfaces.h"\n\n#include <algorithm>\n#include <array>\n'
                        "#include <iterator>\n#include <tuple>\n", 1)


def files(model):
    return {"methods.h": methods_header(model), "interfaces.h": interfaces_header(),
            "interfaces.cc": interfaces_source(model)}
