"""Compares the tables of the article that the project began with, on Go's goroutines and work stealing, with runs of the same
program: compare.py --build DIR prints both; an error if they differ in what is not in DIFFERENCES, or do not where it says so."""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

MAIN, FIB3, FIB4 = "main (join point)", "fib(3) (join point)", "fib(4) (join point)"
REST = "continuation of {}".format
REST_OF_MAIN = REST(MAIN)

# T1's call stack and deque, T2's call stack and deque. "main" is the article's "main goroutine".
ARTICLE = {
    "tasks": [
        (["main"], [], [], []),
        (["main"], ["fib(4)"], [], []),
        ([MAIN, "fib(4)"], [], [], []),
        ([MAIN, "fib(4)"], ["fib(3)", "fib(2)"], [], []),
        ([MAIN, "fib(4)"], ["fib(2)"], ["fib(3)"], []),
        ([MAIN, FIB4, "fib(2)"], [], ["fib(3)"], []),
        ([MAIN, FIB4, "fib(2)"], [], ["fib(3)"], ["fib(2)", "fib(1)"]),
        ([MAIN, FIB4, "return 1"], [], [FIB3, "fib(1)"], ["fib(2)"]),
        ([MAIN, FIB4, "fib(2)"], [], [FIB3, "return 1"], []),
        ([MAIN, FIB4], [], ["return 2"], []),
        ([MAIN, "return 3"], [], [], []),
        (["print 3"], [], [], []),
    ],
    "continuations": [
        (["main"], [], [], []),
        (["fib(4)"], [REST("main")], [], []),
        (["fib(4)"], [], [REST("main")], []),
        (["fib(3)"], [REST("fib(4)")], [REST("main")], []),
        (["fib(3)"], [], [REST_OF_MAIN, REST("fib(4)")], []),
        (["fib(2)"], [REST("fib(3)")], [REST_OF_MAIN, REST("fib(4)")], []),
        (["fib(2)"], [REST("fib(3)")], [REST_OF_MAIN, "fib(2)"], [REST("fib(4)")]),
        (["return 1"], [REST("fib(3)")], [REST_OF_MAIN, "return 1"], [REST("fib(4)")]),
        (["fib(1)"], [], [REST_OF_MAIN, "return 1"], [REST("fib(4)")]),
        (["fib(1)"], [], [REST_OF_MAIN, FIB4], []),
        (["return 2"], [], [REST_OF_MAIN, FIB4], []),
        ([], [], [REST_OF_MAIN, "return 3"], []),
        ([], [], ["print 3"], []),
    ],
}

NAME = ("Only a name: the article calls main at its join \"continuation of main\", but fib(4) at its join \"fib(4)\" (row 10). Here both "
        "are called by their function.")
SECOND_CHILD = ("The article has fib(3) call its second child without a fork, though fib(4) forks its own (row 7). Here both fork it, as "
                "the program says.")
LAST_GOES_ON = ("The worker that finishes the last branch continues the function. In the article the function continues on the thread where it waits: "
                "T1 would have nothing to do, and T2 would have to be woken.")

# By policy, row and column: what ours have there, and why.
DIFFERENCES = {
    "tasks": {},
    "continuations": {
        (5, 2): ([MAIN, REST("fib(4)")], NAME),
        (6, 2): ([MAIN, REST("fib(4)")], NAME),
        (7, 2): ([MAIN, "fib(2)"], NAME),
        (8, 2): ([MAIN, "return 1"], NAME),
        (9, 1): ([REST("fib(3)")], SECOND_CHILD),
        (9, 2): ([MAIN, "return 1"], NAME),
        (10, 1): ([REST("fib(3)")], SECOND_CHILD),
        (10, 2): ([MAIN, FIB4], NAME),
        (11, 2): ([MAIN, FIB4], NAME),
        (12, 0): (["return 3"], LAST_GOES_ON),
        (12, 2): ([MAIN], LAST_GOES_ON),
        (13, 0): (["print 3"], LAST_GOES_ON),
        (13, 2): ([], LAST_GOES_ON),
    },
}

COLUMNS = ["T1 call stack", "T1 deque", "T2 call stack", "T2 deque"]


def cells(row):
    """Of one of our rows, in the article's form: the strands that wait, and then the one that runs."""
    for holds in row["procs"]:
        yield [call for stack in [*holds["waiting"], holds["stack"]] for call in stack]
        yield holds["deque"]


def run(build, policy):
    script = HERE / f"{policy}.txt"
    ran = subprocess.run([pathlib.Path(build) / "bench/steps_fib", "4", "--procs", "2", "--policy", policy, "--script", script],
                         stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(f"compare: {policy}: exit status {ran.returncode}")
    return json.loads(ran.stdout)["rows"]


def differences(policy, rows):
    """What is wrong, in words."""
    article, expected = ARTICLE[policy], DIFFERENCES[policy]
    if len(rows) != len(article):
        yield f"{policy}: {len(rows)} rows, the article has {len(article)}"
    for number, (row, theirs) in enumerate(zip(rows, article), 1):
        for column, (our, their) in enumerate(zip(cells(row), theirs, strict=True)):
            wanted = expected.get((number, column), (their,))[0]
            if our != wanted:
                yield f"{policy}, row {number}, {COLUMNS[column]}: {our} instead of {wanted}"
            if (number, column) in expected and our == their:
                yield f"{policy}, row {number}, {COLUMNS[column]}: listed as a difference, but there is none"


def beside(policy, rows, reasons):
    """Both in Markdown: where they differ the article's in brackets, if it is more than a name, and which reason it is."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
    for number, (row, theirs) in enumerate(zip(rows, ARTICLE[policy]), 1):
        words = []
        for column, (our, their) in enumerate(zip(cells(row), theirs)):
            word = ", ".join(our)
            if (number, column) in DIFFERENCES[policy]:
                reason = DIFFERENCES[policy][number, column][1]
                other = "" if reason == NAME else f"(article: {', '.join(their) or 'nothing'}) "
                word = f"{word} {other}[{reasons.index(reason) + 1}]".strip()
            words.append(word)
        lines.append(f"| {number} | {' | '.join(words)} |")
    return "\n".join(lines)


def markdown(build):
    reasons = list(dict.fromkeys(reason for policy in DIFFERENCES.values() for _, reason in policy.values()))
    parts = []
    for policy in ARTICLE:
        parts += [f"With {policy}:", "", beside(policy, run(build, policy), reasons), ""]
    parts += ["Where they differ:", "", *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1)), ""]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--page", type=pathlib.Path, help="has what --markdown prints; an error if it has something else")
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    if chosen.markdown:
        print(markdown(chosen.build), end="")
        return
    wrong = [line for policy in ARTICLE for line in differences(policy, run(chosen.build, policy))]
    if chosen.page and markdown(chosen.build) not in chosen.page.read_text():
        wrong.append(f"{chosen.page} has other tables than bench/steps/article/compare.py --markdown prints")
    print("\n".join(wrong) or f"{sum(map(len, ARTICLE.values()))} rows compared")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
