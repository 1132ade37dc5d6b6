#!/usr/bin/env python3
"""Runs a kernel's benchmarks in interleaved rounds and prints the table that compares its ways.

    bench/run.py fib --build build [--procs 1,2] [--repetitions N] [--quick] [--json FILE] [--check]

Machines change speed from one second to the next. So a round runs every way once, close together in time; ratios are
taken within a round only, and the table gives their median over the rounds, the smallest and the largest in brackets.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import time

MIN_TIME = 0.05  # seconds a benchmark runs in a round: short, so that neighbours in a round see the same machine
SLOW_PREFIX = "tbb_"  # ways that take seconds take part in some of the rounds only
BUSY_CORES = 0.2  # more than this used by others: the figures are doubtful
ROUND_TIMEOUT = 120  # seconds: ten times what a round takes on a slow machine
UNSTEADY = 1.25  # likewise, if the serial program's longest time is more than this times its shortest


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


# How many forks one iteration does, by the family that a benchmark's name begins with.
FORKS = {"fib": lambda n: fib(n + 1) - 1, "flat": lambda count: count}

# What `--check` asks for: text, the figure it is about, and the bound (-: at most, +: at least).
GOALS = [
    ("continuations / serial, one P", ("fib", "continuations", 1, "serial"), -2.2),
    ("continuations, two P over one", ("fib", "continuations", 2, "speedup"), +1.95),
    ("times as fast as tbb_invoke, one P", ("fib", "continuations", 1, "tbb_invoke"), +30),
    ("times as fast as tbb_invoke, two P", ("fib", "continuations", 2, "tbb_invoke"), +30),
    ("times as fast as tbb_group, one P", ("fib", "continuations", 1, "tbb_group"), +30),
    ("times as fast as tbb_group, two P", ("fib", "continuations", 2, "tbb_group"), +30),
    ("flat fork / nested fork, one P", ("flat", "continuations", 1, "flat_over_nested"), -3.0),
]


def fail(message):
    print(f"bench/run.py: {message}", file=sys.stderr)
    sys.exit(1)


# --------------------------------------------------------------------------------------------- running


class Name:
    """family/way/size/procs:P"""

    def __init__(self, text):
        self.text = text
        self.family, self.way, size, procs = text.split("/")
        self.size = int(size)
        self.procs = int(procs.removeprefix("procs:"))

    @property
    def slow(self):
        return self.way.startswith(SLOW_PREFIX)

    @property
    def key(self):
        return self.family, self.way, self.procs


def list_benchmarks(binary, procs):
    command = [binary, f"--procs={procs}", "--benchmark_list_tests"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail(f"{binary} could not list its benchmarks (status {done.returncode})")
    return [Name(line) for line in done.stdout.split()]


def run_round(binary, procs, names):
    """One process for the whole round. Returns its context and {key: {"ms": ..., "steals": ...}}."""
    pattern = "^(" + "|".join(n.text for n in names) + ")$"
    command = [binary, f"--procs={procs}", f"--benchmark_filter={pattern}", "--benchmark_format=json",
               f"--benchmark_min_time={MIN_TIME}"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=ROUND_TIMEOUT)
    except subprocess.TimeoutExpired:
        fail(f"a round did not end within {ROUND_TIMEOUT} s: {' '.join(map(str, command))}")
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        fail(f"{binary} ended with status {done.returncode} and no report\n{done.stderr}")
    got = {}
    for b in report["benchmarks"]:
        if b.get("error_occurred") or b.get("skipped"):
            fail(f"{b['name']}: {b.get('error_message') or b.get('skip_message')}")
        scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[b["time_unit"]]
        steals = round(b["steals"]) if "steals" in b else None
        got[Name(b["name"]).key] = {"ms": b["real_time"] * scale, "steals": steals}
    if done.returncode != 0:
        fail(f"{binary} ended with status {done.returncode}\n{done.stderr}")
    missing = [n.text for n in names if n.key not in got]
    if missing:
        fail(f"no figures for {', '.join(missing)}")
    return report["context"], got


def run_rounds(binary, procs, names, rounds, slow_rounds, budget):
    fast = [n for n in names if not n.slow]
    has_slow = len(fast) < len(names)
    # The slow ways' rounds are spread evenly, the first round being one of them.
    slow_at = {i * rounds // slow_rounds for i in range(slow_rounds)} if has_slow else set()
    start = time.monotonic()
    longest = {True: 0.0, False: 0.0}
    context, results = None, []
    for i in range(rounds):
        with_slow = i in slow_at
        left = budget - (time.monotonic() - start)
        if i > 0 and with_slow and left < 1.1 * longest[True]:
            with_slow = False
        if i > 0 and left < 1.1 * longest[with_slow]:
            print(f"  the time is up: {i} rounds instead of {rounds}", flush=True)
            break
        began = time.monotonic()
        context, got = run_round(binary, procs, names if with_slow else fast)
        took = time.monotonic() - began
        longest[with_slow] = max(longest[with_slow], took)
        results.append(got)
        shown = "  ".join(f"{n.way}:{n.procs} {got[n.key]['ms']:.4g}" for n in names
                          if n.key in got and n.family == names[0].family)
        print(f"  round {i + 1:2}/{rounds}  {took:4.1f} s   ms: {shown}", flush=True)
    return context, results


# ------------------------------------------------------------------------------------------- reckoning


def short(value):
    """Three digits; counts as they are."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"


