"""A misuse does not compile, and the message says why: compile_fail.py misuse.cpp [<header>.gch] -- <compiler and flags>

The header is precompiled: what begins with forkjoin/forkjoin.hpp is compiled with it, unless the message names a missing header.

"// expect: ..." lines of the source say what the compiler's message must contain. "// refused: fj::f: ..." lines say that it
refuses a call of f, and why: by a deleted overload. clang names that with the first 32 characters alone of the reason, so these
must be there. A "// flags: ..." line adds to the command, if that is the misuse. With -DFIXED the source must compile, so that it fails for the misuse alone. To check that for all
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


def refuses(message, function, why):
    for error in re.split(r"(?m)^(?=\S+ error: )", message):
        deleted = [line for line in error.splitlines() if "deleted" in line]
        if deleted and re.search(rf"\b{function}\b", deleted[0]) and why in error:
            if any(f'{{"{why[:32]}' in line for line in deleted):
                return True
    return False


split = sys.argv.index("--")
sources, compiler = sys.argv[1:split], sys.argv[split + 1 :]
if sources[0] == "--fixed":
    programs = (f'#define main {pathlib.Path(name).stem}\n#include "{name}"\n#undef main\n' for name in sources[1:])
    ok, message = compiles("".join(programs), "-DFIXED")
    sys.exit(0 if ok else f"does not compile with -DFIXED either:\n{message}")

source, *header = sources
text = open(source).read()
expected = re.findall(r"^// expect: (.+)$", text, re.MULTILINE)
flags = [flag for line in re.findall(r"^// flags: (.+)$", text, re.MULTILINE) for flag in line.split()]
refused = re.findall(r"^// refused: fj::(\w+): (.+)$", text, re.MULTILINE)
if not expected and not refused:
    sys.exit(f"{source}: neither an '// expect: ...' line nor a '// refused: ...' one")
begins = re.search(r'\A(//.*\n|\s)*(#include <.*\n|\s)*#include "forkjoin/forkjoin.hpp"', text)
if header and begins and not flags and not any("include <" in line for line in expected):
    flags = ["-include", header[0].removesuffix(".gch")]
ok, message = compiles(f'#include "{source}"\n', *flags)
if ok:
    sys.exit(f"{source}: compiles")
for text in expected:
    if text not in message:
        sys.exit(f"{source}: the message lacks '{text}':\n{message}")
for function, why in refused:
    if not refuses(message, function, why):
        sys.exit(f"{source}: the message does not say that fj::{function} is refused: {why}\n{message}")
