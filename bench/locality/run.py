#!/usr/bin/env python3
"""What a theft moves: a function that forks children one after another, with data that it uses itself, or that it has written for a child.

    bench/locality/run.py --build build [--procs 2] [--bytes 64,16384,262144,1048576] [--rounds N] [--json FILE]

One process answers for all policies. A round asks for each of them once, in an order that alternates: a series of calls of about 20 ms. The
table has the time over that of continuations in the same round, and the thefts of a call, which has 64 forks. `again` is continuations once
more. 64 bytes are one cache line: what the policies differ by without data. Give it two Ps, each with a processor of its own.
"""

import argparse
import json
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import asked, environment, measure  # noqa: E402
from harness.figures import Figure  # noqa: E402
from harness.tables import print_disturbances, print_table  # noqa: E402
from peers.programs import versions  # noqa: E402

KINDS = {"caller": "data of the caller", "child": "data that the caller writes for each child"}
WAYS = ("continuations", "again", "first_top", "first_leap", "last_leave", "last_leap", "tasks")


class Ways:
    """As a program for each way, as harness.asked asks them."""

    def __init__(self, program, way):
        self.program, self.way = program, way

    def ns(self, kind, n):
        return self.program.ns(f"{kind}/{self.way}", n)


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=numbers, default=[2])
    parser.add_argument("--bytes", type=numbers, default=[64, 16 << 10, 256 << 10, 1 << 20])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    if min(args.rounds, *args.procs, *args.bytes) < 1:
        parser.error("--rounds, --procs and --bytes must be above 0")
    return args


def result(program, kind, size, procs, rounds):
    found = asked.ask({way: Ways(program, way) for way in WAYS}, kind, size, rounds)
    times = {way: Figure(a / b for a, b in zip(found[way], found["continuations"])) for way in WAYS}
    return {"kind": kind, "bytes": size, "procs": procs, "ns": found, "times": {way: of.summary() for way, of in times.items()},
            "significant": {way: of.verdict("more", "less") for way, of in times.items()},
            "thefts": {way: program.ns(f"thefts/{kind}/{way}", size) for way in WAYS}}


def main():
    args = parse()
    program = args.build.resolve() / "bench/locality_forkjoin"
    if not program.is_file():
        raise measure.Failed(f"there is no {program}; ./dev bench locality builds it")
    machine = environment.Conditions()
    print_disturbances(machine.before)
    results = []
    for procs in args.procs:
        with asked.Program(program, procs) as running:
            for kind, what in KINDS.items():
                print(f"\n{what}, P = {procs}; time over continuations', thefts of a call")
                rows = [["bytes", "us, continuations", *WAYS[1:], "thefts", *WAYS[1:]]]
                for size in args.bytes:
                    of = result(running, kind, size, procs, args.rounds)
                    results.append(of)
                    rows.append([f"{size:,}", f"{Figure(of['ns']['continuations']).median / 1000:.0f}",
                                 *(f"{of['times'][way]['median']:.3f} ({of['times'][way]['interval'][0]:.3f}…{of['times'][way]['interval'][1]:.3f})"
                                   for way in WAYS[1:]), *(f"{of['thefts'][way]:.0f}" for way in WAYS)])
                print_table(rows)
                sys.stdout.flush()
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
        print(f"bench/locality/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