class Figure:
    """A figure taken once per round."""

    def __init__(self, values):
        self.values = [v for v in values if v is not None]

    def __bool__(self):
        return bool(self.values)

    @property
    def median(self):
        counts = isinstance(self.values[0], int)
        return statistics.median_high(self.values) if counts else statistics.median(self.values)

    def show(self):
        if not self:
            return "-"
        return f"{short(self.median)} ({short(min(self.values))}…{short(max(self.values))})"

    def summary(self):
        return {"median": self.median, "min": min(self.values), "max": max(self.values), "rounds": len(self.values)}


def reckon(names, rounds):
    """{key: {figure name: Figure}}; every ratio is taken within its round."""
    sizes = {n.family: n.size for n in names}

    def time_in(got, family, way, procs):
        entry = got.get((family, way, procs))
        return entry and entry["ms"]

    def ratio(over, under):
        return over / under if over is not None and under else None

    def per_fork(got, family, way, procs):
        own, serial = time_in(got, family, way, procs), time_in(got, family, "serial", 1)
        if own is None or serial is None or family not in FORKS or procs != 1 or way == "serial":
            return None
        return (own - serial) * 1e6 / FORKS[family](sizes[family])

    def flat_over_nested(got, nested, way, procs):
        over, under = per_fork(got, "flat", way, procs), per_fork(got, nested, way, procs)
        return over / under if over is not None and under is not None and under > 0 else None

    figures = {}
    for n in names:
        f = n.family
        own = lambda got: time_in(got, *n.key)
        tables = {
            "ms": own,
            "serial": lambda got: ratio(own(got), time_in(got, f, "serial", 1)),
            "tbb_invoke": lambda got: ratio(time_in(got, f, "tbb_invoke", n.procs), own(got)),
            "tbb_group": lambda got: ratio(time_in(got, f, "tbb_group", n.procs), own(got)),
            "speedup": lambda got: ratio(time_in(got, f, n.way, 1), own(got)) if n.procs > 1 else None,
            "ns_per_fork": lambda got: per_fork(got, *n.key),
            "steals": lambda got: got[n.key]["steals"] if n.key in got else None,
        }
        if f == "flat":
            tables["flat_over_nested"] = lambda got: flat_over_nested(got, names[0].family, n.way, n.procs)
        figures[n.key] = {name: Figure([take(got) for got in rounds]) for name, take in tables.items()}
    return figures


