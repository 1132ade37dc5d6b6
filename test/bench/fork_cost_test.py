"""fork_cost_test.py <build folder>: counts the instructions of a fork, at most 34 (callgrind), and checks that there is no
locked instruction and no fence if nothing is stolen. Tried with an exchange in push, and with 25 instructions more: fails."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop())
MOST = "34"


class ForkCostTest(unittest.TestCase):
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_instructions(self):
        done = subprocess.run([sys.executable, ROOT / "bench" / "instructions.py", "--build", BUILD, "--max", MOST],
                              text=True, capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("objdump"), "objdump is not installed")
    def test_nothing_locked(self):
        for way in ("continuations", "tasks"):
            objects = list((BUILD / "bench" / f"libbench_fib_{way}.a.p").glob("*.o"))
            self.assertTrue(objects)
            # All of the kernel, because the slow paths are in the library.
            text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", *objects], text=True, check=True,
                                  capture_output=True).stdout
            self.assertIn("fib", text)
            found = re.findall(r".*\t(?:lock\b|mfence|xchg .*\(|dmb|ldaxr|stlxr|swp|cas|ldadd).*", text)
            self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
