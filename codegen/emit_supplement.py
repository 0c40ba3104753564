# SPDX-License-Identifier: Apache-2.0
"""Writes supplement.h: in C++, what supplement/*.idl declare and the installed headers do not have."""
import textwrap

from emit_thin import LICENSE, WIDTH, call, guard


def enum(api, name):
    found = api.enums[name]
    lines = [f"enum {name} {{", *[f"  {enumerator} = {value}," for enumerator, value in found.enumerators], "};"]
    if found.flags:
        lines.append(f"DEFINE_ENUM_FLAG_OPERATORS({name})")
    return "\n".join(lines)


def field_lines(fields, indent):
    pad = " " * indent
    lines = []
    for field in fields:
        if field.type is None:
            lines += [f"{pad}{'union' if field.is_union else 'struct'} {{", *field_lines(field.fields, indent + 2),
                      f"{pad}}}{' ' + field.name if field.name else ''};"]
            continue
        dims = "".join(f"[{dim}]" for dim in field.dims)
        bits = f" : {field.bits}" if field.bits else ""
        lines.append(f"{pad}{field.type.spelled()} {field.name}{dims}{bits};")
    return lines


def struct(api, name):
    found = api.structs[name]
    return "\n".join([f"{'union' if found.is_union else 'struct'} {name} {{", *field_lines(found.fields, 2), "};"])


def method(api, declared):
    parameters = [f"{p.type.spelled()} {p.name}" + "".join(f"[{dim}]" for dim in p.dims) for p in declared.parameters]
    result = declared.result.spelled()

    def line(result_type, arguments):
        return call(f"virtual {result_type} STDMETHODCALLTYPE {declared.name}", arguments, " = 0;", 2)

    if declared.result.depth or declared.result.base not in api.structs:
        return line(result, parameters)
    # As in the headers: Microsoft's compiler returns them; all others get the address of the result.
    return "\n".join(["#if defined(_MSC_VER)", line(result, parameters), "#else",
                      line(f"{result}*", [f"{result}* RetVal", *parameters]), "#endif"])


def identifier(iid):
    first, second, third, fourth, fifth = iid.split("-")
    tail = [f"0x{(fourth + fifth)[i:i + 2]}" for i in range(0, 16, 2)]
    return ", ".join([f"0x{first}", f"0x{second}", f"0x{third}", *tail])


def uuidof(api, name):
    """What gives an interface to __uuidof where no compiler does that."""
    return "\n".join(textwrap.wrap(f"__CRT_UUID_DECL({name}, {identifier(api.interfaces[name].iid)})", WIDTH,
                                   subsequent_indent="                "))


def interface(api, name):
    found = api.interfaces[name]
    return "\n".join([f'MIDL_INTERFACE("{found.iid}")', f"{name} : public {found.base} {{", " public:",
                      *[method(api, declared) for declared in found.methods], "};",
                      "#if defined(__CRT_UUID_DECL)", uuidof(api, name), "#endif"])


def declaration(api, kind, name):
    if kind == "enum":
        return enum(api, name)
    if kind == "struct":
        return struct(api, name)
    if kind == "interface":
        return interface(api, name)
    if kind == "callback":
        result, parameters = api.callbacks[name]
        return f"typedef {result}(STDMETHODCALLTYPE* {name})({parameters});"
    enum_name, enumerator = name
    value = dict(api.enums[enum_name].enumerators)[enumerator]
    # No static_cast: clang refuses one to a value that the headers' enumerators leave no bit for.
    return f"inline constexpr {enum_name} {enumerator} =\n    std::bit_cast<{enum_name}>(uint32_t{{{value}}});"


def supplement_header(model):
    path = "d3d12gen/supplement.h"
    body = "\n\n".join(declaration(model.api, kind, name) for kind, name in model.api.supplement)
    if model.api.without_uuid:
        body += "\n\n".join(["", "// Interfaces of the headers that their dxguids.h leaves out.\n"
                             "#if defined(__CRT_UUID_DECL)\n"
                             + "\n".join(uuidof(model.api, name) for name in model.api.without_uuid) + "\n#endif"])
    return f"""{LICENSE}//
// Direct3D 12 with what codegen/supplement/ adds to the installed headers.
#ifndef {guard(path)}
#define {guard(path)}

#include <bit>
#include <cstdint>

#include "d3d12abi/d3d12_api.h"

// The interfaces have no virtual destructors, as those of the headers.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

{body}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // {guard(path)}
"""


def files(model):
    return {"supplement.h": supplement_header(model)}
