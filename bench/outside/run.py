#!/usr/bin/env python3
"""Calls from a thread outside of any runtime, close together and after pauses: forkjoin, oneTBB and OpenMP in interleaved rounds, each
in a process of its own.

    bench/outside/run.py --build build [--procs 2] [--pauses 0,200,1000,10000] [--work 20,100] [--rounds N] [--json FILE]

A call has two branches of work. The table has the median of the rounds of the time of a call, with the least and the greatest, and the
processor time that the whole process used for a call and the pause before it, beyond the work itself.
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
SECONDS = 0.5  # of a process, about
TIMEOUT = 60


def run(program, pause, procs, work):
    calls = max(50, int(SECONDS * 1e6 / (pause + 100 + work)))
    command = [str(program), str(pause), str(calls), str(procs), str(work)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    with measure.making_sense_of(command):
        return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=int, default=2)
    parser.add_argument("--pauses", type=numbers, default=[0, 200, 1000, 10000], help="microseconds")
    parser.add_argument("--work", type=numbers, default=[20, 100], help="microseconds of a branch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench"
    programs = {name: folder / f"outside_{name}" for name in LIBRARIES if (folder / f"outside_{name}").is_file()}
    if "forkjoin" not in programs:
        raise measure.Failed(f"{folder} has no outside_forkjoin; ./dev bench outside builds it")
    machine, results = environment.Conditions(), []
    print_disturbances(machine.before)
    print(f"{'pause':>9}  {'a branch':>9}  {'library':9} {'a call, us':>26}  {'cpu beyond its work, us':>26}")
    for pause, work in itertools.product(args.pauses, args.work):
        rounds = {name: [] for name in programs}
        for i in range(args.rounds):
            for name in sorted(programs, reverse=i % 2 == 1):
                rounds[name].append(run(programs[name], pause, args.procs, work))
        for name, found in rounds.items():
            calls, burnt = [r["call_us"] for r in found], [r["cpu_us"] - 2 * r["work_us"] for r in found]
            told = ["{:8.1f} ({:.1f}..{:.1f})".format(statistics.median(v), min(v), max(v)) for v in (calls, burnt)]
            print(f"{pause:6} us  {work:6} us  {name:9} {told[0]:>26}  {told[1]:>26}", flush=True)
        results.append({"pause_us": pause, "procs": args.procs, "work_us": work, "rounds": rounds})
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
