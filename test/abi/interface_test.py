"""What programs and the library agree on is as it was recorded for this version, and programs that were compiled then run with the library of
today: interface_test.py [--write] <source folder> <version> <program> -- <compiler>

test/abi/<version>.abi describes what the shared library exports of the public headers, and the classes of those headers: by abidw of
libabigail, from a build for x86-64 by g++. Functions may be added; any other difference is one that a program of this version would notice,
and asks for a new minor version. Where the version has not been released yet, --write records it anew.

The headers of then are those of the commit that recorded the description last. Exits with 77 without abidw or on another machine.

Tried with as_child before `below` in fiber_face, and with a parameter of push_slow: each is reported; with the former and without the comparison
the program of then ends by a signal.
"""

import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ATTRIBUTES = r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*|FORKJOIN_\w+(?:\([^)]*\))?\s*)*"


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


def public_symbols(library):
    """What the library exports of the functions and variables that public headers declare."""
    texts = [re.sub(r'"(\\.|[^"\\\n])*"|//[^\n]*', "", name.read_text()) for name in pathlib.Path(source, "forkjoin").rglob("*.hpp")]
    text = "\n".join(texts)
    classes = set(re.findall(rf"\b(?:class|struct)\s+{ATTRIBUTES}(\w+)(?:<[^;{{]*>)?\s*(?:final\s*)?[:{{]", text))
    types = classes | set(re.findall(rf"\b(?:class|struct)\s+{ATTRIBUTES}(\w+)", text)) | set(re.findall(r"\benum (?:class )?(\w+)", text))
    names = set(re.findall(r"(~?\w+)\s*\(", text)) | set(re.findall(r"\bextern\s[^;]*?(\w+)\s*(?:asm\s*\([^)]*\)\s*)?;", text))
    exported = [line.split() for line in run("nm", "-D", "--defined-only", library, stdout=subprocess.PIPE).splitlines()]
    symbols = [words[-1] for words in exported if words[-2] in "TDBR"]  # no inline functions
    words = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, text=True, capture_output=True).stdout.splitlines()
    for symbol, name in zip(symbols, words):
        found = re.match(r"fj::v\d+_\d+::([\w:~]+)(?:\[abi:\w+\])?(\(.*)?", name)
        if symbol.startswith("forkjoin_v"):
            yield symbol
        elif found and "{lambda" not in name:
            *outer, last = found[1].split("::")
            of_parameters = {one.split("::")[-1] for one in re.findall(r"fj::v\d+_\d+::([\w:]+)", found[2] or "")}
            if last in names and set(outer) - {"detail", "os"} <= classes and of_parameters <= types:
                yield symbol


def describe(library, into):
    """Writes the description: of exported symbols those that public headers declare, of types those that they define."""
    symbols = "|".join(sorted(public_symbols(library)))
    rules = "".join(f"[suppress_{what}]\n  symbol_name_not_regexp = ^({symbols})$\n  drop = yes\n" for what in ("function", "variable"))
    rules += "[suppress_type]\n  source_location_not_regexp = /forkjoin/[a-z_/]*[.]hpp$\n  drop = yes\n"
    pathlib.Path(f"{into}.rules").write_text(rules)
    run("abidw", "--headers-dir", f"{source}/forkjoin", "--suppressions", f"{into}.rules", "--no-corpus-path", "--no-comp-dir-path",
        "--no-show-locs", "--drop-private-types", "--type-id-style", "hash", "--out-file", into, library)
    text = pathlib.Path(into).read_text()
    pathlib.Path(into).write_text(re.sub(r"path='[^']*/(runtime/[^']*[.]S)'", r"path='\1'", text))  # of assembly: from where the test runs
    if len(text) < 50_000:
        sys.exit("the description is too short: has the way changed in which headers declare functions?")


