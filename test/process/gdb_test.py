"""gdb_test.py PROGRAM: `fj fibers`, `fj bt` and plain `bt` of gdb/forkjoin-gdb.py in gdb_program, live and from a core: a backtrace of a stolen
branch, a scope's child, an iteration of a loop and a fiber of go shows the functions that forked it, and main at its bottom.

Tried with an unwinder that does not know call_on_stack's registers: the scope's backtrace ends in the child. Tried with a wrong offset of
a fiber's stack (instances.cpp): no backtrace goes on."""

import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "runtime/gdb/forkjoin-gdb.py"
FORMAT = pathlib.Path(__file__).resolve().parents[2] / "runtime/trace/format.hpp"
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())

# What must be in a backtrace, in this order.
LINES = {
    ("fork", "waits"): ["stop", "deep", "first_frame", "outer", "top", "main"],
    ("fork", "runs"): ["stop", "deep", "stolen from fiber", "outer", "top", "main"],
    ("scope", "waits"): ["stop", "deep", "in_scope", "top", "main"],
    ("scope", "runs"): ["stop", "deep", "in_scope", "top", "main"],
    ("loop", "waits"): ["stop", "deep", "in_loop", "top", "main"],
    ("go", "on"): ["stop", "in_fiber", "top", "main"],
}


def gdb(*commands, program=(PROGRAM,), core=None):
    words = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off", "-iex", "set disable-randomization off",
             "-ex", f"source {SCRIPT}"]
    for command in commands:
        words += ["-ex", command]
    words += [program[0], core] if core else ["--args", *program]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


class GdbTest(unittest.TestCase):
    def check(self, said, lines):
        self.assertNotIn("Traceback", said)
        self.assertNotIn("Error occurred in Python", said)
        at = 0
        for line in lines:
            found = re.search(rf"^(#\d+ .*\b{line}\b|     -- .*{line})", said[at:], re.M)
            self.assertTrue(found, f"no {line} after line {said[:at].count(chr(10))} of:\n{said}")
            at += found.end()

    def dies(self, folder, what, how):
        """The core of a run that ends by abort where it would stop; None if the system writes none there."""
        def allow_core():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        subprocess.run([PROGRAM, what, how + "-dies"], cwd=folder, preexec_fn=allow_core, stdout=subprocess.DEVNULL, timeout=60)
        return next((str(file) for file in pathlib.Path(folder).glob("core*")), None)

    def test_live_and_core(self):
        for (what, how), lines in LINES.items():
            with self.subTest(what=what, how=how), tempfile.TemporaryDirectory() as folder:
                said = gdb("break stop_here", "run", "echo FIBERS\\n", "fj fibers", "echo BT\\n", "fj bt", "echo PLAIN\\n", "bt",
                           program=(PROGRAM, what, how))
                fibers, _, rest = said.partition("FIBERS\n")[2].partition("BT\n")
                trace, _, plain = rest.partition("PLAIN\n")
                self.check(trace, lines)
                if how == "waits":  # what runs elsewhere is no caller
                    self.check(plain, lines[:-1])
                self.assertRegex(fibers, r"(?m)^fiber \d+: running on thread \d+")
                if what == "go":
                    self.assertRegex(fibers, r"(?m)^fiber .*: waits in fj::channel::receive, called by \w+(::λ)* at .*gdb_program\.cpp:\d+(;.*)?$")
                elif how == "waits":
                    self.assertRegex(fibers, r"(?m)^fiber 1: waits at a join$")
                if core := self.dies(folder, what, how):
                    self.check(gdb("fj fibers", "fj bt", core=core), lines)

    def test_a_fiber_that_waits(self):
        said = gdb("break stop_here", "run", "fj bt 2", "fj bt 99", program=(PROGRAM, "go", "on"))
        self.assertRegex(said, r"#\d+ .*gdb_program\.cpp:\d+\n(.*\n)*     -- a fiber of fj::go")
        self.assertIn("there is no fiber 99", said)

    def test_names_of_threads(self):
        said = gdb("break stop_here", "run", "info threads", program=(PROGRAM, "fork", "runs"))
        self.assertRegex(said, r'(?m)^\W*\d+ .*"fj-0"')

    def test_many_fibers(self):
        """Fibers that wait at one place are one line; `all` has a line for each. Tried with the place left out of what is the same: the last
        fiber is counted among the thousand. Tried with a line for each: this test fails."""
        said = gdb("break stop_here", "run", "echo FEW\\n", "fj fibers", "echo ALL\\n", "fj fibers all", "fj fibers some", program=(PROGRAM, "many", "on"))
        few, _, every = said.partition("FEW\n")[2].partition("ALL\n")
        waits = r"waits in fj::wait_group::wait, called by \w+(?:::λ)* at .*gdb_program\.cpp:\d+$"
        self.assertRegex(few, rf"(?m)^fiber \d+ and 999 more: {waits}")
        self.assertRegex(few, rf"(?m)^fiber \d+: {waits}")
        self.assertRegex(few, r"(?m)^fiber \d+: running on thread \d+")
        self.assertEqual(len(re.findall(rf"(?m)^fiber \d+: {waits}", every)), 1001, every)
        self.assertIn("fj fibers, or fj fibers all", every)

    @unittest.skipUnless(any(pathlib.Path("/usr/include").glob("**/sys/sdt.h")), "no sys/sdt.h")
    def test_probes(self):
        """A theft is a probe. Tried with a number that no event has: gdb does not stop."""
        steal = int(re.search(r"\bsteal = (\d+)", FORMAT.read_text())[1])
        said = gdb("break -probe-stap forkjoin:event", f"condition 1 $_probe_arg0 == {steal}", "run", 'printf "from P %d to P %d\\n", $_probe_arg3, $_probe_arg1',
                   program=(PROGRAM, "fork", "runs"))
        found = re.search(r"from P (\d+) to P (\d+)$", said, re.M)
        self.assertTrue(found, said)
        self.assertNotEqual(found[1], found[2])

    def test_before_the_program_runs(self):
        self.assertIn("does not run yet", gdb("fj fibers", program=("/bin/true",)))


if __name__ == "__main__":
    if not shutil.which("gdb"):
        print("gdb is not installed: not checked")
        sys.exit(77)
    if re.search(r"ptrace: |[Cc]ould not trace", gdb("run", program=(PROGRAM, "none", "none"))):
        print("gdb may not trace here: not checked")
        sys.exit(77)
    unittest.main()
