"""./dev steps: the tables beside the article's, the same run by the same seed, every form, a program of one's own, and what a wrong
script says. steps_test.py BUILD

Tried with a deque from which thieves take the newest record: the run with tasks leaves the script."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
STEPS = ROOT / "bench/steps"
BUILD = sys.argv[1]


def steps(*arguments, fails=False):
    ran = subprocess.run([sys.executable, STEPS / "run.py", "--build", BUILD, *map(str, arguments)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=200)
    assert (ran.returncode != 0) == fails, f"{arguments}: exit status {ran.returncode}\n{ran.stderr}"
    return ran.stderr if fails else ran.stdout


def run(*arguments):
    return json.loads(steps(*arguments, "--json"))["rows"]


def check_tables():
    subprocess.run([sys.executable, STEPS / "article/compare.py", "--build", BUILD, "--page", STEPS / "README.md"], check=True)


def check_waits():
    """The article's runs: with continuations two strands wait, with tasks one, which runs other work on its stack. (Tried without
    note_wait_on_top: none with tasks. And tried with one for each call at a join: three.) Both are in WAITING.md."""
    page = re.sub(r"\s+", " ", (ROOT / "bench/WAITING.md").read_text())
    for policy, waits in ("continuations", "2 waits"), ("tasks", "1 wait"):
        script = f"bench/steps/article/{policy}.txt"
        assert f", {waits} of a strand at a join; " in steps("fib", 4, "--policy", policy, "--script", ROOT / script), policy
        assert f"`./dev steps fib 4 --policy {policy} --script {script}` prints \"{waits} of a strand at a join\"" in page, policy
    # Of one strand at one join at most one, however much it runs meanwhile; a P alone waits for nothing.
    for policy in "tasks", "continuations":
        for procs in 1, 2, 3:
            for seed in range(1, 9):
                rows = run("queens", 4, "--policy", policy, "--procs", procs, "--seed", seed)
                waits = [sentence for row in rows for sentence in row["what"] if "waits at the join" in sentence]
                assert procs > 1 or not waits, waits


def check_runs():
    for policy in "tasks", "continuations":
        for procs in 1, 2, 3, 8:
            ends, runs = set(), set()
            for seed in range(1, 9):
                rows = run("queens", 4, "--policy", policy, "--procs", procs, "--seed", seed)
                runs.add(json.dumps(rows))
                ends.add(tuple(row for row in rows[-1]["what"]))
                stacks = [calls for holds in rows[-1]["procs"] for calls in (holds["stack"], holds["deque"], holds["waiting"]) if calls]
                assert stacks == [["return 2"]], f"{policy}, {procs} P, seed {seed}: at the end there is {stacks}"
                assert all("?" not in holds["deque"] for row in rows for holds in row["procs"]), "a record without a name"
            assert len(runs) == (1 if procs == 1 else 8), f"{policy}, {procs} P: {len(runs)} different runs by 8 seeds"
        assert run("fib", 5, "--policy", policy, "--seed", 3) == run("fib", 5, "--policy", policy, "--seed", 3)
    # Continuations keep one record, whatever the length of a loop; tasks one for each iteration.
    for policy, deepest in ("continuations", 1), ("tasks", 6):
        rows = run("loop", 6, "--policy", policy, "--procs", 1)
        assert max(len(row["procs"][0]["deque"]) for row in rows) == deepest, policy


def check_forms(folder):
    text = steps("fib", 4)
    assert "T1 call stack  T1 deque" in text and re.search(r"^\d+ rows, \d+ thefts?, ", text, re.M), text
    assert "| T1 call stack | T1 deque | T2 call stack | T2 deque |" in steps("fib", 4, "--markdown")
    page = folder / "page.html"
    steps("fib", 4, "--html", page)
    assert "fib 4 with continuations on 2 P" in page.read_text() and "@STEPS@" not in page.read_text()
    assert "http" not in page.read_text(), "the page needs no network"


def check_own_program(folder):
    lines = (STEPS / "README.md").read_text().split('#include "bench/steps/program.hpp"', 1)[1].split("\n## ")[0]
    source = folder / "sum.cpp"
    source.write_text('#include "bench/steps/program.hpp"\n' + re.sub("^    ", "", lines, flags=re.M))
    assert "sum 0..8" in steps(source, 8)


def check_refusals(folder):
    script = folder / "script.txt"
    for words, message in (("1 2", "in row 1 the script names T2, which has nothing to do; these have: T1"),
                           ("1 x", 'the script has "x"; write numbers of Ps from 1 to 2'),
                           ("1 3", 'the script has "3"; write numbers of Ps from 1 to 2')):
        script.write_text(words)
        said = steps("fib", 4, "--script", script, fails=True)
        assert message in said, said
    assert "no program fibb; there are: fib loop queens" in steps("fibb", fails=True)
    broken = folder / "broken.cpp"
    broken.write_text("int main() {")
    assert "broken.cpp was not compiled" in steps(broken, fails=True)


with tempfile.TemporaryDirectory() as name:
    check_tables()
    check_waits()
    check_runs()
    check_forms(pathlib.Path(name))
    check_own_program(pathlib.Path(name))
    check_refusals(pathlib.Path(name))
