"""Figures taken once a round, and the statistics of them: ratios within a round, medians, spreads. Means and medians are
those of Python's own `statistics`, so measuring needs no package, and the report shows the same figures."""

import math
import statistics
from collections import namedtuple

STEADY = 0.03  # the part by which two times of the same program may differ while the machine is quiet
SURE = 0.99  # of an interval, if there are values enough
CLEAR = 0.02  # a difference below that is not significant
ENOUGH = 5  # rounds behind a figure that may meet a goal; a figure of fewer says how many
OURS = ("continuations", "tasks", "scope", "no_grain")  # and every way named after an order and a join, see is_ours


def is_ours(way):
    """Whether the way is the library's own: the field's names, or an order and a join as in first_leave."""
    return way in OURS or way.partition("_")[0] in ("first", "last")


def is_tbb(way):
    return way == "tbb" or way.startswith("tbb_")


def is_omp(way):
    return way == "omp" or way.startswith("omp_")


def ratio(over, under):
    """None where a part is missing."""
    return over / under if over is not None and under else None


def ratio_of_bests(over, under):
    """The ratio of the least times of the rounds in which both took part (the least of more rounds would be less). None if
there is no such round."""
    both = [(a, b) for a, b in zip(over, under) if a is not None and b is not None]
    return min(a for a, _ in both) / min(b for _, b in both) if both else None


def side_of(summary):
    """Of a ratio: 1 or -1 if the true median surely lies above or below 1, and the median differs from 1 by more than CLEAR; 0 if the
    difference is not significant; None if there are fewer than ENOUGH rounds. All of fewer than eight rounds have to agree. Every page
    goes by this rule."""
    (low, high), median = summary["interval"], summary["median"]
    if summary["rounds"] < ENOUGH:
        return None
    return 1 if low > 1 and median > 1 + CLEAR else -1 if high < 1 and median < 1 / (1 + CLEAR) else 0


class Figure:
    """A figure's values, one for each round in which it was taken; a round in which it was not gives None."""

    def __init__(self, by_round):
        self.by_round = list(by_round)
        self.values = [v for v in self.by_round if v is not None]

    def __bool__(self):
        return bool(self.values)

    @property
    def median(self):
        counts = isinstance(self.values[0], int)
        return statistics.median_high(self.values) if counts else statistics.median(self.values)

    def median_lies_between(self):
        """Two values between which the true median lies, with any noise, `certainty` sure: the range that the sign test does not
        reject. The least and the greatest value if there are too few for 99 %."""
        inner, below = sorted(self.values), self._below()
        return inner[below], inner[-1 - below]

    @property
    def certainty(self):
        """How often such a range holds the true median: at least 0.99 from eight values on, 0.94 of five."""
        n = len(self.values)
        return 1 - 2 * sum(math.comb(n, i) for i in range(self._below() + 1)) / 2**n

    def side(self):
        """See side_of."""
        return side_of(self.summary()) if self.values else None

    def verdict(self, above, below):
        """The same in words; `above` and `below` say what those are."""
        return {1: above, -1: below, 0: "no difference", None: f"too few rounds ({len(self.values)})"}[self.side()]

    def _below(self):
        """How many values lie below the range."""
        n, tail, below = len(self.values), 0.0, 0
        while (tail := tail + math.comb(n, below) / 2**n) < (1 - SURE) / 2:
            below += 1
        return max(below - 1, 0)

    def summary(self):
        return {"median": self.median, "min": min(self.values), "max": max(self.values),
                "interval": list(self.median_lies_between()), "rounds": len(self.values)}


class Moment(namedtuple("Moment", "alone parallel apart alone_again")):
    """Seconds of one run of the same program, close together in time: on one P, on all of them, as so many programs on
    one P each at the same time, on one P again."""

    @property
    def one(self):
        return (self.alone + self.alone_again) / 2

    @property
    def speedup(self):
        return self.one / self.parallel

    def ceiling(self, procs):
        """The speed-up that separate programs reach."""
        return procs * self.one / self.apart

    @property
    def quiet(self):
        """Whether each of the programs had a processor of its own, as fast as alone. Does not read `parallel`, so that
        to choose quiet moments is not to choose speed-ups."""
        return max(abs(self.alone - self.alone_again), abs(self.apart - self.one)) <= STEADY * self.one


