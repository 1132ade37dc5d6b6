"""The sentences of the page "Tasks against continuations", made from the figures, so that they are true of any measurement."""

import re

from markupsafe import Markup, escape

from harness.tables import short

from report import axes
from report.data import CLEAR, COUNTERS
from report.pages import NONE, Table, mib, render, spread, value, words

HEADS = {"steals": "steals", "suspensions": "suspensions", "join_waits": "join waits", "deepest_deque": "deepest deque",
         "stacks_peak": "stacks at most"}
PAIR = ("continuations", "tasks")
STARTS = {False: "asleep", True: "awake"}  # the other workers when the job starts
SIMULATED = (64, 1024, 4096)  # P with rows of their own


class Comparison:
    def __init__(self, data):
        self.data = data

    def pairs(self, take):
        """[(problem, continuations' figure, tasks' figure)] where both are known."""
        found = [(problem, *(take(problem, way) for way in PAIR)) for problem in self.data.problems]
        return [(problem, ours, tasks) for problem, ours, tasks in found if ours is not None and tasks is not None]

    def counts(self, name, procs):
        return self.pairs(lambda problem, way: self.data.counter(problem, way, procs, name))

    def names(self, problems):
        return words([self.data.name(p) for p in problems])

    def more_often(self, found, what):
        """Says which way has more of it, by problem."""
        more = {"tasks": [], "continuations": [], "as many": []}
        for problem, ours, tasks in found:
            more["continuations" if ours > tasks else "tasks" if tasks > ours else "as many"].append(problem)
        said = {"tasks": f"tasks have more {what} in", "continuations": "continuations have more in",
                "as many": "both have as many in"}
        told = "; ".join(f"{said[way]} {self.names(problems)}" for way, problems in more.items() if problems)
        return told + "." if told else ""

    def faster_in(self, by):
        """by: {way, or what Data.faster says instead: problems}"""
        said = {"continuations": "continuations are faster in", "tasks": "tasks are faster in",
                "not told apart": "not told apart in", "too few rounds": "too few rounds to tell in"}
        return "; ".join(f"{said[way]} {self.names(by[way])}" for way in said if by.get(way))

    def verdicts(self):
        """[(where, text)], where both were measured."""
        found = []
        for compiler, of in self.data.each():
            for procs in of.procs:
                by = {}
                for problem in of.problems:
                    by.setdefault(of.faster(problem, procs), []).append(problem)
                if told := self.faster_in(by):
                    found.append((", ".join(filter(None, (compiler, f"P = {procs}"))), told))
        return found

    def ratios(self, procs):
        """[(problem, tasks' time over continuations')]"""
        return [(p, f.median) for p in self.data.problems if (f := self.data.tasks_over_continuations(p, procs))]

    def tasks_win(self):
        return [(problem, procs, times) for procs in self.data.procs for problem, times in self.ratios(procs)
                if self.data.faster(problem, procs) == "tasks"]

    def deepest_is_real(self):
        return all("deepest_deque" in self.data.once(p, way, 1) for p, *_ in self.counts("deepest_deque", 1) for way in PAIR)

    def deepest(self):
        """The tree that makes tasks' stacks grow most: T3L, else T3, else the problem that grew most."""
        data = self.data
        for label in ("T3L", "T3"):
            for problem in data.problems:
                if data.result(problem, "tasks", data.most).get("label") == label:
                    return problem
        grown = [(g, p) for p in data.problems if (g := data.growth(p, "tasks", data.most))]
        return max(grown)[1] if grown else None

    def grown(self, problem):
        """[(way, P, bytes)]: the memory that came while it ran."""
        return [(way, p, growth) for way in PAIR for p in sorted({1, self.data.most})
                if (growth := self.data.growth(problem, way, p)) is not None]

    def peaks(self):
        return self.pairs(lambda problem, way: self.data.growth(problem, way, self.data.most))

    def peaks_told(self):
        by = {"less in": [], "more in": [], "about as much in": []}
        for p, ours, tasks in self.peaks():
            by["less in" if ours * (1 + CLEAR) < tasks else "more in" if ours > tasks * (1 + CLEAR)
               else "about as much in"].append(p)
        return ", ".join(f"{what} {self.names(problems)}" for what, problems in by.items() if problems)

    def over_bound(self):
        """The names of problems in which continuations exceeded the bound; None if there is no bound."""
        bounds = [(p, ours, self.data.bound(p, "continuations", self.data.most)) for p, ours, _ in self.peaks()]
        if all(bound is None for *_, bound in bounds):
            return None
        return self.names([p for p, ours, bound in bounds if bound is not None and ours > bound])

    def simulated_pairs(self):
        """[(problem, P, continuations' run, tasks' run)]"""
        for problem, run in self.data.simulated.items():
            for procs in sorted({r["procs"] for r in run["runs"]}):
                for awake in (False, True):
                    ours, tasks = (self.data.simulated_run(problem, way, procs, awake) for way in PAIR)
                    if ours and tasks:
                        yield problem, procs, awake, ours, tasks

    def simulated_verdicts(self):
        """[(P, how the workers start, text)]"""
        by = {}
        for problem, procs, awake, ours, tasks in self.simulated_pairs():
            times = tasks["time_ns"] / ours["time_ns"]
            slowest = {of["policy"]: of.get("greatest_time_ns", of["time_ns"]) for of in (ours, tasks)}
            quickest = {of["policy"]: of.get("least_time_ns", of["time_ns"]) for of in (ours, tasks)}
            way = "not told apart"  # also if the seeds disagree
            if times > 1 + CLEAR and slowest["continuations"] < quickest["tasks"]:
                way = "continuations"
            elif times < 1 / (1 + CLEAR) and slowest["tasks"] < quickest["continuations"]:
                way = "tasks"
            by.setdefault((procs, awake), {}).setdefault(way, []).append(problem)
        return [(procs, STARTS[awake], self.faster_in(found)) for (procs, awake), found in sorted(by.items()) if procs > 1]


