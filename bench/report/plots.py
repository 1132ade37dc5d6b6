"""The pictures of the report, each with the name of its file."""

import re

from report import draw
from report.data import COUNTERS, GREEDY, OURS

MIB = 2**20
PAIR = ("continuations", "tasks")
SIZES = 5  # from so many on they make a curve


def exact(number):
    return {"median": number, "min": number, "max": number}


def rows(data, name, procs, wanted=None):
    """oneTBB and OpenMP each have one place in a row, that of their fastest way."""
    found = [(problem, data.best(figures, problem, procs)) for problem, figures in data.figures(name, procs)]
    return [(data.name(problem), {way: f for way, f in figures.items() if not wanted or way in wanted}, {})
            for problem, figures in found]


def lines(data, points, name):
    """A curve for each way: {way: [(x, figure)]}. points: [(x, problem, P)]"""
    found = {}
    for x, problem, procs in points:
        figures = {way: s for way in data.ways() if way != "serial" and (s := data.result(problem, way, procs).get(name))}
        for way, figure in data.best(figures, problem, procs).items():
            found.setdefault(way, []).append((x, figure))
    return found


def named(name, title, compiler):
    """The name and title of a picture of one compiler's figures."""
    return (f"{name}-{re.sub(r'[^a-z0-9]', '', compiler)}", f"{title}, {compiler}") if compiler else (name, title)


def by_compiler(of):
    """of(data, compiler) makes a list of pictures."""
    return lambda data: [picture for compiler, one in data.each() for picture in of(one, compiler)]


def at_a_glance(data):
    """Continuations beside the others on all Ps: what the report is about, in one picture that uses the page."""
    found = []
    for screen, width in (("wide", draw.WIDE), ("narrow", draw.WIDTH)):
        found.append(draw.dots("answer", f"Time over the serial program's, P = {data.most}", "times the serial time, logarithmic; less is better",
                               rows(data, "vs_serial", data.most, ("continuations", "tbb", "omp")), reference=(1, "serial"), width=width))
        if found[-1]:
            found[-1].screen = screen
    return found


@by_compiler
def over_serial(data, compiler):
    return [draw.dots(*named(f"over-serial-p{procs}", f"Time over serial, P = {procs}", compiler),
                     "times the serial time, logarithmic; less is better", rows(data, "vs_serial", procs),
                     reference=(1, "serial")) for procs in data.procs]


@by_compiler
def over_sizes(data, compiler):
    """A curve for each way, for kernels that were measured at many sizes."""
    found = []
    for kernel in data.kernels:
        sizes = sorted(size for name, size in data.problems if name == kernel)
        for procs in data.procs if len(sizes) >= SIZES else []:
            found.append(draw.over_sizes(*named(f"sizes-{kernel}-p{procs}", f"{kernel}: time over serial, P = {procs}", compiler),
                                         lines(data, [(size, (kernel, size), procs) for size in sizes], "vs_serial")))
    return found


@by_compiler
def over_tbb(data, compiler):
    return [draw.dots(*named(f"over-tbb-p{procs}", f"Times as fast as oneTBB, P = {procs}", compiler),
                     "oneTBB's time over this one's, logarithmic; more is better",
                     rows(data, "vs_tbb", procs), reference=(1, "oneTBB")) for procs in data.procs]


@by_compiler
def speedup(data, compiler):
    """A picture for each number of processors or, if there are more than two numbers, for each problem."""
    found = []
    for procs in data.procs:
        of = []
        for problem, figures in data.figures("speedup", procs):
            ceiling, shown = data.ceilings.get((*problem, procs)), data.best(figures, problem, procs)
            of.append((data.name(problem), shown, {way: ceiling["ceiling"]["median"] for way in shown if ceiling}))
        found.append(draw.dots(*named(f"speedup-p{procs}", f"Speed-up, P = {procs} over P = 1", compiler),
                              "time on one P over this one; more is better",
                              of, "linear", (procs, "ideal"), "the machine's ceiling"))
    for problem in data.problems if len(data.procs) > 2 else []:
        over_p = {way: [(1, 1.0)] + [(p, s["median"]) for p, s in line]
                  for way, line in lines(data, [(p, problem, p) for p in data.procs], "speedup").items()}
        limits = [(p, data.ceilings[*problem, p]["ceiling"]["median"]) for p in data.procs
                  if (*problem, p) in data.ceilings]
        found.append(draw.curves(*named(f"speedup-{problem[0]}-{problem[1]}", f"{data.name(problem)}: speed-up over P", compiler),
                                over_p, limits,
                                "ceiling"))
    return found


