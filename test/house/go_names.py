"""A program that uses a name of <forkjoin/go.hpp>, and includes <forkjoin/forkjoin.hpp> alone, is told that header.

go_names.py -- <compiler and flags>

Each name that the headers of go.hpp declare for programs is used. Tried without once, send_channel and wait_any in
forkjoin/detail/without_go.hpp: fails for each.
"""

import re
import subprocess
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

GO = "forkjoin/go.hpp"
# Of no use without task_group, whose result it is; and declared by run.hpp, as a runtime has a member function go.
APART = {"task_group_status", "go_options"}


USES = {"class": "fj::{} x;", "template": "fj::{}<int> x;", "function": "fj::{}(1);"}

compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = re.findall(r'#include "(forkjoin/(?:go/)?\w+\.hpp)"', (library_headers.ROOT / GO).read_text()) + ["forkjoin/go/wait_options.hpp"]
if missing := {header for header in library_headers.for_programs() if header.startswith("forkjoin/go/")} - {*headers}:
    sys.exit(f"{GO} does not include {sorted(missing)}")
uses = {name: USES[kind].format(name) for header in headers for name, kind in library_headers.declared(header).items() if kind in USES and name not in APART}
if len(uses) < 40:
    sys.exit(f"only {len(uses)} names: are they declared in another way now? {sorted(uses)}")
names = sorted(uses)
source = "#include <forkjoin/forkjoin.hpp>\n" + "".join(f"void use_{name}() {{ {uses[name]} }}\n" for name in names)
is_clang = "clang" in subprocess.run([*compiler, "--version"], capture_output=True, text=True).stdout
flags = ["-fsyntax-only", "-w"] + (["-ferror-limit=0"] if is_clang else [])
done = subprocess.run([*compiler, *flags, "-x", "c++", "-"], input=source, capture_output=True, text=True)
complaints = []
# clang begins a message with the error, g++ with the function or the template that it is in.
blocks = re.split(r"(?m)^(?=\S+ error: )" if is_clang else r"(?m)^(?=\S+ In (?:function|instantiation) )", done.stderr)
for number, name in enumerate(names, 2):
    about = [block for block in blocks if f"<stdin>:{number}:" in block]
    if not any(re.search(r"forkjoin.go.hpp", block) for block in about):
        complaints.append(f"{name}: the message does not name the header:\n" + "".join(about))
sys.exit("\n".join(complaints) if complaints else 0)
