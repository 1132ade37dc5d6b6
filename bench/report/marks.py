"""Marked numbers. In a sentence of a page, `27<!-- = times_tbb g++ fib -->` says that 27 is what the function times_tbb of this file
returns for g++ and fib, in as many decimals as are written; `none<!-- = ... -->` is a number up to twelve in words. `./dev report --readme`
writes the numbers anew. Where a mark has several values (a function returns a list, or `;` stands between two functions), the sentence
says one number for all of them: if they no longer agree, a person has to write the sentence again, and the command says which one."""

import re

from harness.figures import side_of
from report import axes, waits
from report.recorded import (PROCS, beside_omp, build_of, deciding, fastest_other, forked_over_plain, mean, problem_of, sides, times_of_go,
                             two_over_one, version)

MARK = re.compile(r"(?P<shown>`[^`\n]+`|\w(?:[\w.,]*\w)?)<!-- = (?P<of>[^>]+?) -->")
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ZERO = ("none", "nowhere", "no")  # how a sentence may say it
PART = {"median": lambda s: s["median"], "low": lambda s: s["interval"][0], "high": lambda s: s["interval"][1], "min": lambda s: s["min"],
        "max": lambda s: s["max"]}


def of_compiler(figures, compiler):
    return dict(figures.each())[compiler]


def each_procs(procs):
    return PROCS if procs is None else [int(procs)]


# --- fib, and all kernels ---

def times_tbb(figures, compiler, kernel, procs=None, part="median"):
    """Our speed over that of oneTBB's fastest variant; of all P where none is named."""
    data = of_compiler(figures, compiler)
    return [PART[part](deciding(data.result(problem_of(data, kernel), "continuations", p))) for p in each_procs(procs)]


def no_grain_times_tbb(figures, compiler, kernel, procs, part="median"):
    data = of_compiler(figures, compiler)
    return PART[part](deciding(data.result(problem_of(data, kernel), "no_grain", int(procs))))


def over_serial(figures, compiler, kernel, procs):
    data = of_compiler(figures, compiler)
    return data.result(problem_of(data, kernel), "continuations", int(procs))["vs_serial"]["median"]


def forks(figures, kernel):
    return figures.gcc.result(problem_of(figures.gcc, kernel), "continuations", 1)["forks"]


def size(figures, kernel):
    return problem_of(figures.gcc, kernel)[1]


def rounds(figures, kernel):
    return [figures.gcc.result(problem_of(figures.gcc, kernel), "continuations", p)["vs_serial"]["rounds"] for p in PROCS]


def instructions(figures, compiler, way="continuations"):
    return dict(zip(("g++", "clang"), forked_over_plain(figures, way)))[compiler]


def compiler_version(figures, compiler):
    return version(of_compiler(figures, compiler).report["environment"]["compiler"]).split()[1]


def flat_two_over_one(figures, part="median"):
    return dict(zip(PART, two_over_one(figures)))[part]


def newer_tbb(figures, what):
    """In Debian 13: times_tbb of fib on so many P, or the versions of oneTBB and g++."""
    report = figures.files["debian13"]
    if what == "oneTBB":
        return report["environment"]["oneTBB"]
    if what == "g++":
        return version(report["environment"]["compiler"]).split()[1]
    data = type(figures.gcc)(report)
    return deciding(data.result(problem_of(data, "fib"), "continuations", int(what)))["median"]


def means(figures, name, which=None):
    """A geometric mean: all of them, by compiler and P, or the least or the greatest."""
    found = [mean(data, name, procs)["value"] for _, data in figures.each() for procs in PROCS]
    return {"least": min, "greatest": max}[which](found) if which else found


def kernels_in(figures, name):
    return [len(mean(data, name, procs)["over"]) for _, data in figures.each() for procs in PROCS if (name, procs) != ("speedup", 1)]


def on_two(figures, name, compiler):
    """A geometric mean on two P."""
    return mean(of_compiler(figures, compiler), name, 2)["value"]