# ----------------------------------------------------------------------------------------- environment


def read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def cpu_model():
    for line in (read("/proc/cpuinfo") or "").splitlines():
        if line.lower().startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    here = pathlib.Path(__file__).resolve().parent
    git = ["git", "-C", str(here)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
    except OSError:
        return None
    if head.returncode != 0:
        return None
    return head.stdout.strip() + (" with changes" if changed.stdout.strip() else "")


class Load:
    """How many cores others have kept busy, and how many a hypervisor withheld, since this was made."""

    def __init__(self):
        self.began = time.monotonic()
        self.busy, self.withheld = self.counts()
        self.own = self.own_seconds()

    @staticmethod
    def counts():
        line = (read("/proc/stat") or "").partition("\n")[0].split()
        if len(line) < 9:
            return 0.0, 0.0
        user, nice, system, _, _, irq, softirq, steal = (int(v) / os.sysconf("SC_CLK_TCK") for v in line[1:9])
        return user + nice + system + irq + softirq, steal

    @staticmethod
    def own_seconds():
        total = 0.0
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            usage = resource.getrusage(who)
            total += usage.ru_utime + usage.ru_stime
        return total

    def others(self):
        busy, withheld = self.counts()
        seconds = time.monotonic() - self.began
        own = self.own_seconds() - self.own
        return max(0.0, busy - self.busy - own) / seconds, (withheld - self.withheld) / seconds


def environment(context, load_average):
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "kernel": platform.release(),
        "load_average": load_average,
        "compiler": context.get("compiler"),
        "flags": context.get("flags"),
        "assertions": context.get("assertions"),
        "oneTBB": context.get("oneTBB"),
    }


