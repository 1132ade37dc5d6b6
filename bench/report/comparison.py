"""The tables of the page "Tasks against continuations". Its sentences say what the mechanism entails; what was measured is in tables."""

from report import axes
from report.data import CLEAR, COUNTERS
from report.pages import NONE, Table, mib, render, spread, value

HEADS = {"steals": "steals", "suspensions": "suspensions", "join_waits": "join waits", "deepest_deque": "deepest deque",
         "stacks_peak": "stacks at most"}
PAIR = ("continuations", "tasks")
STARTS = {False: "asleep", True: "awake"}  # the other workers when the job starts
SIMULATED = (64, 1024, 4096)  # P with rows of their own


def pairs(data, take):
    """[(problem, continuations' figure, tasks' figure)] where both are known."""
    found = [(problem, *(take(problem, way) for way in PAIR)) for problem in data.problems]
    return [(problem, ours, tasks) for problem, ours, tasks in found if ours is not None and tasks is not None]


def deepest_is_counted(data):
    """Whether the deepest deques are those of runs; else they are the simulator's."""
    return all("deepest_deque" in data.once(p, way, 1)
               for p, *_ in pairs(data, lambda problem, way: data.counter(problem, way, 1, "deepest_deque")) for way in PAIR)


def simulated_pairs(data):
    """[(problem, P, whether the workers start awake, continuations' run, tasks' run)]"""
    for problem, run in data.simulated.items():
        for procs in sorted({r["procs"] for r in run["runs"]}):
            for awake in (False, True):
                ours, tasks = (data.simulated_run(problem, way, procs, awake) for way in PAIR)
                if ours and tasks:
                    yield problem, procs, awake, ours, tasks


def faster_simulated(ours, tasks):
    """The faster policy, if the difference is over CLEAR and no seed disagrees."""
    times = tasks["time_ns"] / ours["time_ns"]
    slowest, fastest = ([of.get(name, of["time_ns"]) for of in (ours, tasks)] for name in ("greatest_time_ns", "least_time_ns"))
    if times > 1 + CLEAR and slowest[0] < fastest[1]:
        return "continuations"
    return "tasks" if times < 1 / (1 + CLEAR) and slowest[1] < fastest[0] else "neither"


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
    known = pairs(data, lambda problem, way: data.growth(problem, way, procs))

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
                               "tasks' time over continuations'", "faster", *heads],
                 [[data.full_name(problem), value(procs), STARTS[awake], value(ours["speedup"]), value(tasks["speedup"]),
                   value(tasks["time_ns"] / ours["time_ns"]), faster_simulated(ours, tasks),
                   *(value(r[name]) for name in ("steals", "join_waits", "peak_stacks") for r in (ours, tasks))]
                  for problem, procs, awake, ours, tasks in simulated_pairs(data) if procs in SIMULATED])


def wins(data):
    """Where tasks are significantly faster."""
    rows = [[of.full_name(problem), value(procs), compiler or NONE, spread(of.tasks_over_continuations(problem, procs).summary())]
            for compiler, of in data.each() for problem in of.problems for procs in of.procs if of.faster(problem, procs) == "tasks"]
    return Table("Tasks' time over continuations' (least…most)", ["kernel", "P", "compiler", "ratio"], rows)


def late(waits):
    """How joins wait, and what is held in memory meanwhile."""
    return [Table(caption, heads, [[value(cell) if isinstance(cell, int) else cell or NONE for cell in row] for row in rows])
            for of in waits or () for caption, (heads, rows) in of.tables() if rows]


def comparison_page(data, made, links, policies=None, waits=None):
    """policies: the Data of a measurement of all orders and joins, if there was one of its own; waits: Waits and Space."""
    crossed = policies or data
    measured = list(dict.fromkeys(of.report["environment"].get("commit") or "unknown" for of in waits or ()))
    return render("comparison.html", data=data, made=made, pages=links, counted=deepest_is_counted(data),
                  axes=axes.table(crossed), effects=axes.effects(crossed), complete=axes.complete(crossed),
                  crossed_counters=axes.counters(crossed), crossed=crossed,
                  late=late(waits), measured=measured, pictures=[p for of in waits or () for p in of.plots()],
                  **{of.__name__: of(data) for of in (time, counters, memory, many, wins)})
