"""Step tables as text, as Markdown and as a page."""

import html
import itertools
import json
import pathlib


def heading(steps):
    return f"{steps['title']} with {steps['policy']} on {steps['procs']} P, by {steps['chosen_by']}"


EXPLANATION = "T1, T2, ... are the workers that hold P 1, 2, ... The oldest record of a deque stands first: thieves take it."


def columns(row):
    """For each P its stacks, each from the outermost call on, the strands that wait first; and its deque."""
    for holds in row["procs"]:
        waiting = [stack[:-1] + [stack[-1] + ", waits"] for stack in holds["waiting"]]
        yield list(itertools.chain(*waiting, holds["stack"])), holds["deque"]


def table(row):
    heads, cells = [], []
    for number, (stack, deque) in enumerate(columns(row), 1):
        heads += [f"T{number} call stack", f"T{number} deque"]
        cells += [stack, deque]
    return heads, list(itertools.zip_longest(*cells, fillvalue="")) or [("",) * len(heads)]


def summary(steps):
    sentences = [sentence for row in steps["rows"] for sentence in row["what"]]
    count = lambda word: sum(sentence.count(word) for sentence in sentences)
    deepest = max(len(holds["deque"]) for row in steps["rows"] for holds in row["procs"])
    many = lambda number, what: f"{number} {what}" + ("" if number == 1 else "s")
    return (f"{many(len(steps['rows']), 'row')}, {many(count(' steals '), 'theft')}, {many(count('waits at the join'), 'wait')} of a strand at a "
            f"join; at most {many(deepest, 'record')} in a deque.")


def text(steps):
    lines = [heading(steps), EXPLANATION, ""]
    for number, row in enumerate(steps["rows"], 1):
        heads, cells = table(row)
        widths = [max(map(len, column)) for column in zip(heads, *cells)]
        line = lambda words: "    " + "  ".join(word.ljust(width) for word, width in zip(words, widths)).rstrip()
        lines += [f"{number:2}. {'; '.join(row['what'])}", line(heads), line("-" * width for width in widths)]
        lines += [*map(line, cells), ""]
    return "\n".join([*lines, summary(steps), ""])


def markdown(steps):
    lines = [f"### {heading(steps)}", "", EXPLANATION, ""]
    for number, row in enumerate(steps["rows"], 1):
        heads, cells = table(row)
        lines += [f"{number}. {'; '.join(row['what'])}", ""]
        lines += [f"    | {' | '.join(heads)} |", f"    |{'---|' * len(heads)}"]
        lines += [f"    | {' | '.join(words)} |" for words in cells]
        lines += [""]
    return "\n".join([*lines, summary(steps), ""])


def page(steps):
    shown = dict(steps, heading=heading(steps), explanation=EXPLANATION, summary=summary(steps))
    data = json.dumps(shown).replace("</", "<\\/")
    template = (pathlib.Path(__file__).parent / "page.html").read_text()
    return template.replace("@TITLE@", html.escape(heading(steps))).replace("@STEPS@", data)
