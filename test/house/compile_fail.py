"""A misuse does not compile, and the message says why: compile_fail.py misuse.cpp -- <compiler and flags>

The source names in "// expect: ..." lines what the compiler's message must contain. With -DFIXED it must compile, so that
it fails for the misuse alone.
"""

import re
import subprocess
import sys


def compiles(*flags):
    done = subprocess.run([*compiler, "-fsyntax-only", *flags, source], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


source, _, *compiler = sys.argv[1:]
expected = re.findall(r"^// expect: (.+)$", open(source).read(), re.MULTILINE)
if not expected:
    sys.exit(f"{source}: no '// expect: ...' line")

ok, message = compiles("-DFIXED")
if not ok:
    sys.exit(f"{source}: does not compile with -DFIXED either:\n{message}")
ok, message = compiles()
if ok:
    sys.exit(f"{source}: compiles")
for text in expected:
    if text not in message:
        sys.exit(f"{source}: the message lacks '{text}':\n{message}")
