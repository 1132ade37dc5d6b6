"""Exceptions pass through everything that forks, in each way to compile it: without optimisation, with it, as shared
libraries, as one program by link-time optimisation. Builds the program of throwing_test.cpp in these ways, and the library
where that makes a difference, and runs it. Tried with switches that do not save the exceptions in flight (-O0 and link-time
optimisation failed), without the alignment of functions that a join's word holds (-O0), and with thread-locals read in the
compiler's own way (clang, optimised and shared).

throwing_test.py <program> <its library> <libforkjoin.a> <source of libforkjoin>... -- <libraries> -- <compiler>
"""

import concurrent.futures
import os
import pathlib
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
PROGRAM, PART, library, *sources = [pathlib.Path(name).resolve() for name in arguments]
TIMEOUT = 120


def command(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True)


def run(*words):
    done = command(*words)
    if done.returncode != 0:
        sys.exit(f"+ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def objects(name, files, *flags):
    """Compiles each of them by itself, several at a time."""
    made = [pathlib.Path(f"{name}-{i}-{file.name}.o") for i, file in enumerate(files)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda file, to: run(*compiler, *flags, "-c", file, "-o", to), files, made))
    return made


def together(files, count=8):
    """The library's sources, as many at a time in one translation unit, as Meson's unity builds do: half the time."""
    whole = [file for file in files if file.suffix == ".cpp"]
    units = [pathlib.Path(f"unit{i}.cpp") for i in range(0, len(whole), count)]
    for i, unit in enumerate(units):
        unit.write_text("".join(f'#include "{file}"\n' for file in whole[i * count : (i + 1) * count]))
    return units + [file for file in files if file not in whole]


def executable(name, *words):
    run(*compiler, *words, "-o", name, *libraries)
    return pathlib.Path(name).resolve()


def optimised():
    """With the library as it is installed."""
    return executable("optimised", "-O3", PROGRAM, PART, library)


def plain():
    """Nothing inlined, no function aligned."""
    return executable("plain", *objects("plain", [PROGRAM, PART, *together(sources)], "-O0"))


def shared():
    """Part of the tree in one shared library, the part below in another."""
    made = objects("shared", [PART], "-O3", "-fPIC")
    run(*compiler, "-shared", "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", *libraries, "-o", "libfj.so")
    here = ["-L.", "-Wl,-rpath,$ORIGIN"]
    run(*compiler, "-shared", *made, *here, "-lfj", "-o", "libpart.so")
    return executable("shared", "-O3", "-UFORKJOIN_STATIC", PROGRAM, *here, "-lpart", "-lfj")


def linked():
    """With link-time optimisation over everything."""
    flags = ["-O2", "-flto", *linker()]
    return executable("linked", *flags, *objects("linked", [PROGRAM, PART, *together(sources)], *flags[:2]))


def linker():
    """Further flags for link-time optimisation, None if the compiler does not support it."""
    pathlib.Path("empty.cpp").write_text("int main() {}\n")
    for flags in [], ["-fuse-ld=lld"]:
        if command(*compiler, "-O2", "-flto", *flags, "empty.cpp", "-o", "empty").returncode == 0:
            return flags
    return None


def clean(words):
    """A compiler's flags without those that a way of building chooses by itself."""
    return [word for word in words if not word.startswith(("-O", "-flto"))]


compiler = clean(compiler)
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for way in optimised, plain, shared, linked:
        if way is linked and linker() is None:
            print("link-time optimisation: left out, this compiler cannot link so")
            continue
        program = way()
        try:
            done = subprocess.run([program], text=True, capture_output=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            sys.exit(f"{way.__name__}: hangs")
        print(f"{way.__name__}: {done.returncode}\n{done.stdout}{done.stderr}", end="", flush=True)
        if done.returncode != 0:
            sys.exit(1)
