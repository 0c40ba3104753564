# SPDX-License-Identifier: Apache-2.0
"""Writes the thin classes, one header a chain, and what they and Unwrap need to know about types."""
import textwrap

from model import ModelError

LICENSE = "// SPDX-License-Identifier: Apache-2.0\n// Made by codegen/generate.py. Do not edit.\n"
WIDTH = 100


def guard(path):
    return "CAIRN_" + path.upper().replace("/", "_").replace(".", "_") + "_"


def header(path, includes, body, namespace=None):
    """A whole header file. `namespace`: the inline namespace of what depends on the ABI."""
    name = guard(path)
    lines = [LICENSE + f"#ifndef {name}\n#define {name}\n"]
    lines.append("".join(f"#include {include}\n" for include in includes))
    opening = "namespace cairn {\n" + (f"inline namespace {namespace} {{\n" if namespace else "")
    closing = (f"}}  // namespace {namespace}\n" if namespace else "") + "}  // namespace cairn\n"
    return "\n".join([*lines, opening, body.strip("\n") + "\n", closing, f"#endif  // {name}\n"])


def call(head, arguments, tail, indent):
    """head(arguments)tail, broken into lines if it is too long."""
    pad = " " * indent
    one_line = f"{pad}{head}({', '.join(arguments)}){tail}"
    if len(one_line) <= WIDTH:
        return one_line
    inside = textwrap.wrap(", ".join(argument.replace(" ", "\0") for argument in arguments),
                           WIDTH - indent - 4, break_long_words=False, break_on_hyphens=False)
    lines = [" " * (indent + 4) + line.replace("\0", " ") for line in inside]
    return f"{pad}{head}(\n" + "\n".join(lines) + f"){tail}"


# What a method says of the resource that it makes (app/d3d12/capture/creation.h).
CREATION_FACTS = {
    "InitialResourceState": ".initial_state = static_cast<uint32_t>(InitialResourceState)",
    "InitialState": ".initial_state = static_cast<uint32_t>(InitialState)",
    "InitialLayout": ".initial_state = StateOfLayout(static_cast<uint32_t>(InitialLayout))",
    "pHeap": ".heap = pHeap",
    "HeapOffset": ".heap_offset_bytes = HeapOffset",
}


def creation_facts(method):
    """The last argument of Create, with a comma before it; "" if the method says nothing."""
    said = {parameter.name for parameter in method.parameters}
    if "HeapOffset" not in said:
        said.discard("pHeap")
    if not said & {"InitialResourceState", "InitialState", "InitialLayout"}:
        return ""
    return ", {" + ", ".join(fact for name, fact in CREATION_FACTS.items() if name in said) + "}"


def chains_header(model):
    names = ",\n".join(f"  k{chain.name}" for chain in model.chains)

    def for_each(macro, kind):
        return f"#define {macro}(X)" + "".join(
            f" \\\n  X({chain.name})" for chain in model.chains if chain.kind == kind)

    body = f"""
// A wrapped object's kind: one class of ours for all versions of an interface. kNone: not wrapped.
enum class Chain : uint8_t {{
  kNone,
{names},
}};
inline constexpr size_t kChainCount = {len(model.chains) + 1};

// X(name) for every class of objects of their own, and for every class of further interfaces.
{for_each("CAIRN_WRAPPED_CHAINS", "wrapped")}
{for_each("CAIRN_TEAR_OFF_CHAINS", "tear_off")}
"""
    return header("d3d12gen/chains.h", ["<cstddef>", "<cstdint>"], body)


def interface_traits_header(model):
    parts = ["""
// For each interface: kChains, the classes of ours that may stand behind a pointer of this type.
template <typename Interface>
struct InterfaceTraits;
"""]
    names = ["IUnknown", *model.api.interfaces]
    for name in names:
        chains = model.chains_of_argument(name)
        if not chains:
            continue
        values = ", ".join(f"Chain::k{chain.name}" for chain in chains)
        wrapped = "\n".join(textwrap.wrap(f"static constexpr Chain kChains[] = {{{values}}};", WIDTH - 6,
                                          initial_indent="  ", subsequent_indent="      "))
        parts.append(f"template <>\nstruct InterfaceTraits<{name}> {{\n{wrapped}\n}};\n")
    return header("d3d12gen/interface_traits.h", ['"d3d12gen/chains.h"', '"d3d12gen/supplement.h"'],
                  "\n".join(parts), "CAIRN_D3D12_NAMESPACE")


