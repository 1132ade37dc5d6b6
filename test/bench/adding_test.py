"""adding_test.py SOURCE -- COMPILER...: does what bench/ADDING.md says in a copy of the sources, then builds the kernel and runs it.
Tried with 780 walks of six steps made 781 in the page: the kernel's run fails. Tried without the page's line for meson.build: there is
nothing to build."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, compiler = pathlib.Path(sys.argv[1]), sys.argv[3:]
page = (source / "bench/ADDING.md").read_text()


def run(*command, **more):
    print("+", *command, flush=True)
    return subprocess.run(list(map(str, command)), check=True, text=True, **more)


with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    files = re.findall(r"in the\s+folder\s+`bench/kernels/walks`, `([^`]+)`:\n\n```cpp\n(.*?)```\n", page, re.S)
    assert [name for name, _ in files] == ["walks.hpp", "serial.cpp"], files
    for name, text in files:
        file = copy / "bench/kernels/walks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    line = re.search(r"```meson\n(.*?)```\n", page, re.S)[1]
    listed = copy / "bench/meson.build"
    before = listed.read_text()
    assert before.count("kernels = {\n  'fib'") == 1
    listed.write_text(before.replace("kernels = {\n", "kernels = {\n" + line, 1))

    build = pathlib.Path(folder) / "build"
    run("meson", "setup", "--werror", build, copy, "-Dbenchmarks=enabled", "-Dexamples=disabled", "-Dtests=disabled", stdout=subprocess.DEVNULL,
        env={**os.environ, "CXX": " ".join(compiler)})
    more = re.findall(r"^    ninja -C build (bench/.*)$", page, re.M)[0].split()
    run("ninja", "-C", build, "bench/walks", "bench/walks_once", *more, stdout=subprocess.DEVNULL)
    run(build / "bench/walks_once", "--test")
    told = run(build / "bench/walks_once", "continuations", 12, 2, stdout=subprocess.PIPE).stdout
    assert re.search(r"^result 324932$", told, re.M), told
    told = run(build / "bench/walks_profiled", "continuations", 12, 1, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
    assert re.search(r"work .*, span .*, parallelism", told), told
    run(build / "bench/walks_races", "--test")
    run(copy / "bench/run.py", "walks", "--build", build, "--test-sizes", "--quick", stdout=subprocess.DEVNULL)
