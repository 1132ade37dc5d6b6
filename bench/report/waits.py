"""How joins wait, from what bench/virtual/run.py wrote, and what programs hold in memory meanwhile, from bench/space/run.py."""

from harness.figures import side_of
from report import draw
from report.pages import words

MANY = 8  # P of the sentences and pictures
FREE_AFTER = ("even", "uneven", "heavy root")  # trees in which no work follows a join that another strand could be late for
MIRRORED = ("larger first", "larger second")
TOLD = ("continuations", "tasks", "last_leap")  # in the table
DRAWN = ("continuations", "last_leave", "tasks", "first_top", "last_leap")
BESIDE = ("tasks", "first_top", "last_leave", "first_leap", "last_leap", "oneTBB")  # whose time is told over continuations'
ORDERS = {"first": "first child first", "last": "last child first"}
JOINS = {"leave": "leaves its stack", "top": "runs others on top", "leap": "leapfrogs"}
OWN_NAMES = {"first_leave": "continuations", "last_top": "tasks"}


def milliseconds(time):
    return f"{time:.1f} ms" if time >= 1 else f"{time * 1000:.0f} us"


def in_us(told):
    number, unit = told.split()
    return float(number) * (1000 if unit == "ms" else 1)


def within(values, form):
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{least} to {most}"


def times(summary):
    return f"{summary['median']:.3f} ({summary['interval'][0]:.3f}–{summary['interval'][1]:.3f})"


def median_of(row):
    """The mean lateness of a run, of several their median; None where no join waited."""
    late = row.get("mean_late_ms")
    return late["median"] if isinstance(late, dict) else late


