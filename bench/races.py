#!/usr/bin/env python3
"""What the race detector costs: time and memory of kernels that it watches, over those of the serial programs.

    bench/races.py --build build [kernel...] [--rounds N] [--sizes test|quick|full]

Runs <kernel>_races continuations, and the serial build of the same program, <kernel>_twin. With --by-hand it runs the serial program that is
written by hand instead, which may be another algorithm. Build them first: ninja -C build bench/fib_twin bench/fib_races.

For each size it prints two ratios: of the processor time of a run, the least of the rounds, and of the most memory that the processes used,
with their inputs. The last lines are geometric means over the kernels with a cut-off, and over all; a kernel of several sizes counts once.
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys


def run(program, way, size, runs):
    """Seconds of a run as the program has them, seconds of a processor for all of it, and the most memory in KiB."""
    # A fork goes as deep as the program does: some kernels need much stack.
    command = ["sh", "-c", 'ulimit -s unlimited 2>/dev/null; exec "$@"', "sh", str(program), way, str(size), "1", str(runs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench/races.py: {program} {way} {size} ended with status {done.returncode}\n{done.stderr}")
    return (min(map(float, re.findall(r"(?m)^seconds (\S+)", done.stdout))),
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            int(re.search(r"(?m)^peak_resident_kib (\d+)", done.stdout)[1]))


def measure(program, way, size, rounds):
    """Of one run the processor's seconds, and the memory: of several runs less one, as the input has to be made."""
    more = max(1, min(1000, round(0.2 / max(run(program, way, size, 1)[0], 1e-6))))
    few, many = zip(*((run(program, way, size, 1), run(program, way, size, 1 + more)) for _ in range(rounds)))
    # The least of each, and not of their differences, which would be too small wherever `few` was disturbed.
    seconds = (min(run[1] for run in many) - min(run[1] for run in few)) / more
    return max(seconds, 1e-9), min(run[2] for run in few)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="some of them; default: all that are built")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs (3)")
    parser.add_argument("--sizes", choices=["test", "quick", "full"], default="quick", help="those of ./dev bench (quick)")
    parser.add_argument("--by-hand", action="store_true", help="compare with the serial programs that are written by hand")
    chosen = parser.parse_args()
    way = "serial" if chosen.by_hand else "continuations"
    folder = pathlib.Path(chosen.build).resolve() / "bench"
    names = chosen.kernels or sorted(file.name.removesuffix("_races") for file in folder.glob("*_races") if os.access(file, os.X_OK))
    if not names:
        sys.exit(f"bench/races.py: {folder} has no kernel that is watched; build them: ninja -C {chosen.build}")
    rows = []
    print(f"{'kernel':14} {'size':>10} {'serial s':>9} {'watched s':>9} {'time':>6} {'memory':>7}")
    for name in names:
        listed = json.loads(subprocess.run([folder / f"{name}_races", "--list"], capture_output=True, text=True, check=True).stdout)
        kernel = next(one for one in listed if one["name"] == name)
        for size in kernel[chosen.sizes]:
            seconds, kib = zip(measure(folder / f"{name}_twin", way, size["size"], chosen.rounds),
                               measure(folder / f"{name}_races", "continuations", size["size"], chosen.rounds))
            rows.append((name, kernel["cut_off"], seconds[1] / seconds[0], kib[1] / kib[0]))
            print(f"{name:14} {size['size']:10} {seconds[0]:9.4f} {seconds[1]:9.4f} {rows[-1][2]:6.1f} {rows[-1][3]:7.1f}"
                  f"{'' if kernel['cut_off'] else '   no cut-off'}", flush=True)
    kernels = {name: (cut_off, *(mean([row[at] for row in rows if row[0] == name]) for at in (2, 3))) for name, cut_off, _, _ in rows}
    for title, some in (("with a cut-off", [one for one in kernels.values() if one[0]]), ("all", list(kernels.values()))):
        print(f"geometric mean, {title}: {len(some)} kernels, time {mean([one[1] for one in some]):.1f}, "
              f"memory {mean([one[2] for one in some]):.1f}")


if __name__ == "__main__":
    main()
