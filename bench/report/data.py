"""The data that bench/run.py and the simulator wrote, in the form that the report needs. Missing data are None or empty."""

from harness.figures import CLEAR, Figure, is_omp, is_tbb, ratio
from harness.goals import KEPT, growth

OURS = ("continuations", "tasks", "scope")
GREEDY = ("continuations", "scope")  # these promise a bound on space
COUNTERS = ("steals", "suspensions", "join_waits", "deepest_deque", "stacks_peak")


class Data:
    """The figures of one compiler; `others` are those of further ones, each a Data. misses: what bench/misses.py wrote."""

    def __init__(self, report, simulated=(), misses=()):
        self.report, self.misses = report, misses
        self.others = [Data(other) for other in report.get("others", [])]
        self.compiler = (report.get("environment", {}).get("compiler") or "").partition(" ")[0]
        self.results = {(r["kernel"], r["size"], r["way"], r["procs"]): r for r in report.get("results", [])}
        self.kernels = {k["name"]: k for k in report.get("kernels", [])}
        self.problems = list(dict.fromkeys(key[:2] for key in self.results))
        self.procs = sorted({key[3] for key in self.results})
        self.most = max(self.procs, default=1)
        self.ceilings = {(c["kernel"], c["size"], c["procs"]): c for c in report.get("ceilings", [])}
        self.simulated = {tuple(s["of"]): s for s in simulated}

    def each(self):
        """[(compiler, Data)]; the compiler is empty if there is only one."""
        return [(of.compiler if self.others else "", of) for of in (self, *self.others)]

    def ways(self):
        return list(dict.fromkeys(key[2] for key in self.results))

    def name(self, problem):
        """A short name for a row, with the size only if there are several."""
        kernel, size = problem
        if sum(k == kernel for k, _ in self.problems) == 1:
            return kernel
        label = next((r["label"] for key, r in self.results.items() if key[:2] == problem and "label" in r), None)
        return f"{kernel} {label or short_size(size)}"

    def full_name(self, problem):
        kernel, size = problem
        label = next((r["label"] + ", " for key, r in self.results.items() if key[:2] == problem and "label" in r), "")
        return f"{kernel} ({label}{size:,})"

    def result(self, problem, way, procs):
        return self.results.get((*problem, way, procs), {})

    def figures(self, name, procs):
        """[(problem, {way: summary of that name})], without the serial program and without ways that have none."""
        rows = []
        for problem in self.problems:
            summaries = {way: self.result(problem, way, procs).get(name) for way in self.ways() if way != "serial"}
            rows.append((problem, {way: s for way, s in summaries.items() if s}))
        return [(problem, found) for problem, found in rows if found]

    def best(self, figures, problem, procs):
        """{way: figure} with one way of oneTBB and one of OpenMP, under the names tbb and omp: of those in `figures` the fastest on
        so many P."""
        found = {way: f for way, f in figures.items() if not is_tbb(way) and not is_omp(way)}
        for name, is_one in (("tbb", is_tbb), ("omp", is_omp)):
            times = [(self.result(problem, way, procs).get("median_ms", 0), way) for way in figures if is_one(way)]
            if times:
                found[name] = figures[min(times)[1]]
        return found

    def once(self, problem, way, procs):
        return self.result(problem, way, procs).get("once", {})

    def counter(self, problem, way, procs, name):
        """A counter of the single run; the simulator's deepest deque if the file has none."""
        once = self.once(problem, way, procs)
        found = once.get(name, once.get("counters", {}).get(name))
        if found is None and name == "deepest_deque":
            found = self.simulated_run(problem, way, procs).get(name)
        return found

    def simulated_run(self, problem, way, procs, awake=False):
        runs = self.simulated.get(problem, {}).get("runs", [])
        return next((r for r in runs if (r["policy"], r["procs"], r.get("awake", False)) == (way, procs, awake)), {})

    def peak(self, problem, way, procs):
        """Bytes."""
        kib = self.once(problem, way, procs).get("peak_resident_kib")
        return None if kib is None else kib * 1024

    def growth(self, problem, way, procs):
        """The bytes that came while it ran."""
        kib = growth(self.once(problem, way, procs))
        return None if kib is None else kib * 1024

    def bound(self, problem, way, procs):
        """The bytes that may come while it runs: P times what came while the serial program ran, and what each stack may
        keep."""
        serial, stacks = self.growth(problem, "serial", 1), self.counter(problem, way, procs, "stacks_peak")
        if way not in GREEDY or serial is None or stacks is None:
            return None
        return procs * serial + max(stacks, procs) * KEPT * 1024

    def went(self, problem, way, procs):
        """[(work, looking, idle)] of each P in a single run, as parts of its time; empty for ways that do not count."""
        once = self.once(problem, way, procs)
        counters, total = once.get("counters", {}), once.get("seconds", 0) * 1e9
        found = []
        for p in range(procs if total else 0):
            if f"busy_ns_{p}" not in counters:
                return []
            work, looking = (min(counters[f"{name}_ns_{p}"] / total, 1.0) for name in ("busy", "looking"))
            found.append((work, looking, max(0.0, 1 - work - looking)))
        return found

    def tasks_over_continuations(self, problem, procs):
        """The ratio of the times within the rounds in which both took part; above 1 continuations are faster."""
        tasks, ours = (self.result(problem, way, procs).get("ms", []) for way in ("tasks", "continuations"))
        return Figure([ratio(a, b) for a, b in zip(tasks, ours)])

    def faster(self, problem, procs):
        """"continuations", "tasks", "neither" or "too few rounds", or None if it was not measured."""
        figure = self.tasks_over_continuations(problem, procs)
        return {1: "continuations", -1: "tasks", 0: "neither", None: "too few rounds"}[figure.side()] if figure else None

    def shape(self, problem):
        """Work and span: in nanoseconds if the simulator counted them, in the kernel's own unit if the benchmark did."""
        found = self.simulated.get(problem)
        if found:
            return {name: found.get(name) for name in ("work_ns", "span_ns", "parallelism", "forks", "depth")}
        kernel = self.kernels.get(problem[0], {})
        return {name: kernel[name] for name in ("work", "span", "parallelism") if name in kernel}


def short_size(size):
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if size >= unit and size % (unit // 10) == 0:
            return f"{size / unit:g}{name}"
    return f"{size:,}"
