"""Runs a kernel's binaries: rounds of Google Benchmark, single runs in a process of their own, moments."""

import argparse
import contextlib
import json
import math
import os
import resource
import subprocess
import sys
import time

from harness.figures import ENOUGH, Figure, Moment, Rounds, is_omp, is_tbb
from harness.goals import LITTLE, NOT_SLOWER, growth

MIN_TIME = 0.05  # seconds a benchmark runs in a round: short, so that the ways of a round see the same machine
SLOW = 5.0  # ways that take more than this times as long as the fastest take part in some rounds only
SLOW_ROUNDS = 5
TIMEOUTS = {"test": 60, "quick": 180, "full": 3600}  # seconds: ten times what a round or a run takes on a slow machine
MOMENTS = 5  # in a round
MOMENT_TIME = 0.03  # seconds that each part of a moment takes, at least
CLOSE = 1.03  # times oneTBB's speed; below it the rounds cannot tell which is faster, and pairs are taken
PAIRS = 25
PAIR_RUNS = 2  # the faster one counts
PAIR_TIME = 15  # seconds after which no further pair of a kernel begins, if the kernel is measured alone
SHORT_PAIR_TIME = 3  # if it is one of several
LONG = 0.2  # a part that takes more seconds is taken once in a round, and in those rounds only that slow ways take part in


# The orders and joins beside continuations (first, leave) and tasks (last, top). first_leave is what continuations is, but that
# nodes of many children fork them two at a time.
COUNTED = ("steals", "join_waits", "late_ns", "on_top_ns")  # in each round; main.cpp has the same names
CROSSED = ("first_leave", "first_top", "first_leap", "last_leave", "last_leap", "first_own", "last_own", "again", "padded")
POLICIES = ("continuations", "tasks", *CROSSED)


class Failed(Exception):
    pass


def at_least(least):
    """For argparse: a whole number that is no smaller."""
    def whole(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return int(text)

    return whole


@contextlib.contextmanager
def making_sense_of(command):
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Failed(f"cannot make sense of what this printed ({error!r}): {in_words(command)}") from None


def in_words(command):
    return " ".join(map(str, command))


def key_of(name):
    kernel, way, size, procs = name.split("/")
    return kernel, int(size), way, int(procs.removeprefix("procs:"))


def name_of(kernel, size, way, procs):
    return f"{kernel}/{way}/{size}/procs:{procs}"


class Kernel:
    """The two binaries of a kernel, and what to measure."""

    variables = {}

    def __init__(self, folder, name, sizes, procs, ways=None, variables=None):
        """ways: the names of those to measure; None: all but CROSSED. variables: of the environment of each process."""
        self.name = name
        if variables:
            self.variables = variables
        self.binary, self.once_binary = folder / name, folder / f"{name}_once"
        for binary in (self.binary, self.once_binary):
            if not os.access(binary, os.X_OK):
                raise Failed(f"{binary} is not there; build it first: ninja -C {folder.parent} bench/{binary.name}")
        self.timeout = TIMEOUTS[sizes]
        self.moments_a_round = 1 if sizes == "test" else MOMENTS
        self.stack_size = 0
        self.arguments = [self.binary, f"--procs={','.join(map(str, procs))}", f"--sizes={sizes}"]
        command = [self.once_binary, "--list"]
        with making_sense_of(command):
            self.entries = json.loads(self.output(command))
            self.stack_size = max(e["stack_size"] for e in self.entries)
            about = [(e["name"], size) for e in self.entries for size in e[sizes]]
            self.forks = {(k, size["size"]): size["forks"] for k, size in about if "forks" in size}
            self.labels = {(k, size["size"]): size["label"] for k, size in about if "label" in size}
        command = [*self.arguments, "--benchmark_list_tests"]
        with making_sense_of(command):
            listed = self.output(command).split()
            self.keys = sorted(map(key_of, listed), key=lambda k: k[0] != name)  # the kernel itself comes first
        known = {key[2] for key in self.keys}
        self.keys = [key for key in self.keys if (key[2] not in CROSSED if ways is None else key[2] in ways)]
        self.ways = measured = {key[2] for key in self.keys}
        for entry in self.entries:
            entry["ways"] = [way for way in entry["ways"] if way in measured]
        if not self.keys:
            raise Failed(f"{self.binary} has no such benchmarks; its ways are {', '.join(sorted(known))}")

    def start(self, command, **variables):
        environment = {**os.environ, **self.variables, **variables}
        if self.stack_size:
            environment.setdefault("OMP_STACKSIZE", f"{self.stack_size // 1024}K")

        def prepare():
            if self.stack_size:  # of the main thread, and of others if their library does not choose
                hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
                most = self.stack_size if hard == resource.RLIM_INFINITY else min(hard, self.stack_size)
                resource.setrlimit(resource.RLIMIT_STACK, (most, hard))

        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                preexec_fn=prepare)

    def finish(self, process):
        """Runs it and returns its output; the status must be 0."""
        command = in_words(process.args)
        try:
            out, errors = process.communicate(timeout=self.timeout)
        except BaseException as error:  # also if the user interrupts it
            process.kill()
            process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise Failed(f"did not end within {self.timeout} s: {command}") from None
        if process.returncode != 0:
            raise Failed(f"ended with status {process.returncode}: {command}\n{errors}{first_error(out)}")
        return out

    def output(self, command, **variables):
        return self.finish(self.start(command, **variables))

    def round(self, keys, turn):
        """Runs the ways, in another order each turn. Returns the context and {key: {"ms": ..., and by COUNTED}}."""
        got = {}
        # OpenMP's threads spin on for up to 0.2 s after their work, which would slow down the next way.
        for part in ([k for k in keys if not is_omp(k[2])], [k for k in keys if is_omp(k[2])]):
            if part:
                context, figures = self.process(part, turn)
                got |= figures
        return context, got

    def process(self, keys, turn):
        pattern = "^(" + "|".join(name_of(*k) for k in keys) + ")$"
        command = [*self.arguments, f"--turn={turn}", f"--benchmark_filter={pattern}", "--benchmark_format=json",
                   f"--benchmark_min_time={MIN_TIME}"]
        got = {}
        with making_sense_of(command):
            report = json.loads(self.output(command))
            for b in report["benchmarks"]:
                scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[b["time_unit"]]
                got[key_of(b["name"])] = {"ms": b["real_time"] * scale, **{name: b.get(name) for name in COUNTED}}
            context = report["context"]
        missing = [name_of(*k) for k in keys if k not in got]
        if missing:
            raise Failed(f"no figures for {', '.join(missing)}")
        return context, got

    def once(self, size, way, procs):
        """Returns `once` of the schema."""
        command = [self.once_binary, way, str(size), str(procs)]
        got = parse_once(self.output(command), command)
        if "most_public" in got.get("counters", {}):
            # Only its owner knows how many records a deque holds, and does not count them; so once more with all public.
            all_public = parse_once(self.output(command, FORKJOIN_MEMBARRIER="0", FORKJOIN_FENCE_SIGNAL="0"), command)
            got["deepest_deque"] = all_public["counters"]["most_public"]
        return got

    def grown(self, size, way, procs):
        """KiB that come during a run."""
        command = [self.once_binary, way, str(size), str(procs)]
        return growth(parse_once(self.output(command), command))

    def pair(self, size, ways, procs):
        """The second way's time over the first's, in processes of their own, one right after the other."""
        times = []
        for way in ways:
            command = [self.once_binary, way, str(size), str(procs), str(PAIR_RUNS)]
            with making_sense_of(command):
                lines = self.output(command).splitlines()
                times.append(min(float(line.split()[1]) for line in lines if line.startswith("seconds ")))
        return times[1] / times[0]

    def moments(self, size, procs, seconds):
        """Some moments of `continuations`. seconds: about the time of one run on one P."""
        runs, count = max(1, math.ceil(MOMENT_TIME / seconds)), 1 if seconds > LONG else self.moments_a_round
        command = [self.once_binary, "--moments", "continuations", *map(str, (size, procs, count, runs))]
        with making_sense_of(command):
            return parse_moments(self.output(command))


