"""The project's goals, and whether the figures meet them."""

from statistics import geometric_mean

from harness.figures import ratio_of_bests

# Goals for speed-ups are about a quiet machine: quiet moments judge them, if there were any.
QUIET = {"speedup": "quiet_speedup"}

# kernel, way, procs, figure, bound. A negative bound is a maximum, a positive one a minimum.
FIB = [
    ("fib: continuations / serial, one P", ("fib", "continuations", 1, "vs_serial"), -2.2),
    ("fib: continuations, two P over one", ("fib", "continuations", 2, "speedup"), +1.95),
    ("fib: times as fast as tbb_invoke, one P", ("fib", "continuations", 1, "vs_tbb"), +30),
    ("fib: times as fast as tbb_invoke, two P", ("fib", "continuations", 2, "vs_tbb"), +30),
    ("fib: times as fast as tbb_group, one P", ("fib", "continuations", 1, "vs_tbb_group"), +30),
    ("fib: times as fast as tbb_group, two P", ("fib", "continuations", 2, "vs_tbb_group"), +30),
    ("flat fork / nested fork, one P", ("flat", "continuations", 1, "flat_over_nested"), -3.0),
    ("flat: continuations, two P over one", ("flat", "continuations", 2, "speedup"), +0.25),  # nothing to gain, little to lose
]

# One P over the serial program, with clang, to be met within a tenth. g++ makes other serial programs.
OVER_SERIAL = {"integrate": 1.15, "nqueens": 1.05, "skynet": 1.7, "uts": 1.02, "matmul": 1.03}
OF_SIZE = {"skynet": 1_000_000}  # the goal is for one of the sizes
WITHIN = 1.1
ENOUGH_PAIRS = 8  # with fewer the sign test says nothing with 99 % certainty, and the median itself decides

TIMES_TBB = 6  # the geometric mean of the kernels without a cut-off
TWO_OVER_ONE = 1.9  # that of the kernels with enough parallelism


def goal(what, value, bound, **more):
    met = value <= -bound if bound < 0 else value >= bound
    return {"what": what, "value": value, "bound": abs(bound), "sense": "at most" if bound < 0 else "at least",
            "met": bool(met), **more}


def best_ratio(results, key, figure):
    """The same figure from the best times; None for figures that are not a ratio of two times."""
    kernel, size, way, procs = key

    def times(other_way, other_procs):
        found = results.get((kernel, size, other_way, other_procs))
        return found["ms"].by_round if found else []

    other = {"vs_serial": ("serial", 1), "speedup": (way, 1), "vs_tbb_group": ("tbb_group", procs),
             "vs_tbb": ("tbb" if times("tbb", procs) else "tbb_invoke", procs)}.get(figure)
    if other is None:
        return None
    own, others = times(way, procs), times(*other)
    return ratio_of_bests(own, others) if figure == "vs_serial" else ratio_of_bests(others, own)


def means(results, kernels):
    """results: {key: {name: Figure}}; kernels: {name: entry of --list, with its folder}."""
    found = []

    def add(name, what, figure, procs, wanted):
        over = {}
        for (kernel, size, way, p), figures in results.items():
            if way == "continuations" and p == procs and figure in figures and wanted(kernels[kernel]):
                over.setdefault(kernel, []).append(figures[figure].median)
        if over:
            found.append({"name": name, "what": what, "procs": procs, "over": list(over),
                          "value": geometric_mean([geometric_mean(values) for values in over.values()])})

    for procs in sorted({key[3] for key in results}):
        add("times_tbb_no_cut_off", "times oneTBB's speed, kernels without a cut-off", "vs_tbb", procs,
            lambda k: not k["cut_off"] and k["name"] == k["folder"])
        add("times_tbb", "times oneTBB's speed, all kernels", "vs_tbb", procs, lambda k: k["name"] == k["folder"])
        add("vs_serial", "time over serial", "vs_serial", procs, lambda k: k["name"] == k["folder"])
        if procs > 1:
            add("speedup", "speed-up, kernels with enough parallelism", "speedup", procs, lambda k: k["parallel"])
            add("quiet_speedup", "the same in quiet moments", "quiet_speedup", procs, lambda k: k["parallel"])
            add("of_ceiling", "speed-up over the machine's ceiling", "of_ceiling", procs, lambda k: k["parallel"])
    return found


def judge(results, kernels, once, compiler):
    """A list of goals in the form of the schema. Leaves out goals without figures."""
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

    for what, key, bound in FIB:
        about(what, *key, bound)
    if "clang" in (compiler or ""):
        for kernel, bound in OVER_SERIAL.items():
            about(f"{kernel}: continuations / serial, one P", kernel, "continuations", 1, "vs_serial", -WITHIN * bound)

    if len({k["folder"] for k in kernels.values()}) > 1:
        taken = {(m["name"], m["procs"]): m for m in means(results, kernels)}
        for mean in taken.values():
            of = f"{mean['what']}, P = {mean['procs']}"
            if mean["name"] == "times_tbb_no_cut_off" and mean["procs"] <= 2:
                found.append(goal(f"mean {of}", mean["value"], TIMES_TBB))
            if mean["name"] == "speedup" and mean["procs"] == 2:
                quiet = taken.get((QUIET[mean["name"]], mean["procs"]))
                more = {"always": mean["value"], "kernels": len(quiet["over"])} if quiet else {}
                found.append(goal(f"mean {of}", (quiet or mean)["value"], TWO_OVER_ONE, **more))
    found += slowest(results, kernels) + hungriest(once)
    return found


def slowest(results, kernels):
    """No kernel slower than oneTBB. Of many kernels that are as fast, some median always lies below 1. So pairs judge close
    kernels: a kernel is slower if 1 is not among the values that the true median may have."""
    least = []
    for key, figures in results.items():
        kernel, size, way, procs = key
        if way != "continuations" or "vs_tbb" not in figures or kernels[kernel]["name"] != kernels[kernel]["folder"]:
            continue
        judged = figures.get("vs_tbb_pairs") or figures["vs_tbb"]
        sure = "vs_tbb_pairs" in figures and len(judged.values) >= ENOUGH_PAIRS
        low, high = judged.median_lies_between() if sure else (judged.median, judged.median)
        least.append((high, low, judged, f"{kernel} {size:,}, P = {procs}"))
    if not least:
        return []
    high, low, figure, of = min(least, key=lambda one: one[0])
    more = {"pairs": len(figure.values), "interval": [low, high]} if low < high else {"rounds": len(figure.values)}
    return [goal(f"times oneTBB's speed, least ({of})", figure.median, 1, **more) | {"met": bool(high >= 1)}]


def hungriest(once):
    """Peak memory at most oneTBB's."""
    versus = []
    for (kernel, size, way, procs), got in once.items():
        tbb = once.get((kernel, size, "tbb", procs)) or once.get((kernel, size, "tbb_invoke", procs))
        if way == "continuations" and tbb and "peak_resident_kib" in got and "peak_resident_kib" in tbb:
            versus.append((got["peak_resident_kib"] / tbb["peak_resident_kib"], (kernel, size, procs)))
    if not versus:
        return []
    value, (kernel, size, procs) = max(versus)
    return [goal(f"peak memory over oneTBB's, most ({kernel} {size:,}, P = {procs})", value, -1)]
