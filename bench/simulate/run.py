#!/usr/bin/env python3
"""A program of one's own, or a DAG, on simulated Ps, by every policy.

    bench/simulate/run.py --build build FILE [--procs 1,8,64] [--seeds 5] [--policy all,adaptive] [--json FILE] [-- more options of build/bench/simulate]

FILE is a DAG, as forkjoin-profile --dag writes it and bench/simulate/README.md describes it; or a program, FILE.cpp, which ./dev profile
compiles and runs to get one. All workers are awake at the start.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT / "bench")

from harness import measure  # noqa: E402
from harness.tables import print_table  # noqa: E402


def duration(ns):
    return next((f"{ns / size:.3g} {unit}" for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")) if ns >= size), f"{ns:.3g} ns")


def dag_of(program, folder):
    dag = folder / "dag.json"
    done = subprocess.run([ROOT / "dev", "profile", "--profile-only", "--dag", dag, program], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise measure.Failed(f"./dev profile {program} ended with status {done.returncode}; ./dev profile --help has the options, and its --dag "
                             "FILE writes what this command takes")
    return dag


def simulated(program, dag, args):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "runs.json"
        command = [str(program), "--dag", str(dag), "--procs", args.procs, "--seeds", str(args.seeds), "--policy", args.policy, "--start", "awake",
                   "--json", str(out), *args.more]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise measure.Failed(done.stderr.strip().removeprefix("simulate: ") or f"{program} ended with status {done.returncode}")
        return json.loads(out.read_text())


def rows_of(found):
    continuations = {run["procs"]: run["time_ns"] for run in found["runs"] if run["policy"] == "continuations"}
    for run in sorted(found["runs"], key=lambda run: run["procs"]):  # the policies stay in their order
        base = continuations.get(run["procs"])
        yield {"policy": run["policy"], "P": run["procs"], "time": duration(run["time_ns"]),
               "least": duration(run["least_time_ns"]), "greatest": duration(run["greatest_time_ns"]),
               "speed-up": f"{run['speedup']:.2f}", "over continuations": f"{run['time_ns'] / base:.3f}" if base else "-",
               "thefts": run["steals"], "waits": run["join_waits"], "latest strand": duration(run["most_late_ns"]), "stacks": run["peak_stacks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--procs", default="1,8,64")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--policy", default="all,adaptive")
    parser.add_argument("--json", type=pathlib.Path, help="also writes all figures there")
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    program = args.build.resolve() / "bench/simulate"
    if not program.is_file():
        raise measure.Failed(f"{program.parent} has no simulate, which needs libcli11-dev and nlohmann-json3-dev; ./dev bench --simulate builds it")
    if not args.file.is_file():
        raise measure.Failed(f"there is no file {args.file}")
    with tempfile.TemporaryDirectory() as folder:
        dag = args.file if args.file.suffix == ".json" else dag_of(args.file, pathlib.Path(folder))
        found = simulated(program, dag, args)
    print(f"{args.file}: work {duration(found['work_ns'])}, span {duration(found['span_ns'])}, parallelism {found['parallelism']:.3g}, "
          f"{found['forks']:,} forks; simulated, {args.seeds} schedules")
    rows = list(rows_of(found))
    print_table([list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)])
    print("  time: the median of the schedules. speed-up: over the work. latest strand: from the end of the last branch to the next instruction of\n"
          "  the strand that waited for it. stacks: at most. bench/simulate/README.md tells how far to trust this.")
    if args.json:
        args.json.write_text(json.dumps({**found, "kernel": str(args.file)}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/simulate/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
