#!/usr/bin/env python3
"""Trees whose work is to sleep: what each policy makes of them on more P than there are processors.

    bench/virtual/run.py --build build [--procs 2,4,8,16] [--rounds N] [--leaves 256] [--leaf-us 1000] [--short] [--json FILE] [--check]

A P whose strand sleeps needs no processor. So the real runtime runs on few cores as if each P had its own, as long as the forks between
the sleeps take little. It shows how long strands wait at joins, and what that costs; not what a fork costs, nor caches. The trees are
those of bench/virtual/shapes.hpp.

Each round runs every tree by every policy and by oneTBB, in another order. --check runs the trees on two P once more with leaves that
compute as long instead: what sleeps should take as long. --short adds trees with leaves of 20, 1 and 0.1 us on two P, more of them: too
short to sleep, so they compute, and the machine has to be quiet.

Where the simulator was built, it runs the same trees on as many simulated P, with its own costs. ./dev bench --trees has more of it.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment, measure  # noqa: E402
from harness.figures import Figure, ratio  # noqa: E402
from harness.tables import print_disturbances, print_table  # noqa: E402
from peers.programs import versions  # noqa: E402

LIBRARIES = ("forkjoin", "tbb")
TIMEOUT = 300
FORKS_OF = 1000  # waits are told for so many forks
WAYS = ("continuations", "tasks", "first_top", "first_leap", "last_leave", "last_leap", "loop", "loop_tasks", "scope", "scope_tasks",
        "oneTBB")  # as they are shown
SHORT = {20: 4096, 1: 32768, 0.1: 32768}  # leaves, by their microseconds: so many that a run takes some milliseconds
SEEDS = 9
WAITS = ("waits", "mean_late_ms", "most_late_ms", "on_top")


def run(program, procs, turn, leaves, leaf_us, work):
    """{(shape, way): what the program says of the run}"""
    command = [str(program), str(procs), str(turn), str(leaves), str(leaf_us), work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    with measure.making_sense_of(command):
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return {(row["shape"], row["way"]): row for row in rows}


def round_of(programs, procs, turn, leaves, leaf_us, work="sleep"):
    found = {}
    for program in programs if turn % 2 else reversed(programs):
        found |= run(program, procs, turn, leaves, leaf_us, work)
    shapes = list(dict.fromkeys(shape for shape, _ in found))
    return {key: found[key] for key in sorted(found, key=lambda key: (shapes.index(key[0]), WAYS.index(key[1])))}


def told(row, procs, leaves):
    """The figures of a run of ours, besides its time."""
    if "join_waits" not in row:
        return {}
    waits, known = row["join_waits"], sum(row["joins_late"])
    return {"waits": waits * FORKS_OF / (leaves - 1), "mean_late_ms": row["late_ns"] / known / 1e6 if known else None,
            "most_late_ms": row["most_late_ns"] / 1e6 if known else None, "on_top": row["on_top_ns"] / 1e9 / row["seconds"] / procs,
            "steals": row["steals"], "stacks_peak": row["stacks_peak"]}


class Measured:
    """Of one number of Ps."""

    def __init__(self, procs, rounds, unit, leaves, leaf_us):
        self.procs, self.rounds, self.unit, self.leaves, self.leaf_us = procs, rounds, unit, leaves, leaf_us

    def figures(self, shape, way):
        rows = [found[shape, way] for found in self.rounds]
        # What greedy schedules reach, but for a factor of two: the work of a P, or the longest path.
        bound = max(rows[0]["units"] / self.procs, rows[0]["span"]) * self.unit
        ours = [found.get((shape, "continuations"), {}).get("seconds") for found in self.rounds]
        figures = {"over_bound": Figure(row["seconds"] / bound for row in rows),
                   "vs_continuations": Figure(ratio(row["seconds"], own) for row, own in zip(rows, ours))}
        of_rounds = [told(row, self.procs, self.leaves) for row in rows]
        for name in of_rounds[0]:
            figures[name] = Figure(of[name] for of in of_rounds)
        return figures

    def print(self):
        for shape in dict.fromkeys(shape for shape, _ in self.rounds[0]):
            first = next(row for key, row in self.rounds[0].items() if key[0] == shape)
            print(f"\n{shape}, P = {self.procs}, leaves of {self.leaf_us:g} us: work {first['units']:g}, longest path {first['span']:g} leaves")
            rows = [["way", "over the bound", "vs continuations", "99 % of the median", "difference", f"waits/{FORKS_OF} forks",
                     "mean late ms", "most late ms", "on top %"]]
            for of, way in self.rounds[0]:
                if of != shape:
                    continue
                figures = self.figures(shape, way)
                low, high = figures["vs_continuations"].median_lies_between()
                own = way == "continuations"
                waits = [f"{figures[n].median * (100 if n == 'on_top' else 1):.{3 if n.endswith('ms') else 0}f}"
                         if figures.get(n) else "-" for n in WAITS]
                rows.append([way, f"{figures['over_bound'].median:.2f}", "-" if own else f"{figures['vs_continuations'].median:.3f}",
                             "-" if own else f"{low:.3f}…{high:.3f}", "-" if own else figures["vs_continuations"].verdict("more", "less"),
                             *waits])
            print_table(rows)

    def results(self):
        return [{"shape": shape, "way": way, "procs": self.procs, "leaf_us": self.leaf_us, "leaves": self.leaves, "seconds": [found[shape, way]["seconds"] for found in self.rounds],
                 **{name: f.summary() for name, f in self.figures(shape, way).items() if f},
                 **({"joins_late": [sum(column) for column in zip(*(found[shape, way]["joins_late"] for found in self.rounds))]}
                    if "joins_late" in self.rounds[0][shape, way] else {})}
                for shape, way in self.rounds[0]]


def check(programs, args):
    """The same trees on two P with leaves that compute: [(shape, way, Figure of time asleep over time computing)]"""
    pairs = []
    for turn in range(args.rounds):
        works = ("sleep", "compute") if turn % 2 else ("compute", "sleep")
        pairs.append({work: round_of(programs, 2, turn, args.leaves, args.leaf_us, work) for work in works})
    return [(*key, Figure(ratio(pair["sleep"][key]["seconds"], pair["compute"][key]["seconds"]) for pair in pairs))
            for key in pairs[0]["sleep"]]


def simulate(program, shapes, procs, leaves, unit):
    """What the simulator says of the trees: a row of results for each tree, P and way, as those of Measured."""
    rows = []
    for shape in shapes:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [program, shape.replace(" ", "_"), "--size", leaves, "--procs", ",".join(map(str, procs)), "--policy", "all",
                       "--seeds", SEEDS, "--work", f"tree.leaf={unit * 1e9:.0f}", "--json", file.name]
            try:
                subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
            except subprocess.SubprocessError as error:
                print(f"{shape} is not simulated: {error}", flush=True)  # and what was measured is kept
                continue
            runs = {(run["policy"], run["procs"]): run for run in json.load(open(file.name))["runs"]}
        for (way, p), run in runs.items():
            times = zip(run["times_ns"], runs["continuations", p]["times_ns"])
            waits = run["join_waits"]
            rows.append({"shape": shape, "way": way, "procs": p, "leaves": leaves,
                         "vs_continuations": Figure(a / b for a, b in times).summary(), "waits": waits * FORKS_OF / (leaves - 1),
                         "mean_late_ms": run["late_ns"] / waits / 1e6 if waits else None, "most_late_ms": run["most_late_ns"] / 1e6})
    return rows


def print_simulated(rows, results):
    measured = {(r["shape"], r["way"], r["procs"]): r for r in results}
    table = [["tree", "leaves", "P", "way", "vs continuations", "measured", "mean late ms", "measured"]]
    for row in rows:
        of = measured.get((row["shape"], row["way"], row["procs"]), {})
        table.append([row["shape"], str(row["leaves"]), str(row["procs"]), row["way"], f"{row['vs_continuations']['median']:.3f}",
                      f"{of['vs_continuations']['median']:.3f}" if of else "-",
                      "-" if row["mean_late_ms"] is None else f"{row['mean_late_ms']:.3f}",
                      f"{of['mean_late_ms']['median']:.3f}" if of.get("mean_late_ms") else "-"])
    print("\nsimulated, with the simulator's own costs, beside what was measured")
    print_table(table)


def numbers(text):
    return [measure.at_least(1)(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=numbers, default=[2, 4, 8, 16])
    parser.add_argument("--rounds", type=measure.at_least(1), default=9)
    parser.add_argument("--leaves", type=measure.at_least(2), default=256)
    parser.add_argument("--leaf-us", type=float, default=1000, help="microseconds of a leaf")
    parser.add_argument("--short", action="store_true", help="also leaves of 20, 1 and 0.1 us, which compute, on two P")
    parser.add_argument("--check", action="store_true", help="also compares with leaves that compute, on two P")
    parser.add_argument("--json", type=pathlib.Path, help="also writes all figures there")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench"
    programs = [folder / f"virtual_{name}" for name in LIBRARIES if (folder / f"virtual_{name}").is_file()]
    if not programs or not programs[0].name.endswith("forkjoin"):
        raise measure.Failed(f"{folder} has no virtual_forkjoin; ./dev bench --virtual builds it")
    machine = environment.Conditions()
    print_disturbances(machine.before)

    alone = run(programs[0], 1, 0, args.leaves, args.leaf_us, "sleep")
    unit = Figure(row["seconds"] / row["units"] for row in alone.values()).median
    print(f"a leaf that sleeps for {args.leaf_us:g} us takes {unit * 1e6:.0f} us on one P; {args.rounds} rounds, {args.leaves} leaves")
    results = []
    for procs in args.procs:
        of = Measured(procs, [round_of(programs, procs, turn, args.leaves, args.leaf_us) for turn in range(args.rounds)], unit,
                      args.leaves, args.leaf_us)
        of.print()
        results += of.results()
        sys.stdout.flush()
    short = []
    for leaf_us, leaves in SHORT.items() if args.short else ():
        of = Measured(2, [round_of(programs, 2, turn, leaves, leaf_us, "compute") for turn in range(args.rounds)], leaf_us / 1e6, leaves,
                      leaf_us)
        of.print()
        short += of.results()
        sys.stdout.flush()
    checked = check(programs, args) if args.check else []
    simulated = []
    if (simulator := folder / "simulate").is_file():
        shapes = list(dict.fromkeys(r["shape"] for r in results))
        simulated = simulate(simulator, shapes, args.procs, args.leaves, unit)
        print_simulated(simulated, results)
    if checked:
        print("\nasleep over computing, on two P; median (least…greatest)")
        print_table([["tree", "way", "ratio"]] + [[shape, way, f"{f.median:.3f} ({min(f.values):.3f}…{max(f.values):.3f})"]
                                                   for shape, way, f in checked])
    print("""
  over the bound: time over the greater of the work of each P and the longest path. waits: joins that were not complete when their
  strand came. late: how long after the last branch the strand went on. on top: the share of the time of all P in which strands that
  waited ran other work on their stacks. Medians of the rounds; of lateness, of those rounds in which a join waited.""")
    env = machine.describe(versions(args.build.resolve()))
    print_disturbances(env)
    for file in filter(None, (folder / "virtual.json", args.json)):  # ./dev report shows the first
        file.write_text(json.dumps({
            "schema": 1, "environment": env,
            "settings": {"rounds": args.rounds, "leaves": args.leaves, "leaf_us": args.leaf_us, "unit_us": unit * 1e6},
            "results": results, "short": short, "simulated": simulated,
            "checked": [{"shape": shape, "way": way, **f.summary()} for shape, way, f in checked]}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/virtual/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
