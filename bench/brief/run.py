#!/usr/bin/env python3
"""Brief scans and loops that follow each other closely: the serial program, forkjoin, oneTBB and, for loops, OpenMP.

    bench/brief/run.py --build build [--procs 1,2] [--scans 10,1000] [--loops 1000,30000] [--rounds N] [--json FILE]

Each program has one process for all lengths, within its runtime or arena. A round asks each of them once for each kind and length: a series
of calls of about 20 ms. The table has the nanoseconds of a call, and the ratio of ours to another's in the same round: for scans the serial
program's or oneTBB's, whichever has the lesser median; for loops that of OpenMP's static schedule. Each figure is the median of the rounds,
with the least and the greatest. A scan should take at most 1.1 times as long as the better of the two, or 50 ns more.
"""

import argparse
import contextlib
import json
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import asked, environment, measure  # noqa: E402
from harness.figures import Figure  # noqa: E402
from harness.tables import print_disturbances, print_table, show  # noqa: E402
from peers.programs import versions  # noqa: E402

PROGRAMS = ("serial", "forkjoin", "tbb", "omp")
KINDS = {  # those that ours is compared with
    "exclusive": ("serial", "tbb"),
    "inclusive": ("serial", "tbb"),
    "loop": ("omp",),
}
WHAT = {"exclusive": "exclusive scan of longs", "inclusive": "inclusive scan of doubles", "loop": "loop: roots of doubles"}
RATIO, MORE_NS = 1.1, 50  # what a scan may take more than the better of the others


def measure_length(programs, kind, n, rounds):
    """{program: the nanoseconds of each round}"""
    return asked.ask({name: programs[name] for name in PROGRAMS if name in programs and (name != "omp" or kind == "loop")}, kind, n, rounds)


def compare(kind, found):
    """Ours beside the better of those that it is compared with, if one is there."""
    others = [name for name in KINDS[kind] if name in found]
    if not others:
        return {}
    other = min(others, key=lambda name: Figure(found[name]).median)
    pairs = list(zip(found["forkjoin"], found[other]))
    ratio, more = Figure(a / b for a, b in pairs), Figure(a - b for a, b in pairs)
    judged = {} if kind == "loop" else {"met": ratio.median <= RATIO or more.median <= MORE_NS}
    return {"other": other, "ratio": ratio.summary(), "more_ns": more.summary(), **judged}


def row_of(result):
    found = result["ns"]
    row = [f"{result['n']:,}", *(show(Figure(found[name])) if name in found else "-" for name in PROGRAMS)]
    if "other" not in result:
        return [*row, "-", "-", ""]
    ratio = result["ratio"]
    return [*row, f"{ratio['median']:.2f} ({ratio['min']:.2f}…{ratio['max']:.2f})", result["other"],
            {True: "", False: "MISSED", None: ""}[result.get("met")]]


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=numbers, default=[1, 2])
    parser.add_argument("--scans", type=numbers, default=[10**i for i in range(1, 8)], help="lengths (default: 10, 100 … 10^7)")
    parser.add_argument("--loops", type=numbers, default=[1000, 3000, 10_000, 30_000, 100_000, 300_000],
                        help="lengths (default: 1,000, 3,000 … 300,000)")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    if args.rounds < 1 or min([*args.procs, *args.scans, *args.loops], default=0) < 1:
        parser.error("--rounds, --procs, --scans and --loops must be above 0")
    return args


def main():
    args = parse()
    folder = args.build.resolve() / "bench"
    files = {name: folder / f"brief_{name}" for name in PROGRAMS if (folder / f"brief_{name}").is_file()}
    if not {"serial", "forkjoin"} <= set(files):
        raise measure.Failed(f"{folder} has no brief_serial and brief_forkjoin; ./dev bench brief builds them")
    machine = environment.Conditions()
    print_disturbances(machine.before)
    results = []
    for procs in args.procs:
        with contextlib.ExitStack() as stack:
            programs = {name: stack.enter_context(asked.Program(file, procs)) for name, file in files.items()}
            for kind, lengths in {**dict.fromkeys(KINDS, args.scans), "loop": args.loops}.items():
                if not lengths:
                    continue
                rows = [["n", *PROGRAMS, "ours over", "", ""]]
                for n in lengths:
                    found = measure_length(programs, kind, n, args.rounds)
                    results.append({"kind": kind, "n": n, "procs": procs, "ns": found, **compare(kind, found)})
                    rows.append(row_of(results[-1]))
                print(f"\n{WHAT[kind]}, P = {procs}; ns of a call")
                print_table(rows)
                sys.stdout.flush()
    judged = [r["met"] for r in results if "met" in r]
    if judged:
        print(f"\n  scans that take at most {RATIO} times as long as the better of serial and oneTBB, or {MORE_NS} ns more: "
              f"{sum(judged)} of {len(judged)}")
    env = machine.describe(versions(args.build.resolve()))
    print_disturbances(env)
    if args.json:
        args.json.write_text(json.dumps({"schema": 1, "environment": env, "settings": {"rounds": args.rounds}, "results": results},
                                        indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/brief/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
