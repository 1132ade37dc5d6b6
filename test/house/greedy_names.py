"""Writes GREEDY(name) for each function that public headers declare at namespace scope: greedy_names.py <file> <depfile>

For unit/lookup_test.cpp: it checks a new function of the library, too, though the function is named nowhere else.
"""

import re
import sys

sys.dont_write_bytecode = True
import library_headers  # noqa: E402

# Functions stand unindented; of a declaration the first name before a parenthesis is its own, but for these.
NOT_ITS_OWN = {"alignas", "asm", "co_await", "decltype", "explicit", "if", "invocable", "nodiscard", "noexcept", "operator", "requires",
               "sizeof", "static_assert", "void"}

names = set()
headers = [library_headers.ROOT / name for name in library_headers.public()]
for header in headers:
    for line in header.read_text().splitlines():
        if re.match(r"[A-Za-z\[]", line):
            found = (name for name in re.findall(r"\b([a-z]\w*)\(", line) if name not in NOT_ITS_OWN)
            names |= {name for name in [next(found, None)] if name}
if len(names) < 40:
    sys.exit(f"only {len(names)} functions: are they declared in another way now?")
made, needs = sys.argv[1:]
with open(made, "w") as file:
    file.writelines(f"GREEDY({name})\n" for name in sorted(names))
with open(needs, "w") as file:
    print(f"{made}:", *(str(header).replace(" ", "\\ ") for header in headers), file=file)
