"""A library that g++ has built serves a program of clang's, and the other way round: every operation, static and shared. Both
libraries define the same functions. Tried with a constraint on wait_in (forkjoin/abi/wait_queue.hpp), which clang 18 and later
name in the symbol: neither program links. Tried with a specialization of a constrained template in the library: the
libraries differ.

compilers_test.py <program> <source of libforkjoin>... -- <libraries> -- <compiler and flags>

Exits with 77 if there is no other compiler.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

arguments, libraries, compiler = [], [], []
taken = iter(sys.argv[1:])
for into in (arguments, libraries, compiler):
    for word in taken:
        if word == "--":
            break
        into.append(word)
PROGRAM, *SOURCES = [pathlib.Path(name).resolve() for name in arguments]
# One set of objects serves as both kinds of library, and of program.
FLAGS = [word for word in compiler if word.startswith("-") and not word.startswith(("-O", "-flto"))]
FLAGS += ["-fPIC", "-UFORKJOIN_STATIC"]
TIMEOUT = 120


def run(*words, **options):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"+ {' '.join(map(str, words))}\n{done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def other_compiler(this):
    is_clang = "__clang__" in run(*this, "-dM", "-E", "-x", "c++", "-", input="")
    names = ["g++"] if is_clang else [f"clang++{version}" for version in ("-21", "-20", "-19", "-18", "")]
    return next((path for path in map(shutil.which, names) if path), None)


def library(name, command):
    """libforkjoin in few translation units, as objects."""
    whole = [source for source in SOURCES if source.suffix == ".cpp"]
    half = (len(whole) + 1) // 2
    units = []
    for i, part in enumerate((whole[:half], whole[half:])):
        units.append(pathlib.Path(f"{name}-unit{i}.cpp"))
        units[i].write_text("".join(f'#include "{source}"\n' for source in part))
    units += [source for source in SOURCES if source not in whole]
    return [compiled(unit, f"{name}-{i}.o", command, "-O1") for i, unit in enumerate(units)]


def compiled(source, to, command, *flags):
    run(*command, *FLAGS, *flags, "-c", source, "-o", to)
    return to


def functions(objects):
    """What an object of the library defines, and no other may."""
    symbols = (line.split() for line in run("nm", "--defined-only", *objects).splitlines())
    return {words[2] for words in symbols if len(words) == 3 and words[1] in "BDRT"}


this = [word for word in compiler if not word.startswith("-")]  # with ccache two words
if not (other := other_compiler(this)):
    print("no other compiler: not checked")
    sys.exit(77)
compilers = {"this": this, "other": [other]}

with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = {name: pool.submit(library, name, command) for name, command in compilers.items()}
        # Not optimised: each reference stays.
        programs = {name: pool.submit(compiled, PROGRAM, f"{name}-program.o", command, "-O0")
                    for name, command in compilers.items()}
    objects = {name: made.result() for name, made in objects.items()}
    programs = {name: made.result() for name, made in programs.items()}

    if only_one := functions(objects["this"]) ^ functions(objects["other"]):
        sys.exit(f"one compiler's library alone defines {' '.join(sorted(only_one))}")

    for builds_program, builds_library in (("this", "other"), ("other", "this")):
        by_program, made = compilers[builds_program], objects[builds_library]
        print(f"a program by {by_program[-1]}, the library by {compilers[builds_library][-1]}", flush=True)
        archive, shared = f"lib{builds_library}-archive.a", f"lib{builds_library}-shared.so"
        run("ar", "rcs", archive, *made)
        run(*compilers[builds_library], "-shared", *made, "-o", shared, *libraries)
        for kind in archive, shared:
            run(*by_program, programs[builds_program], f"./{kind}", "-Wl,-rpath,.", *libraries, "-o", "program")
            run("./program", timeout=TIMEOUT)
