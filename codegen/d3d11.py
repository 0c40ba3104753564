#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the sources below d3d11gen/ from the headers of Direct3D 11 and d3d11.toml.

Usage: d3d11.py --headers FOLDER --overrides FILE --marker-types FILE --out FOLDER

  --headers       where the compiler has d3d11.h to d3d11_4.h

What is read is the part of each header that declares C++ classes: it is what the methods of objects are called by, one
line a parameter in every version of mingw-w64. A file whose text stays the same is not written. Exits 1 and says why if
the overrides do not fit the headers. docs/internals/codegen.md explains the rest.
"""
import argparse
import dataclasses
import pathlib
import re
import sys
import tomllib

HEADERS = ["d3d11.h", "d3d11_1.h", "d3d11_2.h", "d3d11_3.h", "d3d11_4.h"]
TABLES = ["passed", "work", "shaders", "creates", "by_hand"]
# With what numbers a method of [work] is called.
ARGUMENTS = "arguments"
LICENSE = "// SPDX-License-Identifier: Apache-2.0\n// Made by codegen/d3d11.py. Do not edit.\n"
FIRST_SLOT = 3  # behind IUnknown's methods


class HeaderError(Exception):
    pass


@dataclasses.dataclass
class Parameter:
    type: str  # as it is declared, arrays as pointers
    name: str


@dataclasses.dataclass
class Method:
    interface: str
    name: str
    result: str
    parameters: list
    slot: int = 0

    @property
    def key(self):
        return f"{self.interface}::{self.name}"

    @property
    def id(self):
        return f"{self.interface}_{self.name}"


@dataclasses.dataclass
class Interface:
    name: str
    base: str
    methods: list


def read_parameter(text):
    declared = re.fullmatch(r"(.*?)(\w+)((?:\[[^\]]*\])*)", " ".join(text.split()))
    if not declared or not declared[1].strip():
        raise HeaderError(f"not a parameter: {text.strip()}")
    kind = declared[1].strip()
    if declared[3].count("[") > 1:
        raise HeaderError(f"an array of arrays: {text.strip()}")
    return Parameter(kind + (" *" if declared[3] else ""), declared[2])


def read_header(text):
    """The interfaces that a header declares as C++ classes, in its order."""
    interfaces = {}
    for name, base, body in re.findall(r"^(\w+) : public (\w+)\n\{\n(.*?)^\};", text, re.M | re.S):
        methods = []
        for statement in body.split(";"):
            if not statement.strip():
                continue
            method = re.fullmatch(r"\s*virtual (\w[\w\s*]*?)\s*STDMETHODCALLTYPE (\w+)\((.*)\) = 0\s*", statement, re.S)
            if not method:
                raise HeaderError(f"{name}: not a method: {statement.strip()}")
            parameters = [read_parameter(part) for part in method[3].split(",") if part.strip()]
            methods.append(Method(name, method[2], method[1], parameters))
        interfaces[name] = Interface(name, base, methods)
    return interfaces


class Model:
    def __init__(self, interfaces, overrides, markers):
        self.interfaces = interfaces
        self.overrides = overrides
        self.markers = markers
        self.chains = {kind: self.full_line(name) for kind, name in overrides["interfaces"].items()}
        for line in self.chains.values():
            slot = FIRST_SLOT
            for name in line:
                for method in interfaces[name].methods:
                    method.slot = slot
                    slot += 1
        self.check()

    def full_line(self, name):
        """An interface and all its bases but IUnknown, oldest first."""
        line = []
        while name != "IUnknown":
            if name not in self.interfaces:
                raise HeaderError(f"no header declares {name}")
            line.insert(0, name)
            name = self.interfaces[name].base
        return line

    def methods(self):
        """What is noted, each once, in order of declaration."""
        seen = {}
        for line in self.chains.values():
            for name in line:
                for method in self.interfaces[name].methods:
                    if method.key not in self.overrides["passed"]:
                        seen[method.key] = method
        return list(seen.values())

    def check(self):
        known = {method.key: method for line in self.chains.values() for name in line
                 for method in self.interfaces[name].methods}
        said = {}
        for table in TABLES:
            for key in self.overrides[table]:
                if key not in known:
                    raise HeaderError(f"[{table}] {key}: no noted interface has it")
                if key in said:
                    raise HeaderError(f"{key} is in [{said[key]}] and in [{table}]")
                said[key] = table
        for key, marker in self.overrides["work"].items():
            if marker not in self.markers:
                raise HeaderError(f"[work] {key}: marker_types.h has no {marker}")
        for key in self.overrides.get(ARGUMENTS, {}):
            if key not in self.overrides["work"]:
                raise HeaderError(f"[arguments] {key}: it is not in [work]")
        for key in self.overrides["creates"]:
            if not known[key].parameters[-1].type.endswith("**"):
                raise HeaderError(f"[creates] {key}: its last argument receives no object")
        for key, method in known.items():
            # Whoever draws or creates in a new version of an interface is to be noticed.
            draws = re.match(r"(Draw|Dispatch|Clear\w*View|Copy(?!TileMappings)|Generate|Resolve|Update(?!TileMappings))",
                             method.name)
            if draws and key not in said:
                raise HeaderError(f"{key} looks like work, and no table says what it is")


def declared(method):
    """(types, parameters with names): of a method as a function that gets its object first."""
    types = [f"{method.interface}*", *(p.type for p in method.parameters)]
    named = [f"{method.interface}* self", *(f"{p.type} {p.name}" for p in method.parameters)]
    return ", ".join(types), ", ".join(named)


def by_hand_function(method):
    types, named = declared(method)
    return f"{method.result} {method.id}({method.result} (*next)({types}), {named})"


def function(model, method):
    types, named = declared(method)
    names = ", ".join(["self", *(p.name for p in method.parameters)])
    lines = [f"{method.result} On{method.id}({method.result} (*next)({types}), {named}) {{",
             f"  const D3D11Call call(self, D3D11Method::k{method.id});"]
    if method.key in model.overrides["by_hand"]:
        lines.append(f"  return by_hand::{method.id}(next, {names});")
        return "\n".join([*lines, "}"])
    if method.key in model.overrides["work"]:
        noted = model.overrides.get(ARGUMENTS, {}).get(method.key)
        noted = f", {noted}" if noted else ""
        lines.append(f"  const D3D11Work work(self, CAIRN_MARKER_{model.overrides['work'][method.key]}{noted});")
    if method.result == "void":
        lines.append(f"  next({names});")
    else:
        lines.append(f"  const auto returned = next({names});")
    if method.key in model.overrides["shaders"]:
        lines.append(f"  NoteShader(self, kStage{model.overrides['shaders'][method.key]}, {method.parameters[0].name});")
    if method.key in model.overrides["creates"]:
        kind, out = model.overrides["creates"][method.key], method.parameters[-1].name
        what = "{}"
        first = method.parameters[0]
        if kind.endswith("Shader"):
            what = f"{{.code = {first.name}, .code_bytes = {method.parameters[1].name}}}"
        elif kind in ("Buffer", "Texture"):
            what = f"FactsOf({first.name})"
        lines.append(f"  NoteCreated(self, returned, D3D11Kind::k{kind}, {out}, {what});")
    if method.result == "HRESULT":
        lines.append(f"  NoteResult(self, returned, D3D11Method::k{method.id});")
    if method.result != "void":
        lines.append("  return returned;")
    return "\n".join([*lines, "}"])


def methods_header(model):
    names = "".join(f"  k{method.id},\n" for method in model.methods())
    return f"""{LICENSE}#ifndef CAIRN_D3D11GEN_METHODS_H_
