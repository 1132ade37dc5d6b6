"""races_test.py PROGRAM: the race detector finds every race of the small programs in races/, and no other.

PROGRAM is made of races/*.cpp; a comment in cases.hpp says how a case tells what is to be found. Of each race one report names both lines,
the fork that separates them, and why; each report names two lines that are marked.

Tried with bugs in the detector: without forgetting the stack of a branch (strands.cpp: forget_stack) stack_again fails; with a writer
that does not clear a reader before it (hooks.cpp: clears_reader) read_again; with one lock set a cell in place of a list
hidden_by_another_lock; without branches beside what is folded (strands.cpp: branch_beside) fold_beside; without malloc heap_again; without
__libc_single_threaded shared_pointer; with a scope's children in the bag of the branch that forks them grandchild."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "races"
PROGRAM = str(pathlib.Path(sys.argv.pop()).resolve())
OWN_STATUS, RACES = 3, 66


class Case:
    def __init__(self, file, name, is_racy, first, text):
        self.file, self.name, self.is_racy = file, name, is_racy
        places = {}  # by letter: the line
        for number, line in enumerate(text, first):
            for letter in (re.search(r"// race: ([a-z ]+)", line) or [None, ""])[1].split():
                places[letter] = f"{file}:{number}"
        self.lines = set(places.values())
        self.pairs = [(places[a], places[b]) for a, b in zip("acegikmo", "bdfhjlnp") if a in places and b in places]


def cases():
    for file in sorted(FOLDER.glob("*.cpp")):
        text = file.read_text().splitlines()
        begins = [(i, re.match(r"CASE\((\w+)\) \{  // (clean|racy)", line)) for i, line in enumerate(text)]
        begins = [(i, found) for i, found in begins if found]
        for (i, found), (end, _) in zip(begins, begins[1:] + [(len(text), None)]):
            yield Case(file.name, found[1], found[2] == "racy", i + 1, text[i:end])


def run(name, **environment):
    return subprocess.run([PROGRAM, name], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)


def reports(text):
    """Of each report the innermost lines of both accesses, and its last sentence."""
    for report in re.split(r"(?m)^==== ", text):
        stacks = re.findall(r"(?m)^  (?:\S.*)(?:reads|writes).*:\n((?:    #.*\n)+)", report)
        if len(stacks) == 2:
            lines = [[pathlib.Path(place).name for place in re.findall(r" at (\S+:\d+)", stack)] for stack in stacks]
            yield lines, (re.search(r"(?m)^  Nothing orders them: (.*)", report) or [None, ""])[1]


class RacesTest(unittest.TestCase):
    def test_every_case(self):
        every = list(cases())
        named = set(subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split())
        self.assertEqual(named, {case.name for case in every})
        self.assertGreaterEqual(len(every), 60)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, done in zip(every, pool.map(run, (case.name for case in every))):
                with self.subTest(case.file, case=case.name):
                    self.check(case, done)

    def check(self, case, done):
        self.assertEqual(done.returncode, RACES if case.is_racy else OWN_STATUS, done.stderr)
        if not case.is_racy:
            self.assertEqual(done.stderr, "")
            return
        found = list(reports(done.stderr))
        self.assertTrue(case.lines and found, done.stderr)
        for (first, second), why in found:
            self.assertTrue(case.lines & set(first) or case.lines & set(second), done.stderr)
            self.assertRegex(why, rf"may run at the same time", done.stderr)
            self.assertIn(f"{case.file}:", why, done.stderr)
        for a, b in case.pairs:
            self.assertTrue(any(a in first and b in second or a in second and b in first for (first, second), _ in found),
                            f"{a} and {b} are not told\n{done.stderr}")

    def test_suppressions(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("# a comment\nrace:loops.cpp\n")
            file.flush()
            done = run("antidep", FORKJOIN_RACES_SUPPRESSIONS=file.name)
            self.assertEqual(done.returncode, OWN_STATUS, done.stderr)
            self.assertIn("0 races, and 1 suppressed", done.stderr)
            self.assertEqual(run("sections", FORKJOIN_RACES_SUPPRESSIONS=file.name).returncode, RACES)
        done = run("antidep", FORKJOIN_RACES_SUPPRESSIONS="no/such/file")
        self.assertIn("cannot read no/such/file", done.stderr)

    def test_variables_are_named(self):
        self.assertRegex(run("global").stderr, r"a race on the variable .*global_counter")
        self.assertRegex(run("private_missing").stderr, r"a race on a variable of .*private_missing")


if __name__ == "__main__":
    unittest.main()
