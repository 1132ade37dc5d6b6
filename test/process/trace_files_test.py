"""trace_files_test.py PROGRAM: the file of a trace is a new one that takes the name, whatever has the name or happens to the file meanwhile;
and the environment of a setuid program leads to no file.

Tried with the file of that name emptied instead (O_TRUNC), as it was: `again` dies by SIGBUS, links and hard links lead into the other file.
Tried without let_go: nameless mappings. Tried without guarded_memory: until_told dies by SIGBUS. Tried without
is_over_limit: SIGXFSZ. Tried with getenv for secure_getenv: the setuid copy hears its user."""

import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/trace/tool"))
sys.dont_write_bytecode = True
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
TRACE = b"ftrace01"

from reader import File  # noqa: E402
from story import Story  # noqa: E402


def may_gain_rights(folder):
    return IS_ROOT and not os.statvfs(folder).f_flag & os.ST_NOSUID and "NoNewPrivs:\t0" in pathlib.Path("/proc/self/status").read_text()


class TraceFilesTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.folder.chmod(0o755)
        self.file = self.folder / "trace"

    def run_program(self, what, file=None, status=0, program=PROGRAM, environment=None, **how):
        done = subprocess.run([program, what, str(file or self.file)], env={**os.environ, "FORKJOIN_TRACE_EVENTS": "1024", **(environment or {})},
                              capture_output=True, text=True, timeout=120, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def refused(self, file, word, **how):
        self.assertIn(word, self.run_program("by_two", file, status=3, **how).stderr)

    def until_told(self):
        program = subprocess.Popen([PROGRAM, "until_told", str(self.file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.assertEqual(program.stdout.readline(), "traces\n")
        return program

    def only(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_again_while_strands_run(self):
        self.assertEqual(self.run_program("again").stdout, "0\n")
        self.assertFalse(File(self.file).cut_off)
        self.only("trace")

    def test_two_runtimes(self):
        """The one that began last has the name."""
        self.run_program("by_two", environment={"FORKJOIN_TRACE_EVENTS": "65536"})
        story = Story(File(self.file))
        self.assertEqual(story.file.procs, 3)
        self.assertFalse(story.file.cut_off)
        self.assertEqual((story.file.lost, story.wrong), (0, []))

    def test_another_program_makes_it_shorter(self):
        for size in 0, 4096, 400_000:
            program = self.until_told()
            os.truncate(self.file, size)
            said = program.communicate(timeout=60)[1]
            self.assertEqual(program.returncode, 0, said)
            self.assertIn(f'the trace "{self.file}" was made shorter by another program: its events are lost', said)

    def test_another_program_writes_nonsense(self):
        """Tried with the ring's capacity read from the file: SIGSEGV."""
        program = self.until_told()
        with open(self.file, "r+b") as file:
            size = os.path.getsize(self.file)
            file.write(b"\x11" * size)
        said = program.communicate(timeout=60)[1]
        self.assertEqual(program.returncode, 0, said)

    def test_a_kill_leaves_the_events(self):
        program = self.until_told()
        program.send_signal(signal.SIGKILL)
        program.communicate(timeout=60)
        story = Story(File(self.file))
        self.assertTrue(story.file.cut_off)
        self.assertGreater(story.counts["run"], 0)
        self.only("trace")

    def test_what_has_the_name_keeps_its_content(self):
        precious = self.folder / "precious"
        precious.write_text("precious")
        os.link(precious, self.file)
        self.run_program("by_two")
        self.assertEqual(precious.read_text(), "precious")
        self.assertEqual(self.file.read_bytes()[:8], TRACE)
        for to in precious, self.folder / "nothing":
            link = self.folder / "link"
            link.symlink_to(to)
            self.refused(link, "is a symbolic link, which is not followed; name the file itself")
            self.assertTrue(link.is_symlink())
            self.refused(link, "symbolic link") if to == precious else self.assertFalse(to.exists())
            link.unlink()
        self.assertEqual(precious.read_text(), "precious")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.refused(pipe, "is no regular file; name one")
        self.assertTrue(stat.S_ISFIFO(pipe.lstat().st_mode))
        self.refused(self.folder, "is no regular file; name one")
        self.refused(self.folder / "none" / "trace", "cannot be written; name a file in a folder that can")
        self.only("precious", "trace", "pipe")

    def test_the_longest_name(self):
        file = self.folder / ("n" * 255)
        self.run_program("by_two", file)
        self.assertEqual(file.read_bytes()[:8], TRACE)

    def test_a_name_without_a_folder(self):
        self.run_program("by_two", "here", cwd=self.folder)
        self.only("here")

    def test_the_mode_follows_umask(self):
        for mask, mode in (0o022, 0o644), (0o077, 0o600):
            self.run_program("by_two", preexec_fn=lambda: os.umask(mask))
            self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), mode)

    def test_a_folder_that_cannot_be_written(self):
        """Also where the file itself could be: the trace is made beside it."""
        self.file.write_text("precious")
        self.file.chmod(0o666)
        self.folder.chmod(0o555)
        as_user = {"user": NOBODY, "program": shutil.copy(PROGRAM, self.copies())} if IS_ROOT else {}
        self.refused(self.file, "cannot be written; name a file in a folder that can, where you may make files and replace this one", **as_user)
        self.folder.chmod(0o755)
        self.assertEqual(self.file.read_text(), "precious")

    def copies(self):
        """A folder for programs that others run."""
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        os.chmod(kept.name, 0o755)
        return kept.name

    @unittest.skipUnless(IS_ROOT, "only root can make another user's file")
    def test_a_file_of_another_user_in_a_sticky_folder(self):
        self.file.write_text("precious")
        self.file.chmod(0o666)
        self.folder.chmod(0o1777)
        self.refused(self.file, "cannot be written", user=NOBODY, program=shutil.copy(PROGRAM, self.copies()))
        self.assertEqual(self.file.read_text(), "precious")
        self.only("trace")

    def test_a_limit_of_file_sizes(self):
        for limit in 100_000, 350_000:
            said = self.run_program("by_two", status=3, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))).stderr
            self.assertRegex(said, r'there is no room for the trace ".*", which needs \d+ bytes for each thread; set FORKJOIN_TRACE_EVENTS to '
                                   r"fewer than 1024, name a file on another disk, or raise the limit \(ulimit -f\)")
            self.only()
        # Memory of a recorder is no file.
        said = self.run_program("recorder", status=3, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))).stderr
        self.assertIn("there is no room for the trace", said)
        self.only()

    def test_a_flight_recorder_is_tried_at_the_start(self):
        """Tried without refuse_unwritable: the program runs."""
        self.run_program("recorder")
        self.assertIn("cannot be written", self.run_program("recorder", "/nowhere/flight", status=3).stderr)
        self.assertIn('the trace "/nowhere/flight" cannot be written',
                      self.run_program("environment", status=3, environment={"FORKJOIN_FLIGHT_RECORDER": "/nowhere/flight"}).stderr)
        self.only("trace")

    def test_a_setuid_copy_ignores_the_environment(self):
        copies = self.copies()
        if not may_gain_rights(copies):
            self.skipTest("a setuid copy for another user needs root, and a folder whose file system allows it")
        victim = self.folder / "victim"
        victim.write_text("precious")
        victim.chmod(0o600)
        self.folder.chmod(0o1777)
        given = {"FORKJOIN_TRACE": str(self.file), "FORKJOIN_FLIGHT_RECORDER": str(victim), "FORKJOIN_PROCS": "nonsense", "FORKJOIN_STATS": "1",
                 "FORKJOIN_SIGQUIT": "1", "FORKJOIN_TRACE_EVENTS": "nonsense"}
        copy = pathlib.Path(shutil.copy(PROGRAM, copies))
        copy.chmod(0o755)
        self.run_program("environment", status=3, program=copy, user=NOBODY, environment=given)  # they do reach it
        copy.chmod(0o4755)
        done = self.run_program("environment", program=copy, user=NOBODY, environment=given)
        self.assertEqual(done.stderr, "")
        self.only("victim")
        self.assertEqual(victim.read_text(), "precious")


if __name__ == "__main__":
    unittest.main()
