#!/usr/bin/env python3
"""Runs kernels' benchmarks in interleaved rounds and prints tables that compare their ways: the serial program, ours, other libraries'.

    bench/run.py [kernel...] --build build [--also build-clang] [--procs 1,2] [--full | --policies] [--json FILE] [--check]
                 [--quick] [--repetitions N]

Without a kernel, it runs all that are built. With --also it runs two compilers' builds, in rounds that alternate. Machines change speed
from one second to the next. A round therefore runs every way once, close together in time; ratios are taken within a round only. The table
gives their median over the rounds, and in brackets the smallest and the largest.
"""

import argparse
import copy
import csv
import json
import math
import os
import pathlib
import re
import sys
import time

from harness import environment, goals, measure, tables, verdict

SUITE_BUDGET = 250  # seconds for the rounds of all kernels
KERNEL_BUDGET = 100  # for those of a kernel that is measured alone
POLICIES_BUDGET = 1200  # for those of all kernels with --policies: enough for all rounds
FULL_BUDGET = 10  # times as much with --full
SCALED = ("fib", "integrate", "nqueens", "skynet", "uts", "cilksort", "heat", "matmul")  # measured by --scale
SCALED_WAYS = ("serial", "continuations", "tbb", "tbb_context", "omp")
NEAR_WAYS = ("serial", "continuations")  # likewise, where thieves look at near Ps first
SCALE_BUDGET = 60  # seconds for each number of Ps


class Measured:
    """The results of all kernels by one compiler, by key (kernel, size, way, procs) unless a comment says otherwise."""

    def __init__(self):
        self.results, self.once, self.rounds, self.ceilings = {}, {}, {}, {}
        self.labels, self.forks, self.kernels = {}, {}, {}
        self.context, self.near_first = {}, False

    @property
    def compiler(self):
        name = " ".join(self.context.get("compiler", "unknown").split()[:2])
        rule = [pathlib.Path(self.context["steal_rule"]).name] if "steal_rule" in self.context else []
        return ", ".join([name, *rule, *(["near Ps first"] if self.near_first else [])])

    def add(self, kernel, rounds, once, context):
        self.context, self.near_first = context, kernel.variables.get("FORKJOIN_TOPOLOGY", "0") != "0"
        ceilings = rounds.ceilings_of()
        own = {}
        for key in kernel.keys:
            own[key] = rounds.of(*key)
            self.rounds[key] = rounds
            if (ceiling := ceilings.get((key[0], key[1], key[3]))) and "speedup" in own[key]:
                own[key]["ceiling"] = ceiling
        self.results |= own
        self.once |= once
        self.ceilings |= ceilings
        self.labels |= kernel.labels
        self.forks |= kernel.forks
        for e in kernel.entries:
            self.kernels[e["name"]] = e | {"folder": kernel.name}
        return own, ceilings

    def result(self, key):
        """In the form of the schema."""
        kernel, size, way, procs = key
        figures, rounds = self.results[key], self.rounds[key]
        times = [rounds.ms(i, *key) for i in range(len(rounds))]
        row = {"kernel": kernel, "way": way, "size": size, "procs": procs}
        if (kernel, size) in self.labels:
            row["label"] = self.labels[kernel, size]
        if (kernel, size) in self.forks:
            row["forks"] = self.forks[kernel, size]
        row |= {"ms": times, "median_ms": figures["ms"].median, "best_ms": min(figures["ms"].values)}
        row |= {name: f.summary() for name, f in figures.items() if name not in ("ms", "ceiling", "of_ceiling")}
        if key in self.once:
            row["once"] = self.once[key]
        return row

    def ceiling(self, of):
        kernel, size, procs = of
        shares = {way: f["of_ceiling"].summary() for (k, s, way, p), f in self.results.items()
                  if (k, s, p) == of and "of_ceiling" in f}
        return {"kernel": kernel, "size": size, "procs": procs, "ceiling": self.ceilings[of].summary(),
                "of_ceiling": shares}

    def judged(self):
        return goals.judge(self.results, self.kernels, self.once, self.compiler)

    def report(self, env, settings, warnings):
        return {
            "schema": 1,
            "environment": env,
            "settings": settings,
            "warnings": warnings,
            "kernels": [{"name": k["name"], "folder": k["folder"], "cut_off": k["cut_off"], "parallel": k["parallel"],
                         "over_loops": k["over_loops"], "ways": k["ways"]} for k in self.kernels.values()],
            "results": [self.result(key) for key in self.results],
            "ceilings": [self.ceiling(of) for of, figure in self.ceilings.items() if figure],
            "means": goals.means(self.results, self.kernels),
            "goals": self.judged(),
        }


