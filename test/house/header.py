"""A header compiles on its own, and twice: header.py runtime/deque.hpp -- <compiler and flags>"""

import subprocess
import sys

header, _, *compiler = sys.argv[1:]
flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", "-"]
source = f'#include "{header}"\n#include "{header}"\nint main() {{}}\n'
sys.exit(subprocess.run(compiler + flags, input=source, text=True).returncode)
