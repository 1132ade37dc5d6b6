#!/usr/bin/env python3
"""Tasks beside continuations in the simulator: over random trees, and over the shapes of bench/virtual by slack, by the length of their
leaves and by the number of children.

    bench/trees/run.py --build build [--trees 200] [--seeds 9] [--adaptive | --flat] [--json FILE]

The simulator's costs are its own, so one build has the same figures each time, busy or not. Builds whose objects lie otherwise differ a
little: what a cache line costs depends on its address. The trees are drawn from the seeds
1 to --trees (bench/simulate/random_tree.hpp); `build/bench/simulate random_tree --size SEED` runs one of them. Each tree and shape runs by
--seeds schedules; of a tree counts the median of the ratios of times, schedule by schedule. All workers are awake at the start, but in the
shapes, which begin as those of `./dev bench --virtual` do.

--adaptive asks instead whether a policy that chooses the order by what a P sees (bench/simulate/simulator.hpp: adaptive_rule) is faster than
both fixed orders: over the shapes, chains that change their sides, and the random trees.

--flat asks about nodes with many leaves: one of them, or several one after another.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment, measure  # noqa: E402
from harness.figures import CLEAR, Figure  # noqa: E402
from harness.tables import print_table  # noqa: E402
from peers.programs import versions  # noqa: E402

TIMEOUT = 3600  # of a simulation, which a busy machine slows down and does not change
PROCS = (2, 8)
MANY = 8  # P of the tables of slack and children
MOST = 64  # by continuations and tasks alone, in fewer schedules: idle thieves that look around take long to simulate
FEW = 3
WORK_US = (3, 10, 30, 100, 1000, math.inf)  # of a P of MOST, under which trees are told apart
PAIR = ("continuations", "tasks")
WAYS = (*PAIR, "first_top", "first_leap", "last_leave", "last_leap", "first_own", "last_own")
SLACK = (8, 16, 32, 64, 128, 256)  # leaves a P
LEAVES = {1000: 256, 20: 4096, 1: 32768, 0.1: 32768}  # by microseconds of a leaf
SHAPES = ("even", "uneven", "heavy root", "mergesort", "reduction", "heavy branches", "larger first", "larger second")
CHAINS = ("chain", "mirrored chain")
LONG = {1000: 256, 100: 1000, 20: 1000, 1: 1000}  # of chains on LONG_PROCS
LONG_PROCS = (16, 64)
CHILDREN = {2: ("even", "even"), **{n: (f"{n} children", f"{n} nested") for n in (4, 8, 64)}}
# For --adaptive: that policy, and those whose order is fixed. last_leave has the same join as the adaptive one and continuations.
FIXED = ("continuations", "last_leave", "tasks")
RULE = {"interval": 50, "thefts": 1}  # of the adaptive policy; of 1, 5 and 25 thefts the best in the chain
RULE_ARGUMENTS = [word for name, value in RULE.items() for word in (f"--{name}", str(value))]
ADAPTIVE = {1000: 256, 20: 4096, 1: 8192}
# For --flat: leaves of a node and nodes, and P by the microseconds of a leaf.
FLAT = [(16, 1), (64, 1), (64, 32), (512, 1), (512, 8)]
FORKED = ("nested", "halves")
FLAT_US = {1000: [MANY], 100: [MANY, MOST], 20: [MANY, 16, MOST], 10: [MANY, MOST], 3: [MANY, MOST], 1: [MANY, MOST], 0.1: [MANY, MOST]}
COUNTED = ("steals", "join_waits", "suspensions", "deviations", "peak_stacks", "peak_frames", "most_late_ns")


def simulate(program, kernel, size, procs, policy, seeds, *more):
    """The simulator's JSON, with `runs` by (policy, P)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        what = ["--dag", kernel] if kernel.endswith(".json") else [kernel.replace(" ", "_"), "--size", str(size)]
        command = [str(program), *what, "--procs", ",".join(map(str, procs)), "--policy", policy,
                   "--seeds", str(seeds), "--json", file.name, *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode != 0:
            raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
        found = json.load(open(file.name))
    return found | {"runs": {(run["policy"], run["procs"]): run for run in found["runs"]}}


def over(runs, way, other, procs):
    """The times by all schedules over those of another policy."""
    return Figure(a / b for a, b in zip(runs[way, procs]["times_ns"], runs[other, procs]["times_ns"]))


def over_continuations(runs, way, procs):
    return over(runs, way, "continuations", procs)


def over_fastest(runs, way, procs):
    """Over the policy of FIXED whose median is the least. That one is chosen by the same schedules, so chance makes it faster than it is."""
    fastest = min(FIXED, key=lambda fixed: Figure(runs[fixed, procs]["times_ns"]).median)
    return over(runs, way, fastest, procs).median


def theory(found, way, procs):
    """What the bounds are about, of one tree: each over what its bound names."""
    run = found["runs"][way, procs]
    alone = run["own_speedup"] * run["time_ns"]
    return {"time": (max(run["times_ns"]) - alone / procs) / found["burdened_span_ns"],
            "thefts": run["steals"] / procs / found["forks_in_chain"],
            "deviations": run["deviations"] / max(run["steals"], 1),
            "frames": run["peak_frames"] / procs / found["depth"],
            "stacks": run["peak_stacks"] / procs / found["depth"],
            "idle_us": run["most_late_ns"] / 1000}


def tree(program, seed, seeds):
    found = simulate(program, "random_tree", seed, PROCS, "all", seeds, "--start", "awake")
    found["runs"] |= simulate(program, "random_tree", seed, [MOST], "both", min(seeds, FEW), "--start", "awake")["runs"]
    runs = [(way, p) for way, p in found["runs"] if p > 1]
    return {"seed": seed, **{name: found[name] for name in ("forks", "depth", "forks_in_chain", "work_ns", "span_ns", "burdened_span_ns", "most_children",
                                                    "works_after")},
            "ratios": [(way, p, over_continuations(found["runs"], way, p).median) for way, p in runs if way != PAIR[0]],
            "speedups": [(way, p, found["work_ns"] / found["runs"][way, p]["time_ns"]) for way, p in runs if way in PAIR],
            "theory": [(way, p, theory(found, way, p)) for way, p in runs]}


def distribution(values):
    """Of one ratio a tree: the median with its interval, the extremes, and how many trees are clear of 1."""
    return Figure(values).summary() | {"slower": sum(v > 1 + CLEAR for v in values), "faster": sum(v < 1 / (1 + CLEAR) for v in values),
                                       "quartiles": [sorted(values)[i] for i in (len(values) // 4, len(values) - 1 - len(values) // 4)]}


def distributions(trees):
    by = {}
    for way, p, ratio in (ratio for each in trees for ratio in each["ratios"]):
        by.setdefault((way, p), []).append(ratio)
    return [{"way": way, "procs": p, **distribution(by[way, p])} for way, p in sorted(by, key=lambda key: (key[1], WAYS.index(key[0])))]


def by_work(trees):
    """Tasks' time over continuations' on MOST, by the work of a P."""
    rows = []
    for least, most in zip((0, *WORK_US), WORK_US):
        ratios = [ratio for each in trees if least <= each["work_ns"] / 1000 / MOST < most
                  for way, p, ratio in each["ratios"] if (way, p) == ("tasks", MOST)]
        if ratios:
            rows.append({"least_us": least, "under_us": None if most == math.inf else most, "trees": len(ratios), **distribution(ratios)})
    return rows


def worst(trees):
    """Of all trees and P, the greatest of each figure that a bound is about, with the tree."""
    all_of = [(way, name, {"value": value, "seed": each["seed"], "procs": p})
              for each in trees for way, p, of in each["theory"] for name, value in of.items()]
    return [{"way": way, **{name: max((at for w, n, at in all_of if (w, n) == (way, name)), key=lambda at: at["value"])
                            for name in dict.fromkeys(n for _, n, _ in all_of)}} for way in WAYS if way in {w for w, _, _ in all_of}]


def shape(program, kernel, leaves, leaf_us, procs, seeds):
    """Rows of one shape: tasks' time, and what both count."""
    found = simulate(program, kernel, leaves, procs, "both", seeds, "--work", f"tree.leaf={leaf_us * 1000:g}")
    return [{"shape": kernel, "leaves": leaves, "leaf_us": leaf_us, "procs": p, "forks": found["forks"],
             "times": over_continuations(found["runs"], "tasks", p).summary(),
             **{way: {"speedup": found["work_ns"] / found["runs"][way, p]["time_ns"], **{name: found["runs"][way, p][name] for name in COUNTED}}
                for way in PAIR}} for p in procs]


def print_all(of):
    print("\nrandom trees: time over continuations'")
    print_table([["way", "P", "median", "99 % of the median", "quartiles", "least", "greatest", "slower", "faster"]] + [
        [row["way"], str(row["procs"]), f"{row['median']:.3f}", "{:.3f}…{:.3f}".format(*row["interval"]),
         "{:.3f}…{:.3f}".format(*row["quartiles"]), f"{row['min']:.3f}", f"{row['max']:.3f}", str(row["slower"]), str(row["faster"])]
        for row in of["distributions"]])
    print(f"\nrandom trees, P = {MOST}: tasks' time over continuations', by the work of a P")
    print_table([["from us", "to us", "trees", "median", "99 % of the median", "least", "greatest"]] + [
        [str(row["least_us"]), str(row["under_us"] or "more"), str(row["trees"]), f"{row['median']:.3f}",
         "{:.3f}…{:.3f}".format(*row["interval"]), f"{row['min']:.3f}", f"{row['max']:.3f}"] for row in of["by_work"]])
    print("\nrandom trees: the greatest of all trees and P, over what a bound names")
    names = [name for name in of["worst"][0] if name != "way"]
    print_table([["way", *names]] + [[row["way"], *(f"{row[name]['value']:.2f} ({row[name]['seed']}, P={row[name]['procs']})"
                                                   for name in names)] for row in of["worst"]])
    print(f"\ntasks' time over continuations', P = {MANY}, by leaves a P")
    print_table([["tree", *map(str, SLACK)]] + [
        [kernel, *(f"{row['times']['median']:.3f}" for row in of["slack"] if row["shape"] == kernel)] for kernel in SHAPES])
    print("\nby the length of a leaf: tasks' time over continuations'; stacks of continuations / tasks")
    rows = [["tree", "P", *(f"{us:g} us" for us in LEAVES)]]
    for kernel in dict.fromkeys(row["shape"] for row in of["lengths"]):
        for p in PROCS:
            rows.append([kernel, str(p), *(f"{row['times']['median']:.3f}; {row['continuations']['peak_stacks']:,} / "
                                           f"{row['tasks']['peak_stacks']:,}" for row in of["lengths"]
                                           if (row["shape"], row["procs"]) == (kernel, p))])
    print_table(rows)
    print("\nchains on more P: tasks' time over continuations'; stacks of continuations / tasks")
    print_table([["tree", "P", "us of a leaf", "leaves", "median", "least", "greatest", "stacks"]] + [
        [row["shape"], str(row["procs"]), f"{row['leaf_us']:g}", f"{row['leaves']:,}", *(f"{row['times'][part]:.3f}" for part in ("median", "min", "max")),
         " / ".join(f"{row[way]['peak_stacks']:,}" for way in PAIR)] for row in of["long"]])
    print(f"\nby the number of children, P = {MANY}: thefts, waits and stacks with one join / nested forks of two / tasks")
    print_table([["children", "us of a leaf", "thefts", "waits", "stacks", "nested time", "tasks' time"]] + [
        [str(row["children"]), f"{row['leaf_us']:g}", *(" / ".join(f"{row[by][name]:,}" for by in ("joined", "nested", "tasks"))
                                                       for name in ("steals", "join_waits", "peak_stacks")),
         f"{row['nested_time']:.3f}", f"{row['tasks_time']:.3f}"] for row in of["children"]])


def children(program, n, leaf_us, seeds):
    """One join for all children, and nested forks of two: by continuations; and tasks, which have the latter alone."""
    joined, nested = (simulate(program, kernel, LEAVES[leaf_us], [MANY], "both", seeds, "--work", f"tree.leaf={leaf_us * 1000:g}")
                      for kernel in CHILDREN[n])
    times = joined["runs"]["continuations", MANY]["times_ns"]

    def over(found, way):
        return Figure(a / b for a, b in zip(found["runs"][way, MANY]["times_ns"], times)).median

    return {"children": n, "leaf_us": leaf_us, "leaves": LEAVES[leaf_us], "nested_time": over(nested, "continuations"),
            "tasks_time": over(joined, "tasks"),
            **{by: {name: found["runs"][way, MANY][name] for name in COUNTED}
               for by, found, way in (("joined", joined, "continuations"), ("nested", nested, "continuations"), ("tasks", joined, "tasks"))}}


def dag_of(folder, name, leaves, leaf_us):
    """A file with a DAG: of a chain and its mirror image, of a chain that changes its sides after so many forks, of a loop or a scope, or of
    so many nodes with all leaves, which have one join, or forks of two: each of a leaf and the rest ("nested"), or of two halves."""
    nodes = [{"work_ns": leaf_us * 1000}]

    def chain(length, mirrored):
        rest = 0
        for i in range(length - 1):
            nodes.append({"parallel": [rest, 0] if mirrored(i) else [0, rest]})
            rest = len(nodes) - 1
        return rest

    if name == "loop":
        nodes.append({"loop": [0] * leaves})
    elif name == "scope":
        nodes.append({"scope": [{"work_ns": 0}, *([0, {"work_ns": 10}] * leaves)]})  # between the forks the function goes round its loop
    elif isinstance(name, int):
        nodes.extend([{"parallel": [0] * (leaves // name)}, {"series": [1] * name}])
    elif isinstance(name, tuple):
        how, count = name
        if how == "nested":
            chain(leaves // count, lambda i: False)
        else:
            nodes.extend({"parallel": [i, i]} for i in range((leaves // count).bit_length() - 1))
        nodes.append({"series": [len(nodes) - 1] * count})
    elif name == "chain that turns":
        chain(leaves, lambda i: i // (leaves // 8) % 2)
    else:
        pair = [chain(leaves // 2, lambda i: False), chain(leaves // 2, lambda i: True)]
        nodes.append({"parallel" if name == "chains at once" else "series": pair})
    file = folder / "dag.json"
    file.write_text(json.dumps({"forkjoin-dag": 1, "nodes": nodes}))
    return str(file)


DAGS = ("chains at once", "chains in turn", "chain that turns", "loop", "scope")


def adaptive_shape(program, kernel, leaves, leaf_us, seeds):
    """Times over continuations', and what the adaptive policy takes over the fixed one whose median is the least."""
    with tempfile.TemporaryDirectory() as folder:
        if kernel in DAGS:
            what, size = dag_of(pathlib.Path(folder), kernel, leaves, leaf_us), 0
        else:
            what, size = kernel, leaves
        found = simulate(program, what, size, [MANY], ",".join((*FIXED, "adaptive")), seeds, "--start", "awake", *RULE_ARGUMENTS, "--work",
                         f"tree.leaf={leaf_us * 1000:g}")["runs"]
    return {"shape": kernel, "leaves": leaves, "leaf_us": leaf_us, "procs": MANY, "over_fastest": over_fastest(found, "adaptive", MANY),
            **{way: {"times": over_continuations(found, way, MANY).summary(), "peak_stacks": found[way, MANY]["peak_stacks"]}
               for way in (*FIXED, "adaptive")}}


def adaptive_tree(program, seed, procs, seeds):
    found = simulate(program, "random_tree", seed, [procs], ",".join((*FIXED, "adaptive")), seeds, "--start", "awake", *RULE_ARGUMENTS)["runs"]
    return {"seed": seed, "procs": procs, "over_continuations": over(found, "adaptive", "continuations", procs).median,
            "over_last_leave": over(found, "adaptive", "last_leave", procs).median, "over_fastest": over_fastest(found, "adaptive", procs),
            "fixed_over_fastest": {way: over_fastest(found, way, procs) for way in FIXED}}


def adaptive(program, trees, seeds, with_shapes, pool):
    shapes = CHAINS + DAGS + SHAPES + tuple(f"{n} children" for n in (8, 64)) if with_shapes else ()
    rows = [pool.submit(adaptive_shape, program, kernel, leaves, us, min(seeds, FEW)) for kernel in shapes for us, leaves in ADAPTIVE.items()]
    each = list(pool.map(lambda seed: adaptive_tree(program, seed, MANY, seeds), range(1, trees + 1)))
    of = {name: distribution([tree[name] for tree in each]) for name in ("over_continuations", "over_last_leave", "over_fastest")}
    fixed = {way: distribution([tree["fixed_over_fastest"][way] for tree in each]) for way in FIXED}
    return {"rule": RULE, "shapes": [row.result() for row in rows], "distributions": of, "fixed_over_fastest": fixed, "trees": each}


def print_adaptive(of):
    print(f"\ntime over continuations', P = {MANY}, and the adaptive policy's over the fastest of the others")
    print_table([["tree", "us of a leaf", "last_leave", "tasks", "adaptive", "over the fastest", "stacks: continuations / last_leave / adaptive"]] + [
        [row["shape"], f"{row['leaf_us']:g}", *(f"{row[way]['times']['median']:.3f}" for way in ("last_leave", "tasks", "adaptive")),
         f"{row['over_fastest']:.3f}", " / ".join(f"{row[way]['peak_stacks']:,}" for way in ("continuations", "last_leave", "adaptive"))]
        for row in of["shapes"]])
    print("\nrandom trees: the adaptive policy's time over")
    print_table([["", "median", "99 % of the median", "quartiles", "least", "greatest", "slower", "faster"]] + [
        [name.removeprefix("over_"), f"{row['median']:.3f}", "{:.3f}…{:.3f}".format(*row["interval"]), "{:.3f}…{:.3f}".format(*row["quartiles"]),
         f"{row['min']:.3f}", f"{row['max']:.3f}", str(row["slower"]), str(row["faster"])]
        for name, row in (*of["distributions"].items(), *((f"{way} over the fastest", row) for way, row in of["fixed_over_fastest"].items()))])


def flat(program, leaves, nodes, leaf_us, seeds):
    """Rows of nodes with many leaves: times over continuations', speed-ups over the serial program, and what each counts. Where
    continuations have one join, the other policies have forks of two; FORKED is continuations with those, too."""
    def run(name, policies):
        with tempfile.TemporaryDirectory() as folder:
            dag = dag_of(pathlib.Path(folder), name, leaves * nodes, leaf_us)
            return simulate(program, dag, 0, FLAT_US[leaf_us], policies, seeds, "--start", "awake")

    found = run(nodes, ",".join(FIXED))
    runs = found["runs"] | {(how, p): of for how in FORKED for (_, p), of in run((how, nodes), "continuations")["runs"].items()}
    return [{"leaves": leaves, "nodes": nodes, "leaf_us": leaf_us, "procs": p,
             **{way: {"times": over_continuations(runs, way, p).summary(), "speedup": found["work_ns"] / runs[way, p]["time_ns"],
                      **{name: runs[way, p][name] for name in COUNTED}} for way in (*FIXED, *FORKED)}}
            for p in FLAT_US[leaf_us]]


def print_flat(rows):
    print("\nnodes with many leaves: time over continuations' with one join for each node; nested, halves: continuations with forks of two; "
          "speed-ups, thefts and stacks of continuations / tasks")
    print_table([["leaves", "nodes", "us of a leaf", "P", "tasks", "least", "greatest", "last_leave", *FORKED, "speed-up", "thefts", "stacks"]] + [
        [f"{row['leaves']:,}", str(row["nodes"]), f"{row['leaf_us']:g}", str(row["procs"]),
         *(f"{row['tasks']['times'][part]:.3f}" for part in ("median", "min", "max")),
         *(f"{row[way]['times']['median']:.3f}" for way in ("last_leave", *FORKED)),
         " / ".join(f"{row[way]['speedup']:.2f}" for way in PAIR),
         *(" / ".join(f"{row[way][name]:,}" for way in PAIR) for name in ("steals", "peak_stacks"))] for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--trees", type=measure.at_least(1), default=200)
    parser.add_argument("--seeds", type=measure.at_least(1), default=9, help="schedules of each tree")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--adaptive", action="store_true", help="instead: a policy that adapts, beside those that do not")
    other.add_argument("--flat", action="store_true", help="instead: nodes with many leaves")
    parser.add_argument("--no-shapes", action="store_true", help="random trees alone")
    parser.add_argument("--leaves", type=int, help="with --flat: nodes with so many leaves alone")
    parser.add_argument("--json", type=pathlib.Path, help="also writes all figures there")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench"
    program = folder / "simulate"
    if not program.is_file():
        raise measure.Failed(f"{folder} has no simulate; ./dev bench --trees builds it, with libcli11-dev and nlohmann-json3-dev")
    machine = environment.Conditions()
    if args.adaptive:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            of = adaptive(program, args.trees, args.seeds, not args.no_shapes, pool)
        print_adaptive(of)
        if args.json:
            write(args.json, args, machine, of)
        return 0
    if args.flat:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            each = [pool.submit(flat, program, leaves, nodes, us, min(args.seeds, FEW))
                    for leaves, nodes in FLAT if args.leaves in (None, leaves) for us in FLAT_US]
            rows = sum((one.result() for one in each), [])
        print_flat(rows)
        if args.json:
            write(args.json, args, machine, {"flat": rows})
        return 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        trees = list(pool.map(lambda seed: tree(program, seed, args.seeds), range(1, args.trees + 1)))
        slack = lengths = long = by_children = ()
        if not args.no_shapes:
            slack = [pool.submit(shape, program, kernel, of * MANY, 1000, [MANY], args.seeds) for kernel in SHAPES for of in SLACK]
            lengths = [pool.submit(shape, program, kernel, leaves, us, PROCS, min(args.seeds, FEW))
                       for kernel in CHAINS + SHAPES for us, leaves in LEAVES.items()]
            long = [pool.submit(shape, program, kernel, leaves, us, LONG_PROCS, min(args.seeds, FEW))
                    for kernel in CHAINS for us, leaves in LONG.items()]
            by_children = [pool.submit(children, program, n, us, args.seeds) for n in CHILDREN for us in LEAVES]
        of = {"distributions": distributions(trees), "by_work": by_work(trees), "worst": worst(trees), "slack": sum((each.result() for each in slack), []),
              "lengths": sum((each.result() for each in lengths), []), "long": sum((each.result() for each in long), []), "children": [each.result() for each in by_children]}
    print(f"{args.trees} random trees, {args.seeds} schedules each")
    print_all(of)
    print("""
  time: the longest of a tree's times less a P-th of the time on one P, over the burdened span. thefts: over P and the forks on the longest
  chain of forks. deviations: over thefts. frames, stacks: over P and the depth of the serial program. idle_us: the latest strand.""")
    of["trees"] = [{name: each[name] for name in ("seed", "forks", "work_ns", "most_children", "works_after", "ratios", "speedups")} for each in trees]
    for file in filter(None, (folder / "trees.json", args.json)):  # ./dev report shows the first
        write(file, args, machine, of)
    return 0


def write(file, args, machine, of):
    file.write_text(json.dumps({"schema": 1, "environment": machine.describe(versions(args.build.resolve())),
                                "settings": {"trees": args.trees, "seeds": args.seeds, "procs": PROCS}, **of}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/trees/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