def with_others(report, file):
    """The report, and the kernels of an earlier one in that file which were measured at the same commit, by the same compilers."""
    try:
        before = json.loads(file.read_text())
    except (OSError, ValueError):
        return report
    made_by = [[of["environment"].get(name) for name in ("commit", "compiler", "flags", "cpu")]
               for each in (report, before) for of in (each, *each.get("others", []))]
    if made_by[:len(made_by) // 2] != made_by[len(made_by) // 2:] or "changes" in str(made_by[0][0]):
        return report
    whole = copy.deepcopy(report)
    for new, old in zip((whole, *whole.get("others", [])), (before, *before.get("others", []))):
        own = {kernel["name"] for kernel in new["kernels"]}
        new["kernels"] += [kernel for kernel in old["kernels"] if kernel["name"] not in own]
        for part in ("results", "ceilings"):
            new[part] += [row for row in old[part] if row["kernel"] not in own]
    return whole


def write_csv(file, measured):
    """The times of all rounds, of each compiler."""
    with file.open("w", newline="") as to:
        lines = csv.writer(to, lineterminator="\n")
        lines.writerow(["compiler", "kernel", "size", "way", "procs", "round", "ms"])
        for of in measured:
            for key, rounds in of.rounds.items():
                lines.writerows([of.compiler, *key, i + 1, f"{ms:.6g}"] for i in range(len(rounds)) if (ms := rounds.ms(i, *key)) is not None)


def all_procs(cores):
    """1, 2, 4 and so on, and all."""
    return [1 << i for i in range(cores.bit_length()) if 1 << i < cores] + [cores]


def numbers(text):
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1 or max(found) > 4096:
        raise argparse.ArgumentTypeError(f'"{text}"; expected numbers from 1 to 4096, as in 1,2,4')
    return list(dict.fromkeys(found))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="*", help="such as fib: the binary is <build>/bench/<kernel>")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--also", metavar="DIR", help="the build folder of another compiler: measures both, in rounds that "
                        "alternate, within the same budget")
    parser.add_argument("--procs", type=numbers, help="numbers of Ps (default: 1,2)")
    parser.add_argument("--ways", type=lambda text: text.split(","), metavar="NAME,...", help="those to measure (default: all but "
                        f"{', '.join(measure.CROSSED)})")
    parser.add_argument("--policies", action="store_true", help="instead: every order with every join; without a kernel: of all "
                        "kernels that have them. ./dev report shows the last such measurement on the page that compares tasks with "
                        "continuations")
    parser.add_argument("--scale", action="store_true", help=f"instead: how times change with P: {', '.join(SCALED)} on 1, 2, 4 … all "
                        "processors, a table for each, on several nodes or caches also with FORKJOIN_TOPOLOGY=1; kept in "
                        "<build>/bench/scale.json. On a machine with many processors this is the file to send")
    parser.add_argument("--full", action="store_true", help="the large sizes; takes an hour")
    parser.add_argument("--repetitions", type=int, help="rounds at most (default: 21 for one kernel, 9 for several; slow "
                        "ways take part in at most 5 of them)")
    parser.add_argument("--quick", action="store_true", help="3 rounds")
    parser.add_argument("--budget", type=float, help="seconds after which no round begins (default: "
                        f"{KERNEL_BUDGET} for one kernel, {SUITE_BUDGET} shared by several; {FULL_BUDGET} times that "
                        "with --full)")
    parser.add_argument("--test-sizes", action="store_true", help="the sizes of the tests: to try the programs, not to measure")
    parser.add_argument("--json", metavar="FILE", help="also write everything there; bench/schema.md says how. For bench/report "
                        "it is always kept in <build>/bench/report.json, or report-<kernel>.json, or policies.json")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="also write the times of all rounds there, one line for each time")
    parser.add_argument("--check", action="store_true", help="also judge the project's goals, and exit with status 3 if one is missed")
    args = parser.parse_args()
    if args.policies:
        if args.ways or args.full:
            parser.error("--policies chooses the ways, at the usual sizes: not with --ways or --full")
        args.ways = measure.POLICIES
    if args.scale:
        if args.policies:
            parser.error("--scale and --policies are measurements of their own")
        args.kernel = args.kernel or list(SCALED)
        args.ways = args.ways or SCALED_WAYS
        args.procs = args.procs or all_procs(len(os.sched_getaffinity(0)))
    args.procs = args.procs or [1, 2]
    if args.repetitions is not None and args.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    if args.budget is not None and not 0 < args.budget < math.inf:
        parser.error("--budget must be a number of seconds above 0")
    if args.json:
        try:
            open(args.json, "a").close()  # fails now, not after an hour of measuring
        except OSError as error:
            parser.error(f"--json {args.json}: {error.strerror}")
    for name in args.kernel:
        if not re.fullmatch(r"\w+", name):
            parser.error(f"{name} is no kernel; they are named like fib")
    if len(set(args.kernel)) < len(args.kernel):
        parser.error("a kernel is named twice")
    return args


