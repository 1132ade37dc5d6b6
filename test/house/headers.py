"""Every header compiles on its own, and twice: headers.py -- <compiler and flags>

Nearly all the time goes into the headers of the language, so headers are compiled in chains, in which each includes all
those before it: it is not given anything that it does not ask for itself. Nor does any compiler warn, also where it warns only if
asked. (Tried with the destructors of fork_loop and of waiter_base public: fails.)
"""

import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

# The last one for clang, which has no -Wuseless-cast.
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wnon-virtual-dtor", "-Wuseless-cast", "-Wno-unknown-warning-option"]
FLAGS = [*WARNINGS, "-Werror", "-fsyntax-only", "-x", "c++", "-"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def included(header):
    """The project's headers that it includes, itself or through others, whatever macros are defined."""
    found, conditions = set(), 0
    for line in (ROOT / header).read_text().splitlines():
        if re.match(r"\s*#\s*if", line):
            conditions += 1
        elif re.match(r"\s*#\s*endif", line):
            conditions -= 1
        elif conditions == 0 and (include := re.match(r'\s*#\s*include "([^"]+)"', line)):
            inner = include[1]
            found |= {inner} | included(inner)
    return found


def is_serial(header):
    return header.startswith("forkjoin/serial/")


def chains(headers):
    made = []
    for header in sorted(headers, key=lambda header: len(included(header))):
        fitting = [one for one in made if one[-1] in included(header) and is_serial(one[-1]) == is_serial(header)]
        if fitting:
            max(fitting, key=lambda one: len(included(one[-1]))).append(header)
        else:
            made.append([header])
    return made


def check(chain):
    source = "".join(f'#include "{header}"\n' for header in chain * 2)
    serial = ["-DFORKJOIN_SERIAL"] if is_serial(chain[0]) else []
    done = subprocess.run([*compiler, *serial, *FLAGS], input=source, capture_output=True, text=True)
    return done.returncode == 0 or print("+", *chain, "\n" + done.stderr)


compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = library_headers.that_compile(library_headers.every(), compiler)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    sys.exit(not all(list(pool.map(check, chains(headers)))))
