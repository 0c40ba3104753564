#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the sources below d3d12gen/ from Microsoft's interface definitions, overrides.toml and roles.toml.

Usage: generate.py --idl FOLDER --supplement FOLDER --overrides FILE... --out FOLDER [--strict] [--list | --check]

  --idl        where d3d12.idl, d3d12sdklayers.idl, d3d12video.idl, d3dcommon.idl, dxgicommon.idl,
               dxgiformat.idl and, in newer headers, D3D12MarkerApiEnums.idl are
  --supplement where definitions are of what those may lack
  --list       only prints the names of the files, separated by semicolons
  --check      only reads everything and prints what it is about
  --strict     what is new in the headers and has no role is an error, not a warning

A file whose text stays the same is not written. Exits 1 and says why if the overrides do not fit the
definitions. docs/internals/codegen.md explains the rest.
"""
import argparse
import pathlib
import sys

import emit_invoke
import emit_roles
import emit_supplement
import emit_tables
import emit_thin
import emit_unwrap
import emit_values
import idl
import model as model_module
import roles

# In the order in which they import each other; not every version of the headers has all of them.
IDL_FILES = ["dxgicommon.idl", "dxgiformat.idl", "d3dcommon.idl", "D3D12MarkerApiEnums.idl", "d3d12.idl",
             "d3d12sdklayers.idl", "d3d12video.idl"]


def build_model(idl_folder, supplement, overrides_paths, strict=False):
    paths = [pathlib.Path(idl_folder) / name for name in IDL_FILES]
    api = idl.parse_files([path for path in paths if path.exists()],
                          sorted(pathlib.Path(supplement).glob("*.idl")))
    guids = pathlib.Path(idl_folder).parent / "dxguids/dxguids.h"  # gives interfaces to __uuidof
    if guids.exists():
        idl.find_without_uuid(guids.read_text(encoding="utf-8"), api)
    return model_module.Model(api, model_module.load_overrides(overrides_paths), strict)


def all_files(model):
    result = {}
    for emitter in (emit_supplement, emit_thin, emit_unwrap, emit_values, emit_tables, emit_roles,
                    emit_invoke):
        result.update(emitter.files(model))
    return result


def write(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--idl", required=True)
    parser.add_argument("--supplement", required=True)
    parser.add_argument("--overrides", nargs="+", required=True)
    parser.add_argument("--out")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    try:
        model = build_model(options.idl, options.supplement, options.overrides, options.strict)
        files = all_files(model)
    except (idl.IdlError, model_module.ModelError, roles.RoleError) as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    if options.list:
        print(";".join(sorted(files)))
        return 0
    for warning in model.warnings:
        print(f"generate.py: warning: {warning}", file=sys.stderr)
    if model.missing:
        print("generate.py: warning: overrides.toml or roles.toml says something about what these headers do not have: "
              + ", ".join(model.missing), file=sys.stderr)
    if options.check:
        print(f"{len(model.chains)} classes, {len(list(model.methods()))} methods, {len(model.reached)} "
              "structs with objects")
        return 0
    for name, text in files.items():
        write(pathlib.Path(options.out) / "d3d12gen" / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
