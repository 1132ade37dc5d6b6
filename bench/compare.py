#!/usr/bin/env python3
"""Two commits, or two measurements, beside each other: ./dev bench [kernel...] --compare OLD NEW [args]

    ./dev bench fib uts --compare HEAD~1 HEAD       builds both, and measures them in rounds that alternate
    ./dev bench --compare old.json new.json         of what ./dev bench --json FILE wrote, which were measured apart

A ratio is the new time over the old one: less than 1 is better. For two commits it is the median of the rounds' ratios, and in brackets the
interval in which their true median lies. In two files no round belongs to another: the ratio is that of the medians, and the interval, which
is wider, follows from the medians' own intervals. Only you know whether the machine was as fast both times. `serial` is the same program both
times: what differs there is the machine, the compiler, or where the code lies.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import measure
from harness.figures import ENOUGH, Figure, ratio, side_of
from harness.tables import print_table

ROOT = pathlib.Path(__file__).resolve().parents[1]
WAYS = "serial,continuations,tasks,scope"
SAID = {1: "slower", -1: "faster", 0: "no difference", None: "too few rounds"}


def keyed(report):
    """{(kernel, size, way, P): the times of the rounds}"""
    return {(r["kernel"], r["size"], r["way"], r["procs"]): r["ms"] for r in report["results"]}


def paired(old, new):
    """Of rounds that alternated; None if the two have none together."""
    both = Figure(ratio(b, a) for a, b in zip(old, new))
    return both.summary() if both else None


def apart(old, new):
    """Of two measurements: the interval is the widest that the two medians' intervals allow."""
    a, b = (Figure(times).summary() for times in (old, new))
    return {"median": b["median"] / a["median"], "interval": [b["interval"][0] / a["interval"][1], b["interval"][1] / a["interval"][0]],
            "rounds": min(a["rounds"], b["rounds"])}


def compared(old, new, compare):
    """[(key, old's median, new's median, summary of the ratio)]"""
    old, new = keyed(old), keyed(new)
    found = []
    for key in new:
        times = [[t for t in of.get(key, []) if t is not None] for of in (old, new)]
        if all(times) and (ratios := compare(*(of[key] for of in (old, new)) if compare is paired else times)):
            found.append((key, *(Figure(of).median for of in times), ratios))
    return found


def show(rows, names):
    table = [["kernel", "way", "P", "old ms", "new ms", "new / old", "interval", "n", "verdict"]]
    for (kernel, size, way, procs), old, new, times in rows:
        low, high = times["interval"]
        table.append([f"{kernel}({size:,})", way, str(procs), f"{old:.3g}", f"{new:.3g}", f"{times['median']:.3f}", f"{low:.3f}…{high:.3f}",
                      str(times["rounds"]), SAID[side_of(times)]])
    print(f"\nold: {names[0]}\nnew: {names[1]}\n")
    print_table(table)
    sides = [side_of(times) for (_, _, way, _), *_, times in rows if way != "serial"]
    print("\n" + ", ".join(f"{sides.count(side)} {said}" for side, said in SAID.items() if side in sides)
          + f"; ours alone, of {len(sides)}. At least {ENOUGH} rounds are needed, and a difference of more than 2 %.")


def write_csv(file, rows):
    lines = ["kernel,size,way,procs,old_ms,new_ms,ratio,low,high,rounds,verdict"]
    lines += [f"{kernel},{size},{way},{procs},{old:.6g},{new:.6g},{t['median']:.6g},{t['interval'][0]:.6g},{t['interval'][1]:.6g},{t['rounds']},"
              f"{SAID[side_of(t)]}" for (kernel, size, way, procs), old, new, t in rows]
    file.write_text("\n".join(lines) + "\n")


# --- commits ---

def git(*arguments):
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        raise measure.Failed(f"git {' '.join(arguments)}: there is no git; install it, or compare two files") from None
    if done.returncode != 0:
        raise measure.Failed(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def built(commit, kernels, cxx):
    """The build folder of that commit's kernels."""
    sha = git("rev-parse", "--verify", f"{commit}^{{commit}}")[:12]
    tree = ROOT / "build" / "compare" / f"{sha}-{pathlib.Path(cxx).name}"
    if not tree.exists():
        part = tree.with_suffix(".part")  # of an interrupted run it is half a tree
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", sha], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", part], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            raise measure.Failed(f"git archive {sha} failed")
        part.rename(tree)
    log = tree / "build.log"
    print(f"building {commit} ({sha}) in {tree.relative_to(ROOT)}", flush=True)
    with log.open("w") as to:
        def run(*command):
            if subprocess.run(command, cwd=tree, stdout=to, stderr=subprocess.STDOUT, env=dict(os.environ, CXX=cxx)).returncode != 0:
                raise measure.Failed(f"{commit} does not build; {log} says why")

        if not (tree / "build/build.ninja").exists():
            run("meson", "setup", "build", "-Dbuildtype=release", "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=enabled")
        listed = subprocess.run(["ninja", "-C", "build", "-t", "targets", "all"], cwd=tree, capture_output=True, text=True).stdout
        there = re.findall(r"^bench/(\w+)_once:", listed, re.MULTILINE)
        if missing := set(kernels) - set(there):
            raise measure.Failed(f"{commit} has no kernel {' '.join(sorted(missing))}; there are: {' '.join(sorted(there))}")
        names = kernels or there
        run("ninja", "-C", "build", *(f"bench/{name}{end}" for name in names for end in ("", "_once")))
    return tree / "build", set(names)


def measure_commits(args, rest):
    builds = [built(commit, args.kernels, os.environ.get("CXX", "g++")) for commit in (args.old, args.new)]
    if not args.kernels:
        args.kernels = sorted(builds[0][1] & builds[1][1])
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, ROOT / "bench/run.py", *args.kernels, "--build", builds[0][0], "--also", builds[1][0], "--ways", WAYS,
                   "--json", file.name, *rest]
        if subprocess.run(command).returncode != 0:
            raise measure.Failed("not all was measured")
        report = json.loads(pathlib.Path(file.name).read_text())
    return report, report["others"][0]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench [kernel...] --compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="a commit, or a file that ./dev bench --json wrote")
    parser.add_argument("new", help="the same")
    parser.add_argument("--kernels", type=lambda text: text.split(","), help=argparse.SUPPRESS)
    parser.add_argument("--csv", type=pathlib.Path, help="also writes the table there")
    args, rest = parser.parse_known_args()
    files = [pathlib.Path(name) for name in (args.old, args.new)]
    if all(file.is_file() for file in files):
        if rest:
            parser.error(f"{rest[0]}: files have been measured")
        rows = compared(*(json.loads(file.read_text()) for file in files), apart)
        rows = [row for row in rows if not args.kernels or row[0][0] in args.kernels]
    else:
        rows = compared(*measure_commits(args, rest), paired)
    if not rows:
        raise measure.Failed("the two have nothing in common")
    show(rows, (args.old, args.new))
    if args.csv:
        write_csv(args.csv, rows)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/compare.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
