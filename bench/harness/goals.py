"""The project's goals, and whether the figures meet them. A median meets a bound, or the worse end of the interval in which the
median lies; never the better end. A figure of fewer than ENOUGH rounds meets nothing: it is undecided. So is a negative one, as the
ratio of two differences is when the serial program took longer than the one that forks. Every goal can fail: one that a worse program
would meet as well says nothing."""

from statistics import geometric_mean, median

from harness.figures import ENOUGH, is_tbb, ratio_of_bests

# Goals for speed-ups are about a quiet machine: quiet moments judge them, if there were any.
QUIET = {"speedup": "quiet_speedup"}

# kernel, way, procs, figure, bound. A negative bound is a maximum, a positive one a minimum.
FIB = [
    ("fib: continuations / serial, one P", ("fib", "continuations", 1, "vs_serial"), -2.2),
    ("fib: continuations, two P over one", ("fib", "continuations", 2, "speedup"), +1.95),
    ("fib: times as fast as tbb_invoke, one P", ("fib", "continuations", 1, "vs_tbb_invoke"), +30),
    ("fib: times as fast as tbb_invoke, two P", ("fib", "continuations", 2, "vs_tbb_invoke"), +30),
    ("fib: times as fast as tbb_group, one P", ("fib", "continuations", 1, "vs_tbb_group"), +30),
    ("fib: times as fast as tbb_group, two P", ("fib", "continuations", 2, "vs_tbb_group"), +30),
    ("flat fork / nested fork, one P", ("flat", "continuations", 1, "flat_over_nested"), -3.0),
    ("flat: continuations, two P over one", ("flat", "continuations", 2, "speedup"), +0.25),  # nothing to gain, little to lose
]

# One P over the serial program of the same compiler, whichever it is, to be met within a tenth.
OVER_SERIAL = {"integrate": 1.15, "nqueens": 1.05, "skynet": 1.7, "uts": 1.02, "matmul": 1.03}
OF_SIZE = {"skynet": 1_000_000}  # the goal is for one of the sizes
WITHIN = 1.1
# By g++ also over clang's serial program, which may be the faster one, or the slower one.
OVER_CLANG = [(f"{kernel}: continuations / clang's serial program, one P", (kernel, "continuations", 1, "vs_other_serial"), -bound)
              for kernel, bound in (("integrate", 1.25), ("uts", 1.05))]
NOT_SLOWER = 0.97  # times the other's speed: the margin of non-inferiority, for the lower end of the interval

# Loops as quick as OpenMP's, whichever of its ways is the fastest, within a twentieth.
OVER_OPENMP = [(f"heat: times OpenMP's speed, {of} P", ("heat", "continuations", procs, "vs_omp"), +0.95)
               for of, procs in (("one", 1), ("two", 2))]
ALONE = 1.1  # times the better of one P and serial, that loops of any length may take on two

TIMES_TBB = 6  # the geometric mean of the kernels without a cut-off
TWO_OVER_ONE = 1.9  # that of the kernels with enough parallelism

KEPT = 64  # KiB that a suspended or free stack may keep, see runtime/DECISIONS.md
LITTLE = 1024  # KiB that any run may add: less says more about how a library starts than about how it runs


def goal(what, value, bound, **more):
    met = value <= -bound if bound < 0 else value >= bound
    undecided = value < 0 or more.get("rounds", more.get("pairs", ENOUGH)) < ENOUGH
    return {"what": what, "value": value, "bound": abs(bound), "sense": "at most" if bound < 0 else "at least",
            "met": bool(met) and not undecided, **({"undecided": True} if undecided else {}), **more}


def best_ratio(results, key, figure):
    """The same figure from the best times; None for figures that are not a ratio of two times."""
    kernel, size, way, procs = key

    def times(other_way, other_procs):
        found = results.get((kernel, size, other_way, other_procs))
        return found["ms"].by_round if found else []

    other = {"vs_serial": ("serial", 1), "speedup": (way, 1), "vs_tbb_group": ("tbb_group", procs),
             "vs_tbb_invoke": ("tbb_invoke", procs)}.get(figure)
    if other is None:
        return None
    own, others = times(way, procs), times(*other)
    return ratio_of_bests(own, others) if figure == "vs_serial" else ratio_of_bests(others, own)


