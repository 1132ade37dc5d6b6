"""Reads the file of a trace: runtime/trace/format.hpp has its form."""

import collections
import os
import stat
import struct

MAGIC = 0x3130656361727466
HEADER = struct.Struct("<QIIQQQQQQQQQQdQQQ")
HEAD = struct.Struct("<QQII")
EVENT = struct.Struct("<QQQQ")
RING_HEAD = 64
NO_PROC = 0xffff

KINDS = {1: "stack", 2: "born", 3: "run", 4: "off", 5: "end", 6: "wait", 7: "ready", 8: "loop", 9: "parent", 10: "on_top", 11: "on_top_end",
         12: "block", 13: "unblock", 14: "preempt", 15: "name", 16: "mark", 17: "child", 32: "steal", 33: "take", 34: "publish", 35: "expose",
         36: "sees_private", 37: "sees_loops", 48: "busy",
         49: "looking", 50: "idle", 51: "park", 52: "wake", 53: "awake", 54: "retake", 55: "poll", 56: "timers", 57: "job", 58: "job_end"}

Event = collections.namedtuple("Event", "at kind proc fiber a b thread")
Thread = collections.namedtuple("Thread", "number is_outside count kept")


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
        (magic, self.pid, self.procs, modules_at, modules_size, texts_at, texts_size, rings_at, rings, ring_size, self.without_ring,
         self.first_ticks, first_ns, self.ns_per_tick, last_ticks, last_ns, self.began_unix_ns) = HEADER.unpack(
             self._part("the header", 0, HEADER.size))
        self._size = os.fstat(self._file.fileno()).st_size  # a process that writes it still makes room for a ring before it counts it
        if magic != MAGIC:
            raise Failed(f"{self.path} is no trace of this version of the library, or the program ended while it made the file")
        if not 1 <= self.procs <= MOST_PROCS:
            raise self._damaged(f"it is of {self.procs:,} P")
        self.cut_off = last_ticks == 0
        if not self.cut_off and last_ticks > self.first_ticks and last_ns > first_ns:
            self.ns_per_tick = (last_ns - first_ns) / (last_ticks - self.first_ticks)
        if not NS_PER_TICK[0] <= self.ns_per_tick <= NS_PER_TICK[1]:  # nor is it no number
            raise self._damaged(f"its clock ticks every {self.ns_per_tick:g} ns")
        self.modules = [self._module(line) for line in self._part("the list of modules", modules_at, modules_size).split(b"\0", 1)[0].splitlines()]
        self._texts = self._part("the list of texts", texts_at, texts_size)
        if rings and ring_size < RING_HEAD:
            raise self._damaged(f"its rings have {ring_size} bytes")
        if rings_at + rings * ring_size > self._size:
            raise self._damaged(f"its {rings:,} rings would end at byte {rings_at + rings * ring_size:,} of {self._size:,}")
        self.threads, found = [], []
        for i in range(rings):
            at = rings_at + i * ring_size
            count, capacity, worker, is_outside = HEAD.unpack(self._part("a ring", at, HEAD.size))
            if RING_HEAD + capacity * EVENT.size > ring_size:
                raise self._damaged(f"a ring of {ring_size:,} bytes would have room for {capacity:,} events")
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
        end = (last_ticks - first) * scale if not self.cut_off else 0
        if abs(end) >= LONGEST_NS:
            raise self._damaged(f"it would have lasted {end:g} ns")
        self.begin = min((event.at for event in self.events[:1]), default=0) if self.lost else min(0, self.events[0].at if self.events else 0)
        self.end = max([end, *(event.at for event in self.events[-1:])])

    def _module(self, line):
        bias, _, name = line.partition(b" ")
        try:
            return int(bias, 16), os.fsdecode(name)
        except ValueError:
            raise self._damaged("a module's address is no number") from None

    def text(self, at):
        """Empty too where a damaged event refers to no text."""
        if not 0 < at <= len(self._texts) - 2:
            return ""
        length = int.from_bytes(self._texts[at:at + 2], "little")
        return self._texts[at + 2:at + 2 + length].decode(errors="replace")
