"""What a profile says of a program: work, span, and how long it would take on any number of Ps."""

import dataclasses
import json
import math

MOST = 1e30  # of what a profile counts or measures
PROCS = [2 ** i for i in range(13)]  # 1 to 4,096


class Failed(Exception):
    pass


@dataclasses.dataclass
class Site:
    """A line that forks, or what no branch is around. Times in nanoseconds."""
    function: str
    file: str
    line: int
    kind: str            # fork_join, loop, fork_reduce or scope. Outside of branches: "begin", before the first fork; "after" a join there; "beside"
                         # the children of a scope or fork_reduce there, before their join
    forks: int
    own: float           # of the strands in its branches, without those of forks in them
    before_forks: float  # of these, up to the first fork in a branch
    after_joins: float   # and after the joins in a branch; the others are of branches that do not fork
    on_span: float       # of these on the longest path
    saved_twice: float   # by how much the longest path with thefts is shorter if its strands are twice as fast
    saved_free: float    # or if its thefts cost nothing
    outermost: int
    work_in: float       # of its blocks, with all that is in them
    span_in: float
    lone_loops: int      # that a strand runs alone, as they are too short to be shared
    lone_numbers: float  # of all of these
    lone: float          # their time

    @property
    def name(self):
        if self.kind == "begin":
            return "before the first fork"
        place = f" at {self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else ""
        return (f"{self.kind} " if self.kind in ("after", "beside") else "") + self.function + place

    @property
    def is_fork(self):
        return self.kind not in ("begin", "after", "beside")

    @property
    def parallelism(self):
        """Not of a scope: its sums are of its children one by one, which run beside one another."""
        return self.work_in / self.span_in if self.span_in and self.kind != "scope" else None

    def lone_parallelism(self, theft):
        """Of a loop that a strand runs alone, as they are on average: if it were shared number by number; and in halves as often as pays, with a
        theft for each halving."""
        numbers, time = max(1, self.lone_numbers / self.lone_loops), self.lone / self.lone_loops
        halvings = range(1, max(1, math.ceil(math.log2(numbers))) + 1)
        return numbers, max((time / (time / min(numbers, 2 ** n) + n * theft) for n in halvings), default=1.0) if time else 1.0


def no_number(text):
    raise ValueError(f"{text} is no number")


class Profile:
    def __init__(self, path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                self._take(json.load(file, parse_constant=no_number))
        except (OSError, ValueError, RecursionError) as error:
            raise Failed(f"{path} is no profile: {error}") from None
        except (KeyError, TypeError):
            raise Failed(f"{path} is no profile of this version") from None

    def _take(self, told):
        """Raises KeyError or TypeError if that is no profile."""
        if told["forkjoin-profile"] != 1:
            raise TypeError
        self.work, self.span, self.burdened = told["work_ns"], told["span_ns"], told["burdened_ns"]
        self.theft, self.runs, self.repeats = told["theft_ns"], told["run"] + 1, told["repeats"]
        self.fork = 0.0  # of a fork that no thief takes: not known to the profile itself
        self.sites = [Site(site["function"], site["file"], site["line"], site["kind"], site["forks"], site["own_ns"], site["own_before_forks_ns"],
                           site["own_after_joins_ns"], site["on_span_ns"],
                           site["saved_twice_ns"], site["saved_free_ns"], site["outermost"], site["work_in_ns"], site["span_in_ns"],
                           site["lone_loops"], site["lone_numbers"], site["lone_ns"])
                      for site in told["sites"]]
        numbers = [self.work, self.span, self.burdened, self.theft, self.runs]
        for site in self.sites:
            *texts, line, kind = site.function, site.file, site.line, site.kind
            numbers += [line, *list(vars(site).values())[4:]]
            if not all(isinstance(text, str) for text in (*texts, kind)):
                raise TypeError
        if not all(type(number) in (int, float) and abs(number) < MOST for number in numbers):
            raise TypeError

    @property
    def forks(self):
        return sum(site.forks for site in self.sites)

    @property
    def lone_loops(self):
        return sum(site.lone_loops for site in self.sites)

    @property
    def parallelism(self):
        return self.work / self.span if self.span else 1.0

    def time(self, procs, *, work=None, burdened=None, forks=None):
        """At most, by the bound of greedy schedulers: all P are busy, or the longest path goes on (Brent; Blumofe and Leiserson)."""
        alone = (self.work if work is None else work) + (self.forks if forks is None else forks) * self.fork
        longest = self.burdened if burdened is None else burdened
        return (alone + (procs - 1) * min(longest, alone)) / procs

    def best_time(self, procs):
        """At least: neither more than all P work, nor is the longest path shorter than it is."""
        return max((self.work + self.forks * self.fork) / procs, self.span)

    def time_if_twice(self, site, procs):
        return self.time(procs, work=self.work - site.own / 2, burdened=self.burdened - site.saved_twice)

    def time_if_free(self, site, procs):
        return self.time(procs, burdened=self.burdened - site.saved_free, forks=self.forks - site.forks)
