"""A misuse does not compile, and the message says why: compile_fail.py misuse.cpp -- <compiler and flags>

"// expect: ..." lines of the source say what the compiler's message must contain. A "// flags: ..." line adds to the command,
if that is the misuse. With -DFIXED the source must compile, so that it fails for the misuse alone. To check that for all
sources at once, which takes little longer than for one:

compile_fail.py --fixed misuse.cpp... -- <compiler and flags>
"""

import os
import pathlib
import re
import subprocess
import sys


def compiles(text, *flags):
    command = [*compiler, "-fsyntax-only", *flags, "-x", "c++", "-"]
    # In English, with plain quotes.
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    return done.returncode == 0, done.stderr


split = sys.argv.index("--")
sources, compiler = sys.argv[1:split], sys.argv[split + 1 :]
if sources[0] == "--fixed":
    programs = (f'#define main {pathlib.Path(name).stem}\n#include "{name}"\n#undef main\n' for name in sources[1:])
    ok, message = compiles("".join(programs), "-DFIXED")
    sys.exit(0 if ok else f"does not compile with -DFIXED either:\n{message}")

source = sources[0]
text = open(source).read()
expected = re.findall(r"^// expect: (.+)$", text, re.MULTILINE)
flags = [flag for line in re.findall(r"^// flags: (.+)$", text, re.MULTILINE) for flag in line.split()]
if not expected:
    sys.exit(f"{source}: no '// expect: ...' line")
ok, message = compiles(f'#include "{source}"\n', *flags)
if ok:
    sys.exit(f"{source}: compiles")
for text in expected:
    if text not in message:
        sys.exit(f"{source}: the message lacks '{text}':\n{message}")
