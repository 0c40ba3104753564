# SPDX-License-Identifier: Apache-2.0
"""Writes roles.h and roles.cc: what calls mean."""
import textwrap

import roles as words
from emit_thin import header
from emit_values import source

ENUMS = (
    ("Role", words.ROLES, False, "The effect of a call. A method has one role."),
    ("StateKind", words.STATES, True, "The state that a call with the role kState sets."),
    ("RootArgumentKind", words.ROOTS, True, "Root arguments."),
    ("RootPoint", words.POINTS, True,
     "The root signature, with its arguments, that a call sets or uses: a list has two."),
    ("ViewKind", words.VIEWS, True, "The kind of descriptor that a call writes, or clears through."),
    ("ResourceMemory", words.MEMORIES, True, "The memory that a created resource has."),
    ("Replay", words.REPLAYS, False, "The treatment of a call by a replay."),
    ("Unrepeatable", words.WHYS, True, "The reason why a replay cannot make a call: Replay::kCannot."),
)

ROLES_H = """
// The moment when the effect of a call takes place.
enum class Timeline : uint8_t {
  kCpu,    // when it is made
  kQueue,  // when the GPU comes to it in its queue
  kList,   // when the list is executed: the call is recorded
};

inline constexpr int8_t kNoParameter = -1;

// The meaning of a call (codegen/roles.toml).
struct CallRole {
  Role role;
  Timeline timeline;
  Replay replay;
  Unrepeatable unrepeatable;
  StateKind state;
  RootArgumentKind root;
  RootPoint point;
  ViewKind view;
  ResourceMemory memory;
  // The GPU finds addresses or descriptors in bytes that no argument names.
  bool follows_addresses;
  // The call gives the fence `object`, or its own, the value `value`.
  bool signals;
  bool polled;  // programs make it again and again
  // The chain of the objects that have the method, by its interface or a tear-off; kNone: there are several.
  Chain chain;
  // Indices of parameters, or kNoParameter. The vocabulary says what each of them is for a role.
  int8_t object;
  int8_t value;
  int8_t slot;
  int8_t count;
  int8_t offset;
  // The parameter in which the object comes back, of the role kCreate.
  int8_t created;
  // Bits of the indices of parameters that name what the GPU reads and writes; the other arguments say how much.
  uint16_t reads;
  uint16_t writes;

  bool Reads(size_t parameter) const { return (reads >> parameter & 1) != 0; }
  bool Writes(size_t parameter) const { return (writes >> parameter & 1) != 0; }
};

// The roles by method: constants, so that no code runs at the start of the program.
extern const CallRole kCallRoles[kMethodCount];

// Returns the role of the method. Cost: a load.
inline const CallRole& RoleOf(Method method) {
  return kCallRoles[static_cast<size_t>(method)];
}

// Returns true if a command list records the call; Reset and Close are among these.
inline bool IsRecorded(Method method) {
  return RoleOf(method).timeline == Timeline::kList;
}
"""


def enumerator(word):
    return "k" + "".join(part.capitalize() for part in word.split("_"))


def enum_lines(name, vocabulary, has_none, comment):
    lines = [f"// {comment}", f"enum class {name} : uint8_t {{"]
    if has_none:
        lines.append("  kNone,")
    for word, meaning in vocabulary.items():
        line = f"  {enumerator(word)},"
        if meaning and len(line) + len(meaning) + 5 <= 100:
            line += f"  // {meaning}"
        elif meaning:
            lines += textwrap.wrap(meaning, 95, initial_indent="  // ", subsequent_indent="  // ")
        lines.append(line)
    return "\n".join([*lines, "};", ""])


def roles_header():
    enums = "\n".join(enum_lines(*each) for each in ENUMS)
    return header("d3d12gen/roles.h", ["<cstddef>", "<cstdint>", '"d3d12gen/chains.h"', '"d3d12gen/methods.h"'],
                  enums + ROLES_H)


def chain_of(model, reader, interface):
    name = reader.owner(interface)
    chain = model.chain_of.get(name)
    return "k" + chain.name if chain and chain.kind == "wrapped" else "kNone"


def row(model, reader, interface, method):
    role = reader.read(interface, method)

    def chosen(name, word):
        return f"{name}::{enumerator(role.words.get(word, 'none'))}"

    def truth(flag):
        return "true" if role.flag(flag) else "false"

    parameters = ", ".join(str(role.parameters[word]) for word in words.PARAMETERS)
    return "\n".join([
        f"    // {interface}::{method.name}",
        f"    {{Role::{enumerator(role.role)}, Timeline::{enumerator(role.timeline)}, "
        f"Replay::{enumerator(role.replay)}, {chosen('Unrepeatable', 'why')},",
        f"     {chosen('StateKind', 'state')}, {chosen('RootArgumentKind', 'root')}, {chosen('RootPoint', 'point')},",
        f"     {chosen('ViewKind', 'view')}, {chosen('ResourceMemory', 'memory')}, {truth('follows')}, "
        f"{truth('signals')}, {truth('polled')},",
        f"     Chain::{chain_of(model, reader, interface)}, {parameters}, {role.created}, {role.reads:#x}, "
        f"{role.writes:#x}}},"])


def roles_source(model):
    reader = words.Reader(model, model.roles)
    rows = [row(model, reader, interface, method) for interface, method in model.methods()]
    return source("d3d12gen/roles.h", [], "\n".join(
        ["constinit const CallRole kCallRoles[kMethodCount] = {", *rows, "};", ""]))


def files(model):
    return {"roles.h": roles_header(), "roles.cc": roles_source(model)}
