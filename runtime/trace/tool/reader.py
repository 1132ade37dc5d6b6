"""Reads the file of a trace: runtime/trace/format.hpp has its form."""

import collections
import mmap
import struct

MAGIC = 0x3130656361727466
HEADER = struct.Struct("<QIIQQQQQQQQQQdQQQ")
HEAD = struct.Struct("<QQII")
EVENT = struct.Struct("<QQQQ")
RING_HEAD = 64
NO_PROC = 0xffff

KINDS = {1: "stack", 2: "born", 3: "run", 4: "off", 5: "end", 6: "wait", 7: "ready", 8: "loop", 9: "parent", 10: "on_top", 11: "on_top_end",
         12: "block", 13: "unblock", 14: "preempt", 15: "name", 16: "mark", 17: "child", 32: "steal", 33: "take", 34: "publish", 35: "expose",
         36: "sees_private", 48: "busy",
         49: "looking", 50: "idle", 51: "park", 52: "wake", 53: "awake", 54: "retake", 55: "poll", 56: "timers", 57: "job", 58: "job_end"}

Event = collections.namedtuple("Event", "at kind proc fiber a b thread")
Thread = collections.namedtuple("Thread", "number is_outside count kept")


class Failed(Exception):
    """What the user should read."""


class File:
    """events: in order of time, in nanoseconds from the begin of the trace."""

    def __init__(self, path):
        try:
            with open(path, "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise Failed(f"cannot read {path}: {error}") from None
        if len(data) < HEADER.size:
            raise Failed(f"{path} is no trace: it has {len(data)} bytes")
        (magic, self.pid, self.procs, modules_at, modules_size, texts_at, texts_size, rings_at, rings, ring_size, self.without_ring,
         self.first_ticks, first_ns, self.ns_per_tick, last_ticks, last_ns, self.began_unix_ns) = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise Failed(f"{path} is no trace of this version of the library, or the program ended while it made the file")
        self.path = path
        self.cut_off = last_ticks == 0
        if not self.cut_off and last_ticks > self.first_ticks and last_ns > first_ns:
            self.ns_per_tick = (last_ns - first_ns) / (last_ticks - self.first_ticks)
        self.modules = [(int(bias, 16), name) for line in data[modules_at:modules_at + modules_size].split(b"\0", 1)[0].decode().splitlines()
                        for bias, _, name in [line.partition(" ")]]
        self._texts = data[texts_at:texts_at + texts_size]
        self.threads, found = [], []
        for i in range(rings):
            at = rings_at + i * ring_size
            if at + ring_size > len(data):
                break
            count, capacity, worker, is_outside = HEAD.unpack_from(data, at)
            kept = min(count, capacity)
            self.threads.append(Thread(worker, bool(is_outside), count, kept))
            begin = at + RING_HEAD
            first = (count - kept) % capacity if capacity else 0
            parts = [(first, min(kept, capacity - first)), (0, kept - min(kept, capacity - first))]
            for start, number in parts:
                place = begin + start * EVENT.size
                for ticks, what, a, b in EVENT.iter_unpack(data[place:place + number * EVENT.size]):
                    if ticks:
                        found.append((ticks, what, a, b, i))
        found.sort(key=lambda event: event[0])
        first, scale = self.first_ticks, self.ns_per_tick
        self.events = [Event((ticks - first) * scale, KINDS.get(what & 0xffff, "none"), what >> 16 & 0xffff, what >> 32, a, b, thread)
                       for ticks, what, a, b, thread in found]
        self.lost = sum(thread.count for thread in self.threads) - len(found)
        end = (last_ticks - first) * scale if not self.cut_off else 0
        self.begin = min((event.at for event in self.events[:1]), default=0) if self.lost else min(0, self.events[0].at if self.events else 0)
        self.end = max([end, *(event.at for event in self.events[-1:])])

    def text(self, at):
        if not at:
            return ""
        length = int.from_bytes(self._texts[at:at + 2], "little")
        return self._texts[at + 2:at + 2 + length].decode(errors="replace")
