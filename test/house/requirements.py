"""By a compiler that is too old, or with flags that do not do, the headers say so in a few lines, and nothing else:

requirements.py -- <compiler and flags>

The macros that tell a compiler's version play an older one. Tried with the first include of go/sleep.hpp below the others,
without the include that ends the compilation, and with <version> before the question for the processor: fails for each.
"""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST = ('"forkjoin/abi/os/requirements.hpp"', '"forkjoin/detail/needs_runtime.hpp"')  # the second begins with the first
MAX_LINES = 12
OLDER = "forkjoin needs g++ 12, clang 16, or a later version of them"


def output(*flags, text):
    done = subprocess.run([*compiler, *flags, "-x", "c++", "-"], input=text, capture_output=True, text=True)
    return done.stdout + done.stderr


compiler = sys.argv[sys.argv.index("--") + 1 :]
complaints = []
for header in library_headers.for_programs():
    if re.search(r"(?m)^\s*#\s*include\s*(\S+)", (ROOT / header).read_text())[1] not in FIRST:
        complaints.append(f"{header} does not include {FIRST[0]} first")

is_clang = "__clang__" in output("-dM", "-E", text="")
# A compiler need not know the flags, nor have a C library for them.
narrow = [flag for flag in ("-m32", "-mx32") if not output("-fsyntax-only", flag, text="")]
for flags, message in {
    **dict.fromkeys(narrow, "forkjoin needs a 64-bit processor"),
    "-std=c++17": "forkjoin needs C++20: compile with -std=c++20 or later",
    "-fno-exceptions": "forkjoin needs exceptions: compile without -fno-exceptions",
    "-U__clang_major__ -D__clang_major__=15" if is_clang else "-U__GNUC__ -D__GNUC__=11": OLDER,
}.items():
    said = output("-fsyntax-only", *flags.split(), text='#include "forkjoin/forkjoin.hpp"\n')
    errors = [line for line in said.splitlines() if "error: " in line]
    short = len(errors) == 2 and said.count("\n") <= MAX_LINES
    if not short or message not in errors[0] or "because of the error above" not in errors[1]:
        complaints.append(f"with {flags}: {said}")
sys.exit("\n".join(complaints) if complaints else 0)
