#!/usr/bin/env python3
"""Runs small programs of fibers that talk, ours and Go's, in interleaved rounds, each in a process of its own.

    bench/peers/talk.py [case...] --build build [--build build-clang] [--procs 1,2] [--rounds N] [--json FILE]

A round runs both programs one after the other, in alternating order. Of two runs in a process the faster one counts. The table has
nanoseconds for an operation, and Go's time over ours, with the smallest and the largest ratio of all rounds: above 1, ours is faster.
"""

import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import measure  # noqa: E402
from peers import beside_go  # noqa: E402

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
    out = beside_go.output(command, TIMEOUT)
    with measure.making_sense_of(command):
        lines = [line.split() for line in out.splitlines()]
        return int(dict(line[:2] for line in lines)["result"]), min(float(line[1]) for line in lines if line[0] == "seconds")


def measure_case(programs, case, n, procs, rounds):
    """For each program its seconds, round by round. Throws if two have different results."""
    found = beside_go.in_turn(programs, rounds, lambda program: run(program, case, n, procs))
    for pairs in zip(*found.values()):
        if len({result for result, _ in pairs}) > 1:
            raise measure.Failed(f"{case}: different results: {dict(zip(found, (result for result, _ in pairs)))}")
    return {name: [seconds for _, seconds in pairs] for name, pairs in found.items()}


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


def main():
    args = beside_go.parse(__doc__, CASES, ROUNDS, divide=(1, "divide the number of operations by that: to try the programs"))

    def measured(programs, case, procs):
        n = max(CASES[case][0] // args.divide, 8)
        seconds = measure_case(programs, case, n, procs, args.rounds)
        show(case, n, procs, seconds)
        return {"what": CASES[case][1], "n": n, "seconds": seconds}

    beside_go.compare("talk", args, ["rounds"], measured)


if __name__ == "__main__":
    beside_go.end(main, "bench/peers/talk.py")