def memory(data):
    found = []
    for procs in data.procs:
        of = []
        for problem in data.problems:
            grown = {way: exact(max(0, came) / MIB) for way in data.ways() if (came := data.growth(problem, way, procs)) is not None}
            bounds = {way: bound / MIB for way in GREEDY if way in grown and (bound := data.bound(problem, way, procs)) is not None}
            if grown:
                of.append((data.name(problem), data.best(grown, problem, procs), bounds))
        found.append(draw.dots(f"memory-p{procs}", f"Memory that came while it ran, P = {procs}", "MiB, logarithmic from 0", of,
                              "zero", limit="bound"))
    return found


def went(data):
    """Where the time of all P went, for continuations and tasks."""
    found = []
    for way in PAIR:
        of = []
        for problem in data.problems:
            if parts := data.went(problem, way, data.most):
                of.append((data.name(problem), [sum(part) / len(parts) for part in zip(*parts)]))
        found.append(draw.bars(f"went-{way}-p{data.most}", f"Where the time went: {way}, P = {data.most}",
                              "per cent of the time of all Ps, in one run", of, ("work", "looking", "idle")))
    return found


COUNTER_TITLES = {"steals": "Steals", "suspensions": "Suspensions", "join_waits": "Join waits",
                  "deepest_deque": "Deepest deque", "stacks_peak": "Stacks in use at most"}


def counters(data):
    found = []
    for name in COUNTERS:
        procs = 1 if name == "deepest_deque" else data.most
        of = []
        for problem in data.problems:
            values = {way: exact(v) for way in OURS if (v := data.counter(problem, way, procs, name)) is not None}
            if values:
                of.append((data.name(problem), values, {}))
        unit = {"deepest_deque": "records", "stacks_peak": "stacks"}.get(name, "in one run")
        found.append(draw.dots(f"{name.replace('_', '-')}-p{procs}", f"{COUNTER_TITLES[name]}, P = {procs}",
                              f"{unit}, logarithmic from 0", of, "zero"))
    return found


@by_compiler
def against(data, compiler):
    """Tasks' time over continuations'."""
    found = []
    for procs in data.procs:
        of = [(data.name(problem), {"tasks": f.summary()}, {}) for problem in data.problems
              if (f := data.tasks_over_continuations(problem, procs))]
        found.append(draw.dots(*named(f"tasks-over-continuations-p{procs}", f"Tasks' over continuations' time, P = {procs}", compiler),
                              "right of the line continuations are faster; logarithmic", of,
                              reference=(1, "continuations")))
    return found


def simulated(data):
    """Each with the other workers asleep when the job starts, so that a chain of wake-ups comes first, and awake."""
    found = []
    for problem, run in data.simulated.items():
        lines = {way if start == "" else f"{way}{start}":
                 [(r["procs"], r["speedup"]) for r in run["runs"] if r["policy"] == way and r.get("awake", False) == bool(start)]
                 for start in ("", draw.AWAKE) for way in PAIR}
        found.append(draw.curves(f"simulated-{problem[0]}-{problem[1]}", f"{data.name(problem)}: simulated speed-up",
                                lines, y_label="speed-up over the serial program"))
    return found


def all_plots(data):
    """{section: plots}"""
    made = {"answer": at_a_glance(data), "serial": over_sizes(data) + over_serial(data), "tbb": over_tbb(data), "speedup": speedup(data),
            "went": went(data), "memory": memory(data), "counters": counters(data), "against": against(data),
            "simulated": simulated(data)}
    return {section: [p for p in of if p] for section, of in made.items()}
