"""How joins wait, from what bench/virtual/run.py wrote, what programs hold in memory meanwhile, from bench/space/run.py, and what the
simulator says of many trees, from bench/trees/run.py: tables and pictures. Each table is (heads, rows)."""

import math

from harness.figures import Figure
from report import draw

MANY = 8  # P of the pictures
MOST = 64  # simulated
FREE_AFTER = ("even", "uneven", "heavy root", "chain", "mirrored chain")  # no work follows a join that another strand could be late for
WORK_AFTER = ("mergesort", "reduction", "heavy branches", "larger first", "larger second")
TREES = ("even", "uneven", "heavy root", *WORK_AFTER)
TOLD = ("continuations", "tasks", "last_leap")  # in the table
DRAWN = ("continuations", "last_leave", "tasks", "first_top", "last_leap")
BESIDE = ("tasks", "first_top", "last_leave", "first_leap", "last_leap", "oneTBB")  # whose time is told over continuations'
ORDERS = {"first": "first child first", "last": "last child first"}
JOINS = {"leave": "leaves its stack", "top": "runs others on top", "leap": "leapfrogs"}
OWN_NAMES = {"first_leave": "continuations", "last_top": "tasks"}
PAIR = ("continuations", "tasks")
FORK_US = (1, 3, 10, 100, math.inf)  # work for each fork, under which random trees stand together


def milliseconds(time):
    return f"{time:.1f} ms" if time >= 1 else f"{time * 1000:.0f} us"


def length(us):
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} us"


def named(way):
    """A policy, as a table of policies calls it."""
    order, _, join = next((made for made, own in OWN_NAMES.items() if own == way), way).partition("_")
    return f"{ORDERS[order]}, {JOINS[join]} (`{way}`)"


def spread(row):
    """Of one ratio a tree."""
    return [times(row), "{:.3f}–{:.3f}".format(*row["quartiles"]), f"{row['min']:.3f}", f"{row['max']:.3f}"]


SPREAD = ["median (interval)", "middle half of the trees", "least", "greatest"]


def within(values, form):
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{least} to {most}"


def times(summary):
    return f"{summary['median']:.3f} ({summary['interval'][0]:.3f}–{summary['interval'][1]:.3f})"


def median_of(row):
    """The mean lateness of a run, of several their median; None where no join waited."""
    late = row.get("mean_late_ms")
    return late["median"] if isinstance(late, dict) else late


def pair(form, values):
    return " / ".join(form.format(value) for value in values)


