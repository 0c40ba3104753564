# SPDX-License-Identifier: Apache-2.0
"""Makes the Direct3D test programs of Wine for Windows, for foreign-windows-suite. Nothing of them comes into the
checkout."""
import os
import pathlib
import re
import subprocess

COMPILER = "x86_64-w64-mingw32-gcc-posix"
IMPORTS = "x86_64-w64-mingw32-dlltool"
SUITE = "trixie"  # of tools/wine-env: its Wine and these tests are of one version


class Problem(Exception):
    """Something is missing; the text says what, and what to do."""


# What a test adds to a program: it says when each of its functions begins and ends, with the counts of checks so far,
# and runs those alone that FOREIGN_TESTS names. Counts come from the frame that the program was written for.
MARKS = """
static void foreign_say(const char *what, const char *name)
{
    printf("foreign %%s %%s %%ld %%ld %%ld %%ld %%ld\\n", what, name, %s);
    fflush(stdout);
}

static int foreign_begin(const char *name)
{
    const char *wanted = getenv("FOREIGN_TESTS");
    char pattern[200];

    snprintf(pattern, sizeof(pattern), ",%%s,", name);
    if (wanted && !strstr(wanted, pattern))
        return 0;
    foreign_say("begin", name);
    return 1;
}

static void foreign_end(const char *name)
{
    foreign_say("end", name);
}

"""
COUNTS = ("(long)winetest_successes, (long)winetest_failures, (long)winetest_todo_successes, "
          "(long)winetest_todo_failures, (long)winetest_skipped")
STATEMENT = re.compile(r"^    (?P<call>(?P<function>\w+)\((?P<arguments>[^;{}]*)\);)", re.MULTILINE)


def marked(source):
    """(the program's text with marks, names of its tests in their order)"""
    begin = source.index("\nSTART_TEST(")
    end = source.index("\n}\n", begin)
    names = []

    def mark(match):
        function, call = match["function"], match["call"]
        found = re.search(r"\btest_\w+", function if function.startswith("test_") else match["arguments"])
        if not found or not re.match(r"test_|run_|queue_", function):
            return match[0]
        name = found[0]
        if function.startswith("run_on_"):
            name += function.removeprefix("run_on").replace("_", "@", 1)
        names.append(name)
        if function.startswith("queue_"):
            # Each for itself, where the program would share them out among threads.
            call = f"mt_test_count = 0; {call} run_queued_tests(); mt_test_count = 0;"
        return f'    if (foreign_begin("{name}")) {{ {call} foreign_end("{name}"); }}'

    body = STATEMENT.sub(mark, source[begin:end])
    return source[:begin] + MARKS % COUNTS + body + source[end:], names


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Problem(f"{' '.join(map(str, command))[:200]}... failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def wine_source(folder):
    """Where Debian's source package of Wine is unpacked; it is fetched if it is not there."""
    found = sorted(folder.glob("wine-*/dlls/d3d11/tests"))
    if found:
        return found[-1].parents[2]
    mirror = os.environ.get("CAIRN_DEBIAN_MIRROR")
    if not mirror:
        offered = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"])
        mirror = (offered.splitlines() or [""])[0]
    if not mirror:
        raise Problem("no package source offers main of Debian; set CAIRN_DEBIAN_MIRROR")
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb-src {mirror} {SUITE} main\n")
    apt = ["apt-get", "-o", f"Dir::Etc::SourceList={folder}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
           "-o", f"Dir::State::Lists={folder}/lists", "-o", "APT::Sandbox::User="]
    run(apt + ["update"])
    # Without Debian's changes: none is about these tests.
    run(apt + ["source", "--download-only", f"wine/{SUITE}"], cwd=folder)
    run(["tar", "xf", str(sorted(folder.glob("wine_*.orig.tar.xz"))[-1])], cwd=folder)
    return sorted(folder.glob("wine-*/dlls/d3d11/tests"))[-1].parents[2]


def make_import_library(folder, library, names, archive):
    definition = folder / f"{archive}.def"
    definition.write_text("\n".join([f"LIBRARY {library}", "EXPORTS", *names]) + "\n")
    run([IMPORTS, "-d", str(definition), "-l", str(folder / f"lib{archive}.a")])


def wine_command(folder, name, program):
    source = wine_source(folder)
    libraries = folder / "lib"
    libraries.mkdir(exist_ok=True)
    # What mingw-w64 has no import libraries of.
    make_import_library(libraries, "ntdll.dll", ["__wine_dbg_strdup"], "ntdll_wine")
    for library in ("d3d10", "d3d10_1"):
        exported = re.findall(r"^@ *stdcall *(?:-\S+ *)*(\w+)\(", (source / f"dlls/{library}/{library}.spec").read_text(),
                              re.MULTILINE)
        make_import_library(libraries, f"{library}.dll", exported, library)
    tests = source / f"dlls/{name}/tests"
    imports = re.search(r"^IMPORTS *= *(.*)$", (tests / "Makefile.in").read_text(), re.MULTILINE)[1].split()
    imports = ["d3dcompiler_47" if library == "d3dcompiler" else library for library in imports]
    # Wine's headers come after mingw-w64's. FORCEINLINE: functions of theirs that are `static FORCEINLINE`.
    return tests / f"{name}.c", [
        "-DSTANDALONE", "-DDECLSPEC_EXPORT=", "-Ddebugstr_w=wine_dbgstr_w", "-DWIDL_C_INLINE_WRAPPERS",
        "-DFORCEINLINE=__inline__ __attribute__((__always_inline__,__gnu_inline__))",
        "-idirafter", str(source / "include"), "-o", str(program), "SOURCE", f"-L{libraries}",
        *[f"-l{library}" for library in imports], "-lntdll_wine", "-lntdll"]


def make_program(folder, name):
    """Makes the program in folder/bin if it is not there, or older than this file. Returns (its path, names of its
    tests in their order)."""
    binaries = folder / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    program = binaries / f"{name}_test.exe"
    names = program.with_suffix(".tests")
    if program.exists() and names.exists() and names.stat().st_mtime > pathlib.Path(__file__).stat().st_mtime:
        return program, names.read_text().split()
    source, arguments = wine_command(folder, name, program)
    text, tests = marked(source.read_text())
    # Under its own name, which failed checks bear.
    copy = folder / "marked" / source.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)
    arguments[arguments.index("SOURCE")] = str(copy)
    run([COMPILER, "-O1", "-w", "-static", f"-I{source.parent}", *arguments])
    names.write_text("\n".join(tests) + "\n")
    return program, tests
