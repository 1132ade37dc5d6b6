"""Runs a program that must lose no fiber: lost_runs.py PROGRAM [ARGUMENTS]

The setup `lost` of meson test puts this before each test, and sets FORKJOIN_LOST. A report of a lost fiber, by the program or by one that it
starts, is a failure, and so is an end by a signal or by a watchdog. What else the program finds is the matter of the same test elsewhere: some
count threads, or how often something happens, and looks change that. Where the library cannot look at all, the test is skipped.
"""

import re
import subprocess
import sys

SKIPPED = 77
done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, text=True, errors="replace")
lost = re.search(r"^forkjoin: \d+ fibers? (is|are) lost.*(\n  .*)*", done.stderr, re.MULTILINE)
unknown = re.search(r"^forkjoin: which fibers are lost is not available.*", done.stderr, re.MULTILINE)
print("loses fibers:\n" + lost[0] if lost else unknown[0] if unknown else "loses no fiber")
if done.returncode != 0:
    print(f"ended with status {done.returncode}:\n{done.stderr[-4000:]}")
hangs = re.search(r"^watchdog: .* hangs$", done.stderr, re.MULTILINE)
# Of a test in which threads take turns, or block the signal, it looks at the rest.
cannot = unknown and re.search("not that of glibc|not glibc|the processor|valgrind|sanitizer|/proc", unknown[0])
sys.exit(1 if lost or hangs or done.returncode < 0 else SKIPPED if cannot or done.returncode == SKIPPED else 0)