class Waits:
    def __init__(self, report):
        self.report = report
        self.found = {(r["shape"], r["way"], r["procs"]): r for r in report["results"]}
        self.shapes = list(dict.fromkeys(shape for shape, _, _ in self.found))
        self.procs = sorted({procs for *_, procs in self.found})
        leaves = report["settings"]["leaves"]
        self.simulated = {(r["shape"], r["way"], r["procs"]): r for r in report.get("simulated", []) if r["leaves"] == leaves}

    def of(self, shape, way, procs, name):
        return self.found.get((shape, way, procs), {}).get(name)

    def order_and_join(self):
        """Mean and greatest lateness by join and order."""
        def cell(order, join):
            way = OWN_NAMES.get(f"{order}_{join}", f"{order}_{join}")
            means, latest = ([of[part] for shape in self.shapes if (of := self.of(shape, way, MANY, name))]
                             for name, part in (("mean_late_ms", "median"), ("most_late_ms", "max")))
            return f"{within(means, milliseconds)}; {milliseconds(max(latest))}"

        return ([f"mean of the trees, and the latest strand, P = {MANY}", *ORDERS.values()],
                [[f"a strand that waits {told}", *(cell(order, join) for order in ORDERS)] for join, told in JOINS.items()])

    def simulated_table(self):
        """What the simulator says of the trees on so many P, beside what was measured."""
        def late(row):
            return milliseconds(median_of(row)) if row and median_of(row) is not None else "–"

        return (["tree", "P", "tasks' time over continuations': simulated / measured", "continuations' mean lateness: simulated / measured",
                 "tasks' mean lateness: simulated / measured"],
                [[shape, procs, " / ".join(times(of[shape, "tasks", procs]["vs_continuations"]) if (shape, "tasks", procs) in of else "–"
                                           for of in (self.simulated, self.found)),
                  *(" / ".join(late(of.get((shape, way, procs))) for of in (self.simulated, self.found)) for way in PAIR)]
                 for procs in self.procs for shape in self.shapes if (shape, "tasks", procs) in self.simulated])

    def table(self):
        def over(shape, way, procs):
            found = self.of(shape, way, procs, "vs_continuations")
            return times(found) if found else ""

        def each(shape, procs, name, form):
            return " / ".join(form(of["median"]) if (of := self.of(shape, way, procs, name)) else "–" for way in TOLD)

        same = " / ".join(TOLD)
        return (["tree", "P", f"waits for each 1,000 forks: {same}", f"mean lateness: {same}", f"greatest lateness: {same}",
                 *(f"{way}' time over continuations'" if way == "tasks" else f"`{way}`: the same" for way in BESIDE)],
                [[shape, procs, each(shape, procs, "waits", "{:.0f}".format), each(shape, procs, "mean_late_ms", milliseconds),
                  each(shape, procs, "most_late_ms", milliseconds),
                  *(over(shape, way, procs) for way in BESIDE)]
                 for procs in self.procs for shape in self.shapes])

    def groups(self):
        """Several children a node, by forks of many closures, by loops and by scopes."""
        written = {"fork_join": PAIR, "fork_each": ("loop", "loop_tasks"), "scope": ("scope", "scope_tasks")}
        rows = []
        for shape in self.shapes:
            for how, ways in written.items():
                found = [self.found.get((shape, way, MANY)) for way in ways]
                if (shape, "loop", MANY) in self.found and all(found):
                    rows.append([shape, how, *(pair("{:.0f}", [of[name]["median"] for of in found]) for name in ("waits", "steals", "stacks_peak")),
                                 *(times(of["vs_continuations"]) for of in found)])
        return (["tree", "written as", f"waits for each 1,000 forks of two, P = {MANY}: continuations / tasks", "thefts", "stacks at most",
                 "time by continuations", "time by tasks"], rows)

    def short_table(self):
        """Leaves that are too short to sleep, on two P."""
        found = {(r["shape"], r["leaf_us"]): r for r in self.report.get("short", []) if r["way"] == "tasks"}
        lengths = list(dict.fromkeys(us for _, us in found))
        return (["tree, P = 2", *(f"tasks' time, leaves of {us:g} us that compute" for us in lengths)],
                [[shape, *(times(found[shape, us]["vs_continuations"]) for us in lengths)] for shape in dict.fromkeys(s for s, _ in found)])

    def tables(self):
        """With captions, for the report."""
        return [("Lateness by order and join", self.order_and_join()), ("Waits and time", self.table()),
                ("Several children a node", self.groups()), ("Simulated and measured", self.simulated_table())]

    def plots(self):
        def rows(name, ways, times=1):
            return [(shape, {way: {part: max(f[part], 1e-3) * times for part in ("median", "min", "max")} for way in ways
                             if (f := self.of(shape, way, MANY, name))}, {}) for shape in self.shapes]

        return [draw.dots("lateness", f"Lateness of joins that waited, P = {MANY}", "microseconds, mean of a run, logarithmic; less is better",
                          rows("mean_late_ms", DRAWN, 1000)),
                draw.dots("late-time", f"Time over continuations', P = {MANY}", "times continuations' time; less is better",
                          rows("vs_continuations", ("last_leave", "tasks", "first_top", "last_leap")), reference=(1, "continuations"))]


class Space:
    SHOWN = ("continuations", "tasks", "first_top", "last_leave", "oneTBB")

    def __init__(self, report):
        self.report = report
        self.found = {(r["shape"], r["leaf_us"], r["n"], r["procs"], r["way"]): r for r in report["results"]}
        self.procs = max(r["procs"] for r in report["results"])

    def programs(self):
        """[(shape, us of a leaf, n)]"""
        return list(dict.fromkeys(key[:3] for key in self.found))

    def mib(self, shape, leaf_us, n, way, procs=None):
        return self.found[shape, leaf_us, n, procs or self.procs, way]["kib"]["median"] / 1024

    def table(self):
        def cell(program, way):
            row = self.found[(*program, self.procs, way)]
            held = f"{row['records']:,} / {row['stacks']['median']:,} / " if "records" in row else ""
            return held + f"{row['kib']['median'] / 1024:.1f} ({row['over_serial']:.2f})"

        known = [way for way in self.SHOWN if any(key[-1] == way for key in self.found)]
        return ([f"program, P = {self.procs}", "a leaf", "n", "continuations on one P, MiB",
                 *(f"{way}: {'' if way == 'oneTBB' else 'records / stacks / '}MiB (over {self.procs} times one P)" for way in known)],
                [[of[0], length(of[1]), f"{of[2]:,}", f"{self.mib(*of, 'continuations', 1):.1f}", *(cell(of, way) for way in known)]
                 for of in self.programs()])

    def tables(self):
        return [("Memory", self.table())]

    def plots(self):
        def lines(shape, leaf_us):
            sizes = [n for s, us, n in self.programs() if (s, us) == (shape, leaf_us)]
            if not sizes:
                return None
            drawn = {way: [(n, self.mib(shape, leaf_us, n, way)) for n in sizes] for way in self.SHOWN
                     if (shape, leaf_us, sizes[0], self.procs, way) in self.found}
            return drawn, [(n, self.procs * self.mib(shape, leaf_us, n, "continuations", 1)) for n in sizes]

        called = f"{self.procs} times continuations' on one P"
        return [draw.over(name, f"Memory of {what}, P = {self.procs}", "MiB that came during the run", "n", *drawn, called)
                for name, what, of in (("space", "a loop that forks n children", ("loop", 0.1)),
                                       ("space-chain", "a chain of n leaves of 20 us", ("chain", 20))) if (drawn := lines(*of))]