class Waits:
    def __init__(self, report):
        self.report = report
        self.found = {(r["shape"], r["way"], r["procs"]): r for r in report["results"]}
        self.shapes = list(dict.fromkeys(shape for shape, _, _ in self.found))
        self.procs = sorted({procs for *_, procs in self.found})
        rows, leaves = report.get("simulated", []), report["settings"]["leaves"]
        most = max((r["procs"] for r in rows), default=0)
        self.simulated = {(r["shape"], r["way"], r["procs"]): r for r in rows if r["leaves"] == leaves or r["procs"] == most}
        self.larger = {(r["shape"], r["way"], r["procs"]): r for r in rows if r["leaves"] != leaves}

    def of(self, shape, way, procs, name):
        return self.found.get((shape, way, procs), {}).get(name)

    def span(self, way, name, procs=MANY, form="{:.0f}".format):
        """The least and the greatest median over the trees."""
        return within([self.of(shape, way, procs, name)["median"] for shape in self.shapes], form)

    def told_apart(self, way, side, procs=None):
        """[(tree, P)] where it takes more time than continuations (1), or less (-1)."""
        return [(shape, p) for shape in self.shapes for p in self.procs if procs in (None, p)
                if (times := self.of(shape, way, p, "vs_continuations")) and side_of(times) == side]

    def slower(self, way, inner):
        """Where they take more time than continuations, and where less, told apart."""
        parts = [f"take {what} time than continuations in " + words([f"{shape} on {p} P ({inner(self.of(shape, way, p, 'vs_continuations'))})"
                                                                     for shape, p in told])
                 for side, what in ((1, "more"), (-1, "less")) if (told := self.told_apart(way, side))]
        return ", and ".join(parts) or "are nowhere told apart from continuations"

    def buckets(self, way, procs=MANY):
        """Of all waits, how many were late by less than 1, 10, 100 us, 1, 10 ms, and by more."""
        return [sum(column) for column in zip(*(self.of(shape, way, procs, "joins_late") for shape in self.shapes))]

    def share(self, way, begin, end=None):
        found = self.buckets(way)
        part = sum(found[begin:end]) / max(sum(found), 1)
        return f"{part:.0%}" if part == 0 or part >= 0.005 else "less than 1%"

    def latest(self, way, procs=MANY):
        """Of all rounds."""
        return milliseconds(max(of["max"] for shape in self.shapes if (of := self.of(shape, way, procs, "most_late_ms"))))

    def fewer(self, way, other):
        """The trees on MANY P in which joins wait less often by it than by the other, in every round."""
        return [shape for shape in self.shapes
                if self.of(shape, way, MANY, "waits")["max"] < self.of(shape, other, MANY, "waits")["min"]]

    def how_often(self):
        pairs = [f"{shape} {self.of(shape, 'continuations', MANY, 'waits')['median']:.0f} and "
                 f"{self.of(shape, 'tasks', MANY, 'waits')['median']:.0f}" for shape in self.shapes]
        told = [f"with {way} in {words(found)}" for way, other in (("continuations", "tasks"), ("tasks", "continuations"))
                if (found := self.fewer(way, other))]
        return (f"Of 1,000 joins on {MANY} P, so many are incomplete when their strand comes, with continuations and with tasks: {words(pairs)}. "
                + (f"In each round there are fewer {words(told)}." if told else "In no tree are there fewer by one of the two in each round."))

    def how_late(self):
        unit = self.report["settings"]["unit_us"] / 1000
        of_long = self.share("continuations", 3)
        return (f"Once its last branch is there, a strand that waited goes on after {self.span('continuations', 'mean_late_ms', form=milliseconds)} "
                f"on average with continuations, and after {self.span('tasks', 'mean_late_ms', form=milliseconds)} with tasks. Of continuations' "
                f"waits {'none ends' if of_long == '0%' else of_long + ' end'} more than 100 us after the last branch. Of tasks' waits "
                f"{self.share('tasks', 0, 2)} end within 10 us, and {self.share('tasks', 4)} after more than 1 ms. A leaf takes {unit:.2f} ms.")

    def by_order(self):
        """How time depends on the order, in trees of which one is the other's mirror image."""
        if not set(MIRRORED) <= set(self.shapes):
            return ""
        of = {(shape, way): self.of(shape, way, MANY, "vs_continuations") for shape in MIRRORED for way in ("tasks", "first_top")}
        first, second = MIRRORED
        told = (f"How much time that costs depends on the order, too: on {MANY} P, tasks and `first_top` take "
                + words([f"{times(of[shape, 'tasks'])} and {times(of[shape, 'first_top'])} in {shape}" for shape in MIRRORED]) + ".")
        if all(of[shape, slow]["median"] > of[shape, quick]["median"] for shape, slow, quick in ((first, "tasks", "first_top"), (second, "first_top", "tasks"))):
            told += " The order that leaves the larger child to thieves is the slower one."
        return told

    def more_leaves(self):
        """What the simulator says of larger trees on MANY P."""
        found = {shape: row["vs_continuations"]["median"] for (shape, way, procs), row in self.larger.items()
                 if (way, procs) == ("tasks", MANY) and shape not in FREE_AFTER}
        if not found:
            return ""
        leaves = next(iter(self.larger.values()))["leaves"]
        return (f" With {leaves // MANY} leaves a P in place of {self.report['settings']['leaves'] // MANY}, the simulator says, tasks' are "
                + words([f"{median:.2f} in {shape}" for shape, median in found.items()]) + ".")

    def sentences(self, inner):
        ours = [way for way in dict.fromkeys(way for _, way, _ in self.found) if self.of(self.shapes[0], way, MANY, "waits")]
        least = min(self.procs)
        compared = sum(bool(self.of(shape, way, p, "vs_continuations")) for shape in self.shapes for way in BESIDE for p in self.procs)
        return [
            f"1. **How often.** {self.how_often()}",
            f"2. **How late.** {self.how_late()}",
            f"3. **When that costs time.** `fj::tasks` {self.slower('tasks', inner)}.{self.more_leaves()} The first child first with the same join "
            f"(`first_top`): they {self.slower('first_top', inner)}. The last child first that leaves its stack (`last_leave`): they "
            f"{self.slower('last_leave', inner)}. Leapfrogging: the first child first (`first_leap`), they {self.slower('first_leap', inner)}; "
            f"the last (`last_leap`), they {self.slower('last_leap', inner)}. oneTBB: its tasks {self.slower('oneTBB', inner)}. These are "
            f"{compared} comparisons: a few may be told apart by chance.",
            f"4. **Order or join.** The join decides whether strands are late (the table below). {self.by_order()}",
            f"5. **On {least} P** no strand went on later than {max((self.latest(way, least) for way in ours), key=in_us)}, by any policy: all that "
            f"a waiting strand could steal belongs to the branch that it waits for."]

    def order_and_join(self):
        """(heads, rows): mean and greatest lateness by join and order."""
        def cell(order, join):
            way = OWN_NAMES.get(f"{order}_{join}", f"{order}_{join}")
            return f"{self.span(way, 'mean_late_ms', form=milliseconds)}; {self.latest(way)}"

        return ([f"mean of the trees, and the latest strand, P = {MANY}", *ORDERS.values()],
                [[f"a strand that waits {told}", *(cell(order, join) for order in ORDERS)] for join, told in JOINS.items()])

    def verdict(self):
        fewer, more = self.fewer("continuations", "tasks"), self.fewer("tasks", "continuations")
        often = ("fewer joins wait with continuations in some trees, with tasks in others" if fewer and more else
                 "fewer joins wait with continuations" if fewer else "fewer joins wait with tasks" if more else
                 "in no tree do fewer joins wait with the one in each round")
        (least, _), (_, most) = ((min(late), max(late)) for late in (
            [median_of(self.found[shape, way, MANY]) for shape in self.shapes] for way in ("tasks", "continuations")))
        return f"{often}; those that wait go on sooner with continuations." if most < least else f"{often}."

    def answer(self):
        """(sentence, heads, rows): the claim, answered on two P, on MANY and, simulated, on more; None where it was not simulated."""
        if not self.simulated:
            return None
        most = max(procs for *_, procs in self.simulated)
        columns = [(2, self.found), (MANY, self.found), (most, self.simulated)]
        slower = self.told_apart("tasks", 1, MANY)
        medians = [self.of(*key[:1], "tasks", key[1], "vs_continuations")["median"] for key in slower]
        level = [shape for shape in self.shapes if (shape, MANY) not in slower and (shape, MANY) not in self.told_apart("tasks", -1, MANY)]
        told = [f"**The answer**: {self.verdict()} Once its last branch is there, a strand goes on "
                f"after {self.span('continuations', 'mean_late_ms', form=milliseconds)} on average with continuations, and after "
                f"{self.span('tasks', 'mean_late_ms', form=milliseconds)} with tasks, on {MANY} P, with leaves of "
                f"{self.report['settings']['unit_us'] / 1000:.2f} ms."]
        if slower:
            told.append(f"That costs tasks {within(medians, '{:.2f}'.format)} times continuations' time in {words([shape for shape, _ in slower])}.")
        if level:
            told.append(f"In {words(level)} the times are not told apart.")
        least = min(self.procs)
        if not any(self.told_apart("tasks", side, least) for side in (1, -1)):
            told.append(f"On {least} P they nowhere are.")
        rows = [[shape, "nothing" if shape in FREE_AFTER else "work",
                 *(times(of[shape, "tasks", procs]["vs_continuations"]) for procs, of in columns),
                 *(" / ".join(milliseconds(late) if (late := median_of(of[shape, way, procs])) is not None else "–"
                              for way in ("continuations", "tasks")) for procs, of in columns[1:])] for shape in self.shapes]
        return (" ".join(told), ["tree", "after joins", *(f"tasks' time, {'simulated, ' if of is self.simulated else ''}P = {procs}" for procs, of in columns),
                                 *(f"lateness, continuations / tasks, P = {procs}" for procs, _ in columns[1:])], rows)

    def simulated_table(self):
        """(heads, rows): what the simulator says of the trees on so many P, beside what was measured."""
        def late(row):
            return milliseconds(median_of(row)) if row and median_of(row) is not None else "–"

        return (["tree", "P", "tasks' time: simulated / measured", "continuations' mean lateness: simulated / measured",
                 "tasks' mean lateness: simulated / measured"],
                [[shape, procs, " / ".join(times(of[shape, "tasks", procs]["vs_continuations"]) if (shape, "tasks", procs) in of else "–"
                                           for of in (self.simulated, self.found)),
                  *(" / ".join(late(of.get((shape, way, procs))) for of in (self.simulated, self.found))
                    for way in ("continuations", "tasks"))]
                 for procs in sorted({p for *_, p in self.simulated}) for shape in self.shapes])

    def table(self):
        """(heads, rows)"""
        def over(shape, way, procs):
            found = self.of(shape, way, procs, "vs_continuations")
            return times(found) if found else ""

        def each(shape, procs, name, form):
            return " / ".join(form(of["median"]) if (of := self.of(shape, way, procs, name)) else "–" for way in TOLD)

        return (["tree", "P", "waits of 1,000 forks: continuations / tasks / last leap", "mean lateness", "greatest lateness", "tasks' time",
                 *(f"{way.replace('_', ' ')}'s" for way in BESIDE[1:])],
                [[shape, procs, each(shape, procs, "waits", "{:.0f}".format), each(shape, procs, "mean_late_ms", milliseconds),
                  each(shape, procs, "most_late_ms", milliseconds),
                  *(over(shape, way, procs) for way in BESIDE)]
                 for procs in self.procs for shape in self.shapes])

    def tables(self):
        return [("Lateness of strands that waited", self.order_and_join()), ("Each tree", self.table())]

    def plots(self):
        def rows(name, ways, times=1):
            return [(shape, {way: {part: max(f[part], 1e-3) * times for part in ("median", "min", "max")} for way in ways
                             if (f := self.of(shape, way, MANY, name))}, {}) for shape in self.shapes]

        return [draw.dots("lateness", f"Lateness of joins that waited, P = {MANY}", "microseconds, mean of a run, logarithmic; less is better",
                          rows("mean_late_ms", DRAWN, 1000)),
                draw.dots("late-time", f"Time over continuations', P = {MANY}", "times continuations' time; less is better",
                          rows("vs_continuations", ("last_leave", "tasks", "first_top", "last_leap")), reference=(1, "continuations"))]