def time(data):
    rows = []
    for compiler, of in data.each():
        for problem in of.problems:
            for procs in of.procs:
                if figure := of.tasks_over_continuations(problem, procs):
                    rows.append([of.full_name(problem), value(procs), compiler or NONE,
                                 *(value(of.result(problem, way, procs)["median_ms"]) for way in PAIR),
                                 spread(figure.summary()), value(len(figure.values)),
                                 of.faster(problem, procs)])
    return Table("Time by tasks and by continuations", ["kernel", "P", "compiler", "continuations, ms", "tasks, ms",
                                                        "tasks over continuations (least…most)", "n", "faster"], rows)


def counters(data):
    others = [name for name in COUNTERS if name != "deepest_deque"]
    rows = []
    for problem in data.problems:
        for way in PAIR:
            row = [*(value(data.counter(problem, way, data.most, name)) for name in others),
                   value(data.counter(problem, way, 1, "deepest_deque"))]
            if set(row) != {NONE}:
                rows.append([data.full_name(problem), way, *row])
    heads = [f"{HEADS[name]}, P = {data.most}" for name in others] + ["deepest deque, P = 1"]
    return Table("Counters of one run in a process of its own", ["kernel", "way", *heads], rows, left=2)


def memory(data):
    procs = data.most
    known = Comparison(data).pairs(lambda problem, way: data.growth(problem, way, procs))

    def times_serial(problem):
        serial = data.growth(problem, "serial", 1)
        return mib(None if serial is None else procs * serial)

    return Table("Memory, in MiB", ["kernel", "way", "came while it ran, P = 1", f"came while it ran, P = {procs}",
                                    f"{procs} times the serial program's", f"bound, P = {procs}", f"peak of the process, P = {procs}"],
                 [[data.full_name(problem), way, mib(data.growth(problem, way, 1)), mib(data.growth(problem, way, procs)),
                   times_serial(problem), mib(data.bound(problem, way, procs)), mib(data.peak(problem, way, procs))]
                  for problem, *_ in known for way in PAIR], left=2)


def many(data):
    heads = [f"{name}, {way}" for name in ("steals", "waits", "stacks") for way in PAIR]
    return Table("Simulated", ["kernel", "P", "workers start", *(f"speed-up over serial, {way}" for way in PAIR),
                               "tasks' time over continuations'", *heads],
                 [[data.full_name(problem), value(procs), STARTS[awake], value(ours["speedup"]), value(tasks["speedup"]),
                   value(tasks["time_ns"] / ours["time_ns"]),
                   *(value(r[name]) for name in ("steals", "join_waits", "peak_stacks") for r in (ours, tasks))]
                  for problem, procs, awake, ours, tasks in Comparison(data).simulated_pairs() if procs in SIMULATED])


def answer(waits, space):
    """[(head, text)], the sentences of WAITING in their order."""
    def inner(summary):
        return f"{short(summary['median'])}; {'–'.join(map(short, summary['interval']))}"

    lines = [*(waits.answer() or ())[:1], *waits.sentences(inner), *space.sentences()]
    heads_and_texts = (line.split("**", 2)[1:] for line in lines)
    return [(head.rstrip("."), with_code(text.lstrip(": "))) for head, text in heads_and_texts]


def with_code(text):
    """A sentence of Markdown, with a capital, as HTML."""
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", str(escape(text[:1].upper() + text[1:]))))


def comparison_page(data, made, links, policies=None, waits=None):
    """policies: the Data of a measurement of all orders and joins, if there was one of its own; waits: Waits and Space."""
    crossed = policies or data
    measured = list(dict.fromkeys(of.report["environment"].get("commit") or "unknown" for of in waits or ()))
    return render("comparison.html", data=data, made=made, pages=links, it=Comparison(data),
                  axes=axes.table(crossed), told=axes.sentences(crossed), complete=axes.complete(crossed), ALIKE=axes.ALIKE,
                  crossed_counters=axes.counters(crossed), crossed=crossed,
                  answer=answer(*waits) if waits else [], answered=measured, pictures=[p for of in waits or () for p in of.plots()],
                  **{of.__name__: of(data) for of in (time, counters, memory, many)})
