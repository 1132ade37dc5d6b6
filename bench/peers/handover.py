#!/usr/bin/env python3
"""Measures what happens around a blocking call of 1 ms, ours and Go's, in interleaved rounds, each in a process of its own.

    bench/peers/handover.py [case...] --build build [--build build-clang] [--procs 1,2] [--rounds N] [--json FILE]

`other`: microseconds from before the call until another fiber, which was ready, runs on the P. `caller`: from the end of the 1 ms
until the caller runs again, with the wake-up of its thread. The figures are median, p99 and maximum of all calls of all rounds.
`bare` is a thread without a runtime. Go's calls never release a P immediately.
"""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import measure  # noqa: E402
from peers import toolchains  # noqa: E402

CASES = {
    "sleep": "nanosleep",
    "sleep_now": "the same, P handed over at once",
    "read": "read of a timer's descriptor",
    "read_now": "the same, P handed over at once",
    "bare": "nanosleep of a thread without a runtime",
}
GO = {"sleep", "read"}
CALLS = 400
ROUNDS = 5
TIMEOUT = 60  # seconds of a process


def run(program, case, procs, calls):
    """A list of pairs: nanoseconds to the other fiber, and to the caller."""
    command = [str(program), case, str(calls), str(procs)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise measure.Failed(f"did not end within {TIMEOUT} s: {' '.join(command)}") from None
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    with measure.making_sense_of(command):
        times = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
        return [(other, caller) for other, caller in times]


def measure_case(programs, case, procs, args):
    taking_part = {name: program for name, program in programs.items() if name != "go" or case in GO}
    times = {name: [] for name in taking_part}
    for i in range(args.rounds):
        for name in sorted(taking_part, reverse=i % 2 == 1):
            times[name] += run(taking_part[name], case, procs, args.calls)
    return times


def quantiles(values):
    values = sorted(values)
    return [values[round(part * (len(values) - 1))] / 1000 for part in (0.5, 0.99, 1)]


def told(pairs):
    return {"n": len(pairs), **{what: quantiles(values) for what, values in zip(("other", "caller"), zip(*pairs))}}


def show(case, procs, found):
    for name, figures in found.items():
        row = ["{} {:7.1f} p99 {:8.1f} max {:8.1f}".format(what, *figures[what]) for what in ("other", "caller")]
        print(f"{case:10} {procs} P  {name:8} n {figures['n']}  {'   '.join(row)}", flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--build", action="append", type=pathlib.Path, help="build folder; give it once for each of several compilers "
                        "(default: build)")
    parser.add_argument("--procs", default="1,2", help="numbers of Ps (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"(default: {ROUNDS})")
    parser.add_argument("--calls", type=int, default=CALLS, help=f"in a round (default: {CALLS})")
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures there")
    args = parser.parse_args()
    args.build = [build.resolve() for build in args.build or [pathlib.Path("build")]]
    wrong = set(args.case) - set(CASES)
    if wrong:
        parser.error(f"no case {', '.join(sorted(wrong))}; there are: {', '.join(CASES)}")
    try:
        args.procs = [int(p) for p in args.procs.split(",")]
    except ValueError:
        parser.error("--procs takes numbers, as in 1,2")
    if args.rounds < 1 or args.calls < 1 or min(args.procs) < 1:
        parser.error("--rounds, --calls and --procs must be above 0")
    return args


def main():
    args = parse()
    programs, go = toolchains.ours_and_go(args.build, "handover")
    figures = []
    for case in args.case or CASES:
        for procs in args.procs:
            found = {name: told(pairs) for name, pairs in measure_case(programs, case, procs, args).items()}
            show(case, procs, found)
            figures.append({"case": case, "what": CASES[case], "procs": procs, "microseconds": found})
    if args.json:
        toolchains.write_beside_go(args.json, args.build[0], go, {"rounds": args.rounds, "calls": args.calls}, figures)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/peers/handover.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