def means(results, kernels):
    """results: {key: {name: Figure}}; kernels: {name: entry of --list, with its folder}."""
    found = []

    def add(name, what, figure, procs, wanted):
        over, rounds = {}, {}
        for (kernel, size, way, p), figures in results.items():
            if way == "continuations" and p == procs and figure in figures and wanted(kernels[kernel]):
                over.setdefault(kernel, []).append(figures[figure].median)
                rounds[kernel] = min(rounds.get(kernel, ENOUGH), len(figures[figure].values))
        if over:
            found.append({"name": name, "what": what, "procs": procs, "over": list(over),
                          "value": geometric_mean([geometric_mean(values) for values in over.values()]),
                          "few": {kernel: n for kernel, n in rounds.items() if n < ENOUGH}})

    for procs in sorted({key[3] for key in results}):
        add("times_tbb_no_cut_off", "times oneTBB's speed, kernels without a cut-off", "vs_tbb", procs,
            lambda k: not k["cut_off"] and k["name"] == k["folder"])
        add("times_tbb", "times oneTBB's speed, all kernels", "vs_tbb", procs, lambda k: k["name"] == k["folder"])
        add("vs_serial", "time over serial, kernels that fork", "vs_serial", procs,
            lambda k: not k.get("over_loops") and k["name"] == k["folder"])
        if procs > 1:
            add("speedup", "speed-up, kernels with enough parallelism", "speedup", procs, lambda k: k["parallel"])
            add("quiet_speedup", "the same in quiet moments", "quiet_speedup", procs, lambda k: k["parallel"])
            add("of_ceiling", "speed-up over the machine's ceiling", "of_ceiling", procs, lambda k: k["parallel"])
    return found


def judge(results, kernels, once, compiler=""):
    """A list of goals in the form of the schema, for the figures of that compiler. Leaves out goals without figures."""
    found = []
    sizes = {}
    for kernel, size, _, _ in results:
        sizes.setdefault(kernel, []).append(size)

    def about(what, kernel, way, procs, figure, bound):
        for size in dict.fromkeys(sizes.get(kernel, [])):
            key = kernel, size, way, procs
            figures = results.get(key, {})
            if figure not in figures or figure == "vs_serial" and OF_SIZE.get(kernel, size) != size:
                continue
            more = {"best": best_ratio(results, key, figure), "rounds": len(figures[figure].values)}
            if figure == "speedup" and "of_ceiling" in figures:
                more["of_ceiling"] = figures["of_ceiling"].median
                more["ceiling"] = figures["ceiling"].median
            judged = figures[figure]
            if quiet := figures.get(QUIET.get(figure)):
                more |= {"always": judged.median, "rounds": len(quiet.values)}
                judged = quiet
            found.append(goal(what if len(set(sizes[kernel])) == 1 else f"{what} ({size:,})", judged.median,
                              bound, **{name: value for name, value in more.items() if value is not None}))

    for what, key, bound in FIB + OVER_OPENMP + (OVER_CLANG if compiler.startswith("g++") else []):
        about(what, *key, bound)
    for kernel, bound in OVER_SERIAL.items():
        about(f"{kernel}: continuations / serial, one P", kernel, "continuations", 1, "vs_serial", -WITHIN * bound)

    if len({k["folder"] for k in kernels.values()}) > 1:
        taken = {(m["name"], m["procs"]): m for m in means(results, kernels)}
        for mean in taken.values():
            of = f"{mean['what']}, P = {mean['procs']}"
            if mean["name"] == "times_tbb_no_cut_off" and mean["procs"] <= 2:
                found.append(goal(f"mean {of}", mean["value"], TIMES_TBB, few=mean["few"]))
            if mean["name"] == "speedup" and mean["procs"] == 2:
                quiet = taken.get((QUIET[mean["name"]], mean["procs"]))
                more = {"always": mean["value"], "kernels": len(quiet["over"])} if quiet else {}
                more["few"] = (quiet or mean)["few"]
                found.append(goal(f"mean {of}", (quiet or mean)["value"], TWO_OVER_ONE, **more))
    return found + slowest(results, kernels) + slowed(results) + spacious(once) + hungriest(once)