def rows(figures, library, side):
    """In how many rows of the tables of kernels ours is faster, slower or level with a library."""
    take = {"oneTBB": deciding, "OpenMP": beside_omp}[library]
    found = [each for _, data in figures.each() for procs in PROCS for each in sides(data, procs, take)]
    return len(found) if side == "all" else found.count({"faster": 1, "level": 0, "slower": -1}[side])


def goals(figures, compiler, which):
    found = of_compiler(figures, compiler).report["goals"]
    return len(found) if which == "all" else sum(g["met"] for g in found)


# --- order and join ---

def measurements(figures):
    """Of policies: problems, times compilers and P."""
    return sum(len(of.problems) * len(of.procs) for _, of in figures.policies.each())


def order(figures, kernel, which):
    """The least or the greatest of the order's effects on a kernel, each significant by itself."""
    found = [e.size for e in axes.order_effects(figures.policies, kernel.replace("_", " ")) if e.sign]
    return {"least": min, "greatest": max, "count": len}[which](found)


def joins(figures):
    """In how many measurements a join has a significant effect."""
    return sum(any(axes.join_effect(of, problem, procs, join).sign for join in axes.OTHERS)
               for _, of, procs in axes.each(figures.policies) for problem in of.problems)


def corners(figures, which):
    """Of the significant differences between tasks and continuations, how many order or join explains."""
    found = axes.corners(figures.policies)
    return len(found) if which == "all" else found.count(which)


def deepest_deque(figures, kernel, way):
    """The most records of one deque on one P."""
    return figures.policies.counter(problem_of(figures.policies, kernel), way, 1, "deepest_deque")


def one_join(figures, compiler, kernel, procs=None):
    """The time with one join for all children of a node, over that of nested forks of two."""
    of = next(of for name, of in figures.policies.each() if name == compiler)
    return [axes.one_join(of, problem_of(of, kernel), p).median for p in each_procs(procs)]


def noise(figures, kernel):
    """By how many per cent the same program, compiled again, differs from itself at most."""
    return 100 * (max(axes.floor(of, problem_of(of, kernel), p) for _, of in figures.policies.each() for p in of.procs) - 1)


def most_noise(figures, what="percent"):
    """The greatest of all, or the kernel's name in backticks."""
    percent, kernel = max((noise(figures, name), name) for name in map(figures.policies.name, figures.policies.problems))
    return percent if what == "percent" else f"`{kernel}`"


# --- how joins wait, and what waits in memory ---

def of_trees(figures):
    return waits.Trees(figures.files["trees"])


def trees(figures, procs, part="median", way="tasks"):
    """Of the random trees: a policy's time over continuations', or in how many trees it is `slower` or `faster` by over 2 %."""
    row = next(r for r in figures.files["trees"]["distributions"] if (r["way"], r["procs"]) == (way, int(procs)))
    return PART[part](row) if part in PART else row["quartiles"][part == "upper"] if part in ("lower", "upper") else row[part]


def schedules(figures):
    return figures.files["trees"]["settings"]["seeds"]


def by_fork(figures, procs, least_us, under_us, part="median"):
    """Of those with so much work for each fork; `trees` is how many."""
    found = waits.Figure(of_trees(figures).ratios(int(procs), float(least_us), float(under_us)))
    return len(found.values) if part == "trees" else PART[part](found.summary())


def by_children(figures, procs, which, way="tasks", part="median"):
    """A policy's time over continuations' in the random trees of `two` branches, of `more`, or of two with work `after` joins."""
    found = waits.Figure(of_trees(figures).of_children(int(procs), which, way))
    return len(found.values) if part == "trees" else PART[part](found.summary())


def slower_too(figures, procs, way):
    """In how many of the random trees in which tasks are over 5 % slower that policy is, too."""
    ratios = [{w: ratio for w, p, ratio in tree["ratios"] if p == int(procs)} for tree in figures.files["trees"]["trees"]]
    return sum(of["tasks"] > 1.05 < of[way] for of in ratios)


