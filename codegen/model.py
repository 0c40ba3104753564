# SPDX-License-Identifier: Apache-2.0
"""What the IDL and overrides.toml say together: chains of interfaces, kinds of parameters and fields,
counts, layouts. The emitters (emit_*.py) only write it down."""
import dataclasses
import re
import tomllib

import roles as roles_module

# Types of the Windows SDK: (kind, size, alignment). Pointers in disguise have no size of their own.
SCALARS = {
    "BOOL": ("bool", 4), "BYTE": ("unsigned", 1), "UCHAR": ("unsigned", 1), "UINT8": ("unsigned", 1),
    "INT8": ("signed", 1), "UINT16": ("unsigned", 2), "INT16": ("signed", 2), "USHORT": ("unsigned", 2),
    "WORD": ("unsigned", 2), "UINT": ("unsigned", 4), "UINT32": ("unsigned", 4), "DWORD": ("unsigned", 4),
    "INT": ("signed", 4), "INT32": ("signed", 4), "int": ("signed", 4), "LONG": ("signed", 4),
    "HRESULT": ("signed", 4), "FLOAT": ("float", 4), "float": ("float", 4), "double": ("float", 8),
    "UINT64": ("unsigned", 8), "INT64": ("signed", 8), "SIZE_T": ("unsigned", 8),
    "LONG_PTR": ("signed", 8), "ULONG": ("unsigned", 4), "char": ("signed", 1), "CHAR": ("signed", 1),
    "SHORT": ("signed", 2), "LONGLONG": ("signed", 8), "ULONGLONG": ("unsigned", 8), "DOUBLE": ("float", 8),
    "ULONG_PTR": ("unsigned", 8), "UINT_PTR": ("unsigned", 8), "DWORD64": ("unsigned", 8),
}
# Structs of the Windows SDK that fields and parameters use: (size, alignment).
SDK_STRUCTS = {"GUID": (16, 4), "IID": (16, 4), "RECT": (16, 4), "SECURITY_ATTRIBUTES": (24, 8),
               "LARGE_INTEGER": (8, 8), "POINT": (8, 4)}
STRINGS = {"LPCSTR": "string", "LPCWSTR": "wide_string"}
GUID_REFERENCES = {"REFIID", "REFGUID", "REFCLSID"}
HANDLES = {"HANDLE", "HWND"}
# Tables of overrides.toml, and the enum that their keys belong to.
SUBOBJECT_TYPES = {"pipeline_subobjects": "D3D12_PIPELINE_STATE_SUBOBJECT_TYPE",
                   "state_subobjects": "D3D12_STATE_SUBOBJECT_TYPE"}


class ModelError(Exception):
    """Overrides that do not fit the IDL."""


@dataclasses.dataclass
class Chain:
    name: str  # of its first interface
    members: list  # interface names, oldest first
    kind: str  # "wrapped", "tear_off"
    owner: str = ""  # of tear-offs; "": anybody

    @property
    def newest(self):
        return self.members[-1]


@dataclasses.dataclass
class Count:
    """factors: names of parameters or fields, "*name" through a pointer, or numbers. bytes: of bytes,
    not of elements."""
    factors: tuple = ()
    bytes: bool = False
    text: str = ""


@dataclasses.dataclass
class Kind:
    """What a parameter or a field is.

    kind      scalar: bool, unsigned, signed, float; enum, flags, struct, union, object, guid, string,
              wide_string, handle, gpu_address, cpu_descriptor, gpu_descriptor, callback, bytes (void)
    depth     pointers around it, those hidden in names such as LPCWSTR not counted
    """
    kind: str
    type: str
    depth: int = 0
    size: int = 0
    direction: str = "in"  # in, out, inout
    optional: bool = False
    count: Count | None = None
    dims: tuple = ()
    handle_kind: str = ""


