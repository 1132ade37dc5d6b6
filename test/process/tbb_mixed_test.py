"""A source over oneTBB's names of this library and a source over oneTBB are one program: at each level of optimisation, by each compiler, in both
orders of linking, with either first to run, and with one of the two in a shared object.

tbb_mixed_test.py <main.cpp> <ours.cpp> <theirs.cpp> <source root> <libforkjoin.a> <levels, as 0,3> <libraries...> -- <compiler> [-- <another>]

Tried: without __tbb_backend in tbb/version.h, and without the inline namespace in tbb/task.h, it fails.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile

main, ours, theirs, root, library, levels, *rest = map(str, sys.argv[1:])
library = os.path.abspath(library)  # they are linked in a folder of their own
libraries = list(itertools.takewhile(lambda word: word != "--", rest))
compilers = [list(words) for is_mark, words in itertools.groupby(rest[len(libraries):], lambda word: word == "--") if not is_mark]
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

            def names(file):
                """What a linker may take from either of the two, and has to do with oneTBB."""
                table = subprocess.run(["nm", "-C", file], cwd=made, check=True, stdout=subprocess.PIPE, text=True).stdout
                return set(re.findall(r"(?m)^\w+ [VWu] (.*tbb.*)$", table))

            for name, source, more in ("ours", ours, [f"-I{root}/forkjoin/tbb"]), ("theirs", theirs, []), ("main", main, []):
                run(*compiler, *flags, *more, f"-O{level}", "-c", source, "-o", f"{name}.o")
            if twice := names("ours.o") & names("theirs.o"):
                sys.exit(f"{compiler[0]} -O{level}: both sources define {sorted(twice)}")
            tail = [library, "-ltbb", *libraries]
            run(*compiler, "-shared", "ours.o", library, *libraries, "-o", "libours.so")
            run(*compiler, "-shared", "theirs.o", "-ltbb", "-o", "libtheirs.so")
            for parts in (["ours.o", "theirs.o"], ["theirs.o", "ours.o"], ["ours.o", "-L.", "-ltheirs"], ["theirs.o", "-L.", "-lours"]):
                run(*compiler, "main.o", *parts, *tail, "-o", "mixed")
                for arguments in [], ["theirs first"]:
                    run("./mixed", *arguments)
                    tried += 1
print(f"{tried} runs")
