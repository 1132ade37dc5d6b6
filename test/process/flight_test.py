"""flight_test.py CLASS PROGRAM: what flight_program's recorder writes, and when.

Tried without blanking what is overwritten (copy_ring): the times of a ring run backwards. Tried without SIGURG in the masks of threads
(thread.cpp): no backtrace."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/trace/tool"))
sys.dont_write_bytecode = True
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())

import reader  # noqa: E402
import summary  # noqa: E402
from story import Story  # noqa: E402


def rings(path):
    """The times of the events of each ring, in the order in which they were added; 0: left out."""
    data = path.read_bytes()
    header = reader.Header(*reader.HEADER.unpack_from(data))
    for i in range(header.rings):
        at = header.rings_at + i * header.ring_size
        head = reader.Head(*reader.HEAD.unpack_from(data, at))
        count, capacity, events = head.count, head.capacity, at + reader.RING_HEAD
        yield [reader.EVENT.unpack_from(data, events + n % capacity * reader.EVENT.size)[0] for n in range(max(0, count - capacity), count)]


class Recorded(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.file = self.folder / "flight"

    def run_program(self, *arguments, status=0, **environment):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "FORKJOIN_FLIGHT_RECORDER": str(self.file), **environment})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def story(self):
        return Story(reader.File(self.file))


class FlightTest(Recorded):

    def test_a_call_writes_what_there_is(self):
        self.run_program("written", self.file, FORKJOIN_TRACE_EVENTS="64")
        some_lost = False
        for i in range(20):
            path = self.folder / f"flight.{i}"
            for times in rings(path):
                seen = [time for time in times if time]
                self.assertEqual(seen, sorted(seen))
                some_lost |= len(seen) < len(times)
            self.assertFalse(reader.File(path).cut_off)
            self.assertTrue(list(summary.lines(Story(reader.File(path)))))
        self.assertTrue(some_lost)
        self.assertFalse(self.file.exists())

    def test_a_strand_that_keeps_its_p(self):
        done = self.run_program("kept")
        self.assertRegex(done.stderr, r"forkjoin: fiber \d+ has kept P 0 for over 100 ms, while others were ready\. It is in\n")
        self.assertEqual(done.stderr.count("has kept P"), 1)
        story = self.story()
        self.assertGreater(story.end - story.begin, 90e6)
        self.assertTrue(any(strand.ended is None for strand in story.strands))
        if shutil.which("addr2line"):
            inside = [line.partition("(+")[2].partition(")")[0] for line in done.stderr.splitlines() if line.startswith(PROGRAM)]
            named = subprocess.run(["addr2line", "-fe", PROGRAM, *inside], capture_output=True, text=True).stdout
            self.assertIn("keeps_its_p", named, done.stderr)

    def test_other_limits(self):
        self.assertIn("for over 200 ms", self.run_program("kept", FORKJOIN_LONG_RUN_MS="200").stderr)
        self.assertNotIn("has kept", self.run_program("kept", FORKJOIN_LONG_RUN_MS="900").stderr)
        self.assertNotIn("has kept", self.run_program("kept", FORKJOIN_LONG_RUN_MS="0").stderr)
        # With fences by signals the library's handler is there, and passes the program's signals on.
        told = "while others were ready. It is in" if os.environ.get("FORKJOIN_MEMBARRIER") == "0" else "not known, as the program handles SIGURG itself"
        self.assertIn(told, self.run_program("handled").stderr)

    def test_a_file_that_cannot_be_written(self):
        done = self.run_program("kept", status=-6, FORKJOIN_FLIGHT_RECORDER="/nowhere/flight")
        self.assertIn('the trace "/nowhere/flight" cannot be written; name a file in a folder that can', done.stderr)

    def test_a_deadlock(self):
        done = self.run_program("deadlock", status=-6)
        self.assertIn("forkjoin: deadlock", done.stderr)
        self.assertIn(f'the newest events are in "{self.file}"', done.stderr)
        self.assertTrue(any("channel::receive" in wait.why for wait in self.story().waits))

    def test_a_signal(self):
        done = self.run_program("sigquit", FORKJOIN_SIGQUIT="1")
        self.assertIn("wait in fj::channel::receive", done.stderr)
        self.assertGreater(self.story().counts["wait"], 0)

    def test_misuse(self):
        said = self.run_program("refused").stdout.splitlines()
        self.assertEqual(len(said), 7)
        self.assertIn("there is no trace to write; set options::flight_recorder, or call trace_to before", said[0])
        self.assertIn('the trace "" cannot be written; name a file', said[1])
        self.assertEqual(said[2], "fj::runtime::trace_to: the path is a null pointer; pass the name of a file")
        self.assertIn("or its flight recorder is on; call stop_trace before", said[3])
        self.assertIn('the trace "/nowhere/trace" cannot be written', said[4])
        self.assertIn('the trace "" cannot be written; name a file', said[5])
        self.assertEqual(said[6], "fj::runtime::write_trace: the path is a null pointer; pass the name of a file")


class SlowEndTest(Recorded):
    def test_a_runtime_that_does_not_end(self):
        done = self.run_program("slow_end")
        self.assertIn("the destructor of fj::runtime has waited for over 10 s", done.stderr)
        self.assertRegex(done.stderr, r"1 fiber \(1\): wait in fj::channel::receive, called by [\w:]+ at .*flight_program\.cpp:\d+, for most of that time\n")
        self.assertTrue(self.file.exists())
        self.assertNotIn("has waited", self.run_program("slow_end", FORKJOIN_DEADLOCK="0").stderr)


if __name__ == "__main__":
    unittest.main()
