"""All mutants can be made: patches_test.py <mutate.py> <root> {-- <model.cpp> <patch>...}...

So the tests that everybody runs tell when a patch no longer fits the runtime; the mutants themselves run in a part of their own.
Tried with a changed line in a patch: fails.
"""

import concurrent.futures
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

mutate, root, *rest = sys.argv[1:]
mutants = [list(group) for is_end, group in itertools.groupby(rest, lambda word: word == "--") if not is_end]


def complaint(number, words):
    out = pathlib.Path(folder) / str(number)
    # -S: modules of others take longer to find than a mutant takes.
    done = subprocess.run([sys.executable, "-S", mutate, root, words[0], f"{out}.cpp", f"{out}.d", *words[1:]],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ""


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    complaints = list(filter(None, pool.map(complaint, itertools.count(), mutants)))
print(f"{len(mutants)} mutants", *complaints, sep="\n")
sys.exit(bool(complaints) or not mutants)
