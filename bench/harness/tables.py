"""Prints tables, goals and warnings."""

import sys

from harness.figures import ENOUGH, is_omp, is_tbb
from harness.goals import growth

BUSY_CORES = 0.2  # if other programs used more, the figures are doubtful
UNSTEADY = 1.25  # likewise, if the serial program's longest time is more than this times its shortest

COLUMNS = {"ms": "median ms", "best": "best ms", "n": "n", "vs_serial": "vs serial", "vs_best_serial": "vs best serial",
           "vs_tbb": "tbb vs", "vs_omp": "omp vs", "speedup": "speed-up", "of_ceiling": "of ceiling", "quiet_speedup": "when quiet", "ns_per_fork": "ns/fork",
           "flat_over_nested": "vs nested fork", "steals": "steals", "work": "work %", "looking": "looking %", "idle": "idle %",
           "memory": "MiB more"}

# How joins waited: shown where policies are compared.
WAITS = {"waits_per_1000_forks": "waits/1000 forks", "join_waits": "waits", "late_us": "late us", "on_top": "on top %"}

# What the processor counts, in one run, and in what unit: shown where policies are compared.
HARDWARE = {"instructions": ("10^6 instructions", 1e6), "cycles": ("10^6 cycles", 1e6), "cache_misses": ("cache misses", 1), "migrations": ("migrations", 1),
            "micro_joules": ("J", 1e6)}

LEGEND = """
  n: rounds. vs serial: time over the serial program's, of the same compiler; best serial: of the better compiler.
  … vs: that library's time on as many Ps over this one's; of its ways here the fastest.
  of ceiling: speed-up over what as many separate programs reach on this machine at the same time.
  when quiet: speed-up in moments when they reached all there is, and the clock was steady.
  ns/fork: (time - serial time) / forks, on one P. Median of the rounds' ratios (smallest…largest).
  waits: joins in one run that were not complete when their strand came. late: how long after the last branch a strand that had
  waited continued, on average; on top: the share of the time of all Ps in which waiting strands ran other work on their stacks.
  work, looking, idle: shares of the time of all Ps, in one run; MiB more: memory that a run added.
  instructions, cycles, cache misses: of user code in one run; migrations: of its threads between processors; J: of the machine.
  Every result was checked."""


