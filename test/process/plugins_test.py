"""Two plugins in one program, or two shared libraries, that use the library each: with a copy of their own or with one
that they share, hidden or not, of one version or of two. Tried with the thread-locals defined weakly in every object of
users (in runtime/fork/current.hpp): `shared` steals nothing in the second plugin, `hidden` crashes. Tried with names without
the version: `versions` crashes. No fiber is lost, whatever copy of the library looks for such.

plugins_test.py <plugin.cpp> <plugins_host.cpp> <folder of the sources> <source of libforkjoin>... -- <libraries> -- <compiler>
"""

import concurrent.futures
import os
import pathlib
import re
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
PLUGIN, HOST, ROOT, *SOURCES = [pathlib.Path(name).resolve() for name in arguments]
FLAGS = [word for word in compiler[1:] if not word.startswith(("-O", "-flto"))] + ["-O1", "-fPIC"]
TIMEOUT = 120


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"+ {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def library(name, root, *flags):
    """The objects of libforkjoin from the sources below that folder, in few translation units."""
    sources = [root / source.relative_to(ROOT) for source in SOURCES]
    whole = [source for source in sources if source.suffix == ".cpp"]
    half = (len(whole) + 1) // 2
    units = []
    for i, part in enumerate((whole[:half], whole[half:])):
        unit = pathlib.Path(f"{name}-unit{i}.cpp")
        unit.write_text("".join(f'#include "{source}"\n' for source in part))
        units.append(unit)
    return [compiled(unit, f"{name}-{i}.o", root, *flags)
            for i, unit in enumerate(units + [source for source in sources if source not in whole])]


def compiled(source, to, root, *flags):
    include = [word for word in FLAGS if not word.startswith("-I")] + [f"-I{root}"]
    run(compiler[0], *include, *flags, "-c", source, "-o", to)
    return to


def plugin(name, to, root, *flags):
    return compiled(PLUGIN, to, root, f"-DPLUGIN={name}", f'-DPLUGIN_NAME="{name}"', *flags)


def shared(to, *words):
    run(compiler[0], *FLAGS, "-shared", *words, "-o", to, *libraries)
    return pathlib.Path(to).resolve()


def program(to, *words):
    run(compiler[0], *FLAGS, *words, "-o", to, "-ldl", "-lpthread")
    return pathlib.Path(to).resolve()


def check(what, *command):
    try:
        done = subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=TIMEOUT,
                              env=os.environ | {"FORKJOIN_LOST": "1", "FORKJOIN_LOST_MS": "1"})
    except subprocess.TimeoutExpired:
        sys.exit(f"{what}: hangs")
    print(f"{what}: {done.returncode}\n{done.stdout}{done.stderr}", end="", flush=True)
    if done.returncode != 0 or re.search(r" fibers? (is|are) lost: ", done.stderr):
        sys.exit(1)


def other_version(to):
    """The sources with another version."""
    for folder in ("forkjoin", "runtime"):
        shutil.copytree(ROOT / folder, to / folder)
    for file in [*to.rglob("*.?pp"), *to.rglob("*.S")]:
        text = file.read_text()
        # Laid out otherwise as well, so that a mixture of the two does not work by chance.
        text = re.sub(r"\bv\d+_\d+\b|(?<=forkjoin_)v\d+_\d+(?=_)", "v9_9", text)
        file.write_text(text.replace("// Set under the scheduler's mutex while", "long unused[64] = {};\n  //"))
    return to


here = "-Wl,-rpath,$ORIGIN"
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    other = other_version(pathlib.Path(work, "other"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def later(*words):
            return pool.submit(*words)
        jobs = {
            "plain": later(library, "plain", ROOT), "hidden": later(library, "hidden", ROOT, "-fvisibility=hidden"),
            "other": later(library, "other", other), "one": later(plugin, "one", "one.o", ROOT),
            "two": later(plugin, "two", "two.o", ROOT),
            "one_hidden": later(plugin, "one", "one_hidden.o", ROOT, "-fvisibility=hidden"),
            "two_hidden": later(plugin, "two", "two_hidden.o", ROOT, "-fvisibility=hidden"),
            "two_other": later(plugin, "two", "two_other.o", other),
            "host": later(program, "host", HOST),
        }
        made = {name: job.result() for name, job in jobs.items()}
    host = made["host"]

    check("static", host, shared("one-static.so", made["one"], *made["plain"]),
          shared("two-static.so", made["two"], *made["plain"]))

    # Tried with a buffer for the C interface's message in each thread: the fifth does not load.
    check("eight copies", host, *(pathlib.Path(shutil.copy(f"{'two' if i == 1 else 'one'}-static.so", f"copy-{i}.so")).resolve()
                                  for i in range(8)))

    shared("libfj.so", *made["plain"])
    check("shared", host, shared("one-shared.so", made["one"], here, "-L.", "-lfj"),
          shared("two-shared.so", made["two"], here, "-L.", "-lfj"))

    def linked(name, one, two):
        os.mkdir(name)
        shared(f"{name}/libone.so", *one)
        shared(f"{name}/libtwo.so", *two)
        return program(f"{name}/program", "-DLINKED_WITH_BOTH", HOST, here, f"-L{name}", "-lone", "-ltwo")

    check("hidden", linked("hidden", [made["one_hidden"], *made["hidden"]], [made["two_hidden"], *made["hidden"]]))
    check("both visible", linked("visible", [made["one"], *made["plain"]], [made["two"], *made["plain"]]))
    check("versions", linked("versions", [made["one"], *made["plain"]], [made["two_other"], *made["other"]]))