def first_error(out):
    """Why Google Benchmark skipped something, if this is its report."""
    try:
        benchmarks = json.loads(out)["benchmarks"]
    except (ValueError, KeyError, TypeError):
        return ""
    return "".join(f"{b['name']}: {b['error_message']}\n" for b in benchmarks if b.get("error_occurred"))


def parse_moments(out):
    found = [Moment(*map(float, line.split()[1:])) for line in out.splitlines() if line.startswith("moment ")]
    if not found or min(map(min, found)) <= 0:
        raise ValueError("no moments")
    return found


def parse_once(out, command):
    with making_sense_of(command):
        values = dict(line.split() for line in out.splitlines())
        got = {"seconds": float(values.pop("seconds"))}
        values.pop("result")
        for name in ("peak_resident_kib", "prepared_resident_kib"):
            value = values.pop(name, "unknown")
            if value != "unknown":
                got[name] = int(value)
        hardware = {name.removeprefix("hardware_"): int(values.pop(name)) for name in list(values) if name.startswith("hardware_")}
        if hardware:
            got["hardware"] = hardware
        if values:
            got["counters"] = {name: int(value) for name, value in values.items()}
    return got


def slow_keys(got):
    """The ways that would take most of a round."""
    fastest = {}
    for (kernel, size, _, procs), entry in got.items():
        of = kernel, size, procs
        fastest[of] = min(fastest.get(of, math.inf), entry["ms"])
    return {k for k, entry in got.items()
            if entry["ms"] > SLOW * fastest[k[0], k[1], k[3]] and entry["ms"] > 1000 * MIN_TIME}