def short(value):
    """Three digits; counts unchanged."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"


def told_times(ratio, than):
    """In words: what takes so many times as long as another."""
    def number(x):
        return f"{x:.0f}" if x >= 9.95 else f"{x:.1f}"

    if number(max(ratio, 1 / ratio)) == "1.0":
        return f"as long as {than}"
    return f"{number(ratio)} times as long as {than}" if ratio > 1 else f"{number(1 / ratio)} times as fast as {than}"


def show(figure):
    if not figure:
        return "-"
    if len(figure.values) == 1:
        return short(figure.median)
    return f"{short(figure.median)} ({short(min(figure.values))}…{short(max(figure.values))})"


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for r in rows:
        # the way to the left, figures to the right
        cells = [r[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(r[1:], widths[1:])]
        line = ("  " + "  ".join(cells)).rstrip()
        coding = sys.stdout.encoding or "utf-8"
        print(line.encode(coding, "replace").decode(coding))  # a terminal may lack the dots of an interval


def print_environment(env):
    print()
    for key, value in env.items():
        if value is not None:
            shown = " ".join(f"{v:.2f}" for v in value) if isinstance(value, (tuple, list)) else value
            print(f"  {key.replace('_', ' ') + ':':15} {shown}")


def is_busy(env, when="during"):
    others = env.get(f"others_{when}")
    return bool(others) and others[0] > BUSY_CORES


def disturbances(env):
    """In words, each a sentence; of what env has."""
    found = []
    for when in ("before", "during"):
        others, withheld = env.get(f"others_{when}") or (0, 0)
        if others > BUSY_CORES:
            found.append(f"the machine looks busy: others used {others:.2f} cores {when} the measurement")
        if withheld > BUSY_CORES / 4:
            found.append(f"the hypervisor withheld {withheld:.2f} cores {when} the measurement")
    return found


def print_disturbances(env):
    """The first lines of what measures, by what was before it, and the last ones, by both; none if the machine is quiet."""
    for what in disturbances(env):
        print(f"WARNING: {what}", flush=True)


def warnings(env, results):
    """results: {key: {name: Figure}}"""
    found = []
    if env["assertions"] == "on":
        found.append("built with internal assertions; configure with --buildtype=release for figures that count")
    found += disturbances(env)
    for (kernel, size, way, _), figures in results.items():
        times = figures["ms"].values
        if way == "serial" and max(times) > UNSTEADY * min(times):
            found.append(f"{kernel}({size}): the serial program's time varied by a factor of {max(times) / min(times):.2f}:"
                         " the clock changes, or something unseen shares the cores. Use the ratios of best times")
    return found


def shares(once, procs):
    """{"work", "looking", "idle"}: parts of the time of all P in a single run; empty for ways that do not count."""
    counters, total = once.get("counters", {}), procs * once.get("seconds", 0) * 1e9
    if not total or "busy_ns" not in counters:
        return {}
    work, looking = min(counters["busy_ns"] / total, 1.0), min(counters["looking_ns"] / total, 1.0)
    return {"work": work, "looking": looking, "idle": max(0.0, 1 - work - looking)}


def print_scale(results, compiler=""):
    """How many times as fast as the serial program each library is, by P: a row for each kernel."""
    procs = sorted({key[3] for key in results})
    rows = [["times serial", "by", *(f"P = {p}" for p in procs)]]
    for kernel, size in dict.fromkeys(key[:2] for key in results):
        for name, belongs in (("forkjoin", lambda way: way == "continuations"), ("oneTBB", is_tbb), ("OpenMP", is_omp)):
            cells = []
            for p in procs:
                found = [f["vs_serial"].median for (k, s, way, n), f in results.items()
                         if (k, s, n) == (kernel, size, p) and belongs(way) and f.get("vs_serial")]
                cells.append(short(1 / min(found)) if found else "-")
            if set(cells) != {"-"}:
                rows.append([f"{kernel}({size})", name, *cells])
    print(f"\nspeed over the serial program's, medians{f', {compiler}' if compiler else ''}")
    print_table(rows)


def hardware(once):
    """{column: cell} of what the processor counted; "not here" for what it does not count, or does not let us read."""
    counted = once.get("hardware", {})
    return {title: (short(counted[name] / unit) if unit > 1 else f"{counted[name]:,}") if name in counted else "not here"
            for name, (title, unit) in HARDWARE.items()}


def print_results(results, labels, forks, once, ceilings, compiler="", waits=False):
    """A table for each kernel and size; results: {key: {name: Figure}}, of one binary; waits: also how joins waited."""
    columns = COLUMNS | (WAITS if waits else {})
    for kernel, size in dict.fromkeys(key[:2] for key in results):
        rows = []
        for key, figures in results.items():
            if key[:2] != (kernel, size):
                continue
            row = {name: show(figures.get(name)) for name in columns}
            if waits and figures.get("on_top"):
                row["on_top"] = f"{100 * figures['on_top'].median:.1f}"
            row["ms"] = f"{figures['ms'].median:.2f}"
            row["best"] = f"{min(figures['ms'].values):.2f}"
            row["n"] = str(len(figures["ms"].values))
            row |= {name: f"{100 * part:.0f}" for name, part in shares(once.get(key, {}), key[3]).items()}
            if (came := growth(once.get(key, {}))) is not None:
                row["memory"] = f"{came / 1024:.1f}"
            rows.append((key[2], key[3], row))
        used = [c for c in columns if any(row[c] != "-" for _, _, row in rows)]
        called = f" {labels[kernel, size]}" if (kernel, size) in labels else ""
        counted = f", {forks[kernel, size]:,} forks" if (kernel, size) in forks else ""
        print(f"\n{kernel}({size}){called}{counted}" + (f", {compiler}" if compiler else ""))
        print_table([["way", "P", *(columns[c] for c in used)]]
                    + [[way, str(procs), *(row[c] for c in used)] for way, procs, row in rows])
        if waits:
            print_hardware({key: of for key, of in once.items() if key[:2] == (kernel, size)})
        for (k, s, procs), figure in ceilings.items():
            if (k, s) == (kernel, size) and figure:
                print(f"  the machine's ceiling on {procs} P: {show(figure)}")


def print_hardware(once):
    """once: of one problem. A counter that no run has is named once."""
    found = {key: hardware(of) for key, of in once.items()}
    here = [title for title, _ in HARDWARE.values() if any(row[title] != "not here" for row in found.values())]
    if here:
        print_table([["one run", "P", *here]] + [[key[2], str(key[3]), *(row[title] for title in here)] for key, row in found.items()])
    if lacking := [title.split()[-1] for title, _ in HARDWARE.values() if title not in here]:
        print(f"  not here: {', '.join(lacking)}")


def print_short(kernel, results, forks, env):
    """The last lines, for a reader who has not seen the tables: the serial program, ours and oneTBB's fastest way, on one P and
    on two. Nothing if one of ours was not measured. results: as of print_results."""
    size = next((key[1] for key in results if key[0] == kernel), None)
    serial, *ours = [results.get((kernel, size, way, procs)) for way, procs in (("serial", 1), ("continuations", 1), ("continuations", 2))]
    if not serial or not all(ours):
        return
    rows = [["serial", "1", serial, "without forks"],
            ["forkjoin", "1", ours[0], told_times(ours[0]["vs_serial"].median, "without forks")],
            ["forkjoin", "2", ours[1], told_times(1 / ours[1]["speedup"].median, "on one P")]]
    for procs, own in enumerate(ours, 1):
        tbb = [(way, figures) for (k, s, way, p), figures in results.items() if (k, s, p) == (kernel, size, procs) and is_tbb(way)]
        if tbb and own.get("vs_tbb"):
            way, figures = min(tbb, key=lambda of: of[1]["ms"].median)
            rows.append(["oneTBB", str(procs), figures, f"{told_times(own['vs_tbb'].median, 'forkjoin')} ({way})"])
    counted = f", {forks[kernel, size]:,} forks" if (kernel, size) in forks else ""
    versions = env["compiler"] + (f", oneTBB {env['oneTBB']}" if env.get("oneTBB") else ", without oneTBB")
    print(f"\nIn short: {kernel}({size}){counted}; medians of the rounds and of their ratios; {versions}")
    for name, procs, figures, meaning in rows:
        print(f"  {name:8}  {procs} P  {short(figures['ms'].median):>8} ms  {meaning}")
    if is_busy(env):
        best = [short(min(figures["ms"].values)) for _, _, figures, _ in rows]
        print(f"  The best times, which a busy machine changes least, in the same order: "
              f"{', '.join(best)} ms")


def few_told(few):
    """fib: n = 1, uts: n = 3"""
    return ", ".join(f"{kernel}: n = {n}" for kernel, n in few.items())


def print_means(means, compiler=""):
    if means:
        print(f"\ngeometric means, continuations{compiler and ', ' + compiler}")
        print_table([[m["what"], f"P = {m['procs']}", short(m["value"]), f"{len(m['over'])} kernels", few_told(m["few"])]
                     for m in means])


def verdict(goal):
    return "met" if goal["met"] else "undecided" if goal.get("undecided") else "missed"


def told_interval(goal):
    of = f"{goal['pairs']} pairs" if "pairs" in goal else f"{goal['rounds']} rounds"
    return "median {:.3f}, between {:.3f} and {:.3f} by {}, {} % sure".format(goal["median"], *goal["interval"], of,
                                                                            int(100 * goal["certainty"]))


def print_goals(goals, compiler=""):
    if not goals:
        return
    print(f"\ngoals{compiler and ', ' + compiler} (median; in brackets by best times; speed-ups when the machine was quiet, if it ever was)")
    rows = []
    for g in goals:
        notes = [f"always: {short(g['always'])}"] if "always" in g else []
        notes += [f"{g['of_ceiling']:.2f} of ceiling {g['ceiling']:.2f}"] if "ceiling" in g else []
        notes += [told_interval(g)] if "interval" in g else []
        notes += [f"{g['kernels']} kernels were seen quiet"] if "kernels" in g else []
        notes += [few_told(g["few"])] if g.get("few") else []
        if g.get("rounds", ENOUGH) < ENOUGH:
            notes.append(f"n = {g['rounds']}")
        if g["value"] < 0:
            notes.append("no ratio: the serial program took longer")
        rows.append([g["what"], short(g["value"]), f"({short(g['best'])})" if "best" in g else "",
                     f"{g['sense']} {g['bound']:.4g}", {"missed": "MISSED"}.get(verdict(g), verdict(g)), ", ".join(notes)])
    print_table(rows)
