#!/usr/bin/env python3
"""Prints each kernel's time under every order with every join, from interleaved rounds: a row for each compiler and number of P.

    bench/policies.py --build build --build build-clang fib skynet

The first three columns run the first child first, the last three the last one. `first leave` is fj::continuations, `last top`
is fj::tasks. A cell is the median time over that of `first leave` in the same round, with the least and the greatest."""

import argparse
import pathlib
import sys

from harness import measure
from harness.figures import Figure

POLICIES = {"continuations": "first leave", "first_top": "first top", "first_leap": "first leap",
            "last_leave": "last leave", "tasks": "last top", "last_leap": "last leap"}
KERNELS = ["fib", "integrate", "knapsack", "nqueens", "skynet", "treesum", "uts"]


def rounds_of(kernel, count):
    """A list of {key: milliseconds}."""
    found = []
    for turn in range(count):
        _, got = kernel.round(kernel.keys, turn)
        found.append({key: figures["ms"] for key, figures in got.items()})
    return found


def print_table(build, rounds):
    for problem in sorted({(k, size, procs) for k, size, _, procs in rounds[0]}):
        kernel, size, procs = problem
        base = [r[kernel, size, "continuations", procs] for r in rounds]
        cells = [f"{Figure(base).median:8.1f}"]
        for way in POLICIES:
            over = Figure([r[kernel, size, way, procs] / b for r, b in zip(rounds, base)])
            cells.append(f"{over.median:5.2f} ({min(over.values):.2f}-{max(over.values):.2f})")
        print(f"{f'{kernel} ({size:,})':22} {build.name:14} {procs:3} {len(rounds):3} " + " ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", default=KERNELS, help="(default: all that end in no serial work of a chosen size)")
    parser.add_argument("--build", action="append", type=pathlib.Path, help="build folder, several for several compilers")
    parser.add_argument("--procs", default="1,2", help="(default: 1,2)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", choices=["test", "quick", "full"], default="quick")
    args = parser.parse_args()
    procs = [int(p) for p in args.procs.split(",")]
    head = " ".join(f"{name:18}" for name in POLICIES.values())
    print(f"{'kernel':22} {'build':14} {'P':>3} {'n':>3} {'ms':>8} {head}")
    for name in args.kernel:
        for build in args.build or [pathlib.Path("build")]:
            kernel = measure.Kernel(build.resolve() / "bench", name, args.sizes, procs, POLICIES)
            print_table(build, rounds_of(kernel, args.rounds))


if __name__ == "__main__":
    try:
        main()
    except measure.Failed as error:
        sys.exit(f"policies: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
