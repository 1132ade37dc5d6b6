"""How joins wait, from what bench/virtual/run.py wrote, and what programs hold in memory meanwhile, from bench/space/run.py."""

from harness.figures import side_of
from report import draw
from report.pages import words

MANY = 8  # P of the sentences and pictures
TOLD = ("continuations", "tasks", "last_leap")  # in the table
DRAWN = ("continuations", "last_leave", "tasks", "first_top", "last_leap")


def milliseconds(time):
    return f"{time:.1f} ms" if time >= 1 else f"{time * 1000:.0f} us"


def within(values, form):
    least, most = form(min(values)), form(max(values))
    return least if least == most else f"{least} to {most}"


class Waits:
    def __init__(self, report):
        self.report = report
        self.found = {(r["shape"], r["way"], r["procs"]): r for r in report["results"]}
        self.shapes = list(dict.fromkeys(shape for shape, _, _ in self.found))
        self.procs = sorted({procs for *_, procs in self.found})

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
                times = self.of(shape, way, procs, "vs_continuations")
                told[side_of(times)].append(f"{shape} on {procs} P ({inner(times)})")
        parts = [f"take {what} time than continuations in {words(told[side])}" for side, what in ((1, "more"), (-1, "less")) if told[side]]
        return ", and ".join(parts) or "are nowhere told apart from continuations"

    def sentences(self, inner):
        def late(way):
            return (f"{self.span(way, 'mean_late_ms', form=milliseconds)} late on average, at most "
                    f"{self.span(way, 'most_late_ms', form=milliseconds)}")

        unit = self.report["settings"]["unit_us"] / 1000
        return [
            f"1. **How often.** On {MANY} P, at {self.span('continuations', 'waits')} of 1,000 forks the join is not complete when the "
            f"strand comes, with tasks at {self.span('tasks', 'waits')}.",
            f"2. **How long.** Once its last branch is there, such a strand goes on {late('continuations')}, with continuations; with tasks "
            f"{late('tasks')}. A leaf takes {unit:.2f} ms.",
            f"3. **When that costs time.** Tasks {self.slower('tasks', inner)}. All other trees and P are not told apart.",
            f"4. **Order or join.** With the last child first, strands that leave their stacks go on {late('last_leave')}; with the first "
            f"child first, strands that run others on top {late('first_top')}. Strands that leapfrog go on {late('last_leap')}; in time they "
            f"{self.slower('last_leap', inner)}.",
            f"5. **What a thief takes.** On two P the longest stolen branch lasts for "
            f"{self.span('continuations', 'largest_stolen', 2, '{:.0%}'.format)} of the run with continuations, with tasks for "
            f"{self.span('tasks', 'largest_stolen', 2, '{:.0%}'.format)}, its waits included."]

    def table(self):
        """(heads, rows)"""
        def times(shape, way, procs):
            found = self.of(shape, way, procs, "vs_continuations")
            return f"{found['median']:.3f} ({found['interval'][0]:.3f}–{found['interval'][1]:.3f})" if found else ""

        def each(shape, procs, name, form):
            return " / ".join(form(self.of(shape, way, procs, name)["median"]) for way in TOLD)

        return (["tree", "P", "waits of 1,000 forks: continuations / tasks / last leap", "mean lateness", "greatest lateness", "tasks' time",
                 "last leave's", "last leap's", "oneTBB's"],
                [[shape, procs, each(shape, procs, "waits", "{:.0f}".format), each(shape, procs, "mean_late_ms", milliseconds),
                  each(shape, procs, "most_late_ms", milliseconds),
                  *(times(shape, way, procs) for way in ("tasks", "last_leave", "last_leap", "oneTBB"))]
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
        over = [f"{shape} of {n:,} on {procs} P, {row['kib']['median'] / 1024:.1f} MiB where {row['bound_kib'] / 1024:.1f} are promised"
                for (shape, n, procs, way), row in self.found.items()
                if way == "continuations" and procs > 1 and row["kib"]["median"] > row["bound_kib"]]
        return [
            f"6. **Space.** A loop that forks {loop:,} children holds {self.found['loop', loop, self.procs, 'continuations']['records']:,} "
            f"record with continuations, {self.found['loop', loop, self.procs, 'tasks']['records']:,} with tasks; it takes "
            f"{self.mib('loop', loop, 'continuations'):.1f} MiB on {self.procs} P, with tasks {self.mib('loop', loop, 'tasks'):.1f}, and by oneTBB "
            f"{self.mib('loop', loop, 'oneTBB'):.1f}. Along a chain of {chain:,} joins it is the stacks: "
            f"{self.found['chain', chain, self.procs, 'continuations']['stacks']['median']} with continuations, "
            f"{self.found['chain', chain, self.procs, 'tasks']['stacks']['median']} with tasks, "
            f"{self.mib('chain', chain, 'continuations'):.1f} and {self.mib('chain', chain, 'tasks'):.1f} MiB. "
            + (f"Continuations took more than they promise in {words(over)}." if over else "Continuations kept their bound in all of them.")]

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
