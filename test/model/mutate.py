#!/usr/bin/env python3
"""Writes a model with patches applied to what it includes: mutate.py <root> <model.cpp> <out.cpp> <depfile> <patch>...

The patches are unified diffs; other lines in them are for the reader. A hunk is applied where its old lines are found in the
file that the patch names. They must be found exactly once, so that a check does not quietly lose its bug when the source
changes. Line numbers, blanks, line breaks and // comments do not count.

The output is one source: each patched file and each file that includes one stands in the place of its first #include; all other
files are included by their full names. What the sources have for the library's own machine alone is left out.
"""

import functools
import os
import pathlib
import re
import sys

root, model, out, depfile, *patches = map(pathlib.Path, sys.argv[1:])
root = root.resolve()
seen = {pathlib.Path(__file__).resolve()}


def without_comments(text):
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*', lambda found: found[1] or "", text)


def hunks(patch):
    """For each hunk: the file that it changes, its old lines and its new ones."""
    seen.add(patch.resolve())
    target = None
    for line in patch.read_text().splitlines():
        if line.startswith("--- a/"):
            target, old, new = root / line.removeprefix("--- a/").strip(), None, None
        elif line.startswith("@@"):
            old, new = [], []
            yield target, old, new
        elif target and old is not None and line[:1] in " +-":
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


changes = {}
for patch in patches:
    found = [(target, patch, old, new) for target, old, new in hunks(patch)]
    if not found:
        sys.exit(f"{patch}: no hunk")
    for target, *change in found:
        if not target.is_file():
            sys.exit(f"{patch}: no file {target.relative_to(root)}; if it was moved, name its new place in the patch")
        changes.setdefault(target, []).append(change)


@functools.cache
def text_of(file):
    """The text of the file, patched."""
    seen.add(file)
    text = file.read_text()
    text = re.sub(r"(?ms)^#ifndef FORKJOIN_MACHINE\b.*?^#endif\b[^\n]*\n", "", text)
    if file in changes:
        text = without_comments(text)
    for patch, old, new in changes.get(file, []):
        words = without_comments("\n".join(old)).split()
        text, found = re.subn(r"\s+".join(map(re.escape, words)), lambda _, new=new: "\n".join(new), text)
        if found != 1:
            sys.exit(f"{patch}: its old lines are in {file.relative_to(root)} {found} times, not once: {' '.join(words)}\n"
                     "If the bug still makes sense there, adapt the patch.")
    return text


def included(file):
    """The project's files that a file includes, by the words that name them: from the root, or from the file."""
    for name in re.findall(r'(?m)^#include "([^"]+)"', text_of(file)):
        found = [pathlib.Path(os.path.normpath(folder / name)) for folder in (file.parent, root)]
        yield name, next((path for path in found if path.is_file()), None)


@functools.cache
def changed(file):
    return file in changes or any(changed(inner) for _, inner in included(file) if inner)


unused = set(changes)


expanded_files = set()


def expanded(file):
    """The text of the file, where it is included first; nothing where it is included again."""
    if file in expanded_files:
        return ""
    expanded_files.add(file)
    unused.discard(file)
    text = text_of(file).replace("#pragma once\n", "")
    for name, inner in included(file):
        if inner:
            text = text.replace(f'#include "{name}"', expanded(inner) if changed(inner) else f'#include "{inner}"', 1)
    return text + "\n"


text = expanded(model.resolve())
for file in unused:
    sys.exit(f"{model} does not include {file.relative_to(root)}")
out.write_text(text)
depfile.write_text(f"{out}: {' '.join(sorted(str(path).replace(' ', chr(92) + ' ') for path in seen))}\n")