def slower_on_more(figures, least_us, under_us, than):
    """How many of those with so much work for each fork are slower on 64 Ps than on 8, or than the serial program (`one`), by the faster
    policy of each."""
    few, many = (of_trees(figures).speedups(procs, float(least_us), float(under_us)) for procs in (waits.MANY, waits.MOST))
    return sum(of < (1 if than == "one" else other) for other, of in zip(few, many))


def faster_on_more(figures, least_us, under_us):
    """Tasks' time over continuations' on 64 Ps in the others of these: the median."""
    of = of_trees(figures)
    few, many = (of.speedups(procs, float(least_us), float(under_us)) for procs in (waits.MANY, waits.MOST))
    ratios = of.ratios(waits.MOST, float(least_us), float(under_us))
    return waits.Figure(r for r, a, b in zip(ratios, few, many) if b >= a).median


def chain(figures, shape, procs, leaf_us, what, part="median"):
    """Of a simulated shape: tasks' `time` over continuations' (median, min, max of its schedules), or the stacks of a policy, or its `speedup`."""
    row = next(r for r in figures.files["trees"]["lengths"]
               if (r["shape"], r["procs"], r["leaf_us"]) == (shape.replace("_", " "), int(procs), float(leaf_us)))
    return row["times"][part] if what == "time" else row[what]["speedup" if part == "speedup" else "peak_stacks"]


def long_chain(figures, shape, procs, leaf_us, what="time", part="median"):
    """The same on 16 and 64 Ps."""
    row = next(r for r in figures.files["trees"]["long"]
               if (r["shape"], r["procs"], r["leaf_us"]) == (shape.replace("_", " "), int(procs), float(leaf_us)))
    return row["times"][part] if what == "time" else row[what][part]


def lengths(figures, leaf_us):
    """How many leaves a shape has whose leaves are so long."""
    return [r["leaves"] for r in figures.files["trees"]["lengths"] if r["leaf_us"] == float(leaf_us)]


def slack(figures, leaves, which):
    """Tasks' time over continuations' in the simulated shapes with work after joins: the least, or the greatest."""
    rows = [r["times"]["median"] for r in figures.files["trees"]["slack"]
            if r["leaves"] == int(leaves) * r["procs"] and r["shape"] not in waits.FREE_AFTER]
    return {"least": min, "greatest": max}[which](rows)


def slack_of(figures, shape, leaves, part):
    return next(r["times"][part] for r in figures.files["trees"]["slack"]
                if (r["shape"], r["leaves"]) == (shape.replace("_", " "), int(leaves) * r["procs"]))


def one_join_for(figures, children, leaf_us, how, what="join_waits"):
    row = next(r for r in figures.files["trees"]["children"] if (r["children"], r["leaf_us"]) == (int(children), float(leaf_us)))
    return row[how] if how.endswith("_time") else row[how][what]


def form_of(figures, shape, leaf_us, what="time", part="median"):
    """Of a simulated loop or scope: tasks' `time` over continuations' (median, min, max), or the stacks of a policy."""
    row = next(r for r in figures.files["adaptive"]["shapes"] if (r["shape"], r["leaf_us"]) == (shape.replace("_", " "), float(leaf_us)))
    return row["tasks"]["times"][part] if what == "time" else row[what]["peak_stacks"]


def flat_node(figures, leaves, nodes, leaf_us, procs, way="tasks", part="median"):
    """Of nodes with so many leaves, one after another: a policy's time over continuations'."""
    of = waits.Flat(figures.files["flat"]).found[int(leaves), int(nodes), float(leaf_us), int(procs)][way]
    return of["speedup"] if part == "speedup" else of["times"][part]


def locality(figures, kind, size, way="tasks", part="median"):
    """A policy's time over continuations', on two Ps, with data of so many bytes."""
    return waits.Locality(figures.files["locality"]).found[kind, int(size)]["times"][way][part]


