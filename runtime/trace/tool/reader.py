"""Reads the file of a trace. format.hpp has its form: this module reads the events' names and the structs there."""

import collections
import os
import pathlib
import re
import stat
import struct

HERE = pathlib.Path(__file__).resolve().parent
FORMAT = next(file for file in (HERE / "format.hpp", HERE.parent / "format.hpp") if file.exists())  # installed; in the source tree
TEXT = FORMAT.read_text(encoding="utf-8")


def form(name):
    """What struct and collections.namedtuple make of a struct of format.hpp."""
    codes = {"std::uint64_t": "Q", "std::uint32_t": "I", "double": "d"}
    body = re.search(rf"(?ms)^struct {name} \{{\n(.*?)^\}};", TEXT)[1]
    members = [(codes[kind], names.split(", ")) for kind, names in re.findall(r"(?m)^  (?:std::atomic<)?([\w:]+)>? ([\w, ]+);", body)]
    return (struct.Struct("<" + "".join(code * len(names) for code, names in members)),
            collections.namedtuple(name, [each for _, names in members for each in names]))


def constant(name):
    return int(re.search(rf"\b{name} = ([\w']+);", TEXT)[1].replace("'", "").rstrip("u"), 0)


HEADER, Header = form("trace_header")
HEAD, Head = form("trace_ring_head")
EVENT, _ = form("trace_event")
MAGIC, RING_HEAD, NO_PROC = constant("right_magic"), constant("ring_head_size"), constant("no_proc")
KINDS = {int(number): name for name, number in re.findall(r"(?m)^  (\w+) = (\d+),", TEXT)}

Event = collections.namedtuple("Event", "at kind proc fiber a b thread")
CALLERS = 0x10000  # the number of the first thread that called run


class Thread(collections.namedtuple("Thread", "number is_outside count kept")):
    """Whose events a ring has. Its name is that which the system knows, unless the program has given it another one."""

    @property
    def name(self):
        if self.is_outside:
            return "a thread outside"
        return f"fj-{self.number - 1}" if 0 < self.number < CALLERS else "a caller of run"


class Failed(Exception):
    """What the user should read."""


MOST_PROCS = NO_PROC - 1
NS_PER_TICK = 1e-3, 1e6  # no clock is outside of these
LONGEST_NS = 1 << 62  # over a century: no event's time is so far from the trace's begin, but that of a damaged one
AT_ONCE = 1 << 16  # events


