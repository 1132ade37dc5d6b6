"""The files of bench/figures, and what the tables and the marked numbers of the pages both read in them."""

import json
import pathlib
import re

from harness.figures import Figure, ratio, side_of
from peers.tables import best_ways
from report.data import Data

ALONE = ("virtual", "space", "trees", "adaptive", "flat", "locality", "league")  # may be of a commit of its own, which the page says
FILES = ("kernels", "policies", "peers", "talk", "echo", "handover", "instructions", "instructions-bench", "debian13")
PROCS = {1: "one P", 2: "two Ps"}


class Figures:
    """All files of a folder. They have to be of one commit without changes."""

    def __init__(self, folder):
        self.files = {name: json.loads((pathlib.Path(folder) / f"{name}.json").read_text()) for name in FILES}
        commits = {file["environment"]["commit"] for file in self.files.values()}
        if len(commits) > 1 or None in commits or "changes" in "".join(commits):
            raise ValueError(f"the figures are of more than one commit, or of a changed tree: {', '.join(map(str, commits))}")
        self.files |= {name: json.loads((pathlib.Path(folder) / f"{name}.json").read_text()) for name in ALONE}
        self.gcc = Data(self.files["kernels"])
        (self.clang,) = self.gcc.others
        self.policies = Data(self.files["policies"])

    def each(self):
        """[(a compiler's name, its figures)]"""
        return [("g++", self.gcc), ("clang", self.clang)]


def version(text):
    """gcc 12.2.0 and g++ 12.2.0: g++ 12.2"""
    return re.sub(r"^gcc\b", "g++", " ".join(text.split()[:2])).removesuffix(".0")


def compilers(figures):
    return [version(of.report["environment"]["compiler"]) for _, of in figures.each()]


def problem_of(data, name):
    """The only problem of a kernel, or the one with that short name, in which an underscore may stand for a space."""
    return next(problem for problem in data.problems if data.name(problem).replace(" ", "_") == name.replace(" ", "_"))


def deciding(result):
    """Our speed over that of oneTBB's fastest variant: of the pairs, where there were some."""
    return result.get("vs_tbb_pairs") or result.get("vs_tbb")


def beside_omp(result):
    return result.get("vs_omp")


def ours(data, procs):
    """[(problem, result)] of continuations."""
    return [(problem, r) for problem in data.problems if (r := data.result(problem, "continuations", procs))]


def sides(data, procs, take):
    """[1 where ours is significantly faster, 0 where it is not, -1 where it is slower]"""
    return [side_of(take(r)) for _, r in ours(data, procs) if take(r)]


def mean(data, name, procs):
    return next(m for m in data.report["means"] if (m["name"], m["procs"]) == (name, procs))


def forked_over_plain(figures, way="continuations"):
    """Instructions that a fork and its join add to two calls, by compiler."""
    counts = [figures.files[name]["instructions"] for name in ("instructions", "instructions-bench")]
    return [each[way] - each["serial"] for each in counts]


def two_over_one(figures):
    """The time of flat forks on two Ps over that on one: (median, least, greatest of the interval)."""
    summary = figures.gcc.result(problem_of(figures.gcc, "flat"), "continuations", 2)["speedup"]
    return [1 / summary["median"], *(1 / v for v in reversed(summary["interval"]))]


def build_of(programs):
    """Our program's figures beside Go's: those of the build folder."""
    return next(found for name, found in programs.items() if name != "go")


def times_of_go(result):
    """Go's time over ours, of a case of talk."""
    return Figure(map(ratio, result["seconds"]["go"], build_of(result["seconds"]))).summary()


def fastest_other(report):
    """Of the peers: [((kernel, size), P, (the library beside which our time is the greatest, our time over its) or None)]"""
    best, found = best_ways(report["results"]), []
    for kernel, size, procs in dict.fromkeys((r["kernel"], r.get("label") or f"{r['size']:,}", r["procs"]) for r in report["results"]):
        others = [(peer, row["behind"]) for (k, p, peer), row in best.items() if (k, p) == (kernel, procs) and "behind" in row]
        found.append(((kernel, size), procs, max(others, key=lambda other: other[1]["median"]) if others else None))
    return found
