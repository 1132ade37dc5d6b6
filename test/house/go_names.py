"""A program that uses a name of <forkjoin/go.hpp>, and includes <forkjoin/forkjoin.hpp> alone, is told that header.

go_names.py -- <compiler and flags>

Each name that the headers of go.hpp declare for programs is used. Tried without once, send_channel and wait_any in
forkjoin/detail/without_go.hpp: fails for each.
"""

import pathlib
import re
import subprocess
import sys

FORKJOIN = pathlib.Path(__file__).resolve().parents[2] / "forkjoin"
# Of no use without task_group, whose result it is; and declared by run.hpp, as a runtime has a member function go.
APART = {"task_group_status", "go_options"}


def uses_in(header):
    """The names that the header declares in fj itself, each with a use."""
    text = (FORKJOIN / header).read_text()
    text = re.sub(r"(?m)^namespace detail \{\n(?:struct \w+;.*\n)*\}$", "", text)
    text = re.sub(r"(?ms)^namespace detail \{.*?^\}  // namespace detail$", "", text)
    text = re.sub(r"(?s)\[\[.*?\]\] ?|\"(\\.|[^\"\\\n])*\"", "", text)
    for template, name in re.findall(r"(?m)^(template <.*>\n)?(?:class|struct|enum class) (\w+)(?= (?:final )?[:{])", text):
        yield name, f"fj::{name}{'<int>' if template else ''} x;"
    for line in re.findall(r"(?m)^[a-z].*$", text):
        if not re.match(r"(class|struct|enum|template|namespace|using)\b", line):
            if name := re.search(r"(?<![:\w])([a-z]\w*)\(", line):
                yield name[1], f"fj::{name[1]}(1);"


compiler = sys.argv[sys.argv.index("--") + 1 :]
headers = re.findall(r'#include "forkjoin/((?:go/)?\w+\.hpp)"', (FORKJOIN / "go.hpp").read_text()) + ["go/wait_options.hpp"]
uses = {name: use for header in headers for name, use in uses_in(header) if name not in APART}
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
