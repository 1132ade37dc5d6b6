"""damaged_files_test.py PROGRAM: forkjoin-trace, forkjoin-profile and forkjoin-races withstand any file: they end with status 0, or with 1 and one
sentence, and take no memory that the file does not have.

Tried with a reader that takes the header at its word (it asks for bytes that no file has), without the guard of a circle of children (a run does
not end), with a text decoded strictly, with names in a page as they are, and with a broken pipe taken for an error: each fails."""

import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "runtime/trace/tool"
sys.path[:0] = [str(TOOL)]
sys.dont_write_bytecode = True
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())

import main as trace_main  # noqa: E402
import page  # noqa: E402
import reader  # noqa: E402
from story import Story  # noqa: E402

MEMORY = 1 << 30
PROFILE = ROOT / "runtime/profile/tool"
SAY_OF_PROFILE = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import model, page, table
try:
    profile = model.Profile(sys.argv[2])
except model.Failed as failure:
    sys.exit(f"failed: {failure}")
list(table.lines(profile, None, 8, True, True))
page.made(profile, None, 8, True, "title")
"""
SITE = {"function": "main", "file": "a.cpp", "line": 1, "kind": "fork_join", "forks": 1, "own_ns": 1.0, "own_before_forks_ns": 0.0,
        "own_after_joins_ns": 0.0, "on_span_ns": 1.0, "saved_twice_ns": 0.5, "saved_free_ns": 0.0, "outermost": 1, "work_in_ns": 1.0,
        "span_in_ns": 1.0, "lone_loops": 1, "lone_numbers": 10, "lone_ns": 1.0}
GOOD = {"forkjoin-profile": 1, "work_ns": 1.0, "span_ns": 1.0, "burdened_ns": 1.0, "theft_ns": 1.0, "run": 0, "repeats": True, "sites": [SITE]}


class Damaged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = pathlib.Path(cls.kept.name)
        cls.traces = []
        for workload in "fib", "scope", "all":
            file = cls.folder / workload
            subprocess.run([PROGRAM, workload, "2"], env={**os.environ, "FORKJOIN_TRACE": str(file), "FORKJOIN_TRACE_EVENTS": "256"}, check=True,
                           capture_output=True, timeout=100)
            cls.traces.append(file.read_bytes())
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, limits[1]))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)

    def statuses(self, data):
        """Of each command, on a file with these bytes."""
        file = self.folder / "damaged"
        file.write_bytes(data)
        for command in ["summary", file], ["summary", file, file], ["page", file, "-o", self.folder / "out.html"], ["perfetto", file, "-o", self.folder / "out"]:
            sys.argv = ["forkjoin-trace", *map(str, command)]
            out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = trace_main.main()
            said = err.buffer.getvalue().decode()
            self.assertEqual(said.count("\n"), status, said)
            self.assertRegex(said, "^(forkjoin-trace: .*\n)?$")
            yield status

    def header(self, data, **changes):
        values = reader.Header(*reader.HEADER.unpack_from(data))._asdict() | changes
        return reader.HEADER.pack(*values.values()) + data[reader.HEADER.size:]

    def test_random_bytes(self):
        for seed in range(40):
            choose = random.Random(seed)
            data = bytearray(choose.choice(self.traces))
            where = len(data) if seed % 3 else 4096 + 64  # of each third one the header
            for _ in range(choose.choice((1, 10, 1000))):
                data[choose.randrange(where)] = choose.randrange(256)
            with self.subTest(seed=seed):
                list(self.statuses(bytes(data)))

    def test_events_in_disorder(self):
        """Whole events that say what cannot be: other kinds, strands, P and times."""
        for seed in range(40):
            choose = random.Random(seed)
            data = bytearray(choose.choice(self.traces))
            values = reader.Header(*reader.HEADER.unpack_from(data))._asdict()
            kinds = list(reader.KINDS) + [0, 99]
            for ring in range(values["rings"]):
                at = values["rings_at"] + ring * values["ring_size"]
                capacity = struct.unpack_from("<Q", data, at + 8)[0]
                struct.pack_into("<Q", data, at, choose.choice((capacity, 1 << 63, capacity // 2)))
                for i in range(capacity):
                    what = choose.choice(kinds) | choose.choice((0, 1, 2, 0xffff)) << 16 | choose.randrange(5) << 32
                    ticks = values["first_ticks"] + choose.choice((choose.randrange(10**6), -choose.randrange(10**6)))
                    ticks = choose.choice((ticks,) * 20 + (0, 1, (1 << 64) - 1))
                    reader.EVENT.pack_into(data, at + reader.RING_HEAD + i * reader.EVENT.size, ticks, what, choose.randrange(7), choose.randrange(7))
            with self.subTest(seed=seed):
                self.assertEqual(set(self.statuses(bytes(data))), {0})

    def test_truncations(self):
        for seed in range(20):
            choose = random.Random(seed)
            data = choose.choice(self.traces)
            with self.subTest(seed=seed):
                self.assertEqual(set(self.statuses(data[:choose.randrange(len(data))])), {1})

    def test_forged_headers(self):
        data = self.traces[-1]
        forged = [{name: value} for name in reader.Header._fields if name not in ("ns_per_tick", "magic")
                  for value in (0, 1, 1 << 20, (1 << 31) if name in ("pid", "procs") else 1 << 62, (1 << (32 if name in ("pid", "procs") else 64)) - 1)]
        forged += [{"ns_per_tick": value, "last_ticks": 0} for value in (0.0, -1.0, math.nan, math.inf, 1e300, 5e-324)]
        forged += [{"rings": 1 << 62, "ring_size": 0}, {"rings": 0}, {"magic": 0}, {"procs": 65535}]
        for changes in forged:
            with self.subTest(**changes):
                found = set(self.statuses(self.header(data, **changes)))
                self.assertEqual(len(found), 1)
                if changes in ({"rings": 1 << 62}, {"procs": 1 << 31}, {"procs": 0}, {"magic": 0}, {"texts_at": 1 << 62}):
                    self.assertEqual(found, {1})

    def test_what_is_no_trace(self):
        for data in b"", b"\0", b"text\n" * 1000, pathlib.Path(sys.executable).read_bytes()[:100_000], b"\xff" * 10_000:
            self.assertEqual(set(self.statuses(data)), {1})
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for file in pipe, self.folder, self.folder / "none", "/dev/null":
            done = subprocess.run([sys.executable, TOOL / "forkjoin-trace", "summary", file], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def test_modules_that_are_no_programs(self):
        """A trace names files: a device, a pipe and a damaged program have no symbols."""
        data = self.traces[-1]
        values = reader.Header(*reader.HEADER.unpack_from(data))._asdict()
        program = bytearray(pathlib.Path(PROGRAM).read_bytes())
        for seed in range(6):
            choose = random.Random(seed)
            broken = bytearray(program)
            broken[0x28:0x30] = struct.pack("<Q", choose.choice((1 << 62, len(program) - 70, 0, 64)))
            other = self.folder / "module"
            other.write_bytes(broken)
            for name in ("/dev/zero", str(self.folder), "\udcff", "/a path\nof two lines", str(other)):
                with self.subTest(seed=seed, name=name):
                    text = b"0 " + os.fsencode(name) + b"\n\0"
                    begin = values["modules_at"]
                    self.assertEqual(set(self.statuses(data[:begin] + text + data[begin + len(text):])), {0})

    def test_names_in_the_page(self):
        file = self.folder / "named"
        file.write_bytes(self.traces[-1])
        for name in "<!--<script>", "</script><b>", "&lt;<i>", "/* data */null", "\u2028":
            story = Story(reader.File(file))
            story.strands[0].given = name
            text = page.made(story)
            self.assertEqual((text.count("<script"), text.count("</script"), text.count("<!--")), (1, 1, 0), name)
            data = re.search(r"^const D = (.*);$", text, re.MULTILINE)[1]
            self.assertIn(name, json.loads(data)["names"])

    def test_broken_pipe(self):
        file = self.folder / "piped"
        file.write_bytes(self.traces[-1])
        for command in f"summary {file}", "--help":
            done = subprocess.run(f"{sys.executable} {TOOL}/forkjoin-trace {command} | true", shell=True, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stderr, "")

    def profile_status(self, text):
        file = self.folder / "profile.json"
        file.write_bytes(text)
        done = subprocess.run([sys.executable, "-c", SAY_OF_PROFILE, PROFILE, file], capture_output=True, text=True, errors="replace", timeout=60)
        self.assertRegex(done.stderr, r"^(failed: .*\n)?$")
        return done.returncode

    def test_profiles(self):
        good = json.dumps(GOOD)
        self.assertEqual(self.profile_status(good.encode()), 0)
        self.assertEqual(self.profile_status(json.dumps({**GOOD, "work_ns": 0, "span_ns": 0, "burdened_ns": 0}).encode()), 0)
        for lone in {"lone_loops": 0}, {"lone_numbers": 0}, {"lone_ns": 0}, {"lone_numbers": 1e29}:
            self.assertEqual(self.profile_status(json.dumps({**GOOD, "sites": [{**SITE, **lone}]}).encode()), 0)
        wrong = [b"", b"[]", b"1", b"{}", b"\xff\xfe", b"[" * 100_000, good.encode()[:-5], good.replace('"sites": [', '"sites": [1, ').encode()]
        for value in ("null", '"text"', "[]", "1e999", "NaN", "1" + "0" * 400):
            wrong += [good.replace(f'"{name}": 1.0', f'"{name}": {value}').encode() for name in ("work_ns", "own_ns", "lone_ns")]
        for text in wrong:
            with self.subTest(text=text[:400]):
                self.assertEqual(self.profile_status(text), 1)

    def test_sources_that_are_none(self):
        """What the compiler says of them may be no text."""
        source = self.folder / "source.cpp"
        source.write_bytes(b'int \xff\xfe = "\x80\n')
        for tool, file in ("profile", source), ("races", source), ("profile", self.folder), ("races", self.folder), ("races", self.folder / "none.cpp"):
            command = [sys.executable, ROOT / f"runtime/{tool}/tool/forkjoin-{tool}", file]
            uninstalled = {"PKG_CONFIG_LIBDIR": str(self.packages())}
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ, **uninstalled}, timeout=100)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertIn(f"forkjoin-{tool}: ", done.stderr)

    def packages(self):
        """A folder with packages that ask for nothing, for compilations that fail."""
        folder = self.folder / "packages"
        folder.mkdir(exist_ok=True)
        for name in "forkjoin", "forkjoin-profile", "forkjoin-races":
            (folder / f"{name}.pc").write_text(f"Name: {name}\nDescription: {name}\nVersion: 1\n")
        return folder


if __name__ == "__main__":
    unittest.main()
