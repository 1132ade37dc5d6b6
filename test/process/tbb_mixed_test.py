"""A source over oneTBB's names of this library and a source over oneTBB are one program: at each level of optimisation, by each compiler, in both
orders of linking, with either first to run, and with one of the two in a shared object.

tbb_mixed_test.py <folder of the sources> <source root> <libforkjoin.a> <levels, as 0,3> <libraries...> -- <compiler> [-- <another>]

Tried: without __tbb_backend in tbb/version.h, and without the inline namespace in tbb/task.h, it fails.
"""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

folder, root, library, levels, *rest = sys.argv[1:]
libraries = list(itertools.takewhile(lambda word: word != "--", rest))
compilers = [list(words) for is_mark, words in itertools.groupby(rest[len(libraries):], lambda word: word == "--") if not is_mark]
folder = pathlib.Path(folder)
flags = ["-std=c++20", "-DFORKJOIN_STATIC", "-fPIC", f"-I{root}"]
tried = 0

for compiler in compilers:
    for level in levels.split(","):
        with tempfile.TemporaryDirectory() as made:
            def run(*command):
                done = subprocess.run(command, cwd=made, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                                      env=os.environ | {"LD_LIBRARY_PATH": made})
                if done.returncode:
                    sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")

            for name, more in ("ours", [f"-I{root}/forkjoin/tbb"]), ("theirs", []), ("main", []):
                run(*compiler, *flags, *more, f"-O{level}", "-c", folder / f"{name}.cpp", "-o", f"{name}.o")
            tail = [library, "-ltbb", *libraries]
            run(*compiler, "-shared", "ours.o", library, *libraries, "-o", "libours.so")
            run(*compiler, "-shared", "theirs.o", "-ltbb", "-o", "libtheirs.so")
            for parts in (["ours.o", "theirs.o"], ["theirs.o", "ours.o"], ["ours.o", "-L.", "-ltheirs"], ["theirs.o", "-L.", "-lours"]):
                run(*compiler, "main.o", *parts, *tail, "-o", "mixed")
                for arguments in [], ["theirs first"]:
                    run("./mixed", *arguments)
                    tried += 1
print(f"{tried} runs")
