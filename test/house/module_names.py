"""The module exports the names of the headers for programs that need no other project: module_names.py -- <compiler and flags>

By what the headers declare; with clang also by what the compiler finds in them, and then no other name. Tried with forkjoin.cppm without
parallel_sort: fails; without options, and with without_latch: fails with clang.
"""

import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

MODULE = "forkjoin/forkjoin.cppm"
# What the headers have in fj for themselves: the namespaces, template parameters, and what forkjoin/detail/without_go.hpp makes of names;
# and the class that forkjoin/execution.hpp defines.
OWN = r"detail|v\d+_\d+|[A-Z]\w*|hidden|include_\w+|without_\w+|scheduler"

compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = [header for header in library_headers.for_programs() if header not in library_headers.NEEDS]
exported = re.findall(r"(?m)^using fj::(\w+);$", (library_headers.ROOT / MODULE).read_text())
if exported != sorted({*exported}):
    sys.exit(f"{MODULE}: the names are not in order, or one is there twice")
declared = {name for header in headers for name in library_headers.declared(header)}
if missing := declared - {*exported}:
    sys.exit(f"{MODULE} does not export {sorted(missing)}")
if "clang" in subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout:
    source = "".join(f'#include "{header}"\n' for header in headers)
    # Not by way of a compiler's cache, which may keep too little of what is printed.
    clang = [word for word in compiler if not re.search(r"\bccache$", word)]
    found = subprocess.run([*clang, "-fsyntax-only", "-Xclang", "-ast-list", "-x", "c++", "-"], input=source, capture_output=True, text=True, check=True)
    names = {name for name in re.findall(r"(?m)^fj::(\w+)$", found.stdout) if not re.fullmatch(OWN, name)}
    if differ := names ^ {*exported}:
        sys.exit(f"{MODULE} and the headers differ in {sorted(differ)}")
