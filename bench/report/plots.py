"""The pictures of the report, each with the name of its file."""

from report import draw
from report.data import COUNTERS, GREEDY, OURS

MIB = 2**20


def pictured(figures):
    """oneTBB has one place in a picture. fib measures oneTBB in two ways, and parallel_invoke takes the place."""
    return {"tbb" if way == "tbb_invoke" else way: figure for way, figure in figures.items()}


def exact(number):
    return {"median": number, "min": number, "max": number}


def rows(data, figures):
    return [(data.name(problem), pictured(found), {}) for problem, found in figures]


def over_serial(data):
    return [draw.dots(f"over-serial-p{procs}", f"Time over the serial program's, P = {procs}",
                     "times the serial time, logarithmic; less is better", rows(data, data.figures("vs_serial", procs)),
                     reference=(1, "serial")) for procs in data.procs]


def over_tbb(data):
    return [draw.dots(f"over-tbb-p{procs}", f"Times as fast as oneTBB, P = {procs}",
                     "oneTBB's time over this one's, logarithmic; more is better",
                     rows(data, data.figures("vs_tbb", procs)), reference=(1, "oneTBB")) for procs in data.procs]


def speedup(data):
    """A picture for each number of processors or, if there are more than two numbers, for each problem."""
    found = []
    for procs in data.procs:
        of = []
        for problem, figures in data.figures("speedup", procs):
            ceiling = data.ceilings.get((*problem, procs))
            of.append((data.name(problem), pictured(figures),
                       {way: ceiling["ceiling"]["median"] for way in pictured(figures) if ceiling}))
        found.append(draw.dots(f"speedup-p{procs}", f"Speed-up, P = {procs} over P = 1",
                              "time on one P over this one; more is better",
                              of, "linear", (procs, "ideal"), "the machine's ceiling"))
    for problem in data.problems if len(data.procs) > 2 else []:
        lines = {way: [(1, 1.0)]
                 + [(p, s["median"]) for p in data.procs if (s := data.result(problem, way, p).get("speedup"))]
                 for way in data.ways()}
        limits = [(p, data.ceilings[*problem, p]["ceiling"]["median"]) for p in data.procs
                  if (*problem, p) in data.ceilings]
        found.append(draw.curves(f"speedup-{problem[0]}-{problem[1]}", f"{data.name(problem)}: speed-up over P",
                                pictured({way: line for way, line in lines.items() if len(line) > 1}), limits,
                                "ceiling"))
    return found


def memory(data):
    found = []
    for procs in data.procs:
        of = []
        for problem in data.problems:
            peaks = {way: exact(peak / MIB) for way in data.ways() if (peak := data.peak(problem, way, procs))}
            bounds = {way: bound / MIB for way in GREEDY if way in peaks and (bound := data.bound(problem, way, procs))}
            if peaks:
                of.append((data.name(problem), pictured(peaks), bounds))
        found.append(draw.dots(f"memory-p{procs}", f"Peak resident memory, P = {procs}", "MiB, logarithmic", of,
                              limit="bound"))
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
    of = []
    for problem in data.problems:
        values = {way: exact(max(0, v) / MIB) for way in ("serial", *OURS)
                  if (v := data.growth(problem, way, 1 if way == "serial" else data.most)) is not None}
        if values:
            of.append((data.name(problem), values, {}))
    found.append(draw.dots(f"growth-p{data.most}", f"Memory that came while it ran, P = {data.most}",
                          "MiB, logarithmic from 0", of, "zero"))
    return found


def against(data):
    """Tasks' time over continuations'."""
    found = []
    for procs in data.procs:
        of = [(data.name(problem), {"tasks": f.summary()}, {}) for problem in data.problems
              if (f := data.tasks_over_continuations(problem, procs))]
        found.append(draw.dots(f"tasks-over-continuations-p{procs}", f"Tasks' time over continuations', P = {procs}",
                              "right of the line continuations are faster; logarithmic", of,
                              reference=(1, "continuations")))
    return found


def simulated(data):
    found = []
    for problem, run in data.simulated.items():
        lines = {way: [(r["procs"], r["speedup"]) for r in run["runs"] if r["policy"] == way]
                 for way in ("continuations", "tasks")}
        found.append(draw.curves(f"simulated-{problem[0]}-{problem[1]}", f"{data.name(problem)}: simulated speed-up",
                                lines))
    return found


def all_plots(data):
    """{section: plots}"""
    made = {"serial": over_serial(data), "tbb": over_tbb(data), "speedup": speedup(data), "memory": memory(data),
            "counters": counters(data), "against": against(data), "simulated": simulated(data)}
    return {section: [p for p in of if p] for section, of in made.items()}
