#!/usr/bin/env python3
"""Writes a copy of a source in which texts are replaced: mutate.py <source> <out> [<old text> <new text>]...

Fails unless each old text is found exactly once, so that a check does not quietly lose its bug when the source changes.
Blanks and line breaks in the old text stand for any.
"""

import pathlib
import re
import sys

source, out, *texts = sys.argv[1:]
folder = pathlib.Path(source).resolve().parent
text = pathlib.Path(source).read_text()
for old, new in zip(texts[::2], texts[1::2], strict=True):
    text, found = re.subn(r"\s+".join(map(re.escape, old.split())), lambda _, new=new: new, text)
    if found != 1:
        sys.exit(f"{source}: found {found} times, not once: {old}")
# The copy lies elsewhere.
text = re.sub(r'(?m)^#include "(.*)"', lambda found: f'#include "{folder / found[1]}"' if (folder / found[1]).exists()
              else found[0], text)
pathlib.Path(out).write_text(text)
