"""The programs that take part: ours and the serial one, the ways of oneTBB and OpenMP, and the peers' own programs.

A peer's own program is an executable <folder>/<peer>/<kernel>. It is called as <kernel> <peer> <size> <procs> <runs> and prints
`result N` and for each run `seconds S`, as <kernel>_once does. <folder>/<peer>/version says in a line what it was built of.
"""

import json
import os
import pathlib
import tempfile
from typing import NamedTuple

from harness import measure

KNOWN = ("oneTBB", "OpenMP", "go", "rayon", "lace", "fibril", "libfork", "taskflow", "toomanycooks", "dispenso", "citor", "chili")
OURS = "forkjoin"
SERIAL = "serial"
RUNS = 2  # of a program in a round; the fastest counts, as the first one also pays for what it touches first
TIME = pathlib.Path("/usr/bin/time")  # of Debian's package time
LONG = 2.0  # seconds; a run that takes longer is not repeated within a round


class Program(NamedTuple):
    kernel: str
    peer: str
    way: str
    compiler: str  # what it was built by, in a few words
    file: pathlib.Path

    @property
    def key(self):
        return self.kernel, self.peer, self.way, self.compiler


def peer_of(way):
    """None: a way that takes no part."""
    named = {"serial": SERIAL, "continuations": OURS}
    return named.get(way) or ("oneTBB" if way.startswith("tbb") else "OpenMP" if way.startswith("omp") else None)


class Runner(measure.Kernel):
    """Runs programs of one kernel at one size."""

    def __init__(self, once, sizes):
        self.stack_size, self.timeout = 0, measure.TIMEOUTS[sizes]
        command = [once, "--list"]
        with measure.making_sense_of(command):
            about = json.loads(self.output(command))[0]
            self.name, self.stack_size, self.ways = about["name"], about["stack_size"], about["ways"]
            self.size, self.label = about[sizes][0]["size"], about[sizes][0].get("label")

    def peak_kib(self, program, procs):
        """Of a process of one run, as its system tells GNU time; None without that. (Of a child of this process the system would count
        what Python had before the program began.)"""
        if not executable(TIME):
            return None
        with tempfile.NamedTemporaryFile("r") as told:
            self.output([TIME, "-o", told.name, "-f", "%M", program.file, program.way, str(self.size), str(procs), "1"])
            return int(told.read())

    def run(self, program, procs, runs):
        """Returns the result and the seconds of each run."""
        command = [program.file, program.way, str(self.size), str(procs), str(runs)]
        with measure.making_sense_of(command):
            lines = [words for line in self.output(command).splitlines() if (words := line.split())]
            seconds = [float(line[1]) for line in lines if line[0] == "seconds"]
            if len(seconds) != runs or min(seconds) < 0:
                raise ValueError(f"seconds of {runs} runs expected")
            return int(dict(line[:2] for line in lines)["result"]), seconds


def note_memory(runner, programs, rows):
    """Adds the peak memory to each row of the kernel."""
    by_key = {(p.peer, p.way, p.compiler): p for p in programs}
    for row in rows:
        kib = runner.peak_kib(by_key[row["peer"], row["way"], row["built_by"]], row["procs"])
        if kib is not None:
            row["peak_kib"] = kib


def versions(build):
    return json.loads((build / "bench" / "peers" / "versions.json").read_text())


def executable(file):
    return file.is_file() and os.access(file, os.X_OK)


def built(build, runner):
    """The ways of one build folder, each by the program that has it."""
    about = versions(build)
    found = {}
    for file in (build / "bench" / f"{runner.name}_once", build / "bench" / "peers" / f"{runner.name}_peers"):
        if executable(file):
            command = [file, "--list"]
            with measure.making_sense_of(command):
                ways = json.loads(runner.output(command))[0]["ways"]
            for way in ways:
                peer = peer_of(way)
                if peer and way not in found:
                    what = f"{about['compiler']}, {peer} {about[peer]}" if about.get(peer) else about["compiler"]
                    found[way] = Program(runner.name, peer, way, what, file)
    return list(found.values())


def brought(folder, kernel):
    """The programs of this kernel in a folder of peers."""
    found = []
    for file in sorted(folder.glob(f"*/{kernel}")):
        if executable(file):
            found.append(Program(kernel, file.parent.name, file.parent.name, version(file.parent), file))
    return found


def version(folder):
    try:
        return (folder / "version").read_text().splitlines()[0].strip()
    except (OSError, IndexError, ValueError):
        return "unknown version"


def presence(programs, folder, left_out, unwanted=()):
    """For each peer that is known or was found, in words: its versions, or why it is left out. unwanted: the names of those
    that were there and not asked for."""
    said = []
    for name in dict.fromkeys([*KNOWN, *(p.peer for p in programs if p.peer not in (OURS, SERIAL))]):
        of = [p for p in programs if p.peer == name]
        if of:
            what = "; ".join(dict.fromkeys(p.compiler for p in of))
        else:
            what = "left out: " + ("not asked for" if name in unwanted else left_out.get(name) or (
                f"{folder}/{name} has no programs of these kernels" if folder else "--peers names no folder with its programs"))
        said.append({"name": name, "found": bool(of), "what": what})
    return said