def near_ones():
    """FORKJOIN_TOPOLOGY of the processes whose thieves look at near Ps first. None if all Ps are near one another."""
    return os.environ.get("FORKJOIN_TOPOLOGY") or ("1" if environment.groups_of_cpus() > 1 else None)


def measure_one(builds, rounds, budget, measured, sure, pair_time, waits):
    """builds: of one kernel; measured: for each of them; sure: rounds with slow ways, whatever they take; waits: prints how joins
    waited."""
    began = time.monotonic()
    once = [measure.run_once(kernel) for kernel in builds]
    got = measure.run_rounds(builds, rounds, budget - (time.monotonic() - began), sure=sure)
    for kernel, its_once, (its_rounds, context), into in zip(builds, once, got, measured):
        own, ceilings = into.add(kernel, its_rounds, its_once, context)
        for key, figure in measure.run_pairs(kernel, own, pair_time).items():
            own[key]["vs_tbb_pairs"] = figure
        tables.print_results(own, kernel.labels, kernel.forks, its_once, ceilings, into.compiler if len(builds) > 1 else "",
                             waits)
    print(flush=True)


def measure_all(kernels, rounds, budget, sure, keep, waits):
    """kernels: for each the list of its builds. Returns the results, one Measured for each build folder, and the failures, a
    text for each kernel that is left out. Calls keep(both) after each kernel."""
    measured, wrong = [Measured() for _ in kernels[0]], []
    pair_time = measure.PAIR_TIME if len(kernels) == 1 else measure.SHORT_PAIR_TIME
    end = time.monotonic() + budget
    for i, builds in enumerate(kernels):
        left, name = max(0.0, end - time.monotonic()) / (len(kernels) - i), builds[0].name
        print(f"{name} ({i + 1} of {len(kernels)}): for {left:.0f} seconds or less, at most {rounds} rounds, slow ways in at most "
              f"{measure.SLOW_ROUNDS} of them", flush=True)
        try:
            measure_one(builds, rounds, left, measured, sure, pair_time, waits)
        except measure.Failed as failure:
            wrong.append(f"{name} failed and is left out: {failure}")
            print(f"bench/run.py: {wrong[-1]}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            wrong.append(f"interrupted in {name}: it and those that follow are left out")
            print(file=sys.stderr)
            break
        keep(measured, wrong)
    return measured, wrong


def main():
    args = parse()
    began = time.monotonic()
    sizes = "test" if args.test_sizes else "full" if args.full else "quick"
    folder = (pathlib.Path(args.build) / "bench").resolve()
    chosen = args.kernel or sorted(p.name.removesuffix("_once") for p in folder.glob("*_once"))
    if args.policies and not args.kernel:
        chosen = [name for name in chosen if "last_leave" in measure.Kernel(folder, name, sizes, args.procs, measure.POLICIES).ways]
    if not chosen:
        raise measure.Failed(f"{folder} has no kernels; build them first: ./dev bench")
    folders = [folder] + ([(pathlib.Path(args.also) / "bench").resolve()] if args.also else [])
    topology = near_ones() if args.scale else None
    alike = {"FORKJOIN_TOPOLOGY": "0"} if topology else {}
    kernels = [[measure.Kernel(of, name, sizes, args.procs, args.ways, alike) for of in folders] for name in chosen]
    if topology:
        for builds in kernels:
            builds.append(measure.Kernel(folder, builds[0].name, sizes, args.procs, NEAR_WAYS, {"FORKJOIN_TOPOLOGY": topology}))
    rounds = args.repetitions or (3 if args.quick else 21 if len(kernels) == 1 else 9)
    budget = args.budget or (KERNEL_BUDGET if len(kernels) == 1 else SUITE_BUDGET) * (FULL_BUDGET if args.full else 1)
    if args.policies:
        budget = args.budget or POLICIES_BUDGET
    elif args.scale:
        budget = args.budget or SCALE_BUDGET * len(args.procs) * (FULL_BUDGET if args.full else 1)

    # bench/report shows these by default; tests are not worth showing.
    kept = "policies.json" if args.policies else "scale.json" if args.scale else "-".join(["report", *args.kernel]) + ".json"
    files = [] if sizes == "test" else [folder / kept]
    files += [pathlib.Path(args.json)] if args.json else []

    machine = environment.Conditions()
    tables.print_disturbances(machine.before)

    def conclude(measured, wrong):
        """Writes everything to the files. Returns environment and warnings of each compiler."""
        whole, found = None, []
        for of in measured:
            env = machine.describe(of.context)
            for rule in "steal_rule", "join_rule":
                if rule in of.context:
                    env["compiler"] += f", {rule.replace('_', ' ')} {pathlib.Path(of.context[rule]).name}"
            if of.near_first:
                env["compiler"] += ", near Ps first"
            warnings = ([] if found else wrong) + tables.warnings(env, of.results)
            found.append((env, warnings))
            settings = {"sizes": sizes, "procs": args.procs, "rounds": rounds, "seconds": time.monotonic() - began}
            report = of.report(env, settings, warnings)
            if args.scale:
                report["verdict"] = verdict.verdict(of.results, of.once)
            if whole is None:
                whole = report
            else:
                whole.setdefault("others", []).append(report)
        for file in files:
            try:
                file.write_text(json.dumps(with_others(whole, file) if args.policies and file.name == kept else whole, indent=1) + "\n")
            except OSError as error:
                print(f"bench/run.py: cannot write {file}: {error.strerror}", file=sys.stderr)
        return found

    # A way that is slow at a large size may take minutes.
    measured, wrong = measure_all(kernels, rounds, budget, 1 if args.full else measure.SLOW_ROUNDS, conclude, args.policies)
    if not measured[0].results:
        raise measure.Failed("nothing was measured")
    judged = []
    concluded = conclude(measured, wrong)
    if args.csv:
        write_csv(args.csv, measured)
    for of, (env, warnings) in zip(measured, concluded):
        tables.print_environment(env)
        for warning in warnings:
            print(f"  WARNING: {warning}")
        compiler = of.compiler if len(measured) > 1 else ""
        if len(kernels) > 1:
            tables.print_means(goals.means(of.results, of.kernels), compiler)
        if args.check:
            judged += of.judged()
            tables.print_goals(of.judged(), compiler)
    print(tables.LEGEND)
    if args.scale:
        for of in measured:
            tables.print_scale(of.results, of.compiler if len(measured) > 1 else "")
            verdict.print_verdict(verdict.verdict(of.results, of.once), of.compiler if len(measured) > 1 else "")
        print(f"\n  All of it is in {folder / kept}. From a machine with many processors, please send that file.")
    if len(kernels) == 1:
        for of, (env, _) in zip(measured, concluded):
            tables.print_short(kernels[0][0].name, of.results, of.forks, env)
    tables.print_disturbances(concluded[0][0])
    if wrong:
        return 1
    return 3 if args.check and not all(g["met"] for g in judged) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