def adaptive(figures, over, part="median", way=None):
    """The adaptive policy's time, or that of a fixed one, over that of another, or of the `fastest` of three."""
    of = figures.files["adaptive"]
    row = of["fixed_over_fastest"][way] if way else of["distributions"][f"over_{over}"]
    return PART[part](row) if part in PART else row[part]


def bound(figures, name, way, part="value"):
    """The greatest of all random trees of what a bound is about, its seed or its Ps."""
    return next(r for r in figures.files["trees"]["worst"] if r["way"] == way)[name][part]


def asleep(figures, shape, procs, way="tasks", part="median"):
    """On the real runtime, leaves that sleep: time over continuations'; or the `stacks_peak` or `waits` of a policy."""
    found = next(r for r in figures.files["virtual"]["results"]
                 if (r["shape"], r["way"], r["procs"]) == (shape.replace("_", " "), way, int(procs)))
    return found[part]["median"] if part in found else PART[part](found["vs_continuations"])


def slower_asleep(figures, procs, way="tasks"):
    """In how many of the trees with work after joins a policy is significantly slower than continuations."""
    return sum(side_of(r["vs_continuations"]) == 1 for r in figures.files["virtual"]["results"]
               if (r["way"], r["procs"]) == (way, int(procs)) and r["shape"] in waits.WORK_AFTER)


def checked(figures, which):
    """The time of leaves that sleep over that of leaves that compute, on two Ps: the least or the greatest of these shapes and policies."""
    return {"least": min, "greatest": max}[which](r["median"] for r in figures.files["virtual"]["checked"])


def off(figures, which, shapes="trees", ways="tasks"):
    """By how much the time over continuations' of tasks, or of the `others`, differs between the simulator and the real runtime, in these
    shapes on all Ps: `trees` or `chains`. `apart`: the median where either is over 2 % from 1."""
    of = waits.Waits(figures.files["virtual"])
    pairs = [tuple(by[key]["vs_continuations"]["median"] for by in (of.simulated, of.found)) for key in of.simulated
             if key in of.found and key[1] != "continuations" and (key[1] == "tasks") == (ways == "tasks") and ("chain" in key[0]) == (shapes == "chains")]
    found = [abs(a - b) for a, b in pairs]
    return {"median": lambda: waits.Figure(found).median, "greatest": lambda: max(found),
            "apart": lambda: waits.Figure(abs(a - b) for a, b in pairs if max(abs(a - 1), abs(b - 1)) > 0.02).median}[which]()


def late(figures, procs, way, which, times=1000):
    """Lateness of the eight trees, in us, or in ms where times is 1: the least and the greatest mean, or the latest strand of all."""
    rows = [r for r in figures.files["virtual"]["results"]
            if (r["way"], r["procs"]) == (way, int(procs)) and r["shape"] in waits.TREES and r.get("mean_late_ms")]
    if which == "latest":
        return int(times) * max(r["most_late_ms"]["max"] for r in rows)
    return int(times) * {"least": min, "greatest": max}[which](r["mean_late_ms"]["median"] for r in rows)


def held(figures, shape, leaf_us, n, way, what, procs=8):
    """In memory: `records`, `stacks`, `mib`, or `over` Ps times what continuations hold on one."""
    row = next(r for r in figures.files["space"]["results"] if (r["shape"], r["leaf_us"], r["n"], r["way"], r["procs"]) ==
               (shape, float(leaf_us), int(n), way, int(procs)))
    return {"records": lambda: row["records"], "stacks": lambda: row["stacks"]["median"], "mib": lambda: row["kib"]["median"] / 1024,
            "over": lambda: row["over_serial"]}[what]()


# --- other libraries, and Go ---

def league(figures, what):
    """The number of P, or of rounds."""
    settings = figures.files["league"]["settings"]
    return settings["procs"] if what == "procs" else settings["rounds"]