class Model:
    """strict: versions of the headers to which nobody gave roles are an error, too."""

    def __init__(self, api, overrides, strict=False):
        self.api = api
        self.overrides = overrides
        self.strict = strict
        self.warnings = []
        self.missing = []  # names of other versions of the headers
        self.optional = set(overrides.get("optional", {}).get("names", ()))
        self.layouts = {}
        self.check_names()
        self.roles = roles_module.expand(api, overrides["roles"])
        self.chains = self.find_chains()
        self.chain_of = self.chains_by_member()
        self.described = [name for name in api.structs if self.is_describable(name)]
        for chain in self.chains:
            self.cut(chain)
        self.chain_of = self.chains_by_member()
        for name in self.shared:
            self.check_roles(name)
        self.reached = self.find_reached_structs()

    # Overrides against the IDL.
    def complain(self, table, name, known_names, what):
        """A name that is not in this IDL: an error, unless another version of the headers has it."""
        stem = name.rstrip("0123456789")
        if name in self.optional or any(known.rstrip("0123456789") == stem for known in known_names):
            if name not in self.missing:
                self.missing.append(name)
            return
        raise ModelError(f"overrides.toml: [{table}]: there is no {what} {name}; if other versions of "
                         "the headers have it, list it in [optional]")

    def find_method(self, table, key):
        """(interface, method) of "Interface::Method", or None after a warning."""
        interface, _, method = key.partition("::")
        if interface not in self.api.interfaces:
            self.complain(table, interface, self.api.interfaces, "interface")
            return None
        for candidate in self.api.interfaces[interface].methods:
            if candidate.name == method:
                return interface, candidate
        # An interface never changes once it is published.
        raise ModelError(f"overrides.toml: [{table}]: {interface} has no method {method}")

    def check_names(self):
        for table in ("creates", "returns", "manual", "policies", "work", "arguments"):
            for key in self.overrides[table]:
                self.find_method(table, key)
        for key in self.overrides["roles"]:
            interface, _, name = key.partition("::")
            if name != "*":
                self.find_method("roles", key)
            elif interface not in self.api.interfaces:
                self.complain("roles", interface, self.api.interfaces, "interface")
        for key in self.overrides["arguments"]:
            if key not in self.overrides["work"]:
                raise ModelError(f"overrides.toml: [arguments]: {key} is not in [work]")
        for table in ("as_is", "handles", "lifetimes"):
            for key in self.overrides[table]:
                self.find_member(table, key)
        for key in self.overrides["counts"]:
            self.find_member("counts", key)
        for key in self.overrides["unions"]:
            self.check_union(key)
        for table, enum in SUBOBJECT_TYPES.items():
            for key in self.overrides[table]:
                if key not in dict(self.api.enums[enum].enumerators):
                    self.complain(table, key, (), "enumerator")
        for key in self.overrides["special"]:
            if key not in self.api.structs:
                self.complain("special", key, self.api.structs, "struct")

    def find_member(self, table, key):
        """"Interface::Method.parameter" or "STRUCT.field"."""
        path, _, name = key.partition(".")
        if "::" in path:
            found = self.find_method(table, path)
            if found and name not in [p.name for p in found[1].parameters]:
                raise ModelError(f"overrides.toml: [{table}]: {path} has no parameter {name}")
        elif path not in self.api.structs:
            self.complain(table, path, self.api.structs, "struct")
        elif name not in [f.name for f in flat_fields(self.api.structs[path].fields)]:
            raise ModelError(f"overrides.toml: [{table}]: {path} has no field {name}")

    def check_union(self, name):
        if name not in self.api.structs:
            self.complain("unions", name, self.api.structs, "struct")
            return
        rule = self.overrides["unions"][name]
        fields = self.api.structs[name].fields
        union = next((f for f in fields if f.type is None and f.is_union), None)
        if union is None:
            raise ModelError(f"overrides.toml: [unions]: {name} has no union")
        if not rule.get("tag"):
            return
        tag = next((f for f in fields if f.name == rule["tag"]), None)
        if tag is None:
            raise ModelError(f"overrides.toml: [unions]: {name} has no field {rule['tag']}")
        names = {n for n, _ in self.api.enums[self.resolve(tag.type.base)].enumerators}
        for member, values in rule["members"].items():
            if member not in [f.name for f in union.fields]:
                self.complain("unions", f"{name}.{member}", (), "member") if f"{name}.{member}" \
                    not in self.optional else None
            for value in values:
                if value not in names:
                    self.complain("unions", value, names, "enumerator")

    # Types.
    def resolve(self, name):
        """Through typedefs that name another type and add no pointer."""
        while name in self.api.typedefs and name not in self.api.structs and name not in self.api.enums:
            target = self.api.typedefs[name]
            if target.depth or name in ("D3D12_GPU_VIRTUAL_ADDRESS",):
                break
            name = target.base
        return name

    def is_interface(self, name):
        return name == "IUnknown" or self.resolve(name) in self.api.interfaces

    def base_kind(self, name):
        """(kind, resolved name) of what a pointer or value of this type is about."""
        resolved = self.resolve(name)
        if name == "D3D12_GPU_VIRTUAL_ADDRESS":
            return "gpu_address", name
        if name == "D3D12_CPU_DESCRIPTOR_HANDLE":
            return "cpu_descriptor", name
        if name == "D3D12_GPU_DESCRIPTOR_HANDLE":
            return "gpu_descriptor", name
        if resolved in self.api.enums:
            return ("flags" if self.api.enums[resolved].flags else "enum"), resolved
        if resolved in self.api.structs:
            return ("union" if self.api.structs[resolved].is_union else "struct"), resolved
        if self.is_interface(name):
            return "object", resolved
        if name in SCALARS:
            return SCALARS[name][0], name
        if name in STRINGS:
            return STRINGS[name], name
        if name in GUID_REFERENCES or resolved in ("GUID", "IID"):
            return "guid", resolved
        if name in HANDLES:
            return "handle", name
        if name in self.api.callbacks:
            return "callback", name
        if name in ("void", "LPVOID", "LPCVOID"):
            return "bytes", "void"
        if name == "wchar_t":
            return "wide_string", name
        if resolved in SDK_STRUCTS:
            return "struct", resolved
        raise ModelError(f"unknown type {name}")

    def size_of_type(self, name):
        """(size, alignment) of a value."""
        resolved = self.resolve(name)
        if name == "D3D12_GPU_VIRTUAL_ADDRESS":
            return 8, 8
        if resolved in self.api.enums:
            return 4, 4
        if resolved in self.api.structs:
            layout = self.layout(resolved)
            return layout.size, layout.alignment
        if resolved in SDK_STRUCTS:
            return SDK_STRUCTS[resolved]
        if name in SCALARS:
            return SCALARS[name][1], SCALARS[name][1]
        self.base_kind(name)  # an unknown type is an error
        return 8, 8  # pointers of all kinds

    def array_length(self, dims):
        total = 1
        for dim in dims:
            if dim in self.api.constants:
                total *= int(self.api.constants[dim])
            elif dim.isdigit():
                total *= int(dim)
            else:
                raise ModelError(f"array of unknown length {dim}")
        return total

    def layout(self, name):
        if name not in self.layouts:
            struct = self.api.structs[name]
            self.layouts[name] = self.lay_out(struct.fields, struct.is_union)
        return self.layouts[name]

    def lay_out(self, fields, is_union):
        layout = Layout()
        end, bit_unit_end, bits_used = 0, 0, 0
        for field in fields:
            if field.type is None:
                inner = self.lay_out(field.fields, field.is_union)
                size, alignment, length = inner.size, inner.alignment, 1
            else:
                inner = None
                size, alignment = (8, 8) if field.type.depth else self.size_of_type(field.type.base)
                length = self.array_length(field.dims)
            if field.bits:
                if bits_used and bits_used + field.bits <= size * 8 and bit_unit_end == end:
                    offset = end - size
                else:
                    offset = -(-end // alignment) * alignment
                    bits_used = 0
                    end = bit_unit_end = offset + size
                layout.fields.append(Placed(field, offset, size, bits_used, None))
                bits_used += field.bits
            else:
                bits_used = 0
                offset = 0 if is_union else -(-end // alignment) * alignment
                layout.fields.append(Placed(field, offset, size, 0, inner))
                end = max(end, offset + size * length)
            layout.alignment = max(layout.alignment, alignment)
        layout.size = max(-(-end // layout.alignment) * layout.alignment, 1)
        return layout

    def is_describable(self, name):
        """All its types are known, also behind pointers, and it has one union at most; otherwise no table
        has it."""
        struct = self.api.structs[name]
        try:
            self.layout(name)
            for field in flat_fields(struct.fields):
                self.field_kind(name, field)
            self.holds_objects(name)
        except (ModelError, KeyError) as error:
            self.warnings.append(f"{name} is in no table: {error}")
            return False
        if sum(field.type is None and field.is_union for field in struct.fields) > 1:
            self.warnings.append(f"{name} is in no table: it has several unions")
            return False
        return True

    # Chains.
    def find_chains(self):
        rules = self.overrides["interfaces"]
        self.shared = [name for name in rules["shared"] if self.known_interface("interfaces", name)]
        self.passed = {}
        roots = []
        for name in rules["wrapped"]:
            if self.known_interface("interfaces", name):
                roots.append((name, "wrapped", ""))
        for name, owner in rules["tear_offs"].items():
            if self.known_interface("interfaces.tear_offs", name):
                roots.append((name, "tear_off", "" if owner == "*" else owner))
        for name, why in rules["passed"].items():
            if self.known_interface("interfaces.passed", name):
                self.passed[name] = why
        starts = {name for name, _, _ in roots} | set(self.passed) | set(self.shared)
        chains = [Chain(name, self.line_of_versions(name, starts), kind, owner)
                  for name, kind, owner in roots]
        covered = {member for chain in chains for member in chain.members} | set(self.shared)
        for name in self.passed:
            covered.update(self.line_of_versions(name, starts))
        for name in self.api.interfaces:
            if name not in covered:
                self.warnings.append(f"{name} is in no table of [interfaces]: programs are refused it")
        return chains

    def chains_by_member(self):
        return {name: chain for chain in self.chains for name in chain.members}

    def known_interface(self, table, name):
        if name in self.api.interfaces:
            return True
        self.complain(table, name, self.api.interfaces, "interface")
        return False

    def line_of_versions(self, first, starts):
        line = [first]
        while True:
            derived = [name for name, interface in self.api.interfaces.items()
                       if interface.base == line[-1] and name not in starts]
            if not derived:
                return line
            if len(derived) > 1:
                text = f"{line[-1]} has several successors: {', '.join(derived)}; only the first is wrapped"
                self.warnings += [text] if text not in self.warnings else []
            line.append(derived[0])

    def cut(self, chain):
        """A version with a method whose objects nobody described, or without roles, stays unknown: a program that
        asks for it is refused, which is logged. The others work."""
        for index, member in enumerate(chain.members):
            reason = self.why_unknown(member)
            if reason is None:
                continue
            if index == 0:
                raise ModelError(reason)
            self.warnings.append(f"{reason}: {member} and later versions are refused")
            del chain.members[index:]
            return

    def why_unknown(self, interface):
        """Why a version is in no table, or None."""
        for method in self.api.interfaces[interface].methods:
            reason = self.not_describable(interface, method)
            if reason is not None:
                return f"{interface}::{method.name}: {reason}"
        return self.without_roles(interface)

    def without_roles(self, interface):
        """Why a version is refused that is new in the headers, or None. What was published never changes: a method
        that was forgotten, or is declared by our supplement, is an error."""
        methods = self.api.interfaces[interface].methods
        missing = roles_module.missing_of(self.api, self.roles, interface)
        if not missing:
            return None
        if self.strict or len(missing) < len(methods) or ("interface", interface) in self.api.supplement:
            self.check_roles(interface)
        return f"{interface}: nobody said what its methods mean (roles.toml)"

    def check_roles(self, interface):
        missing = roles_module.missing_of(self.api, self.roles, interface)
        if missing:
            raise ModelError(f"roles.toml: {interface}::{missing[0]} has no role; docs/internals/codegen.md says "
                             "which there are")

    def not_describable(self, interface, method):
        """Why no thin method can be written, or None."""
        try:
            return self.undescribed_part(interface, method)
        except ModelError as error:  # of a type behind any number of structs
            return str(error)

    def undescribed_part(self, interface, method):
        key = f"{interface}::{method.name}"
        if any(key in self.overrides[table] for table in ("manual", "policies")):
            return None
        gives = key in self.overrides["creates"] or key in self.overrides["returns"]
        given = self.given_object(interface, method)
        if gives and given is None:
            return "it is said to give out an object, and no parameter receives one"
        for parameter in method.parameters:
            if f"{key}.{parameter.name}" in self.overrides["as_is"]:
                continue
            if gives_by_identifier(method, parameter) and not gives:
                return f"which object {parameter.name} receives is not said"
            kind = self.parameter_kind(interface, method, parameter)
            wrapped = kind.kind == "object" and self.chains_of_argument(parameter.type.base)
            if gives and parameter is given[1]:
                continue
            if wrapped and kind.depth > 1 and (kind.direction != "in" or not kind.count):
                return f"how many objects {parameter.name} points to is not said"
            if kind.kind == "struct" and self.holds_objects(parameter.type.base):
                if kind.direction != "in":
                    return f"objects come back in {parameter.name}"
                problem = self.shape_problem(kind.type)
                if problem:
                    return problem
        return None

    def given_object(self, interface, method):
        """(identifier, output): the parameters by which a method gives out an object. The identifier is
        None where the output's type says what it is. None if there are no such parameters."""
        for output in method.parameters:
            if gives_by_identifier(method, output):
                before = method.parameters[:method.parameters.index(output)]
                return next(p for p in reversed(before) if p.type.base in GUID_REFERENCES), output
        for output in method.parameters:
            if output.type.depth != 2 or not self.is_interface(output.type.base):
                continue
            if self.parameter_kind(interface, method, output).direction == "out":
                return None, output
        return None

    def shape_problem(self, name, seen=()):
        """Why the objects in a struct cannot be found by its description, or None."""
        if name in self.overrides["special"] or name in seen:
            return None
        struct = self.api.structs[name]
        for field, union in fields_with_unions(struct.fields):
            kind = self.field_kind(name, field)
            is_object = kind.kind == "object" and self.chains_of_argument(field.type.base)
            if not is_object and not (kind.kind in ("struct", "union") and self.holds_objects(kind.type)):
                continue
            if (union or struct.is_union) and not self.overrides["unions"].get(name, {}).get("tag"):
                return f"{name} has objects in a union without a tag (overrides.toml, [unions])"
            if kind.depth > 1 and not kind.count or kind.depth > 2 or kind.depth and field.dims:
                return f"how many objects {name}.{field.name} points to is not said (overrides.toml, [counts])"
            problem = None if is_object else self.shape_problem(kind.type, (*seen, name))
            if problem:
                return problem
        return None

    def full_line(self, interface):
        """The interface and all its bases but IUnknown, oldest first."""
        line = []
        while interface in self.api.interfaces:
            line.insert(0, interface)
            interface = self.api.interfaces[interface].base
        return line

    def chains_of_argument(self, interface):
        """The chains whose objects may stand behind a pointer of this type."""
        interface = self.resolve(interface)
        if interface == "IUnknown":
            return list(self.chains)
        if interface in self.chain_of:
            return [self.chain_of[interface]]
        return [chain for chain in self.chains if interface in self.full_line(chain.name)]

    # Parameters and fields.
    def parse_count(self, text, is_bytes):
        text = text.strip()
        if text == "@caller":
            return Count((text,), is_bytes, "")
        condition = re.fullmatch(r"(\w+), at most 1 if (\w+)", text)
        if condition:
            return Count((condition[1], "?" + condition[2]), is_bytes, text)
        factors = []
        for factor in text.split("*"):
            factor = factor.strip()
            if factor:
                factors.append(factor)
        if text.startswith("*"):
            factors = ["*" + factors[0], *factors[1:]]
        if factors and factors[-1] == "sizeof(UINT)":
            factors[-1] = "4"
            is_bytes = True
        if not factors or not all(re.fullmatch(r"\*?\w+", factor) for factor in factors):
            return None
        return Count(tuple(factors), is_bytes, text)

    def count(self, key, annotation, is_void):
        if key in self.overrides["counts"]:
            return self.parse_count(self.overrides["counts"][key], is_void)
        match = re.search(r"_(?:In_reads|In_count|In_opt_count|Out_writes|Inout_updates|Field_size_full)\w*?_?"
                          r"\s*\(([^()]*(?:\([^()]*\))?[^()]*)\)", annotation)
        if not match or "Inexpressible" in annotation:
            return None
        return self.parse_count(match.group(1), is_void or "_bytes_" in annotation)

    def parameter_kind(self, interface, method, parameter):
        key = f"{interface}::{method.name}.{parameter.name}"
        kind, name = self.base_kind(parameter.type.base)
        depth = parameter.type.depth + (parameter.type.base == "LPVOID")
        if parameter.type.base == "wchar_t":
            depth -= 1
        result = Kind(kind, name, depth, self.size_of_type(parameter.type.base)[0], dims=parameter.dims)
        if kind in ("object", "bytes") or kind == "struct" and depth > 1:
            result.size = 8 if depth > 1 else (1 if kind == "bytes" else 8)
        if kind == "guid" and parameter.type.base in GUID_REFERENCES:
            result.size = 16
        annotation = parameter.annotation
        if "_Inout" in annotation:
            result.direction = "inout"
        elif "out" in parameter.attributes or re.search(r"_(Out|COM_Outptr|Outptr)", annotation):
            result.direction = "out"
        elif depth and not parameter.type.base_const and kind not in ("object", "handle") \
                and not annotation.startswith("_In"):
            result.direction = "out"
        result.optional = "_opt_" in annotation
        if depth:
            result.count = self.count(key, annotation, kind == "bytes" and depth == 1)
        result.handle_kind = self.overrides["handles"].get(key, "")
        return result

    def field_kind(self, struct, field):
        kind, name = self.base_kind(field.type.base)
        depth = field.type.depth - (field.type.base == "wchar_t")
        if field.type.base == "char" and depth:
            kind, depth = "string", depth - 1
        result = Kind(kind, name, depth, self.size_of_type(field.type.base)[0], dims=field.dims)
        if kind == "bytes":
            result.size = 1
        if field.type.depth:
            result.optional = "_opt_" in field.annotation
            result.count = self.count(f"{struct}.{field.name}", field.annotation, kind == "bytes")
        return result

    # Structs that hold objects.
    def holds_objects(self, name, seen=()):
        name = self.resolve(name)
        if name in self.overrides["special"]:
            return True
        if name not in self.api.structs or name in seen:
            return False
        for field in flat_fields(self.api.structs[name].fields):
            kind, target = self.base_kind(field.type.base)
            if kind == "object" and self.chains_of_argument(field.type.base):
                return True
            if kind in ("struct", "union") and self.holds_objects(target, (*seen, name)):
                return True
        return False

    def is_flat(self, name, universal=False, seen=()):
        """No pointers, strings or objects are in it. universal: nor is what only the process knows."""
        name = self.resolve(name)
        if name not in self.api.structs:
            return name not in ("SECURITY_ATTRIBUTES",)
        own = {"handle", "gpu_address", "cpu_descriptor", "gpu_descriptor"} if universal else set()
        for field in flat_fields(self.api.structs[name].fields):
            kind = self.field_kind(name, field)
            if kind.depth or kind.kind in {"object", "string", "wide_string", "callback"} | own:
                return False
            if kind.kind in ("struct", "union") and not self.is_flat(kind.type, universal):
                return False
        return True

    def leads_back(self, name):
        """Following pointers from a struct comes to one of the same type again."""
        reached = set()

        def visit(current):
            for field in flat_fields(self.api.structs[current].fields):
                target = self.resolve(field.type.base)
                if target in self.api.structs and target not in reached:
                    reached.add(target)
                    visit(target)

        name = self.resolve(name)
        if name in self.api.structs:
            visit(name)
        return name in reached

    def find_reached_structs(self):
        """Those with objects that methods of wrapped chains take as input, in order of declaration."""
        reached = set()

        def visit(name):
            name = self.resolve(name)
            if name in reached or not self.holds_objects(name):
                return
            reached.add(name)
            if name in self.overrides["special"]:
                return
            for field in flat_fields(self.api.structs[name].fields):
                visit(field.type.base)

        for chain in self.chains:
            for interface in self.full_line(chain.newest):
                for method in self.api.interfaces[interface].methods:
                    if f"{interface}::{method.name}" in self.overrides["manual"]:
                        continue
                    for parameter in method.parameters:
                        kind = self.parameter_kind(interface, method, parameter)
                        if kind.kind == "struct" and kind.direction == "in":
                            visit(parameter.type.base)
        return [name for name in self.api.structs if name in reached]

    def slot(self, interface, method):
        """The method's place in the table of methods; IUnknown has the first three."""
        *bases, last = self.full_line(interface)
        before = sum(len(self.api.interfaces[base].methods) for base in bases)
        return 3 + before + self.api.interfaces[last].methods.index(method)

    def methods(self):
        """(interface, method) of everything that is wrapped, each once, in order of declaration."""
        wanted = {name for chain in self.chains for name in self.full_line(chain.newest)}
        for name, interface in self.api.interfaces.items():
            if name in wanted:
                for method in interface.methods:
                    yield name, method


@dataclasses.dataclass
class Placed:
    field: object
    offset: int
    size: int  # of one element
    bit: int
    inner: object  # Layout of an anonymous union or struct


@dataclasses.dataclass
class Layout:
    size: int = 0
    alignment: int = 1
    fields: list = dataclasses.field(default_factory=list)


def flat_fields(fields):
    """Fields with those of anonymous unions and structs among them."""
    for field in fields:
        if field.type is None:
            yield from flat_fields(field.fields)
        else:
            yield field


def fields_with_unions(fields, union=None):
    """As flat_fields, each with the anonymous union that it is in, or None."""
    for field in fields:
        if field.type is None:
            yield from fields_with_unions(field.fields, field if field.is_union else union)
        else:
            yield field, union


def gives_by_identifier(method, parameter):
    """An object whose interface the caller names: iid_is(), or void** behind a REFIID."""
    if any(attribute.startswith("iid_is") for attribute in parameter.attributes):
        return True
    if parameter.type.base != "void" or parameter.type.depth != 2:
        return False
    index = method.parameters.index(parameter)
    return index > 0 and method.parameters[index - 1].type.base in GUID_REFERENCES


def load_overrides(paths):
    """The tables of all files; a table stands in one of them."""
    overrides = {}
    for path in paths:
        with open(path, "rb") as file:
            overrides.update(tomllib.load(file))
    for table in ("creates", "returns", "manual", "policies", "as_is", "work", "arguments", "roles", "counts",
                  "unions", "special", "handles", *SUBOBJECT_TYPES, "lifetimes"):
        overrides.setdefault(table, {})
    return overrides
