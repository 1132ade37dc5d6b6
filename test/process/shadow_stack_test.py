"""shadow_stack_test.py <the assembly> -- <compiler...>: what the object tells the linker with -fcf-protection.

A program keeps shadow stacks only if all of its objects say that they do, and this one must not: it switches stacks.
With <cet.h> and its note (tried) it says that it keeps them.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

source, dashes, *compiler = sys.argv[1:]
if not shutil.which("readelf"):
    print("readelf is not installed: not checked")
    sys.exit(77)
wrong = 0
with tempfile.TemporaryDirectory() as folder:
    for protection, claims in (("full", True), ("branch", True), ("return", False), ("none", False)):
        made = pathlib.Path(folder) / "assembly.o"
        subprocess.run([*compiler, f"-fcf-protection={protection}", "-c", source, "-o", made], check=True)
        notes = subprocess.run(["readelf", "-n", made], check=True, capture_output=True, text=True).stdout
        if ("IBT" in notes) != claims or "SHSTK" in notes:
            print(f"wrong: -fcf-protection={protection} gives {notes!r}")
            wrong = 1
sys.exit(wrong)
