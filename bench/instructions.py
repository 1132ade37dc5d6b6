#!/usr/bin/env python3
"""Counts with callgrind the instructions that a fork and its join add to two calls.

    bench/instructions.py --build build [--max N] [--json FILE]

Runs `fib_forks <way> <n> 1`, which is fib_once with fewer ways, for two sizes. The start cancels out in the difference between them. The
serial program's difference is subtracted, and the rest is divided by the difference in forks.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import environment

SMALL, LARGE = 20, 25


def fail(message):
    print(f"bench/instructions.py: {message}", file=sys.stderr)
    sys.exit(1)


def forks(n):
    """fib(n + 1) - 1"""
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return a - 1


def instructions(binary, way, n):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(binary), way, str(n), "1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    collected = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or not collected:
        fail(f"{' '.join(command)} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return int(collected.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--max", type=float, metavar="N", help="exit with status 3 if continuations take more than N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also writes the figures there")
    args = parser.parse_args()

    folder = pathlib.Path(args.build).resolve() / "bench"
    found = [folder / name for name in ("fib_forks", "fib_once") if os.access(folder / name, os.X_OK)]
    if not found:
        fail(f"{folder}/fib_forks is not there; build it first")
    binary = found[0]
    if not shutil.which("valgrind"):
        fail("valgrind is not installed")

    per_fork = {}
    for way in ("serial", "continuations", "tasks", "scope"):
        grown = instructions(binary, way, LARGE) - instructions(binary, way, SMALL)
        per_fork[way] = grown / (forks(LARGE) - forks(SMALL))
    print(f"instructions per fork+join, fib({LARGE}) less fib({SMALL}), one P")
    print(f"  {'serial':14} {per_fork['serial']:6.2f}")
    for way in ("continuations", "tasks", "scope"):
        print(f"  {way:14} {per_fork[way]:6.2f}   overhead {per_fork[way] - per_fork['serial']:6.2f}")
    if args.json:
        context = json.loads((binary.parent / "peers" / "versions.json").read_text())
        report = {"schema": 1, "environment": environment.describe(context, os.getloadavg()), "instructions": per_fork}
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    overhead = per_fork["continuations"] - per_fork["serial"]
    return 3 if args.max is not None and overhead > args.max else 0


if __name__ == "__main__":
    sys.exit(main())
