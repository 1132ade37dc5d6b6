"""What a trace tells: which strand ran where and when, what it waited for, and who had it go on."""

import bisect
import collections
import functools
import itertools

from reader import NO_PROC
from symbols import Symbols

NEVER = float("inf")


class Strand:
    """What began with a stolen record, a job or a fiber of go, on one stack, until its end."""

    __slots__ = ("number", "fiber", "code", "loop", "given", "parent", "born", "ended", "runs", "waits", "stolen_from", "born_on", "kind", "site", "children", "left", "has_arrived")

    def __init__(self, number, fiber, born, kind, code=None, parent=None):
        self.number, self.fiber, self.born, self.kind, self.code, self.parent = number, fiber, born, kind, code, parent
        self.loop = self.given = self.ended = self.stolen_from = self.born_on = None
        self.runs, self.waits, self.children = [], [], []
        self.has_arrived = False  # at its parent's join: the parent was told to have ended before it
        self.left = None  # the child that went on in its place when a thief took its rest, where it was not known to run
        self.site = ""

    @property
    def name(self):
        return self.given or self.site

    def ran(self):
        return sum(run.end - run.begin for run in self.runs)


class Run:
    """A strand on a P."""

    __slots__ = ("strand", "proc", "thread", "begin", "end", "why", "tops")

    def __init__(self, strand, proc, thread, begin):
        self.strand, self.proc, self.thread, self.begin = strand, proc, thread, begin
        self.end, self.why, self.tops = None, "", []


class Wait:
    """why: "join", the place where the strand waits, or how it gave way. by: the run in which it was made ready. urgent: whether it
    went before others then."""

    __slots__ = ("strand", "why", "begin", "ready", "end", "by", "from_proc", "to_proc", "urgent")

    def __init__(self, strand, why, begin, from_proc):
        self.strand, self.why, self.begin, self.from_proc = strand, why, begin, from_proc
        self.ready = self.end = self.by = self.to_proc = None
        self.urgent = False

    def lasted(self, until):
        return (self.end if self.end is not None else until) - self.begin


Steal = collections.namedtuple("Steal", "at thief victim_proc victim strand")
Wake = collections.namedtuple("Wake", "at by_proc by_thread woken proc awake")
Mark = collections.namedtuple("Mark", "at proc strand kind text")


class Vain:
    """P `proc` looked for work, and saw forks, all of them private, first those of P `victim`, which ran `strand`: until the P found other
    work, or these forks were public or done. how: by whom."""

    __slots__ = ("proc", "victim", "strand", "begin", "end", "how")

    def __init__(self, proc, victim, strand, begin):
        self.proc, self.victim, self.strand, self.begin = proc, victim, strand, begin
        self.end, self.how = None, "their owner ran them"


def union(spans):
    """Of [(begin, end)] those that overlap as one, in order."""
    found = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