class Adaptive:
    """The policy that adapts, beside those whose order is fixed; and loops and scopes as forks."""

    FORMS = ("even", "loop", "scope")

    def __init__(self, report):
        self.report = report
        self.shapes = {(row["shape"], row["leaf_us"]): row for row in report["shapes"]}
        self.lengths = list(dict.fromkeys(us for _, us in self.shapes))

    def table(self, heads, cell, shapes):
        leaves = {us: row["leaves"] for (_, us), row in self.shapes.items()}
        return ([heads, *(f"{leaves[us]:,} leaves of {length(us)}" for us in self.lengths)],
                [[shape, *(cell(self.shapes[shape, us]) for us in self.lengths)] for shape in shapes])

    def times(self):
        return self.table(f"P = {MANY}: time over continuations'; over the fastest; stacks", lambda row: f"{row['adaptive']['times']['median']:.2f}; {row['over_fastest']:.2f}; {row['adaptive']['peak_stacks']:,}",
                          dict.fromkeys(shape for shape, _ in self.shapes if shape not in self.FORMS[1:]))

    def distribution(self):
        return ([f"{self.report['settings']['trees']} random trees, P = {MANY}: the adaptive policy's time over that of", *SPREAD,
                 "trees in which it is slower by over 2 %", "faster by over 2 %"],
                [[name.removeprefix("over_").replace("fastest", "the fastest of the three"), *spread(row), row["slower"], row["faster"]]
                 for name, row in self.report["distributions"].items()])

    def of_fastest(self):
        """What chance does to the fastest of three."""
        return (["time over that of the fastest of the three", *SPREAD],
                [[named(way), *spread(row)] for way, row in self.report["fixed_over_fastest"].items()])

    def forms(self):
        return self.table(f"P = {MANY}: tasks' time; stacks, continuations / tasks", lambda row: f"{row['tasks']['times']['median']:.2f}; {pair('{:,}', [row[way]['peak_stacks'] for way in PAIR])}",
                          self.FORMS)


class Flat:
    """Nodes with many leaves."""

    def __init__(self, report):
        self.report = report
        self.found = {(row["leaves"], row["nodes"], row["leaf_us"], row["procs"]): row for row in report["flat"]}

    def table(self):
        return (["program", "a leaf", "P", "speed-up: continuations / tasks", "tasks' time", "`last_leave`", "continuations, forks of two: a leaf and the rest",
                 "continuations, forks of two: halves", "thefts: continuations / tasks"],
                [[f"{nodes} node{'s' * (nodes > 1)} of {leaves:,} leaves", length(us), procs,
                  pair("{:.2f}", [row[way]["speedup"] for way in PAIR]), times(row["tasks"]["times"]),
                  *(f"{row[way]['times']['median']:.3f}" for way in ("last_leave", "nested", "halves")),
                  pair("{:,}", [row[way]["steals"] for way in PAIR])]
                 for (leaves, nodes, us, procs), row in self.found.items()])


class Locality:
    """What a theft moves, on two Ps."""

    KINDS = {"caller": "the caller", "child": "each child"}

    def __init__(self, report):
        self.report = report
        self.found = {(row["kind"], row["bytes"]): row for row in report["results"] if row["procs"] == 2}

    def table(self):
        return (["the data are of", "bytes", "continuations, ms", "tasks' time over continuations'", "last child first, leaves its stack (`last_leave`)",
                 "continuations once more", "thefts in 64 forks, continuations / tasks"],
                [[self.KINDS[kind], f"{size:,}", f"{Figure(row['ns']['continuations']).median / 1e6:.2f}",
                  *(times(row["times"][way]) for way in ("tasks", "last_leave", "again")),
                  pair("{:.0f}", [row["thefts"][way] for way in PAIR])] for (kind, size), row in self.found.items()])


