#!/usr/bin/env python3
"""Runs kernels with forkjoin, the serial program and other libraries in interleaved rounds, each in a process of its own.

    bench/peers/run.py [kernel...] --build build [--build build-clang] [--folder FOLDER] [--procs 1,2] [--json FILE]

bench/PEERS.md describes the ways, and how to add a program for a further library in FOLDER.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import environment, measure  # noqa: E402
from harness.tables import print_disturbances  # noqa: E402
from peers import programs as of_peers  # noqa: E402
from peers import tables, toolchains  # noqa: E402
from peers.programs import SERIAL  # noqa: E402

BUDGET = 60  # seconds for the rounds of a kernel
ROUNDS = 9
SLOW = 5.0  # ways that take more than this times as long as the fastest take part in some rounds only
SLOW_ROUNDS = 5
LEAST_ROUNDS = 5  # of the other ways, however long the slow ones took
LEAGUE = {"fib": 39, "skynet": 100_000_000, "nqueens": 14, "matmul": 2048}  # programs and sizes of github.com/tzcnt/runtime-benchmarks
LEAGUE_ROUNDS = 3
LEAGUE_ONLY = "^(?!go |rayon |OpenMP )"  # C++ libraries, unless others are asked for; Go needs 14 GiB and minutes for that skynet


class Rounds:
    """The milliseconds of each program and P, round after round."""

    def __init__(self):
        self.ms = []  # for each round {(program, procs): milliseconds}
        self.failed = {}  # program: why

    def of(self, program, procs):
        return [got.get((program, procs)) for got in self.ms]


def pieces(programs, procs):
    """What a round runs. The serial programs run on one P alone."""
    return [(program, p) for p in procs for program in programs if program.peer != SERIAL or p == 1]


def slow_pieces(got):
    slow = set()
    for piece, ms in got.items():
        fastest = min(other for (_, procs), other in got.items() if procs == piece[1])
        if ms > SLOW * fastest and ms > 1000 * measure.MIN_TIME:
            slow.add(piece)
    return slow


def run_piece(runner, piece, right, rounds):
    """Milliseconds of the fastest run, or None if the program failed, which leaves it out from then on."""
    program, procs = piece
    before = [ms for ms in rounds.of(program, procs) if ms]
    runs = 1 if before and before[-1] > 1000 * of_peers.LONG else of_peers.RUNS
    try:
        result, seconds = runner.run(program, procs, runs)
    except measure.Failed as failure:
        rounds.failed[program] = str(failure).strip()
        return None
    if result != right:
        rounds.failed[program] = f"wrong result {result} instead of {right} on {procs} P"
        return None
    return 1000 * min(seconds)


def measure_kernel(runner, programs, procs, most, budget, say=print):
    """Returns Rounds. The first round runs everything; slow ways take part in five of the rounds at most, others in five at least."""
    serial = next(program for program in programs if program.peer == SERIAL)
    right, _ = runner.run(serial, 1, 1)
    rounds, slow, began, longest = Rounds(), set(), time.monotonic(), 0.0
    slow_at = {i * most // min(SLOW_ROUNDS, most) for i in range(min(SLOW_ROUNDS, most))}
    for i in range(most):
        with_slow = i in slow_at
        left = budget - (time.monotonic() - began)
        if i > 0 and with_slow and left < longest:
            with_slow = False
        if i >= LEAST_ROUNDS and left <= 0:
            say(f"  the time is up: {i} rounds instead of {most}")
            break
        started = time.monotonic()
        due = [piece for piece in pieces(programs, procs)
               if piece[0] not in rounds.failed and (with_slow or piece not in slow)]
        turn = i * 7 % len(due)
        got = {}
        for piece in due[turn:] + due[:turn]:
            if piece[0] not in rounds.failed and (ms := run_piece(runner, piece, right, rounds)) is not None:
                got[piece] = ms
        rounds.ms.append(got)
        if i == 0:
            slow = slow_pieces(got)
        if with_slow:
            longest = max(longest, time.monotonic() - started)
        say(f"  round {i + 1:2}/{most}  {time.monotonic() - started:5.1f} s", flush=True)
    return rounds


def numbers(text):
    if not re.fullmatch(r"\d+(,\d+)*", text) or min(map(int, text.split(","))) < 1:
        raise argparse.ArgumentTypeError(f'"{text}"; expected numbers from 1 up, as in 1,2')
    return sorted(set(map(int, text.split(","))))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", help="such as fib (default: all that have peers' ways)")
    parser.add_argument("--build", action="append", type=pathlib.Path, help="build folder; give it once for each of several "
                        "compilers, and all times are divided by those of clang's serial program (default: build)")
    parser.add_argument("--folder", type=pathlib.Path, help="programs of further peers: FOLDER/<peer>/<kernel>")
    parser.add_argument("--procs", type=numbers, help="numbers of Ps (default: 1,2)")
    parser.add_argument("--league", action="store_true", help="the four programs and sizes of a public league of such libraries, on all "
                        "processors: the mean ratio to the best, and the peak memory of a process; kept in <build>/bench/league.json")
    parser.add_argument("--repetitions", type=int, help=f"rounds at most (default: {ROUNDS}; with --league {LEAGUE_ROUNDS})")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds after which no round of a kernel begins "
                        f"(default: {BUDGET})")
    parser.add_argument("--only", help="a regular expression: only the serial program, ours, and ways and peers whose name matches")
    parser.add_argument("--size", type=int, help="instead of the kernel's usual size")
    parser.add_argument("--test-sizes", action="store_true", help="the sizes of the tests: to try the programs, not to measure")
    parser.add_argument("--json", type=pathlib.Path, help="also writes everything there; it is always kept in "
                        "<build>/bench/peers.json, except of test sizes. bench/schema.md says how")
    args = parser.parse_args()
    args.build = [build.resolve() for build in args.build or [pathlib.Path("build")]]
    if args.folder and not args.folder.is_dir():
        parser.error(f"--folder {args.folder} is no folder")
    if args.league and (args.kernel or args.size):
        parser.error("--league names its programs and sizes")
    args.only = args.only or (LEAGUE_ONLY if args.league else None)
    args.procs = args.procs or ([len(os.sched_getaffinity(0))] if args.league else [1, 2])
    args.repetitions = LEAGUE_ROUNDS if args.league and args.repetitions is None else ROUNDS if args.repetitions is None else args.repetitions
    if args.repetitions < 1 or not args.budget > 0:
        parser.error("--repetitions and --budget must be above 0")
    return args


def kernels_of(args):
    there = sorted(p.name.removesuffix("_peers") for p in (args.build[0] / "bench" / "peers").glob("*_peers"))
    wrong = [kernel for kernel in args.kernel if kernel not in there]
    if wrong or not there:
        raise measure.Failed(f"no peers' ways of {', '.join(wrong) or 'any kernel'} in {args.build[0]}; there are: "
                             f"{', '.join(there) or 'none'}. ./dev bench --peers builds them")
    return args.kernel or ([kernel for kernel in LEAGUE if kernel in there] if args.league else there)


def programs_of(args, runner):
    """The programs to run, and the names of peers of which none is asked for."""
    found = [program for build in args.build for program in of_peers.built(build, runner)]
    folders = [args.build[0] / "bench" / "peers", *([args.folder.resolve()] if args.folder else [])]
    found += [program for folder in folders for program in of_peers.brought(folder, runner.name)]
    there = {program.peer for program in found}
    if args.only:
        found = [p for p in found if p.peer in (SERIAL, of_peers.OURS) or re.search(args.only, f"{p.peer} {p.way}")]
    # All times are divided by the first serial program: clang's if there is one, as g++ inlines some of them by depth.
    return sorted(found, key=lambda p: (p.peer != SERIAL, "clang" not in p.compiler)), there - {p.peer for p in found}


def main():
    args = parse()
    began = time.monotonic()
    sizes = "test" if args.test_sizes else "quick"
    kernels = kernels_of(args)
    left_out = toolchains.build(args.build[0] / "bench" / "peers", lambda line: print(line, flush=True))
    results, everything, unwanted, warnings = [], [], set(), []
    machine = environment.Conditions()
    print_disturbances(machine.before)

    def conclude():
        """Writes what there is so far."""
        env = machine.describe(of_peers.versions(args.build[0]))
        report = {"schema": 1, "environment": env, "warnings": warnings, "results": results,
                  "peers": of_peers.presence(everything, args.folder, left_out, unwanted),
                  "settings": {"sizes": sizes, "procs": args.procs, "rounds": args.repetitions,
                               "seconds": time.monotonic() - began}}
        kept = args.build[0] / "bench" / ("league.json" if args.league else "peers.json")
        for file in ([args.json] if args.json else []) + ([] if args.test_sizes else [kept]):
            file.write_text(json.dumps(report, indent=1) + "\n")
        return report

    for i, kernel in enumerate(kernels):
        runner = of_peers.Runner(args.build[0] / "bench" / f"{kernel}_once", sizes)
        runner.size = args.size or (runner.size if args.test_sizes or not args.league else LEAGUE[kernel])
        programs, others = programs_of(args, runner)
        everything += programs
        unwanted |= others
        print(f"{kernel} ({i + 1} of {len(kernels)}): {len(programs)} ways", flush=True)
        rounds = measure_kernel(runner, programs, args.procs, args.repetitions, args.budget)
        for program, why in rounds.failed.items():
            warnings.append(f"{program.peer}, {program.way} of {kernel} failed: {why}")
        rows = tables.results(runner, programs, rounds, args.procs)
        if args.league:
            of_peers.note_memory(runner, programs, rows)
        results += rows
        tables.show(rows)
        conclude()
    report = conclude()
    if args.league:
        tables.show_league(results, args.procs)
    tables.show_peers(report)
    print_disturbances(report["environment"])
    return 1 if warnings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/peers/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
