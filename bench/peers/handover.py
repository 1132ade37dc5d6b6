#!/usr/bin/env python3
"""Measures what happens around a blocking call of 1 ms, ours and Go's, in interleaved rounds, each in a process of its own.

    bench/peers/handover.py [case...] --build build [--build build-clang] [--procs 1,2] [--rounds N] [--json FILE]

`other`: microseconds from before the call until another fiber, which was ready, runs on the P. `caller`: from the end of the 1 ms
until the caller runs again, with the wake-up of its thread. The figures are median, p99 and maximum of all calls of all rounds.
`bare` is a thread without a runtime. Go's calls never release a P immediately.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import measure  # noqa: E402
from peers import beside_go  # noqa: E402

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
    out = beside_go.output(command, TIMEOUT)
    with measure.making_sense_of(command):
        times = [tuple(map(int, line.split())) for line in out.splitlines()]
        return [(other, caller) for other, caller in times]


def measure_case(programs, case, procs, args):
    taking_part = {name: program for name, program in programs.items() if name != "go" or case in GO}
    found = beside_go.in_turn(taking_part, args.rounds, lambda program: run(program, case, procs, args.calls))
    return {name: sum(rounds, []) for name, rounds in found.items()}


def quantiles(values):
    values = sorted(values)
    return [values[round(part * (len(values) - 1))] / 1000 for part in (0.5, 0.99, 1)]


def told(pairs):
    return {"n": len(pairs), **{what: quantiles(values) for what, values in zip(("other", "caller"), zip(*pairs))}}


def show(case, procs, found):
    for name, figures in found.items():
        row = ["{} {:7.1f} p99 {:8.1f} max {:8.1f}".format(what, *figures[what]) for what in ("other", "caller")]
        print(f"{case:10} {procs} P  {name:8} n {figures['n']}  {'   '.join(row)}", flush=True)


def main():
    args = beside_go.parse(__doc__, CASES, ROUNDS, calls=(CALLS, "in a round"))

    def measured(programs, case, procs):
        found = {name: told(pairs) for name, pairs in measure_case(programs, case, procs, args).items()}
        show(case, procs, found)
        return {"what": CASES[case], "microseconds": found}

    beside_go.compare("handover", args, ["rounds", "calls"], measured)


if __name__ == "__main__":
    beside_go.end(main, "bench/peers/handover.py")
