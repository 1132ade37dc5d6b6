#!/usr/bin/env python3
"""How much memory programs take of which some policies need much: records, stacks and bytes, each run in a process of its own.

    bench/space/run.py --build build [--procs 1,2,8] [--runs N] [--json FILE]

loop: a loop that forks n children. chain: n joins, each within the one before; a fork has a leaf and the rest of the chain, mirrored the
rest and a leaf. wide: a tree of three levels, n children at each node, and frames of 16 KiB. Leaves of 20 us and more sleep, so that more
P than processors behave as if each had its own; shorter ones compute, and on more P than processors their figures depend on the system.
MiB: memory that came during the run; median of the runs. P S1: that over P times what continuations add on one P, where the program runs
in serial order. Records: the most in one deque, in a run in which all records are public.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment, measure  # noqa: E402
from harness.figures import Figure  # noqa: E402
from harness.tables import print_disturbances, print_table  # noqa: E402
from peers.programs import versions  # noqa: E402

# By microseconds of a leaf: long leaves are few, or a run would take seconds.
CHAIN = {0.1: [1_000, 10_000, 30_000], 1: [30_000], 20: [1_000, 10_000], 1000: [300]}
SIZES = {"loop": {0.1: [1_000, 10_000, 100_000], 1: [30_000], 20: [10_000], 1000: [300]}, "chain": CHAIN, "mirrored": CHAIN,
         "wide": {0.1: [5, 10, 20], 1: [20], 20: [20], 1000: [7]}}
WAYS = ("serial", "continuations", "tasks", "first_top", "first_leap", "last_leave", "last_leap")
TIMEOUT = 120


def run(program, *arguments, all_public=False):
    command = [str(program), *map(str, arguments)]
    variables = dict(os.environ, FORKJOIN_MEMBARRIER="0", FORKJOIN_FENCE_SIGNAL="0") if all_public else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=variables)
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    with measure.making_sense_of(command):
        return {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}


def measured(program, shape, leaf_us, n, procs, way, runs):
    found = [run(program, shape, n, procs, way, leaf_us) for _ in range(runs)]
    row = {"shape": shape, "leaf_us": leaf_us, "n": n, "procs": procs, "way": way,
           "kib": Figure(f["peak_kib"] - f["prepared_kib"] for f in found).summary()}
    if "stacks" in found[0]:
        row["stacks"] = Figure(f["stacks"] for f in found).summary()
        row["records"] = run(program, shape, n, procs, way, leaf_us, all_public=True)["records"]
    return row


def over_serial(rows, shape, leaf_us, n, procs, way):
    """Memory over P times that of the program in serial order."""
    return rows[shape, leaf_us, n, procs, way]["kib"]["median"] / procs / rows[shape, leaf_us, n, 1, "continuations"]["kib"]["median"]


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=numbers, default=[1, 2, 8], help="1 is always among them")
    parser.add_argument("--leaf-us", type=float, action="append", help="only leaves of that length; may be given more than once")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="also writes all figures there")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench"
    if not (folder / "space_forkjoin").is_file():
        raise measure.Failed(f"{folder} has no space_forkjoin; ./dev bench --space builds it")
    programs = {way: folder / "space_forkjoin" for way in WAYS}
    if (folder / "space_tbb").is_file():
        programs["oneTBB"] = folder / "space_tbb"
    machine, rows = environment.Conditions(), {}
    print_disturbances(machine.before)
    for shape, leaf_us, n in ((shape, leaf_us, n) for shape, of in SIZES.items() for leaf_us, sizes in of.items() for n in sizes
                              if not args.leaf_us or leaf_us in args.leaf_us):
        table = [["way", "P", "records", "stacks", "MiB", "P S1"]]
        for procs in sorted({1, *args.procs}):
            for way, program in programs.items():
                if way == "serial" and procs > 1:
                    continue
                row = rows[shape, leaf_us, n, procs, way] = measured(program, shape, leaf_us, n, procs, way, args.runs)
                own = way != "serial" and (shape, leaf_us, n, 1, "continuations") in rows
                table.append([way, str(procs), f"{row['records']:,}" if "records" in row else "-",
                              f"{row['stacks']['median']:,}" if "stacks" in row else "-", f"{row['kib']['median'] / 1024:.1f}",
                              f"{over_serial(rows, shape, leaf_us, n, procs, way):.2f}" if own else "-"])
        print(f"\n{shape}({n:,}), leaves of {leaf_us:g} us")
        print_table(table)
        sys.stdout.flush()
    env = machine.describe(versions(args.build.resolve()))
    print_disturbances(env)
    for file in filter(None, (folder / "space.json", args.json)):  # ./dev report shows the first
        results = [dict(row, **({"over_serial": over_serial(rows, *key)} if key[-1] != "serial" else {})) for key, row in rows.items()]
        file.write_text(json.dumps({"schema": 1, "environment": env, "settings": {"runs": args.runs}, "results": results}, indent=1)
                        + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/space/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