class File:
    """events: in order of time, in nanoseconds from the begin of the trace. What is read is checked first, as the file may be none of a
    trace, or damaged, or of a process that writes it still."""

    def __init__(self, path):
        self.path = path
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would keep its reader waiting
                raise Failed(f"{path} is no trace: it is no file")
            with open(path, "rb") as file:
                self._file, self._size = file, os.fstat(file.fileno()).st_size
                self._load()
        except OSError as error:
            raise Failed(f"cannot read {path}: {error.strerror}") from None
        del self._file

    def _damaged(self, what):
        return Failed(f"{self.path} is damaged, or was cut short: {what}")

    def _part(self, what, at, size):
        """These bytes, which are mapped nowhere: another process may truncate the file."""
        if at + size > self._size:
            raise self._damaged(f"{what} would end at byte {at + size:,} of {self._size:,}")
        data = os.pread(self._file.fileno(), size, at)
        if len(data) != size:
            raise self._damaged(f"{what} could not be read")
        return data

    def _load(self):
        if self._size < HEADER.size:
            raise Failed(f"{self.path} is no trace: it has {self._size} bytes")
        header = Header(*HEADER.unpack(self._part("the header", 0, HEADER.size)))
        self.pid, self.procs, self.without_ring = header.pid, header.procs, header.without_ring
        self.first_ticks, self.ns_per_tick, self.began_unix_ns = header.first_ticks, header.ns_per_tick, header.began_unix_ns
        self._size = os.fstat(self._file.fileno()).st_size  # a process that writes it still makes room for a ring before it counts it
        if header.magic != MAGIC:
            raise Failed(f"{self.path} is no trace of this version of the library, or the program ended while it made the file")
        if not 1 <= self.procs <= MOST_PROCS:
            raise self._damaged(f"it is of {self.procs:,} P")
        self.cut_off = header.last_ticks == 0
        if not self.cut_off and header.last_ticks > header.first_ticks and header.last_ns > header.first_ns:
            self.ns_per_tick = (header.last_ns - header.first_ns) / (header.last_ticks - header.first_ticks)
        if not NS_PER_TICK[0] <= self.ns_per_tick <= NS_PER_TICK[1]:  # nor is it no number
            raise self._damaged(f"its clock ticks every {self.ns_per_tick:g} ns")
        modules = self._part("the list of modules", header.modules_at, header.modules_size)
        self.modules = [module for line in modules.split(b"\0", 1)[0].splitlines() if (module := self._module(line))]
        self._texts = self._part("the list of texts", header.texts_at, header.texts_size)
        rings_end = header.rings_at + header.rings * header.ring_size
        if header.rings and header.ring_size < RING_HEAD:
            raise self._damaged(f"its rings have {header.ring_size} bytes")
        if rings_end > self._size:
            raise self._damaged(f"its {header.rings:,} rings would end at byte {rings_end:,} of {self._size:,}")
        self.threads, found = [], []
        for i in range(header.rings):
            at = header.rings_at + i * header.ring_size
            count, capacity, worker, is_outside = Head(*HEAD.unpack(self._part("a ring", at, HEAD.size)))
            if RING_HEAD + capacity * EVENT.size > header.ring_size:
                raise self._damaged(f"a ring of {header.ring_size:,} bytes would have room for {capacity:,} events")
            kept = min(count, capacity)
            self.threads.append(Thread(worker, bool(is_outside), count, kept))
            first = (count - kept) % capacity if capacity else 0
            for start, number in (first, min(kept, capacity - first)), (0, kept - min(kept, capacity - first)):
                for begin in range(start, start + number, AT_ONCE):
                    size = min(AT_ONCE, start + number - begin) * EVENT.size
                    for ticks, what, a, b in EVENT.iter_unpack(self._part("a ring", at + RING_HEAD + begin * EVENT.size, size)):
                        if ticks and abs(ticks - self.first_ticks) * self.ns_per_tick < LONGEST_NS:
                            found.append((ticks, what, a, b, i))
        found.sort(key=lambda event: event[0])
        first, scale = self.first_ticks, self.ns_per_tick
        self.events = [Event((ticks - first) * scale, KINDS.get(what & 0xffff, "none"), what >> 16 & 0xffff, what >> 32, a, b, thread)
                       for ticks, what, a, b, thread in found]
        self.lost = sum(thread.count for thread in self.threads) - len(found)
        end = (header.last_ticks - first) * scale if not self.cut_off else 0
        if abs(end) >= LONGEST_NS:
            raise self._damaged(f"it would have lasted {end:g} ns")
        self.begin = min((event.at for event in self.events[:1]), default=0) if self.lost else min(0, self.events[0].at if self.events else 0)
        firsts = {}
        for event in self.events:
            firsts.setdefault(event.thread, event.at)
        # Since when no event of any thread is lost.
        self.whole_from = max((firsts[i] for i, thread in enumerate(self.threads) if thread.count > thread.kept and i in firsts), default=self.begin)
        self.end = max([end, *(event.at for event in self.events[-1:])])

    def _module(self, line):
        bias, _, name = line.partition(b" ")
        try:
            return int(bias, 16), os.fsdecode(name)
        except ValueError:
            return None  # the rest of a path with a line end in it

    def text(self, at):
        """Empty too where a damaged event refers to no text."""
        if not 0 < at <= len(self._texts) - 2:
            return ""
        length = int.from_bytes(self._texts[at:at + 2], "little")
        return self._texts[at + 2:at + 2 + length].decode(errors="replace")