def peers(figures, side):
    found = [fastest[1] for *_, fastest in fastest_other(figures.files["peers"]) if fastest]
    found = [side_of(summary) for summary in found]
    return len(found) if side == "all" else found.count({"faster": -1, "level": 0, "slower": 1}[side])


def talk(figures, side):
    found = [side_of(times_of_go(r)) for r in figures.files["talk"]["results"]]
    return len(found) if side == "all" else found.count({"faster": 1, "level": 0, "slower": -1}[side])


def rounds_of_p99(figures, case, procs, who):
    found = next(r["rounds"] for r in figures.files["echo"]["results"] if (r["case"], r["procs"]) == (case, procs))
    return axes.Figure([each["p99"] for each in (found["go"] if who == "Go" else build_of(found))]).summary()


def p99(figures, case, procs, who="ours"):
    """Microseconds of echo, a median."""
    return rounds_of_p99(figures, case, int(procs), who)["median"]


def slower_p99(figures):
    """In how many rows of echo each round of ours is behind each of Go's."""
    return sum(rounds_of_p99(figures, r["case"], r["procs"], "ours")["interval"][0] >
               rounds_of_p99(figures, r["case"], r["procs"], "Go")["interval"][1] for r in figures.files["echo"]["results"])


def handover(figures, case, who, what, procs):
    """Microseconds, a median."""
    found = next(r["microseconds"] for r in figures.files["handover"]["results"] if (r["case"], r["procs"]) == (case, int(procs)))
    return (found["go"] if who == "Go" else build_of(found))[what][0]


# --- of any of these ---

def percent(figures, name, *arguments):
    """By how many per cent a ratio is above 1."""
    return 100 * (VALUES[name](figures, *arguments) - 1)


VALUES = {of.__name__: of for of in (times_tbb, no_grain_times_tbb, over_serial, forks, size, rounds, instructions, compiler_version,
                                     flat_two_over_one, newer_tbb, means, kernels_in, on_two, rows, goals, measurements, order, joins, corners,
                                     deepest_deque, one_join, noise, most_noise, league, peers, talk, p99, slower_p99, handover,
                                     trees, schedules, by_fork, by_children, slower_too, slower_on_more, faster_on_more, chain, long_chain, lengths, slack, slack_of, one_join_for, form_of, flat_node, locality, adaptive, bound, asleep,
                                     slower_asleep, checked, off, late, held, percent)}


# --- the pages ---

def form(value, shown):
    """The value as the number that is shown is written."""
    if isinstance(value, str):
        return value
    if shown.lower() in (*WORDS, *ZERO):
        whole = round(value)
        word = shown.lower() if whole == 0 and shown.lower() in ZERO else WORDS[whole] if 0 <= whole < len(WORDS) else f"{whole:,}"
        return word.capitalize() if shown[0].isupper() else word
    return f"{value:,.{len(shown.partition('.')[2])}f}"


def values(of, figures):
    found = []
    for call in of.split(";"):
        name, *arguments = call.split()
        value = VALUES[name](figures, *arguments)
        found += value if isinstance(value, list) else [value]
    return found


class Wrong(Exception):
    """Numbers of a page that a person has to look at: one line for each."""


def filled(page, text, figures):
    """The text with its marked numbers written anew."""
    wrong = []

    def number(found):
        shown, of = found["shown"], found["of"]
        where = f"{page}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]}"
        try:
            said = list(dict.fromkeys(form(value, shown) for value in values(of, figures)))
        except (KeyError, IndexError, StopIteration, TypeError, ValueError) as error:
            wrong.append(f"{where}: there is no such figure ({error!r})")
            return found[0]
        if len(said) > 1:
            wrong.append(f"{where}: one number stands for {', '.join(said)}: write the sentence again")
        return f"{said[0]}<!-- = {of} -->"

    new = MARK.sub(number, text)
    if wrong:
        raise Wrong("\n".join(wrong))
    return new