class Rounds:
    """The results of the rounds of one binary.

    results: for each round {key: {"ms": time, counter: count or None}} with keys (kernel, size, way, procs), counters by
    the names of fj::counters;
    moments: for each round {(kernel, size, procs): [Moment]}, of continuations; forks: {(kernel, size): forks in a run};
    others: the results of the same rounds by other compilers.
    """

    def __init__(self, results, moments=(), forks=None, others=()):
        self.results = results
        self.moments = list(moments)
        self.forks = forks or {}
        self.others = list(others)

    def __len__(self):
        return len(self.results)

    def keys(self):
        return list(dict.fromkeys(key for got in self.results for key in got))

    def ms(self, i, *key):
        return self.results[i].get(key, {}).get("ms")

    def counted(self, i, name, *key):
        """A counter of one run, on average within the round."""
        return self.results[i].get(key, {}).get(name)

    def best_serial(self, i, kernel, size):
        """The serial program's time by the compiler that made the faster one; None unless all compilers took part."""
        key = kernel, size, "serial", 1
        times = [of[i].get(key, {}).get("ms") if i < len(of) else None for of in (self.results, *self.others)]
        return min(times) if len(times) > 1 and None not in times else None

    def other_serial(self, i, kernel, size):
        """The serial program's time by the other compiler; None unless two took part."""
        if len(self.others) != 1 or i >= len(self.others[0]):
            return None
        return self.others[0][i].get((kernel, size, "serial", 1), {}).get("ms")

    def best(self, is_one, kernel, size, procs):
        """A library's way with the least median time; None if there is none. is_one(way): whether the way is the library's."""
        ways = {way for k, s, way, p in self.keys() if (k, s, p) == (kernel, size, procs) and is_one(way)}
        return min(sorted(ways), key=lambda way: self.figure(lambda i: self.ms(i, kernel, size, way, procs)).median,
                   default=None)

    def alone(self, i, kernel, size, way):
        """The better of the way on one P and the serial program."""
        times = [self.ms(i, kernel, size, *of) for of in ((way, 1), ("serial", 1))]
        return None if None in times else min(times)

    def figure(self, take):
        return Figure([take(i) for i in range(len(self))])

    def ns_per_fork(self, i, kernel, size, way):
        own, serial = self.ms(i, kernel, size, way, 1), self.ms(i, kernel, size, "serial", 1)
        forks = self.forks.get((kernel, size))
        return (own - serial) * 1e6 / forks if own is not None and serial is not None and forks else None

    def flat_over_nested(self, i, size, way):
        nested = [k for k in self.results[i] if k[0] == "fib" and k[2:] == (way, 1)]
        over = self.ns_per_fork(i, "flat", size, way)
        under = self.ns_per_fork(i, *nested[0][:3]) if nested else None
        return over / under if over is not None and under is not None and under > 0 else None

    def moments_of(self, i, kernel, size, procs):
        return self.moments[i].get((kernel, size, procs), []) if i < len(self.moments) else []

    def ceiling(self, i, *of):
        """The median of the round's moments."""
        found = [m.ceiling(of[-1]) for m in self.moments_of(i, *of)]
        return statistics.median(found) if found else None

    def quiet_speedup(self, i, *of):
        """The median of the speed-ups in quiet moments."""
        found = [m.speedup for m in self.moments_of(i, *of) if m.quiet]
        return statistics.median(found) if found else None

    def ceilings_of(self):
        """{(kernel, size, procs): Figure}"""
        keys = dict.fromkeys(key for got in self.moments for key in got)
        return {key: self.figure(lambda i: self.ceiling(i, *key)) for key in keys}

    def of(self, kernel, size, way, procs):
        """{name: Figure} of one benchmark; figures that were not taken are left out."""
        key = kernel, size, way, procs
        forks = self.forks.get((kernel, size))
        versus = {f"vs_{other}": other for other in ("tbb_invoke", "tbb_group", "tbb_context")}
        for name, is_one in (("vs_tbb", is_tbb), ("vs_omp", is_omp)):
            if not is_one(way) and (best := self.best(is_one, kernel, size, procs)):
                versus[name] = best
        takes = {
            "ms": lambda i: self.ms(i, *key),
            "vs_serial": lambda i: ratio(self.ms(i, *key), self.ms(i, kernel, size, "serial", 1)),
            "vs_best_serial": lambda i: ratio(self.ms(i, *key), self.best_serial(i, kernel, size)),
            "vs_other_serial": lambda i: ratio(self.ms(i, *key), self.other_serial(i, kernel, size)),
            **{name: lambda i, other=other: ratio(self.ms(i, kernel, size, other, procs), self.ms(i, *key))
               for name, other in versus.items() if other != way},
            "steals": lambda i: None if (count := self.counted(i, "steals", *key)) is None else round(count),
            "join_waits": lambda i: self.counted(i, "join_waits", *key),
            "waits_per_1000_forks": lambda i: ratio(self.counted(i, "join_waits", *key), forks and forks / 1000),
            "late_us": lambda i: ratio(self.counted(i, "late_ns", *key), 1000 * (self.counted(i, "join_waits", *key) or 0)),
            "on_top": lambda i: ratio(self.counted(i, "on_top_ns", *key), 1e6 * procs * (self.ms(i, *key) or 0)),
        }
        if procs > 1:
            takes["speedup"] = lambda i: ratio(self.ms(i, kernel, size, way, 1), self.ms(i, *key))
            takes["vs_alone"] = lambda i: ratio(self.ms(i, *key), self.alone(i, kernel, size, way))
            takes["of_ceiling"] = lambda i: ratio(takes["speedup"](i), self.ceiling(i, kernel, size, procs))
            if way == "continuations":
                takes["quiet_speedup"] = lambda i: self.quiet_speedup(i, kernel, size, procs)
        elif way != "serial":
            takes["ns_per_fork"] = lambda i: self.ns_per_fork(i, kernel, size, way)
            if kernel == "flat":
                takes["flat_over_nested"] = lambda i: self.flat_over_nested(i, size, way)
        figures = {name: self.figure(take) for name, take in takes.items()}
        return {name: f for name, f in figures.items() if f}
