# SPDX-License-Identifier: Apache-2.0
"""Writes copies of structs with the real objects in them: unwrap.h and unwrap.cc."""
from emit_thin import LICENSE, call, header
from model import ModelError, flat_fields


def unwrap_header(model):
    parts = ["""
// Copies of `count` structs at `structs`, and of what hangs on them, with real objects instead of ours.
// Null and empty arrays are returned as they are, and so is an array for which there is no memory.
"""]
    for name in model.reached:
        parts.append(f"const {name}* UnwrapArray(Scratch& scratch, const {name}* structs,\n"
                     f"    uint64_t count);\n")
    parts.append("\n// The same for one struct that is a copy already; what it points to is copied.\n")
    for name in model.reached:
        parts.append(f"void UnwrapFields(Scratch& scratch, {name}& copy);\n")
    return header("d3d12gen/unwrap.h", ["<cstdint>", '"app/d3d12/scratch.h"', '"d3d12gen/supplement.h"'],
                  "".join(parts), "CAIRN_D3D12_NAMESPACE")


class UnwrapFunction:
    def __init__(self, model, name):
        self.model = model
        self.name = name
        self.uses_scratch = False

    def text(self):
        struct = self.model.api.structs[self.name]
        lines = self.fields(struct.fields, 2)
        scratch = "Scratch& scratch" if self.uses_scratch else "Scratch&"
        return "\n".join([f"void UnwrapFields({scratch}, {self.name}& copy) {{", *lines, "}"])

    def fields(self, fields, indent):
        lines = []
        for field in fields:
            if field.type is not None:
                lines += self.field(field, indent)
            elif field.is_union and any(self.concerns(inner) for inner in flat_fields(field.fields)):
                lines += self.union(field, indent)
            elif not field.is_union:
                lines += self.fields(field.fields, indent)
        return lines

    def concerns(self, field):
        kind, target = self.model.base_kind(field.type.base)
        if kind == "object":
            return bool(self.model.chains_of_argument(field.type.base))
        return kind in ("struct", "union") and self.model.holds_objects(target)

    def union(self, union, indent):
        rule = self.model.overrides["unions"].get(self.name)
        if not rule or not rule.get("tag"):
            raise ModelError(f"{self.name} has objects in a union without a tag: overrides.toml, [unions]")
        pad = " " * indent
        lines = [f"{pad}switch (NumberOf(copy.{rule['tag']})) {{"]
        struct_fields = self.model.api.structs[self.name].fields
        tag = next(field for field in struct_fields if field.name == rule["tag"])
        known = {name for name, _ in self.model.api.enums[self.model.resolve(tag.type.base)].enumerators}
        for member in union.fields:
            if not self.concerns(member):
                continue
            labels = [value for value in rule["members"].get(member.name, ()) if value in known]
            lines += [f"{pad}  case {label}:" for label in labels]
            lines += self.field(member, indent + 4)
            lines.append(f"{pad}    break;")
        return [*lines, f"{pad}  default:", f"{pad}    break;", f"{pad}}}"]

    def field(self, field, indent):
        if not self.concerns(field):
            return []
        pad = " " * indent
        kind = self.model.field_kind(self.name, field)
        place = f"copy.{field.name}"
        if kind.kind == "object" and kind.depth == 1 and not field.dims:
            return [f"{pad}{place} = Unwrap({place});"]
        if kind.depth == 0:
            self.uses_scratch = True
            if field.dims:
                return [f"{pad}for (auto& element : {place}) UnwrapFields(scratch, element);"]
            return [f"{pad}UnwrapFields(scratch, {place});"]
        count = f"copy.{kind.count.text}" if kind.count else "1"
        array = f"UnwrapArray(scratch, {place}, {count})"
        if kind.kind == "object" and kind.depth == 2 and not field.dims and kind.count:
            self.uses_scratch = True
            # The IDL has no const where arrays of objects hang on structs of arguments.
            return [call(f"{place} = const_cast<{field.type.spelled()}>", [array], ";", indent)]
        if kind.kind == "struct" and kind.depth == 1 and not field.dims:
            self.uses_scratch = True
            if not field.type.base_const:
                array = f"const_cast<{field.type.spelled()}>({array})"
            return [f"{pad}{place} = {array};"]
        raise ModelError(f"{self.name}.{field.name}: objects in a shape that is not known")


def unwrap_source(model):
    special = model.overrides["special"]
    parts = [LICENSE, '#include "d3d12gen/unwrap.h"\n\n', '#include "app/d3d12/unwrap_special.h"\n'
             '#include "app/d3d12/wrapper.h"\n\n',
             "namespace cairn {\ninline namespace CAIRN_D3D12_NAMESPACE {\nnamespace {\n\n",
             """template <typename Struct>
const Struct* UnwrapCopies(Scratch& scratch, const Struct* structs, uint64_t count) {
  if (structs == nullptr || count == 0) return structs;
  Struct* const copies = scratch.Copy(structs, count);
  if (copies == nullptr) return structs;
  for (uint64_t i = 0; i < count; ++i) UnwrapFields(scratch, copies[i]);
  return copies;
}

}  // namespace
"""]
    for name in model.reached:
        if name in special:
            parts.append(f"\n// By hand: UnwrapFields({name}&), for {special[name]}.\n")
        else:
            parts.append("\n" + UnwrapFunction(model, name).text() + "\n")
    for name in model.reached:
        parts.append(f"\nconst {name}* UnwrapArray(Scratch& scratch, const {name}* structs,\n"
                     "    uint64_t count) {\n  return UnwrapCopies(scratch, structs, count);\n}\n")
    parts.append("\n}  // namespace CAIRN_D3D12_NAMESPACE\n}  // namespace cairn\n")
    return "".join(parts)


def files(model):
    return {"unwrap.h": unwrap_header(model), "unwrap.cc": unwrap_source(model)}