class ThinClass:
    def __init__(self, model, chain):
        self.model = model
        self.chain = chain

    def text(self):
        chain = self.chain
        lines = [f"class Thin{chain.name} : public {chain.newest}, public Wrapper {{", " public:",
                 "  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {",
                 "    return Query(riid, object);",
                 "  }",
                 "  ULONG STDMETHODCALLTYPE AddRef() override { return AddReference(); }",
                 "  ULONG STDMETHODCALLTYPE Release() override { return ReleaseReference(); }"]
        for interface in self.model.full_line(chain.newest):
            lines.append(f"\n  // {interface}")
            methods = self.model.api.interfaces[interface].methods
            if not methods:
                lines[-1] += " adds nothing."
            for method in methods:
                lines.append(self.method(interface, method))
        lines.append(f"""
 protected:
  explicit Thin{chain.name}(void* real, Wrapper* owner = nullptr)
      : Wrapper(Chain::k{chain.name}, real, owner) {{}}

  {chain.newest}* real() const {{ return static_cast<{chain.newest}*>(real_pointer()); }}
}};""")
        return "\n".join(lines)

    @staticmethod
    def declared(parameter):
        return f"{parameter.type.spelled()} {parameter.name}" + "".join(f"[{dim}]" for dim in parameter.dims)

    def returns_aggregate(self, method):
        name = self.model.resolve(method.result.base)
        return not method.result.depth and name in self.model.api.structs

    def method(self, interface, method):
        key = f"{interface}::{method.name}"
        parameters = [self.declared(parameter) for parameter in method.parameters]
        result = method.result.spelled()
        head = f"{result} STDMETHODCALLTYPE {method.name}"
        if key in self.model.overrides["manual"]:
            return (f"  // By hand: {self.model.overrides['manual'][key]}.\n"
                    + call(head, parameters, " override = 0;", 2))
        if self.returns_aggregate(method):
            # Microsoft's compiler returns them; all others get the address of the result.
            returned = self.body(interface, method, parameters, head, [])
            address = self.body(interface, method, [f"{result}* RetVal", *parameters],
                                f"{result}* STDMETHODCALLTYPE {method.name}", ["RetVal"])
            return f"#if defined(_MSC_VER)\n{returned}\n#else\n{address}\n#endif"
        return self.body(interface, method, parameters, head, [])

    def body(self, interface, method, parameters, head, extra):
        model = self.model
        key = f"{interface}::{method.name}"
        names = [parameter.name for parameter in method.parameters]
        lines = [call(head, parameters, " override {", 2),
                 call("CallScope call", ["*this", f"Method::{interface}_{method.name}", *names], ";", 4)]
        if key in model.overrides["work"]:
            noted = model.overrides["arguments"].get(key)
            lines.append(f"    {'' if noted else 'const '}WorkScope work(*this, CAIRN_MARKER_{model.overrides['work'][key]});")
            if noted:
                lines.append(f"    work.NoteArguments({noted});")
        if key in model.overrides["policies"]:
            made = call(f"const auto returned = {model.overrides['policies'][key]}", names, ";", 4)
            return "\n".join([*lines, made, call("return call.Returns", ["returned", *names], ";", 4), "  }"])
        arguments, needs_scratch = list(extra), False
        for parameter in method.parameters:
            text, scratch = self.argument(interface, method, parameter)
            arguments.append(text)
            needs_scratch |= scratch
        if needs_scratch:
            lines.append("    Scratch scratch;")
        policy = "Create" if key in model.overrides["creates"] else (
            "WrapReturned" if key in model.overrides["returns"] else None)
        returns = (method.result.base, method.result.depth) != ("void", 0)
        if policy:
            lines.append(self.creation(interface, method, key, policy, arguments))
        else:
            prefix = "const auto returned = " if returns else ""
            # What has a result is made whatever cairn bisect asks: nobody knows what it would have returned.
            if key in model.overrides["work"] and not returns:
                prefix = "if (!work.left_out()) "
            lines.append(call(f"{prefix}real()->{method.name}", arguments, ";", 4))
        if returns:
            note = "ReturnsAt" if extra else "Returns"
            lines.append(call(f"return call.{note}", ["returned", *names], ";", 4))
        elif any(model.parameter_kind(interface, method, p).direction != "in" for p in method.parameters):
            lines.append(call("call.Outputs", names, ";", 4))
        return "\n".join([*lines, "  }"])

    def creation(self, interface, method, key, policy, arguments):
        identifier, out = self.model.given_object(interface, method)
        facts = creation_facts(method)
        base = self.model.overrides["creates" if policy == "Create" else "returns"][key]
        arguments = list(arguments)
        arguments[method.parameters.index(out)] = "real_object"
        if identifier is None:
            head = f"const auto returned = CreateTyped<{base}>(*this, {out.name}, [&]({base}** real_object) {{"
            return "\n".join([f"    {head}", call(f"return real()->{method.name}", arguments, ";", 6),
                              f"    }}{facts});"])
        iid = identifier.name
        arguments[method.parameters.index(identifier)] = "real_iid"
        inner = call(f"return real()->{method.name}", arguments, ";", 6)
        return "\n".join([
            call(f"const auto returned = {policy}<{base}>", ["*this", iid, out.name,
                                              "[&](REFIID real_iid, void** real_object) {"], "", 4)[:-1],
            inner, f"    }}{facts});"])

    def gives(self, interface, method, parameter):
        key = f"{interface}::{method.name}"
        if not any(key in self.model.overrides[table] for table in ("creates", "returns")):
            return False
        return parameter is self.model.given_object(interface, method)[1]

    def argument(self, interface, method, parameter):
        """(what the real method gets, whether it needs memory)."""
        model = self.model
        if f"{interface}::{method.name}.{parameter.name}" in model.overrides["as_is"]:
            return parameter.name, False
        kind = model.parameter_kind(interface, method, parameter)
        if self.gives(interface, method, parameter):
            return parameter.name, False
        if kind.kind == "object" and model.chains_of_argument(parameter.type.base):
            if kind.depth == 1:
                return f"Unwrap({parameter.name})", False
            if kind.depth == 2 and kind.direction == "in" and kind.count:
                return f"UnwrapArray(scratch, {parameter.name}, {kind.count.text})", True
            raise ModelError(f"{interface}::{method.name}.{parameter.name}: objects of unknown number")
        if kind.kind == "struct" and kind.direction == "in" and kind.depth == 1 \
                and model.holds_objects(parameter.type.base):
            count = kind.count.text if kind.count else "1"
            return f"UnwrapArray(scratch, {parameter.name}, {count})", True
        return parameter.name, False


def thin_header(model, chain):
    # The headers' interfaces have no virtual destructors; ours are never deleted through them.
    body = f"""
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

{ThinClass(model, chain).text()}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
"""
    return header(f"d3d12gen/thin/{chain.name}.h", ['"app/d3d12/policy.h"', '"d3d12gen/unwrap.h"'], body,
                  "CAIRN_D3D12_NAMESPACE")


def all_thin_header(model):
    name = guard("d3d12gen/thin.h")
    includes = "".join(f'#include "d3d12gen/thin/{chain.name}.h"\n' for chain in model.chains)
    return f"{LICENSE}#ifndef {name}\n#define {name}\n\n{includes}\n#endif  // {name}\n"


def files(model):
    result = {"chains.h": chains_header(model), "interface_traits.h": interface_traits_header(model),
              "thin.h": all_thin_header(model)}
    for chain in model.chains:
        result[f"thin/{chain.name}.h"] = thin_header(model, chain)
    return result
