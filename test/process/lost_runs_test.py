"""Programs that lose no fiber, with FORKJOIN_LOST=1: lost_runs_test.py PROGRAM [ARGUMENTS] [-- PROGRAM [ARGUMENTS]]...

Each program runs once, and no report may come. What the program itself finds is the matter of other tests: so its exit status does not count,
but a signal does.
"""

import itertools
import os
import re
import subprocess
import sys

bad = 0
for is_program, words in itertools.groupby(sys.argv[1:], lambda word: word != "--"):
    if not is_program:
        continue
    command = list(words)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          env=os.environ | {"FORKJOIN_LOST": "1", "FORKJOIN_LOST_HEAP": "1024"})
    found = re.search(r"^forkjoin: \d+ fibers? (is|are) lost.*(\n  .*)*", done.stderr, re.MULTILINE)
    print(os.path.basename(command[0]), "loses fibers:\n" + found[0] if found else "", flush=True)
    if found or done.returncode < 0:
        print(done.stderr[-2000:] if not found else "", f"status {done.returncode}")
        bad += 1
sys.exit(f"{bad} of them" if bad else 0)