#define CAIRN_D3D11GEN_METHODS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn {{

// Methods that are noted, in order of declaration.
enum class D3D11Method : uint32_t {{
{names}}};
inline constexpr size_t kD3D11MethodCount = {len(model.methods())};
// "ID3D11DeviceContext::Draw", and the place in the table of methods.
struct D3D11MethodInfo {{
  const char* name;
  size_t slot;
}};
extern const std::array<D3D11MethodInfo, kD3D11MethodCount> kD3D11Methods;
constexpr const D3D11MethodInfo& Describe(D3D11Method method) {{
  return kD3D11Methods[static_cast<size_t>(method)];
}}

}}  // namespace cairn

#endif  // CAIRN_D3D11GEN_METHODS_H_
"""


def methods_source(model):
    rows = "".join(f'    {{"{method.key}", {method.slot}}},\n' for method in model.methods())
    return f"""{LICENSE}#include "d3d11gen/methods.h"

namespace cairn {{

const std::array<D3D11MethodInfo, kD3D11MethodCount> kD3D11Methods = {{{{
{rows}}}}};

}}  // namespace cairn
"""


def by_hand_header(model):
    functions = "\n".join(by_hand_function(method) + ";" for method in model.methods()
                          if method.key in model.overrides["by_hand"])
    return f"""{LICENSE}#ifndef CAIRN_D3D11GEN_BY_HAND_H_