class Taking:
    """The rounds of one build of a kernel."""

    def __init__(self, kernel, with_moments, say):
        self.kernel, self.with_moments, self.say = kernel, with_moments, say
        self.longest = {True: 0.0, False: 0.0}
        self.results, self.moments, self.slow, self.context = [], [], set(), {}

    def take(self, i, rounds, with_slow):
        kernel, began, cores = self.kernel, time.monotonic(), len(os.sched_getaffinity(0))
        self.context, got = kernel.round([k for k in kernel.keys if with_slow or k not in self.slow], i)
        if i == 0:
            self.slow = slow_keys(got)
        moments = {}
        for name, size, way, procs in kernel.keys:
            one = got.get((name, size, way, 1), {}).get("ms")
            if not self.with_moments or name != kernel.name or way != "continuations" or not 1 < procs <= cores or not one:
                continue
            if with_slow or one < 1000 * LONG:
                moments[name, size, procs] = kernel.moments(size, procs, one / 1000)
        took = time.monotonic() - began
        self.longest[with_slow] = max(self.longest[with_slow], took)
        self.results.append(got)
        self.moments.append(moments)
        shown = "  ".join(f"{way}:{procs} {got[name, size, way, procs]['ms']:.4g}"
                          for name, size, way, procs in kernel.keys
                          if (name, size) == kernel.keys[0][:2] and (name, size, way, procs) in got)
        self.say(f"  round {i + 1:2}/{rounds}  {took:4.1f} s   ms: {shown}")
        sys.stdout.flush()


def run_rounds(builds, rounds, budget, with_moments=True, say=print, sure=ENOUGH):
    """[(Rounds, context)] of the builds of one kernel, whose rounds alternate. No round begins if the last one took longer than
    the rest of `budget` seconds; but ENOUGH rounds always run, and `sure` rounds with slow ways. Slow ways take part in five
    rounds, evenly spread if there is time."""
    slow_rounds = min(SLOW_ROUNDS, rounds)
    slow_at = {i * rounds // slow_rounds for i in range(slow_rounds)}
    start = time.monotonic()
    all_of = [Taking(kernel, with_moments, say) for kernel in builds]
    slow_taken = 0
    for i in range(rounds):
        any_slow = any(of.slow for of in all_of)
        missing = any_slow and slow_taken < sure
        with_slow = i in slow_at or not any_slow
        left = budget - (time.monotonic() - start)
        if i > 0 and any_slow and left < 1.1 * sum(of.longest[True] for of in all_of):
            with_slow = missing
        if i >= ENOUGH and not missing and left < 1.1 * sum(of.longest[with_slow] for of in all_of):
            say(f"  the time is up: {i} rounds instead of {rounds}")
            break
        slow_taken += with_slow
        for of in all_of:
            of.take(i, rounds, with_slow)
    return [(Rounds(of.results, of.moments, of.kernel.forks, [other.results for other in all_of if other is not of]),
             of.context) for of in all_of]


def run_once(kernel, say=print):
    """{key: once}, for the kernel itself. The memory of the serial program and of `continuations` is taken ENOUGH times, and that of
    oneTBB's ways where they are compared."""
    began = time.monotonic()
    got = {}
    for name, size, way, procs in kernel.keys:
        if name == kernel.name:
            got[name, size, way, procs] = kernel.once(size, way, procs)
    for (name, size, way, procs), one in got.items():
        ours = got.get((name, size, "continuations", procs), {})
        if growth(one) is not None and (way in ("serial", "continuations") or is_tbb(way) and (growth(ours) or 0) > LITTLE):
            one["grown_kib"] = [growth(one)] + [kernel.grown(size, way, procs) for _ in range(ENOUGH - 1)]
    say(f"  each in a process of its own, for memory and counters  {time.monotonic() - began:.1f} s")
    return got


def is_close(times):
    """Whether the rounds leave open which is faster, or that ours is not slower."""
    return times.median < CLOSE or times.median_lies_between()[0] < NOT_SLOWER


def run_pairs(kernel, results, seconds=PAIR_TIME, say=print):
    """{key: Figure} of the time of oneTBB's best way over that of `continuations`, for keys where `results` are close. The first way of a
    pair changes from pair to pair. At least ENOUGH pairs, and no further one begins after so many seconds."""
    found = {}
    for key, figures in results.items():
        name, size, way, procs = key
        if name != kernel.name or way != "continuations" or "vs_tbb" not in figures or not is_close(figures["vs_tbb"]):
            continue
        other = min((w for n, s, w, p in results if (n, s, p) == (name, size, procs) and is_tbb(w)),
                    key=lambda w: results[name, size, w, procs]["ms"].median)
        began, ratios = time.monotonic(), []
        while len(ratios) < ENOUGH or len(ratios) < PAIRS and time.monotonic() - began < seconds:
            if len(ratios) % 2 == 0:
                ratios.append(kernel.pair(size, (way, other), procs))
            else:
                ratios.append(1 / kernel.pair(size, (other, way), procs))
        found[key] = Figure(ratios)
        low, high = found[key].median_lies_between()
        say(f"  close to oneTBB on {procs} P: {found[key].median:.3f} of its speed by {len(ratios)} pairs, between "
            f"{low:.3f} and {high:.3f}, {int(100 * found[key].certainty)} % sure  {time.monotonic() - began:.1f} s")
        sys.stdout.flush()
    return found
