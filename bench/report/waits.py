"""How joins wait, from what bench/virtual/run.py wrote, and what programs hold in memory meanwhile, from bench/space/run.py."""

from harness.figures import side_of
from report import draw
from report.pages import words

MANY = 8  # P of the sentences and pictures
FREE_AFTER = ("even", "uneven")  # trees without work after joins
TOLD = ("continuations", "tasks", "last_leap")  # in the table
DRAWN = ("continuations", "last_leave", "tasks", "first_top", "last_leap")


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
        self.simulated = {(r["shape"], r["way"], r["procs"]): r for r in report.get("simulated", [])}

    def of(self, shape, way, procs, name):
        return self.found.get((shape, way, procs), {}).get(name)

    def span(self, way, name, procs=MANY, form="{:.0f}".format):
        """The least and the greatest median over the trees."""
        return within([self.of(shape, way, procs, name)["median"] for shape in self.shapes], form)

    def slower(self, way, inner):
        """Where they take more time than continuations, and where less, told apart."""
        told = {1: [], -1: [], None: [], 0: []}
        for shape in self.shapes:
            for procs in self.procs:
                if times := self.of(shape, way, procs, "vs_continuations"):
                    told[side_of(times)].append(f"{shape} on {procs} P ({inner(times)})")
        parts = [f"take {what} time than continuations in {words(told[side])}" for side, what in ((1, "more"), (-1, "less")) if told[side]]
        return ", and ".join(parts) or "are nowhere told apart from continuations"

    def buckets(self, way, procs=MANY):
        """Of all waits, how many were late by less than 1, 10, 100 us, 1, 10 ms, and by more."""
        return [sum(column) for column in zip(*(self.of(shape, way, procs, "joins_late") for shape in self.shapes))]

    def share(self, way, begin, end=None):
        found = self.buckets(way)
        return f"{sum(found[begin:end]) / max(sum(found), 1):.0%}"

    def latest(self, way, procs=MANY):
        """Of all rounds."""
        return milliseconds(max(of["max"] for shape in self.shapes if (of := self.of(shape, way, procs, "most_late_ms"))))

    def sentences(self, inner):
        def late(way):
            return f"{self.span(way, 'mean_late_ms', form=milliseconds)} on average, and at the latest {self.latest(way)}"

        unit = self.report["settings"]["unit_us"] / 1000
        pairs = [f"{shape} {self.of(shape, 'continuations', MANY, 'waits')['median']:.0f} and "
                 f"{self.of(shape, 'tasks', MANY, 'waits')['median']:.0f}" for shape in self.shapes]
        ours = [way for way in dict.fromkeys(way for _, way, _ in self.found) if self.of(self.shapes[0], way, MANY, "waits")]
        least = min(self.procs)
        return [
            f"1. **How often.** On {MANY} P, of 1,000 joins so many are not complete when their strand comes, with continuations and with "
            f"tasks: {words(pairs)}.",
            f"2. **How late.** Once the last branch is there, such a strand goes on after {late('continuations')}, with continuations. With "
            f"tasks it goes on after {late('tasks')}. Of tasks' waits {self.share('tasks', 0, 2)} end within 10 us, and "
            f"{self.share('tasks', 4)} after more than 1 ms; of continuations' waits {self.share('continuations', 3)} after more than 100 us. A "
            f"leaf takes {unit:.2f} ms.",
            f"3. **When that costs time.** `fj::tasks` {self.slower('tasks', inner)}. The first child first with the same join "
            f"(`first_top`): they {self.slower('first_top', inner)}. The last child first that leaves its stack (`last_leave`): they "
            f"{self.slower('last_leave', inner)}. oneTBB: its ways {self.slower('oneTBB', inner)}.",
            f"4. **Order or join.** Strands that leave their stacks go on after {late('continuations')} with the first child first, and after "
            f"{late('last_leave')} with the last child first. Strands that run others on top go on after {late('first_top')}, and after "
            f"{late('tasks')}. Strands that leapfrog go on after {late('first_leap')}, and after {late('last_leap')}.",
            f"5. **On {least} P** no strand goes on later than {max((self.latest(way, least) for way in ours), key=in_us)}, by any policy."]

    def answer(self):
        """The claim, answered on two P, on MANY and, simulated, on more. Nothing where it was not simulated."""
        if not self.simulated:
            return []
        most = max(procs for *_, procs in self.simulated)
        columns = [("on 2 P", 2, self.found), (f"on {MANY} P", MANY, self.found), (f"on {most} simulated P", most, self.simulated)]
        told = []
        for what, shapes in (("Without work after joins", [s for s in self.shapes if s in FREE_AFTER]),
                             ("With it", [s for s in self.shapes if s not in FREE_AFTER])):
            parts = [f"{where} " + words([times(of[s, "tasks", procs]["vs_continuations"]) for s in shapes]) for where, procs, of in columns]
            told.append(f"{what} ({words(shapes)}) {'; '.join(parts)}.")
        late = [f"{where} {within([median_of(of[s, 'continuations', procs]) for s in self.shapes], milliseconds)} with continuations and "
                f"{within([median_of(of[s, 'tasks', procs]) for s in self.shapes], milliseconds)} with tasks" for where, procs, of in columns]
        return [f"**The answer**: time by `fj::tasks` over time by continuations. {' '.join(told)} Strands that waited went on late by, on "
                f"average, {'; '.join(late)}.", "\n"]

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
                 "first top's", "last leave's", "last leap's", "oneTBB's"],
                [[shape, procs, each(shape, procs, "waits", "{:.0f}".format), each(shape, procs, "mean_late_ms", milliseconds),
                  each(shape, procs, "most_late_ms", milliseconds),
                  *(over(shape, way, procs) for way in ("tasks", "first_top", "last_leave", "last_leap", "oneTBB"))]
                 for procs in self.procs for shape in self.shapes])

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
            f"Continuations take at most {most[0]:.2f} times as much as P times what they take on one P ({most[1]}), without the 64 KiB that each "
            f"stack may keep. " + (f"With these they take more than they promise in {words(over)}." if over else "With these they keep their bound.")]

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

    def plots(self):
        lines = {way: [(n, self.mib("loop", n, way)) for n in self.sizes("loop")] for way in self.SHOWN}
        bound = [(n, self.found["loop", n, self.procs, "continuations"]["bound_kib"] / 1024) for n in self.sizes("loop")]
        return [draw.over("space", f"Memory of a loop that forks n children, P = {self.procs}", "MiB that came during the run", "n", lines,
                          bound, "bound")]
