#!/usr/bin/env python3
"""Runs small programs of fibers that talk, ours and Go's, in interleaved rounds, each in a process of its own.

    bench/peers/talk.py [case...] --build build [--build build-clang] [--procs 1,2] [--rounds N] [--json FILE]

A round runs both programs one after the other, in alternating order. Of two runs in a process the faster one counts. The table has
nanoseconds for an operation, and Go's time over ours, with the smallest and the largest ratio of all rounds: above 1, ours is faster.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import measure  # noqa: E402
from peers import toolchains  # noqa: E402

# How many operations, and what one is.
CASES = {
    "create": (20_000, "start a fiber and take its result"),
    "create_many": (20_000, "the same, all started first"),
    "unbuffered": (20_000, "a value there and back, no room"),
    "buffered": (20_000, "a value there and back, room for one"),
    "stream": (200_000, "a value one way, room for a hundred"),
    "select": (20_000, "receive by a select over four"),
    "mutex": (400_000, "lock and unlock, eight fibers"),
    "sieve": (3_000, "a number of the prime sieve"),
    "sleepers": (100_000, "start, wait for a channel, be woken"),
}
RUNS = 2
ROUNDS = 9
TIMEOUT = 120  # seconds of a process


def run(program, case, n, procs):
    """Returns the result and the seconds of the faster run."""
    command = [str(program), case, str(n), str(procs), str(RUNS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise measure.Failed(f"did not end within {TIMEOUT} s: {' '.join(command)}") from None
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    with measure.making_sense_of(command):
        lines = [line.split() for line in done.stdout.splitlines()]
        return int(dict(line[:2] for line in lines)["result"]), min(float(line[1]) for line in lines if line[0] == "seconds")


def measure_case(programs, case, n, procs, rounds):
    """For each program its seconds, round by round. Throws if two have different results."""
    seconds = {name: [] for name in programs}
    for i in range(rounds):
        results = {}
        for name in sorted(programs, reverse=i % 2 == 1):
            results[name], time = run(programs[name], case, n, procs)
            seconds[name].append(time)
        if len(set(results.values())) > 1:
            raise measure.Failed(f"{case}: different results: {results}")
    return seconds


def show(case, n, procs, seconds):
    go = seconds.get("go")
    row = []
    for name, times in seconds.items():
        text = f"{name} {statistics.median(times) / n * 1e9:8.0f} ns"
        if go and name != "go":
            ratios = [theirs / ours for theirs, ours in zip(go, times)]
            text += f"  {statistics.median(ratios):5.2f} ({min(ratios):.2f}..{max(ratios):.2f})"
        row.append(text)
    print(f"{case:12} {procs} P   " + "   ".join(row), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--build", action="append", type=pathlib.Path, help="build folder; give it once for each of several compilers "
                        "(default: build)")
    parser.add_argument("--procs", default="1,2", help="numbers of Ps (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"(default: {ROUNDS})")
    parser.add_argument("--divide", type=int, default=1, help="divide the number of operations by that: to try the programs")
    parser.add_argument("--json", type=pathlib.Path, help="also writes the seconds of each round there")
    args = parser.parse_args()
    args.build = [build.resolve() for build in args.build or [pathlib.Path("build")]]
    wrong = set(args.case) - set(CASES)
    if wrong:
        parser.error(f"no case {', '.join(sorted(wrong))}; there are: {', '.join(CASES)}")
    try:
        args.procs = [int(p) for p in args.procs.split(",")]
    except ValueError:
        parser.error("--procs takes numbers, as in 1,2")
    if args.rounds < 1 or args.divide < 1 or min(args.procs) < 1:
        parser.error("--rounds, --divide and --procs must be above 0")
    return args


def main():
    args = parse()
    programs, go = toolchains.ours_and_go(args.build, "talk")
    figures = []
    for case in args.case or CASES:
        n = max(CASES[case][0] // args.divide, 8)
        for procs in args.procs:
            seconds = measure_case(programs, case, n, procs, args.rounds)
            show(case, n, procs, seconds)
            figures.append({"case": case, "what": CASES[case][1], "n": n, "procs": procs, "seconds": seconds})
    if args.json:
        toolchains.write_beside_go(args.json, args.build[0], go, {"rounds": args.rounds}, figures)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/peers/talk.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