#define CAIRN_D3D11GEN_BY_HAND_H_

#include <d3d11_4.h>

// What is written by hand around these methods; `next` is the real one.
namespace cairn::by_hand {{

{functions}

}}  // namespace cairn::by_hand

#endif  // CAIRN_D3D11GEN_BY_HAND_H_
"""


def thin_source(model):
    parts = [f"""{LICENSE}#include "app/d3d11/thin.h"

#include "app/d3d11/policy.h"
#include "app/replacement/replacement.h"
#include "d3d11gen/by_hand.h"
#include "d3d11gen/methods.h"

namespace cairn {{
namespace {{
"""]
    parts += [function(model, method) + "\n" for method in model.methods()]
    interfaces = list(dict.fromkeys(name for line in model.chains.values() for name in line))
    noted = {name: [m for m in model.methods() if m.interface == name] for name in interfaces}
    for name, methods in noted.items():
        rows = "".join(f"    {{{method.slot}, &Replacement<&On{method.id}, kMost<{name}>>::Over}},\n"
                       for method in methods)
        parts.append(f"constexpr ReplacedMethod k{name}[] = {{\n{rows}}};\n")
    for kind, line in model.chains.items():
        rows = "".join(f"    {{__uuidof({name}), k{name}}},\n" for name in line)
        parts.append(f"const D3D11Interface k{kind.capitalize()}Line[] = {{\n{rows}}};\n")
    parts.append("}  // namespace\n")
    for kind in model.chains:
        parts.append(f"std::span<const D3D11Interface> {kind.capitalize()}Interfaces() {{\n"
                     f"  return k{kind.capitalize()}Line;\n}}\n")
    parts.append("std::span<const ReplacedMethod> ChildMethods() {\n  return kID3D11DeviceChild;\n}\n")
    parts.append("}  // namespace cairn\n")
    return "\n".join(parts)


def slots_source(model):
    """C sees tables of methods as structs of their own: what the compiler makes of these is the truth."""
    checks = []
    for line in model.chains.values():
        for name in line:
            checks += [f'_Static_assert(offsetof({line[-1]}Vtbl, {method.name}) == {method.slot} * sizeof(void*), '
                       f'"{method.key}");' for method in model.interfaces[name].methods]
    text = "\n".join(dict.fromkeys(checks))
    return f"""/* SPDX-License-Identifier: Apache-2.0 */
/* Made by codegen/d3d11.py. Do not edit. */
#include <d3d11_4.h>
#include <stddef.h>

{text}
"""


def all_files(model):
    return {"methods.h": methods_header(model), "methods.cc": methods_source(model),
            "by_hand.h": by_hand_header(model), "thin.cc": thin_source(model), "slots.c": slots_source(model)}


def read_markers(text):
    return set(re.findall(r"^\s+X\((\w+), \d+\)", text, re.M))


def load_overrides(path):
    with open(path, "rb") as file:
        overrides = tomllib.load(file)
    for table in TABLES:
        overrides.setdefault(table, {})
    return overrides


def build_model(headers, overrides, marker_types):
    interfaces = {}
    for name in HEADERS:
        interfaces.update(read_header((pathlib.Path(headers) / name).read_text(encoding="utf-8")))
    return Model(interfaces, load_overrides(overrides), read_markers(pathlib.Path(marker_types).read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for option in ("headers", "overrides", "marker-types", "out"):
        parser.add_argument(f"--{option}", required=True)
    options = parser.parse_args()
    try:
        files = all_files(build_model(options.headers, options.overrides, options.marker_types))
    except HeaderError as error:
        print(f"d3d11.py: {error}", file=sys.stderr)
        return 1
    for name, text in files.items():
        path = pathlib.Path(options.out) / "d3d11gen" / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
