"""A program succeeds and prints a text: prints.py [--procs=1,2,8] <text> <program> <arguments>

With --procs it runs on so many P, one after the other.
"""

import os
import subprocess
import sys

rest = sys.argv[1:]
runs = [{}]
if rest[0].startswith("--procs="):
    runs = [{"FORKJOIN_PROCS": number} for number in rest.pop(0).removeprefix("--procs=").split(",")]
text, *command = rest
for run in runs:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | run)
    print(*run.values(), done.stdout, end="")
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode} {run}")
    if text not in done.stdout:
        sys.exit(f"expected: {text} {run}")
