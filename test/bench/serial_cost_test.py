"""serial_cost_test.py <kernel>_once: counts instructions (callgrind) of the kernel's serial program, which is written by hand,
and of its template with the forks elided, at the test sizes. The serial program may execute no more; otherwise ratios to it
would flatter every way. Lambdas through g++ cost knapsack 22 % more than by hand, integrate 35 %.
Tried with treesum's sum in one expression, which g++ compiles to 15 % more: fails."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ONCE = pathlib.Path(sys.argv.pop())
MOST = 1.05  # compilers inline a recursion into itself more or less often: knapsack 1.048 with clang, in the same time


def instructions(way, size):
    """Of the run alone: problem_team::run is the virtual function that starts it."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=bench::problem_team*::run()",
               ONCE, way, str(size), "1"]
    done = subprocess.run(command, check=True, text=True, capture_output=True, timeout=100)
    return int(re.search(r"Collected\s*:\s*(\d+)", done.stderr)[1])


class SerialCostTest(unittest.TestCase):
    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_instructions(self):
        kernel = json.loads(subprocess.run([ONCE, "--list"], check=True, text=True, capture_output=True).stdout)[0]
        for size in (size["size"] for size in kernel["test"]):
            by_hand, elided = instructions("serial", size), instructions("elided", size)
            print(f"{kernel['name']} {size}: {by_hand:,} instructions, elided {elided:,}, {by_hand / elided:.3f}")
            self.assertGreater(by_hand, 0)
            self.assertLessEqual(by_hand, MOST * elided)


if __name__ == "__main__":
    unittest.main()
