"""Writes the page of an installed command for man: of what its --help says, so that nothing is written twice. No date: the same sources give
the same page.

man.py <folder of the command's main.py> <version> <page>

The docstring of main.py begins with "command: what it does.", then come indented lines that show how to call it, each with an explanation two
spaces away if there is more than one way, then paragraphs. main.parser() knows the options."""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True


def plain(text):
    """Text as roff prints it: a line that begins with a dot or an apostrophe is a line of text, a hyphen is the one that users type."""
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text.replace("\\", r"\e").replace("-", r"\-"))


def ways(block):
    """The indented lines: [call, explanation]. What is indented deeper goes on with the explanation."""
    found = []
    for line in block.splitlines():
        if line.startswith("     "):
            found[-1][1] += " " + line.strip()
        else:
            call, *explained = re.split(r" {2,}", line.strip(), maxsplit=1)
            found.append([call, "".join(explained)])
    return found


def calls(text):
    """A way to call it, with the name of the command in bold."""
    name, _, rest = plain(text).partition(" ")
    return f"\\fB{name}\\fR {rest}"


def options(parser):
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            names = ", ".join(rf"\fB{plain(name)}\fR" for name in action.option_strings)
            value = rf" \fI{plain(action.metavar or action.dest.upper())}\fR" if action.nargs != 0 else ""
            yield f".TP\n{names}{value}\n{plain(action.help or '')}"


def page(doc, parser, version):
    title, block, *paragraphs = doc.strip().split("\n\n")
    name, _, what = title.partition(": ")
    shown = ways(block)
    parts = [f'.TH {name.upper()} 1 "" "forkjoin {version}"', ".SH NAME", rf"{plain(name)} \- {plain(what.rstrip('.'))}", ".SH SYNOPSIS"]
    parts += ["\n.br\n".join(calls(call) for call, _ in shown), ".SH DESCRIPTION"]
    parts += [f".TP\n{calls(call)}\n{plain(explained)}" for call, explained in shown if explained]
    parts += [f".PP\n{plain(text)}" for text in paragraphs]
    parts += [".SH OPTIONS", *options(parser), ".SH SEE ALSO"]
    parts += [", ".join(rf"\fB{plain(other)}\fR(1)" for other in ("forkjoin-profile", "forkjoin-races", "forkjoin-trace") if other != name)]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    folder, version, to = sys.argv[1:]
    sys.path.insert(0, folder)
    import main

    pathlib.Path(to).write_text(page(main.__doc__, main.parser(), version))
