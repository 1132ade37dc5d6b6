"""Every header compiles in a program that has macros of these names: macros.py -- <compiler and flags>

Headers of the language and of the system come first, as in a program that uses Qt: some of them break, too.

Tried with a template parameter I, a function slots(), std::min(a, b) without parentheses around the name: it fails for each.
"""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

MACROS = """
// Qt
#define slots
#define signals public
#define emit
#define foreach(x, all) for (x : all)
#define forever for (;;)
// gnu++20
#define linux 1
#define unix 1
// <sys/sysmacros.h>
#define major(device) device
#define minor(device) device
// <complex.h>
#define I _Complex_I
#define complex _Complex
#define imaginary _Imaginary
// Windows
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) < (b) ? (b) : (a))
// the kernel of Linux
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
// Xlib
#define Always 2
#define Bool int
#define False 0
#define None 0L
#define Status int
#define Success 0
#define True 1
"""
ROOT = pathlib.Path(__file__).resolve().parents[2]

compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = library_headers.that_compile(library_headers.every(), compiler)
# Those that this compiler has: Debian 13 keeps the headers of clang's sanitizers in a package of their own.
others = set()
for header in headers:
    for name in re.findall(r"(?m)^ *# *include (<[\w./]+>)$", (ROOT / header).read_text()):
        others.add(f"#if __has_include({name})\n#include {name}\n#endif")
USERS = r"forkjoin/(serial/)?\w+\.hpp"
NEEDS_RUNTIME = '#include "forkjoin/detail/needs_runtime.hpp"'
for build, used in [
    ([], [header for header in headers if not re.match("forkjoin/(serial|races|profile)/", header)]),
    (["-DFORKJOIN_SERIAL"], [header for header in headers if re.fullmatch(USERS, header) and NEEDS_RUNTIME not in (ROOT / header).read_text()]),
]:
    source = "\n".join([*sorted(others), MACROS, *(f'#include "{header}"' for header in used)])
    # -w: the compiler has some of these names itself
    if subprocess.run([*compiler, *build, "-w", "-fsyntax-only", "-x", "c++", "-"], input=source, text=True).returncode != 0:
        sys.exit(1)