class Space:
    SHOWN = ("continuations", "tasks", "first_top", "oneTBB")

    def __init__(self, report):
        self.report = report
        self.found = {(r["shape"], r["n"], r["procs"], r["way"]): r for r in report["results"]}
        self.procs = max(r["procs"] for r in report["results"])

    def sizes(self, shape):
        return sorted({n for s, n, *_ in self.found if s == shape})

    def mib(self, shape, n, way):
        return self.found[shape, n, self.procs, way]["kib"]["median"] / 1024

    def sentences(self):
        loop, chain = self.sizes("loop")[-1], self.sizes("chain")[-1]
        alone = {(shape, n): row["kib"]["median"] for (shape, n, procs, way), row in self.found.items() if (procs, way) == (1, "continuations")}
        most = max((row["kib"]["median"] / procs / alone[shape, n], f"{shape} of {n:,} on {procs} P")
                   for (shape, n, procs, way), row in self.found.items() if way == "continuations" and procs > 1)
        over = [f"{shape} of {n:,} on {procs} P, {row['kib']['median'] / 1024:.1f} MiB where {row['bound_kib'] / 1024:.1f} are promised"
                for (shape, n, procs, way), row in self.found.items()
                if way == "continuations" and procs > 1 and row["kib"]["median"] > row["bound_kib"]]
        return [
            f"6. **Space.** A loop that forks {loop:,} children holds {self.found['loop', loop, self.procs, 'continuations']['records']:,} "
            f"record with continuations on {self.procs} P, and {self.found['loop', loop, self.procs, 'tasks']['records']:,} with tasks. It "
            f"takes {self.mib('loop', loop, 'continuations'):.1f} MiB, with tasks {self.mib('loop', loop, 'tasks'):.1f}, and by oneTBB "
            f"{self.mib('loop', loop, 'oneTBB'):.1f}. In a chain of {chain:,} joins continuations use "
            f"{self.found['chain', chain, self.procs, 'continuations']['stacks']['median']} stacks and {self.mib('chain', chain, 'continuations'):.1f} "
            f"MiB, tasks {self.found['chain', chain, self.procs, 'tasks']['stacks']['median']} stacks and {self.mib('chain', chain, 'tasks'):.1f} MiB. "
            f"The bound is P times what continuations take on one P, and 64 KiB for each stack in use. They "
            + (f"take more in {words(over)}." if over else f"keep it; without the 64 KiB they would take up to {most[0]:.2f} times as much ({most[1]}).")]

    def table(self):
        def cell(shape, n, way):
            row = self.found[shape, n, self.procs, way]
            held = f"{row['records']:,} / {row['stacks']['median']} / " if "records" in row else ""
            return held + f"{row['kib']['median'] / 1024:.1f}"

        shapes = list(dict.fromkeys(shape for shape, *_ in self.found))
        return ([f"program, P = {self.procs}", "n", *(f"{way}: {'MiB' if way == 'oneTBB' else 'records / stacks / MiB'}" for way in self.SHOWN),
                 "bound of continuations, MiB"],
                [[shape, f"{n:,}", *(cell(shape, n, way) for way in self.SHOWN),
                  f"{self.found[shape, n, self.procs, 'continuations']['bound_kib'] / 1024:.1f}"] for shape in shapes for n in self.sizes(shape)])

    def tables(self):
        return [("Memory", self.table())]

    def plots(self):
        lines = {way: [(n, self.mib("loop", n, way)) for n in self.sizes("loop")] for way in self.SHOWN}
        bound = [(n, self.found["loop", n, self.procs, "continuations"]["bound_kib"] / 1024) for n in self.sizes("loop")]
        return [draw.over("space", f"Memory of a loop that forks n children, P = {self.procs}", "MiB that came during the run", "n", lines,
                          bound, "bound")]