class Trees:
    def __init__(self, report):
        self.report = report
        self.settings = report["settings"]

    def distribution(self, way="tasks"):
        """The headline: one ratio a tree."""
        rows = [row for row in self.report["distributions"] if row["way"] == way]
        return ([f"{self.settings['trees']} random trees: {way}' time over continuations'", *SPREAD, f"trees in which {way} are slower by over 2 %",
                 "faster by over 2 %"],
                [[f"P = {row['procs']}", *spread(row), row["slower"], row["faster"]] for row in rows])

    def others(self):
        """The same of the other policies, on MANY."""
        return ([f"{self.settings['trees']} random trees, P = {MANY}: time over continuations'", *SPREAD],
                [[named(row["way"]), *spread(row)] for row in self.report["distributions"] if row["procs"] == MANY])

    def band(self, least_us, under_us):
        """The trees with so much work for each fork."""
        return [tree for tree in self.report["trees"] if least_us <= tree["work_ns"] / 1000 / tree["forks"] < under_us]

    def ratios(self, procs, least_us=0, under_us=math.inf):
        """Tasks' time over continuations' of each."""
        return [ratio for tree in self.band(least_us, under_us) for way, p, ratio in tree["ratios"] if (way, p) == ("tasks", procs)]

    def speedups(self, procs, least_us=0, under_us=math.inf):
        """How many times as fast as the serial program each is with the faster of the two policies."""
        return [max(speedup for _, p, speedup in tree["speedups"] if p == procs) for tree in self.band(least_us, under_us)]

    def of_children(self, procs, which, way="tasks"):
        """A policy's time over continuations' of each tree of two branches at most (`two`; `after`: with work after joins), or of `more`."""
        is_one = {"two": lambda tree: tree["most_children"] == 2, "after": lambda tree: tree["most_children"] == 2 and tree["works_after"],
                  "more": lambda tree: tree["most_children"] > 2}[which]
        return [ratio for tree in self.report["trees"] if is_one(tree) for w, p, ratio in tree["ratios"] if (w, p) == (way, procs)]

    def by_children(self):
        """The headline by the most children that a node may have."""
        rows = []
        for which, name in (("two", "two"), ("after", "two, with work after joins"), ("more", "4, 8 or 64")):
            on_many = [Figure(self.of_children(MANY, which, way)) for way in ("tasks", "last_leave", "first_top")]
            rows.append([name, len(on_many[0].values), *(times(of.summary()) for of in (*on_many, Figure(self.of_children(MOST, which))))])
        return (["branches of a node", "trees", *(f"{way} time over continuations', P = {MANY}: median (interval)"
                                                  for way in ("tasks'", "`last_leave`'s", "`first_top`'s")),
                 f"tasks', P = {MOST}"], rows)

    def by_fork(self):
        """The headline by the work for each fork."""
        rows = []
        for least, under in zip((0, *FORK_US), FORK_US):
            name = f"{length(least)} and more" if under == math.inf else f"under {length(under)}" if least == 0 else f"{length(least)}, under {length(under)}"
            found = [Figure(self.ratios(procs, least, under)) for procs in (MANY, MOST)]
            if all(found):
                gains = [self.speedups(procs, least, under) for procs in (MANY, MOST)]
                rows.append([name, len(found[0].values), *(times(of.summary()) for of in found), *(f"{Figure(of).median:.1f}" for of in gains),
                             sum(more < few for few, more in zip(*gains)), sum(gain < 1 for gain in gains[1])])
        return (["work for each fork", "trees", *(f"tasks' time over continuations', P = {procs}: median (interval)" for procs in (MANY, MOST)),
                 *(f"speed-up over the serial program by the faster policy, P = {procs}: median" for procs in (MANY, MOST)),
                 f"trees that are slower on {MOST} Ps than on {MANY}, by the faster policy of each", f"slower on {MOST} than the serial program"], rows)

    def by_work(self):
        """The headline by the work of each of MOST."""
        def named(row):
            if row["under_us"] is None:
                return f"{length(row['least_us'])} and more"
            return f"under {length(row['under_us'])}" if row["least_us"] == 0 else f"{length(row['least_us'])}, under {length(row['under_us'])}"

        return (["work of a tree for each of 64 Ps", "trees", f"tasks' time over continuations', P = {MOST}: median (interval)", "least", "greatest"],
                [[named(row), row["trees"], times(row), f"{row['min']:.3f}", f"{row['max']:.3f}"] for row in self.report["by_work"]])

    def slack(self):
        """The curve over the leaves of each P."""
        found = {(row["shape"], row["leaves"] // row["procs"]): row["times"] for row in self.report["slack"]}
        steps = list(dict.fromkeys(slack for _, slack in found))
        return ([f"tree, P = {MANY}", "after joins", *(f"{slack} leaves for each P" for slack in steps)],
                [[shape, "nothing" if shape in FREE_AFTER else "work", *(times(found[shape, slack]) for slack in steps)]
                 for shape in dict.fromkeys(shape for shape, _ in found)])

    def lengths(self):
        """By the length of a leaf: time, thefts and stacks."""
        found = {(row["shape"], row["procs"], row["leaf_us"]): row for row in self.report["lengths"]}
        lengths = list(dict.fromkeys(us for *_, us in found))
        sizes = {us: next(row["leaves"] for key, row in found.items() if key[2] == us) for us in lengths}

        def cell(row):
            return "; ".join([f"{row['times']['median']:.2f}", *(pair(form, [row[way][name] for way in PAIR])
                                                               for form, name in (("{:.1f}", "speedup"), ("{:,}", "peak_stacks")))])

        return (["tasks' time; speed-up, continuations / tasks; stacks, continuations / tasks", "P", *(f"{sizes[us]:,} leaves of {length(us)}" for us in lengths)],
                [[shape, procs, *(cell(found[shape, procs, us]) for us in lengths)]
                 for shape, procs in dict.fromkeys(key[:2] for key in found)])

    def long(self):
        """Chains on more P."""
        return (["tree", "P", "leaves", "tasks' time", "speed-up: continuations / tasks", "stacks at most: continuations / tasks"],
                [[row["shape"], row["procs"], f"{row['leaves']:,} of {length(row['leaf_us'])}", times(row["times"]),
                  *(pair(form, [row[way][name] for way in PAIR]) for form, name in (("{:.1f}", "speedup"), ("{:,}", "peak_stacks")))]
                 for row in self.report["long"]])

    def children(self):
        rows = []
        for row in self.report["children"]:
            counts = [" / ".join(f"{row[by][name]:,}" for by in ("joined", "nested", "tasks")) for name in ("join_waits", "steals", "peak_stacks")]
            rows.append([row["children"], length(row["leaf_us"]), *counts, f"{row['nested_time']:.3f}", f"{row['tasks_time']:.3f}"])
        return ([f"children of a node, P = {MANY}", "a leaf", "waits: one join / nested forks of two / tasks", "thefts: the same three",
                 "stacks at most: the same three", "nested forks' time over one join's", "tasks' time over one join's"], rows)

    def bounds(self):
        """The greatest of all trees and P of what each bound is about."""
        heads = {"time": "(T_P − T_1 / P) / burdened T_inf", "thefts": "thefts / (P · forks in a chain)", "deviations": "deviations / theft",
                 "frames": "frames / (P · S_1)", "stacks": "stacks / (P · depth)", "idle_us": "a strand that could go on waited, us"}
        return ([f"greatest of {self.settings['trees']} trees on 2 and 8 Ps, continuations and tasks also on 64", *heads.values()],
                [[f"`{row['way']}`", *(f"{row[name]['value']:,.2f}" for name in heads)] for row in self.report["worst"]])

    def tables(self):
        return [("Random trees", self.distribution()), ("Random trees, by work for each fork", self.by_fork()),
                ("Random trees, by work for each P", self.by_work()), ("Random trees, the other policies", self.others()), ("Slack", self.slack()),
                ("Random trees, by branches of a node", self.by_children()), ("Length of leaves", self.lengths()), ("Chains on more Ps", self.long()), ("Number of children", self.children()), ("Bounds", self.bounds())]

    def plots(self):
        lines = {f"{procs} Ps": sorted(self.ratios(procs)) for procs in (*self.settings["procs"], MOST)}
        trees = self.settings["trees"]
        return [draw.ranks("trees", f"Tasks' time over continuations', {trees} random trees", "simulated; the trees ordered by that ratio",
                           f"the {trees} trees, in order, for each number of Ps", "times continuations' time", lines, "equal")]
