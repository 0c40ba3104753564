# SPDX-License-Identifier: Apache-2.0
"""Writes Invoke(): from the number of a method and the memory of its arguments to the real call."""
from emit_thin import LICENSE, call, header
from model import GUID_REFERENCES

INVOKE_H = """
// Calls `method` on `object`, which points to an object with its interface. `arguments[i]` points to
// parameter i as format/calls/value_encoder.h describes it: to the value, to the pointer, to the GUID of a
// reference. `result` has room for the result; null for void. What the objects do with the arguments
// is theirs: nothing is checked here.
void Invoke(Method method, void* object, void* const* arguments, void* result);
"""


def invoke_header():
    return header("d3d12gen/invoke.h", ['"d3d12gen/methods.h"', '"d3d12gen/supplement.h"'], INVOKE_H,
                  "CAIRN_D3D12_NAMESPACE")


def argument(parameter, index):
    if parameter.type.base in GUID_REFERENCES:
        return f"At<GUID>(a[{index}])"
    spelled = parameter.type.spelled()
    if parameter.dims:
        spelled += "*"
    return f"At<{spelled}>(a[{index}])"


def case(model, interface, method):
    arguments = [argument(parameter, index) for index, parameter in enumerate(method.parameters)]
    result = method.result.spelled()
    name = model.resolve(method.result.base)
    target = f"static_cast<{interface}*>(object)->{method.name}"
    lines = [f"    case Method::{interface}_{method.name}:"]
    if not method.result.depth and name in model.api.structs:
        lines.append("#if defined(_MSC_VER)")
        lines.append(call(f"At<{result}>(result) = {target}", arguments, ";", 6))
        lines.append("#else")
        lines.append(call(target, [f"static_cast<{result}*>(result)", *arguments], ";", 6))
        lines.append("#endif")
    elif (method.result.base, method.result.depth) == ("void", 0):
        lines.append(call(target, arguments, ";", 6))
    else:
        lines.append(call(f"At<{result}>(result) = {target}", arguments, ";", 6))
    lines.append("      return;")
    return "\n".join(lines)


def invoke_source(model):
    cases = "\n".join(case(model, interface, method) for interface, method in model.methods())
    return f"""{LICENSE}
#include "d3d12gen/invoke.h"

namespace cairn {{
inline namespace CAIRN_D3D12_NAMESPACE {{
namespace {{

template <typename T>
T& At(void* memory) {{
  return *static_cast<T*>(memory);
}}

}}  // namespace

// A replayed enumeration may have a value that no enumerator stands for: sanitizers let it through.
#if defined(__GNUC__)
[[gnu::no_sanitize("undefined")]]
#endif
void Invoke(Method method, void* object, void* const* a, void* result) {{
  switch (method) {{
{cases}
  }}
}}

}}  // namespace CAIRN_D3D12_NAMESPACE
}}  // namespace cairn
"""


def files(model):
    return {"invoke.h": invoke_header(), "invoke.cc": invoke_source(model)}
