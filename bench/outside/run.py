#!/usr/bin/env python3
"""Calls from threads outside of any runtime, in interleaved rounds, each in a process of its own.

    bench/outside/run.py --build build [--part branches|loops] [--procs 2] [--rounds N] [--json FILE]
                         [--pauses 0,100,1000,10000] [--work 9,20,100] [--threads 1,2,8,32] [--elements 100,1000,100000]

branches: one thread calls two branches of work, close together and after pauses, with forkjoin, oneTBB and OpenMP. The table has the time of
a call, as the median of the rounds with the least and the greatest, and the processor time that the whole process used for a call and the
pause before it, beyond the work itself.

loops: many threads call loops of cheap elements, as in a server, with forkjoin and oneTBB. The table has the time over the calls of all
threads, the processor time of a call, the ratio of its time to oneTBB's in the same round, and how often a thread slept in 1,000 calls.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment, measure  # noqa: E402
from harness.tables import print_disturbances  # noqa: E402
from peers.programs import versions  # noqa: E402

LIBRARIES = ("forkjoin", "tbb", "omp")
LOOPERS = ("forkjoin", "tbb")
SECONDS = 0.5  # of a process, about
TIMEOUT = 60


def run(program, *args):
    command = [str(program), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    with measure.making_sense_of(command):
        return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def numbers(text):
    return [int(word) for word in text.split(",")]


def spread(values, digits=1):
    return "{:8.{d}f} ({:.{d}f}..{:.{d}f})".format(statistics.median(values), min(values), max(values), d=digits)


def in_rounds(programs, rounds, *args):
    """By name, what each program said in each round."""
    found = {name: [] for name in programs}
    for i in range(rounds):
        for name in sorted(programs, reverse=i % 2 == 1):
            found[name].append(run(programs[name], *args))
    return found


def branches(programs, args):
    print(f"{'pause':>9}  {'a branch':>9}  {'library':9} {'a call, us':>26}  {'cpu beyond its work, us':>26}")
    for pause, work in itertools.product(args.pauses, args.work):
        calls = max(50, int(SECONDS * 1e6 / (pause + 100 + work)))
        rounds = in_rounds(programs, args.rounds, pause, calls, args.procs, work)
        for name, found in rounds.items():
            told = spread([r["call_us"] for r in found]), spread([r["cpu_us"] - 2 * r["work_us"] for r in found])
            print(f"{pause:6} us  {work:6} us  {name:9} {told[0]:>26}  {told[1]:>26}", flush=True)
        yield {"pause_us": pause, "procs": args.procs, "work_us": work, "rounds": rounds}


def loops(programs, args):
    programs = {name: program for name, program in programs.items() if name in LOOPERS}
    print(f"{'threads':>9}  {'elements':>9}  {'library':9} {'a call, us':>26}  {'its cpu, us':>26}  {'over tbb':>22}  {'sleeps':>7}")
    for threads, elements in itertools.product(args.threads, args.elements):
        rounds = in_rounds(programs, args.rounds, "loops", threads, elements, int(SECONDS * 1e3), args.procs)
        for name, found in rounds.items():
            told = spread([r["call_us"] for r in found], 2), spread([r["cpu_us"] for r in found], 2)
            ratio = spread([r["call_us"] / t["call_us"] for r, t in zip(found, rounds["tbb"])], 2) if "tbb" in rounds else ""
            slept = statistics.median(r["switches"] for r in found)
            print(f"{threads:9}  {elements:9}  {name:9} {told[0]:>26}  {told[1]:>26}  {ratio:>22}  {slept:7.1f}", flush=True)
        yield {"threads": threads, "elements": elements, "procs": args.procs, "rounds": rounds}


PARTS = {"branches": branches, "loops": loops}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--part", choices=PARTS, help="this one alone")
    parser.add_argument("--procs", type=int, default=2)
    parser.add_argument("--pauses", type=numbers, default=[0, 100, 1000, 10000], help="microseconds")
    parser.add_argument("--work", type=numbers, default=[9, 20, 100], help="microseconds of a branch")
    parser.add_argument("--threads", type=numbers, default=[1, 2, 8, 32], help="that call loops")
    parser.add_argument("--elements", type=numbers, default=[100, 1000, 100000], help="of a loop")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench"
    programs = {name: folder / f"outside_{name}" for name in LIBRARIES if (folder / f"outside_{name}").is_file()}
    if "forkjoin" not in programs:
        raise measure.Failed(f"{folder} has no outside_forkjoin; ./dev bench outside builds it")
    machine, results = environment.Conditions(), []
    print_disturbances(machine.before)
    for part in [args.part] if args.part else PARTS:
        results += PARTS[part](programs, args)
    env = machine.describe(versions(args.build.resolve()))
    print_disturbances(env)
    if args.json:
        args.json.write_text(json.dumps({"schema": 1, "environment": env, "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/outside/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