def slowest(results, kernels):
    """No kernel slower than oneTBB's best way: non-inferiority. Even of programs that are as fast, some median lies below 1, so
    there is a margin; and noise must not pass for speed, so the lower end of the interval has to keep it."""
    least = []
    for key, figures in results.items():
        kernel, size, way, procs = key
        if way != "continuations" or "vs_tbb" not in figures or kernels[kernel]["name"] != kernels[kernel]["folder"]:
            continue
        pairs = figures.get("vs_tbb_pairs")
        judged = pairs or figures["vs_tbb"]
        low, high = judged.median_lies_between()
        more = {"median": judged.median, "interval": [low, high], "certainty": judged.certainty,
                "pairs" if pairs else "rounds": len(judged.values)}
        least.append((low, f"{kernel} {size:,}, P = {procs}", more))
    if not least:
        return []
    low, of, more = min(least, key=lambda one: one[0])
    return [goal(f"times oneTBB's speed, lower end, least ({of})", low, NOT_SLOWER, **more)]


def slowed(results):
    """cg, whose loops are of any length, is not slower on two P than on one, or than the serial program."""
    found = [(figures["vs_alone"].median, f"cg {size:,}, P = {procs}", len(figures["vs_alone"].values))
             for (kernel, size, way, procs), figures in results.items()
             if (kernel, way, procs) == ("cg", "continuations", 2) and "vs_alone" in figures]
    if not found:
        return []
    value, of, rounds = max(found)
    return [goal(f"time over the better of one P and serial, most ({of})", value, -ALONE, rounds=rounds)]


def growth(once):
    """KiB that came while it ran, above what the process had when its input was ready: the median of the processes, if there were
    several; None if unknown."""
    if "grown_kib" in once:
        return median(once["grown_kib"])
    peak, before = once.get("peak_resident_kib"), once.get("prepared_resident_kib")
    return None if peak is None or before is None else peak - before


def processes(*once):
    """How many processes are behind a figure of these."""
    return min(len(one.get("grown_kib", [0])) for one in once)


def most(what, versus):
    if not versus:
        return []
    value, (kernel, size, procs), rounds = max(versus)
    return [goal(f"{what}, most ({kernel} {size:,}, P = {procs})", value, -1, rounds=rounds)]


def spacious(once):
    """The memory that comes during a run, over P times that of the serial program's run and 64 KiB for each stack."""
    versus = []
    for (kernel, size, way, procs), got in once.items():
        its_serial = once.get((kernel, size, "serial", 1), {})
        serial, stacks = growth(its_serial), got.get("counters", {}).get("stacks_peak")
        if way == "continuations" and None not in (serial, stacks, growth(got)):
            allowed = procs * serial + max(stacks, procs) * KEPT
            versus.append((growth(got) / max(allowed, LITTLE), (kernel, size, procs), processes(got, its_serial)))
    return most("memory over P times the serial program's and what stacks keep", versus)


def hungriest(once):
    """The memory that comes during a run, over that of the least of oneTBB's ways."""
    versus = []
    for (kernel, size, way, procs), got in once.items():
        tbb = [o for (k, s, other, p), o in once.items()
               if (k, s, p) == (kernel, size, procs) and is_tbb(other) and growth(o) is not None]
        if way == "continuations" and tbb and growth(got) is not None:
            least = min(tbb, key=growth)
            compared = (got, least) if growth(got) > LITTLE else (got,)  # oneTBB's other processes are measured then only
            versus.append((growth(got) / max(growth(least), LITTLE), (kernel, size, procs), processes(*compared)))
    return most("memory that comes during a run over oneTBB's", versus)