# -------------------------------------------------------------------------------------------- printing


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for r in rows:
        # the way to the left, figures to the right
        cells = [r[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(r[1:], widths[1:])]
        print(("  " + "  ".join(cells)).rstrip())


def print_family(family, names, figures):
    own = [n for n in names if n.family == family]
    columns = {"ms": "median ms", "best": "best ms", "serial": "vs serial", "tbb_invoke": "tbb_invoke vs",
               "tbb_group": "tbb_group vs", "speedup": "speed-up", "ns_per_fork": "ns/fork",
               "flat_over_nested": "vs nested fork", "steals": "steals"}
    rows = []
    for n in own:
        f = figures[n.key]
        row = {name: f[name].show() if name in f else "-" for name in columns}
        row["ms"] = f"{f['ms'].median:.2f}"
        row["best"] = f"{min(f['ms'].values):.2f}"
        if n.way in row:
            row[n.way] = "-"  # the ratio to itself
        rows.append((n, row))
    used = [c for c in columns if any(row[c] != "-" for _, row in rows)]
    forks = f", {FORKS[family](own[0].size):,} forks" if family in FORKS else ""
    print(f"\n{family}({own[0].size}){forks}")
    head = ["way", "P", *(columns[c] for c in used)]
    print_table([head] + [[n.way, str(n.procs), *(row[c] for c in used)] for n, row in rows])


def print_warnings(env, figures, kernel, before, during):
    if env["assertions"] == "on":
        print("  WARNING: built with internal assertions; configure with --buildtype=release for figures that count")
    for when, (others, withheld) in (("before", before), ("during", during)):
        if others > BUSY_CORES:
            print(f"  WARNING: the machine looks busy: others used {others:.2f} cores {when} the measurement")
        if withheld > BUSY_CORES / 4:
            print(f"  WARNING: the hypervisor withheld {withheld:.2f} cores {when} the measurement")
    times = figures[(kernel, "serial", 1)]["ms"].values if (kernel, "serial", 1) in figures else [1]
    if max(times) > UNSTEADY * min(times):
        print(f"  WARNING: the serial program's time varied by a factor of {max(times) / min(times):.2f}: the clock"
              "\n           changes, or something unseen shares the cores. Go by the ratios of best times then")


def judge_goals(figures):
    met, rows = True, []
    for text, (family, way, procs, name), bound in GOALS:
        figure = figures.get((family, way, procs), {}).get(name)
        if not figure:
            continue
        ok = figure.median <= -bound if bound < 0 else figure.median >= bound
        met = met and ok
        rows.append([text, f"{figure.median:.2f}", best_ratio(figures, family, way, procs, name),
                     f"{'at most' if bound < 0 else 'at least'} {abs(bound):g}", "met" if ok else "MISSED"])
    if rows:
        print("\ngoals (median; in brackets by best times)")
        print_table(rows)
    return met


def best_ratio(figures, family, way, procs, name):
    def best(*key):
        return min(figures[key]["ms"].values)

    own = best(family, way, procs)
    if name == "serial":
        return f"({own / best(family, 'serial', 1):.2f})"
    if name == "speedup":
        return f"({best(family, way, 1) / own:.2f})"
    if name.startswith(SLOW_PREFIX):
        return f"({best(family, name, procs) / own:.2f})"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", help="such as fib: the binary is <build>/bench/<kernel>")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--procs", default="1,2", help="numbers of processors (default: 1,2)")
    parser.add_argument("--repetitions", type=int, help="rounds (default: 21; oneTBB takes part in at most 5 of them)")
    parser.add_argument("--quick", action="store_true", help="3 rounds, oneTBB in one of them")
    parser.add_argument("--budget", type=float, default=100, help="seconds after which no round begins (default: 100)")
    parser.add_argument("--json", metavar="FILE", help="also write environment, rounds and figures there")
    parser.add_argument("--check", action="store_true", help="exit with status 3 if a goal is missed")
    args = parser.parse_args()

    rounds = args.repetitions or (3 if args.quick else 21)
    slow_rounds = 1 if args.quick else min(5, rounds)
    if rounds < 1:
        parser.error("--repetitions must be at least 1")
    binary = (pathlib.Path(args.build) / "bench" / args.kernel).resolve()
    if not os.access(binary, os.X_OK):
        fail(f"{binary} is not there; build it first: "
             f"meson setup {args.build} && ninja -C {args.build} bench/{args.kernel}")

    names = list_benchmarks(binary, args.procs)
    if not names:
        fail(f"{binary} has no benchmarks")
    names.sort(key=lambda n: n.family != args.kernel)  # the kernel itself first; the order is kept otherwise

    load_average = os.getloadavg()
    load = Load()
    time.sleep(0.5)
    before = load.others()

    print(f"{args.kernel}: {rounds} rounds, the slow ways in {slow_rounds} of them", flush=True)
    load = Load()
    context, results = run_rounds(binary, args.procs, names, rounds, slow_rounds, args.budget)
    during = load.others()

    env = environment(context, load_average)
    figures = reckon(names, results)

    print()
    for key, value in env.items():
        if value is not None:
            shown = " ".join(f"{v:.2f}" for v in value) if isinstance(value, tuple) else value
            print(f"  {key.replace('_', ' ') + ':':14} {shown}")
    print_warnings(env, figures, args.kernel, before, during)
    for family in dict.fromkeys(n.family for n in names):
        print_family(family, names, figures)
    print("\n  vs serial: time over the serial program's. tbb_… vs: oneTBB's time on as many P over this one's."
          "\n  ns/fork: (time - serial time) / forks, on one P. Median of the rounds' ratios (smallest…largest)."
          "\n  Every result was checked.")
    met = judge_goals(figures)

    if args.json:
        report = {
            "kernel": args.kernel,
            "environment": env | {"others_before": before, "others_during": during},
            "rounds": [{n.text: got[n.key] for n in names if n.key in got} for got in results],
            "figures": {n.text: {name: f.summary() for name, f in figures[n.key].items() if f} for n in names},
        }
        pathlib.Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
    return 3 if args.check and not met else 0


if __name__ == "__main__":
    sys.exit(main())
