"""The library and programs compile with LLVM's standard library, too: libcxx.py source... -- <compiler and flags>

Exits with 77 if the compiler has no such library. If std::stop_token needs a flag, the error without the flag says so.
"""

import subprocess
import sys


def compiled(*args, text=None):
    return subprocess.run([*compiler, "-stdlib=libc++", "-fsyntax-only", *args], input=text, capture_output=True, text=True)


split = sys.argv.index("--")
sources, compiler = sys.argv[1:split], sys.argv[split + 1 :]
if compiled("-x", "c++", "-", text="#include <version>\n").returncode != 0:
    print("no -stdlib=libc++: not checked")
    sys.exit(77)

plain = compiled("-x", "c++", "-", text="#include <forkjoin/forkjoin.hpp>\n")
if plain.returncode != 0 and "compile with -fexperimental-library" not in plain.stderr:
    sys.exit(f"the message does not name the flag:\n{plain.stderr}")
results = [compiled("-fexperimental-library", name) for name in sources if name.endswith(".cpp")]
failed = [done.stderr for done in results if done.returncode != 0]
sys.exit("\n".join(failed) if failed else 0)
