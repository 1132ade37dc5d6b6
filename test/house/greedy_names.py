"""Writes GREEDY(name) for each function that these headers declare at namespace scope: greedy_names.py <header>...

For unit/lookup_test.cpp: it checks a new function of the library, too, though the function is named nowhere else.
"""

import pathlib
import re
import sys

# Functions stand unindented; of a declaration the first name before a parenthesis is its own, but for these.
NOT_ITS_OWN = {"alignas", "decltype", "explicit", "if", "invocable", "nodiscard", "noexcept", "operator", "requires", "sizeof",
               "static_assert", "void"}

names = set()
for header in sys.argv[1:]:
    for line in pathlib.Path(header).read_text().splitlines():
        if re.match(r"[A-Za-z\[]", line):
            found = (name for name in re.findall(r"\b([a-z]\w*)\(", line) if name not in NOT_ITS_OWN)
            names |= {name for name in [next(found, None)] if name}
if len(names) < 40:
    sys.exit(f"only {len(names)} functions: are they declared in another way now?")
print("\n".join(f"GREEDY({name})" for name in sorted(names)))