class Story:
    def __init__(self, file):
        self.file, self.procs, self.begin, self.end = file, file.procs, file.begin, file.end
        self.strands, self.steals, self.wakes, self.marks, self.jobs = [], [], [], [], []
        self.states = [[] for _ in range(self.procs)]  # of each P: [begin, end, busy | looking | idle]
        self.vain, self._vain = [], {}  # P: the search under way
        self.beside_loops, self._beside_loops = [], {}  # [begin, end] of a P that looked for work and saw short loops; P: that under way
        self.counts = collections.Counter()
        self.wrong = []  # what cannot be, so that a test can ask
        self._of_fiber, self._current = {}, {}  # fiber: its strand; thread: its run
        self._on_proc = {}  # P: its run
        self._stacks, self._lows = [], []
        self._stolen, self._waking, self._state = {}, {}, [("unknown", file.begin)] * self.procs
        self._tops = collections.defaultdict(list)
        for event in file.events:
            self.counts[event.kind] += 1
            getattr(self, "_" + event.kind, self._nothing)(event)
        self._close()
        self._resolve()

    # --- events ---

    def _nothing(self, event):
        pass

    def _new(self, fiber, at, kind, code=None, parent=None):
        before = self._of_fiber.get(fiber)
        if before and before.ended is None:  # a child of a scope, of which nothing else is told
            self._ends(before, at)
        strand = Strand(len(self.strands), fiber, at, kind, code, parent)
        self.strands.append(strand)
        self._of_fiber[fiber] = strand
        return strand

    def _strand(self, event):
        """The one that tells of itself, and so runs on that thread: in the place of another one, if that is its parent in a scope, or a child
        that has ended. One that is not known was born before the trace begins."""
        strand = self._living(event)
        run = self._current.get(event.thread)
        if run and run.strand is not strand:
            self._hand_over(run, strand, event.at)
        return strand

    def _living(self, event):
        strand = self._of_fiber.get(event.fiber)
        return strand if strand and strand.ended is None else self._new(event.fiber, event.at, "before")

    def _hand_over(self, run, strand, at):
        self._end_run(run, at, "calls its child" if strand.parent is run.strand else "ends")
        strand.runs.append(Run(strand, run.proc, run.thread, at))
        self._current[run.thread] = strand.runs[-1]
        if self._on_proc.get(run.proc) is run:
            self._on_proc[run.proc] = strand.runs[-1]

    def _child(self, event):
        """A child of a scope has neither birth nor end, as long as its parent has not been stolen. Children that follow one another on a
        stack are told as one strand."""
        parent = self._living(event._replace(fiber=event.a))
        strand = self._of_fiber.get(event.fiber)
        if not strand or strand.ended is not None or strand.parent is not parent:
            strand = self._new(event.fiber, event.at, "child", None, parent)
            parent.children.append(strand)
        strand.code = event.b or strand.code

    def _stack(self, event):
        at = bisect.bisect_left(self._lows, event.a)
        self._lows.insert(at, event.a)
        self._stacks.insert(at, (event.a, event.b, event.fiber))

    def _owner(self, address):
        """The strand on whose stack an address lies."""
        at = bisect.bisect_right(self._lows, address) - 1
        if at >= 0 and address < self._stacks[at][1]:
            return self._of_fiber.get(self._stacks[at][2])
        return None

    def _born(self, event):
        parent = self._owner(event.b) if event.b else None
        running = self._current.get(event.thread)
        if not event.b:
            parent = running.strand if running else None  # who called go, or run
        strand = self._new(event.fiber, event.at, "stolen" if event.b else "job", event.a, parent)
        strand.born_on = event.proc
        if event.b and (steal := self._stolen.pop(event.thread, None)):
            at, proc, victim = steal
            strand.stolen_from = victim
            self.steals.append(Steal(at, event.proc, victim, parent, strand))

    def _steal(self, event):
        self._stolen[event.thread] = (event.at, event.proc, event.a)

    def _begin_run(self, strand, event):
        run = Run(strand, event.proc, event.thread, event.at)
        if (before := self._on_proc.get(event.proc)) and before.end is None and event.proc != NO_PROC:
            if before.thread != event.thread and self.file.lost == 0:
                self.wrong.append(f"{event.at:.0f} ns: strands {before.strand.number} and {strand.number} run on P {event.proc}")
            self._end_run(before, event.at, "?")
        strand.runs.append(run)
        self._current[event.thread] = self._on_proc[event.proc] = run
        return run

    def _end_run(self, run, at, why):
        if run.end is None:
            run.end, run.why = at, why

    def _run(self, event):
        strand = self._living(event)
        if strand.runs and strand.runs[-1].end is None and self.file.lost == 0:
            self.wrong.append(f"{event.at:.0f} ns: strand {strand.number} runs twice")
        if strand.waits and strand.waits[-1].end is None:
            strand.waits[-1].end, strand.waits[-1].to_proc = event.at, event.proc
            if strand.waits[-1].ready is None:
                strand.waits[-1].ready = event.at
        self._begin_run(strand, event)

    def _left(self, event, why):
        strand = self._strand(event)
        if run := self._current.pop(event.thread, None):
            self._end_run(run, event.at, why)
        return strand

    def _off(self, event):
        strand = self._left(event, "leaves")
        if not (strand.waits and strand.waits[-1].end is None):
            strand.waits.append(Wait(strand, "leaves", event.at, event.proc))

    def _end(self, event):
        if (arrived := self._of_fiber.get(event.fiber)) and arrived.has_arrived:
            arrived.ended, arrived.has_arrived = None, False  # another thread told of its parent's end meanwhile
        strand = self._left(event, "ends")
        self._ends(strand, event.at)
        if event.a and (owner := self._of_fiber.get(event.a - 1)):
            self._make_ready(owner, event.at, strand)

    def _ends(self, strand, at):
        strand.ended = at
        living = [strand]
        while living:
            for child in living.pop().children:  # those that no thief of their parent told of, or that have yet to tell
                if child.ended is None:
                    child.ended, child.has_arrived = at, True
                    living.append(child)

    def _wait(self, event):
        strand = self._strand(event)
        why = self.file.text(event.a) or ("join" if event.b else "a place whose name had no room in the trace")
        strand.waits.append(Wait(strand, why, event.at, event.proc))

    def _preempt(self, event):
        strand = self._strand(event)
        strand.waits.append(Wait(strand, "gives way", event.at, event.proc))

    def _make_ready(self, strand, at, by, urgent=False):
        if strand.waits and strand.waits[-1].ready is None:
            strand.waits[-1].ready, strand.waits[-1].by, strand.waits[-1].urgent = at, by, urgent

    def _ready(self, event):
        running = self._current.get(event.thread)
        if strand := self._of_fiber.get(event.fiber):
            self._make_ready(strand, event.at, running.strand if running else None, event.a == 1)

    def _loop(self, event):
        self._strand(event).loop = event.a

    def _parent(self, event):
        thief = self._left(event._replace(fiber=event.b - 1), "goes on as its parent")
        thief.ended, thief.kind = event.at, "parent's thief"
        strand, child = (self._of_fiber.get(fiber) or self._new(fiber, event.at, "before") for fiber in (event.fiber, event.a - 1))
        if strand.runs and strand.runs[-1].end is None:  # else the child has left its stack, or was known to run there
            passed = set()  # in a damaged trace the way may lead in a circle
            while child.left and child not in passed and child.runs and child.runs[-1].end is None:
                passed.add(child)
                child = child.left  # the thief of its rest told of that first, though it came later
            self._hand_over(strand.runs[-1], child, event.at)
        else:
            strand.left = child
        self._begin_run(strand, event)

    def _on_top(self, event):
        self._tops[event.thread].append((event.at, event.a))

    def _on_top_end(self, event):
        run = self._current.get(event.thread)
        if self._tops[event.thread]:
            begin, code = self._tops[event.thread].pop()
            if run:
                run.tops.append((begin, event.at, code))

    def _block(self, event):
        strand = self._strand(event)
        strand.waits.append(Wait(strand, "fj::blocking", event.at, event.proc))

    def _unblock(self, event):
        strand = self._strand(event)
        if strand.waits and strand.waits[-1].end is None:
            strand.waits[-1].ready = event.at
            if not event.a:  # it kept its P
                strand.waits[-1].end = event.at

    def _retake(self, event):
        if run := self._on_proc.get(event.proc):
            self._end_run(run, event.at, "blocks")
        self.marks.append(Mark(event.at, event.proc, None, "retake", ""))

    def _name(self, event):
        self._strand(event).given = self.file.text(event.a)

    def _mark(self, event):
        self.marks.append(Mark(event.at, event.proc, self._of_fiber.get(event.fiber), "mark", self.file.text(event.a)))

    def _sees_private(self, event):
        self._ends_vain(event.proc, event.at)
        if event.a != NO_PROC:
            run = self._on_proc.get(event.a)
            self._vain[event.proc] = Vain(event.proc, event.a, run.strand if run and run.end is None else None, event.at)
            self.vain.append(self._vain[event.proc])

    def _sees_loops(self, event):
        if event.a:
            self._beside_loops.setdefault(event.proc, event.at)
        else:
            self._ends_beside_loops(event.proc, event.at)

    def _ends_beside_loops(self, proc, at):
        if (begin := self._beside_loops.pop(proc, None)) is not None:
            self.beside_loops.append([begin, at])

    def _ends_vain(self, proc, at, how=None):
        if search := self._vain.pop(proc, None):
            search.end, search.how = at, how or search.how

    def _ends_vain_beside(self, victim, at, how=None):
        for proc in [proc for proc, search in self._vain.items() if search.victim == victim]:
            self._ends_vain(proc, at, how)

    def _publish(self, event):
        self._ends_vain_beside(event.proc, event.at, "their owner published")
        self.marks.append(Mark(event.at, event.proc, None, "publish", f"{event.a} public"))

    def _expose(self, event):
        self._ends_vain(event.proc, event.at, "taken by force")
        self.marks.append(Mark(event.at, event.proc, None, "expose", f"{event.a} public"))

    def _set_state(self, proc, at, state):
        if proc >= self.procs:
            return
        self._ends_vain(proc, at)
        self._ends_beside_loops(proc, at)
        if state != "busy":
            self._ends_vain_beside(proc, at)
        before, since = self._state[proc]
        if before == state:
            return
        if at > since:
            self.states[proc].append([since, at, before])
        self._state[proc] = (state, at)

    def _busy(self, event):
        self._set_state(event.proc, event.at, "busy")

    def _looking(self, event):
        self._set_state(event.proc, event.at, "looking")

    def _idle(self, event):
        self._set_state(event.proc, event.at, "idle")

    def _wake(self, event):
        self._waking[event.a] = len(self.wakes)
        self.wakes.append(Wake(event.at, self._current[event.thread].proc if event.thread in self._current else None, event.thread, event.a,
                               event.proc, None))
        self._set_state(event.proc, event.at, "looking")

    def _awake(self, event):
        number = self.file.threads[event.thread].number
        if (at := self._waking.pop(number, None)) is not None:
            self.wakes[at] = self.wakes[at]._replace(awake=event.at)

    def _job(self, event):
        self.jobs.append([event.at, None, event.a, event.thread])

    def _job_end(self, event):
        own = next((job for job in reversed(self.jobs) if job[3] == event.thread and job[1] is None), None)
        if own is None:
            self.jobs.append(own := [self.begin, None, 0, event.thread])  # it began before the trace
        own[1] = event.at

    # --- the end ---

    def _close(self):
        for strand in self.strands:
            for run in strand.runs:
                if run.end is None:
                    run.end, run.why = self.end, "runs still"
        for search in self._vain.values():
            search.end = self.end
        for proc in list(self._beside_loops):
            self._ends_beside_loops(proc, self.end)
        for proc in range(self.procs):
            state, since = self._state[proc]
            if self.end > since:
                self.states[proc].append([since, self.end, state])
        self.runs = sorted((run for strand in self.strands for run in strand.runs), key=lambda run: run.begin)
        self.waits = [wait for strand in self.strands for wait in strand.waits]

    def _resolve(self):
        symbols = self._symbols = Symbols(self.file.modules)
        tops = [code for run in self.runs for *_, code in run.tops]
        symbols.name_all([*(s.code for s in self.strands if s.code), *(s.loop for s in self.strands if s.loop), *tops, *(job[2] for job in self.jobs if job[2])])
        for strand in self.strands:
            code = strand.loop or strand.code
            names = {"before": "began before the trace", "parent's thief": "takes up a scope's parent"}
            strand.site = names.get(strand.kind) or (symbols.short(code) if code else "?")
        for strand in self.strands:  # parents first
            if strand.kind == "child" and not strand.code:
                strand.site = f"child in {self._user_code(strand.parent)}"
            elif strand.parent and strand.site.startswith(("fj::", "a part of a loop")) and " with " not in strand.site:
                strand.site += f" in {self._user_code(strand.parent)}"
        for run in self.runs:
            run.tops = [(begin, end, symbols.short(code)) for begin, end, code in run.tops]

    @staticmethod
    def _user_code(strand):
        """What the strand's name says of the program's own code."""
        return strand.given or strand.site.partition(" in ")[2] or strand.site

    @functools.cached_property
    def places(self):
        """Of strands by their name: where their code begins, as "file.cpp:63", if that is known. A tool that reads the program says so, which takes
        longer than all else here."""
        places, found = self._symbols.places(s.code for s in self.strands if s.code), {}
        for strand in self.strands:
            if not strand.given and not strand.loop and strand.code in places and " in " not in strand.site:
                found.setdefault(strand.name, places[strand.code])
        return found

    def told(self, name):
        """A name of strands, and where their code begins."""
        return f"{name} at {self.places[name]}" if name in self.places else name

    # --- figures ---

    @functools.cached_property
    def working(self):
        """From the first call of run, or the first fiber, to the end of the last one, as far back as all threads' events go; the whole, where there is
        none."""
        spans = [(job[0], job[1]) for job in self.jobs] + [(strand.born, strand.ended) for strand in self.strands if strand.kind in ("job", "before")]
        if not spans:
            return self.begin, self.end
        last = max(self.end if end is None else end for _, end in spans)
        return min(max(min(begin for begin, _ in spans), self.file.whole_from), last), last

    def share(self, state):
        """Of the time of all P while there was work."""
        first, last = self.working
        return sum(max(0, min(end, last) - max(begin, first)) for states in self.states for begin, end, s in states if s == state) / (
            (last - first) * self.procs) if last > first else 0

    def idle_beside_private(self):
        """Of each P [(begin, end)]: it looked for work or was idle, while a worker that looked saw forks that were all private."""
        spans, found = union((search.begin, search.end) for search in self.vain), []
        for states in self.states:
            mine, at = [], 0
            for begin, end, state in states:
                while at < len(spans) and spans[at][1] <= begin:
                    at += 1
                if state not in ("looking", "idle"):
                    continue
                for first, last in itertools.takewhile(lambda span: span[0] < end, itertools.islice(spans, at, None)):
                    mine.append((max(first, begin), min(last, end)))
            found.append([tuple(span) for span in union(mine)])
        return found

    def busy_procs(self):
        """[(begin, end, how many P are busy)], while there was work"""
        steps = collections.Counter()
        for states in self.states:
            for begin, end, state in states:
                if state == "busy":
                    steps[begin] += 1
                    steps[end] -= 1
        found, now, since = [], 0, self.begin
        for at in sorted(steps):
            if at > since:
                found.append((since, at, now))
            now, since = now + steps[at], at
        if self.end > since:
            found.append((since, self.end, now))
        first, last = self.working
        return [(max(begin, first), min(end, last), count) for begin, end, count in found if begin < last and end > first]

    def ready_strands(self):
        """[(from when on, how many strands are ready)]"""
        steps = collections.Counter()
        for wait in self.waits:
            if wait.ready is not None:
                steps[wait.ready] += 1
                if wait.end is not None:
                    steps[wait.end] -= 1
        times = sorted(steps)
        return list(zip(times, itertools.accumulate(steps[at] for at in times)))
