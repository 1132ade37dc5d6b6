"""A program succeeds and prints a text: prints.py <text> <program> <arguments>"""

import subprocess
import sys

text, *command = sys.argv[1:]
done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
print(done.stdout, end="")
if done.returncode != 0:
    sys.exit(f"exit status {done.returncode}")
if text not in done.stdout:
    sys.exit(f"expected: {text}")