def layouts(description):
    """Of each class, union and enumeration: its size, bases, members and enumerators. There may be several of one name. Identifiers of types
    differ between descriptions, so they are resolved."""
    every = list(xml.etree.ElementTree.parse(description).iter())
    by_identifier = {one.get("id"): one for one in every if one.get("id")}

    def named(identifier):
        one = by_identifier.get(identifier)
        if one is None:
            return "?"
        name = one.get("name", "")
        if name and not name.startswith("__anonymous"):
            return name
        if one.tag in ("class-decl", "union-decl", "enum-decl"):
            return str(layout(one))
        return f"{one.tag} {one.get('const', '')} {named(one.get('type-id'))}"

    def layout(one):
        parts = [(part.tag, part.get("layout-offset-in-bits"), part.get("name"), part.get("value"), part.get("type-id"),
                  [(inner.get("name"), inner.get("type-id")) for inner in part.iter("var-decl")])
                 for part in one if part.tag in ("base-class", "data-member", "enumerator")]
        return one.get("size-in-bits"), [(*part, named(of), [(name, named(its)) for name, its in members]) for *part, of, members in parts]

    found = {}
    for one in every:
        if one.tag in ("class-decl", "union-decl", "enum-decl") and "is-declaration-only" not in one.attrib:
            if not one.get("name").startswith("__anonymous"):
                found.setdefault(one.get("name"), []).append(layout(one))
    return found


def compare(recorded, today):
    """What a program would notice, as text."""
    done = subprocess.run(["abidiff", "--no-added-syms", recorded, today], text=True, capture_output=True)
    text = done.stdout + done.stderr if done.returncode != 0 else ""
    # abidiff leaves out what no function takes or returns, such as what programs see of a deque.
    now = layouts(today)
    for name, then in layouts(recorded).items():
        if any(one not in now.get(name, []) for one in then):
            text += f"the layout of {name} has changed\n"
    return text


def build_program(root, headers, library):
    name = pathlib.Path(program).resolve().relative_to(pathlib.Path(source).resolve())
    run(*compiler, "-std=c++20", "-O1", "-pthread", f"-I{headers}", f"{headers}/{name}", "-o", f"{root}/program", f"-L{library.parent}", "-lforkjoin")


writes = sys.argv[1:2] == ["--write"]
source, version, program, _, *compiler = sys.argv[1 + writes :]
macros = subprocess.run([*compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True).stdout
if not shutil.which("abidw") or platform.machine() != "x86_64" or "__clang__" in macros:
    print("no abidw, or not g++ for x86-64: not checked")
    sys.exit(77)
recorded = pathlib.Path(source, "test/abi", f"v{version.replace('.', '_')}.abi")
if not writes and not recorded.is_file():
    sys.exit(f"{recorded.name} is missing: record the interface of this version by {shlex.join(sys.argv[:1])} --write")

with tempfile.TemporaryDirectory() as root:
    run("meson", "setup", f"{root}/build", source, "-Ddefault_library=shared", "-Dunity=on", "-Dunity_size=1000", "-Doptimization=0",
        "-Ddebug=true", "-Db_pch=false", "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled", "-Dtools=disabled",
        env=dict(os.environ, CXX=shlex.join(compiler)), stdout=subprocess.PIPE)
    run("ninja", "-C", f"{root}/build", "--quiet")
    library = pathlib.Path(root, "build/runtime/libforkjoin.so")
    describe(library.resolve(), f"{root}/today.abi")
    if writes:
        shutil.copy(f"{root}/today.abi", recorded)
        sys.exit()
    if difference := compare(recorded, f"{root}/today.abi"):
        sys.exit(f"{difference}\nA program of version {version} would notice this: undo it, or raise the minor version. If "
                 "that version has not been released, record it anew, by --write.")
    # Programs of then. Without the history there are those of today.
    then = subprocess.run(["git", "log", "-1", "--format=%H", "--", recorded], cwd=source, text=True, capture_output=True)
    if commit := then.stdout.strip():
        with subprocess.Popen(["git", "archive", commit, "forkjoin", os.path.relpath(program, source)], cwd=source, stdout=subprocess.PIPE) as archive:
            os.mkdir(f"{root}/then")
            run("tar", "-x", "-C", f"{root}/then", stdin=archive.stdout)
    else:
        print("no history: the headers of today")
    build_program(root, f"{root}/then" if commit else source, library)
    run(f"{root}/program", env=dict(os.environ, LD_LIBRARY_PATH=str(library.parent)), timeout=120)
