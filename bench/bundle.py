# SPDX-License-Identifier: Apache-2.0
"""Folders that run on another machine: programs and scripts, laid out as in a build folder, and the shared
libraries that the machine may lack."""
import os
import pathlib
import re
import shutil
import subprocess

NEEDED = pathlib.Path("lib") / "needed"
# Of the C library and of the driver's side: the other machine's own must be used.
EVERYWHERE = ("libc.so", "libm.so", "libvulkan.so", "ld-linux", "libdl.so", "libpthread.so", "librt.so")


class MissingError(Exception):
    """A file that is not built; the message names it."""


def needed_libraries(program):
    told = subprocess.run(["ldd", str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    paths = map(pathlib.Path, re.findall(r"=> (/\S+)", told))
    return [path for path in paths if not path.name.startswith(EVERYWHERE)]


def make(target, build, programs, libraries, scripts):
    """Copies `programs` and `libraries`, relative to `build`, to the same places in `target`, and `scripts` (paths)
    to its top. Programs lose their symbols of debuggers. Raises MissingError before anything is copied."""
    for file in [build / name for name in (*programs, *libraries)] + list(scripts):
        if not file.exists():
            raise MissingError(f"{file} is missing")
    (target / NEEDED).mkdir(parents=True, exist_ok=True)
    for name in (*programs, *libraries):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / name, target / name)
    for name in programs:
        subprocess.run(["strip", "--strip-debug", str(target / name)], check=True)
    for name in (*programs, *(name for name in libraries if ".so" in name)):
        for library in needed_libraries(target / name):
            shutil.copy(library, target / NEEDED)
    for script in scripts:
        shutil.copy(script, target)


def default_build(script_folder):
    """The folder that a script runs from: a bundle's own, else build/ beside the script's folder."""
    return script_folder if (script_folder / NEEDED).is_dir() else script_folder.parent / "build"


def environment_of(build):
    """A copy of this process's environment, with the libraries of a bundle."""
    environment = dict(os.environ)
    if (build / NEEDED).is_dir():
        libraries = [str(build / NEEDED), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    return environment
