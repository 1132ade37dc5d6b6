"""A program succeeds and prints a text: prints.py [--procs=1,2,8] [--exit=STATUS] <text> <program> <arguments>

With --procs it runs on so many P, one after the other. With --exit it has to end with that status.
"""

import os
import subprocess
import sys

rest = sys.argv[1:]
options = {"--procs": "", "--exit": "0"}
while rest[0].startswith("--"):
    option, value = rest.pop(0).split("=")
    options[option] = value
text, *command = rest
for procs in options["--procs"].split(","):
    run = {"FORKJOIN_PROCS": procs} if procs else {}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | run)
    print(*run.values(), done.stdout, end="")
    if done.returncode != int(options["--exit"]):
        sys.exit(f"exit status {done.returncode} {run}")
    if text not in done.stdout:
        sys.exit(f"expected: {text} {run}")
