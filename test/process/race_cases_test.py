"""The race detector finds every race of the small programs in races/, and no other.

race_cases_test.py PROGRAM O0|O2                       PROGRAM is made of races/*.cpp
race_cases_test.py --by LIBRARY -- COMPILER FLAGS...   the same, compiled here at -O0 and at -O2, and linked with the detector's library

A comment in cases.hpp says how a case tells what is to be found. Of each race one report names both lines, the fork that separates
them, and why; each report names a line that is marked. With -O2, compilers merge accesses of closures that they have inlined into the
library's loops, and name a line of the call; of the cases marked so any line will do.

Tried with bugs in the detector: without forgetting the stack of a branch (strands.cpp: forget_stack) stack_again fails; with a writer
that does not clear a reader before it (hooks.cpp: clears_reader) read_again; with one lock set a cell in place of a list
hidden_by_another_lock; without branches beside what is folded (strands.cpp: branch_beside) fold_beside; without malloc heap_again; without
__libc_single_threaded shared_pointer; with a scope's children in the bag of the branch that forks them grandchild; with a child of an outer scope that does not count as one
that escapes inner ones (strands.cpp: outlives_others) outer_scope_outlives, and race_trees_test.py at seed 2939; without any_order
inner_scope_outlives_before; without a new number behind a decrement (counters.cpp) after_counting; without the ancestors of a strand that
counts handed_on; without UNEXPANDED, or races_args in runtime/meson.build, bytes_set_9, bytes_copied_24, text_copied_7 and bytes_compared_8;
without the calls in what makes a race new (report.cpp: by_calls) test_every_variable_is_told; without careful in
access_atomic (hooks.cpp) atomics; without access_atomic plain_beside_atomic and the cases behind it;
without std::pmr's pools in interposed.cpp pool_of_branches, without counted_down exception_of_branches;
if a group is a scope to strands.cpp group_outlives_branch, without hand_groups_on all of group_outlives;
without was_of_thread_local (hooks.cpp) block_of_thread_local; without the caller of what counts (counters.cpp) release_that_returns;
without mmap in interposed.cpp pages_mapped_again; with a plain read of what looks like a block guard_below_what_a_thread_local_names; without lately_freed in interposed.cpp block_written_after_its_end; with the innermost of last owners alone owners_of_owners."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "races"
PROGRAMS = {}  # by how they were optimised
OWN_STATUS, RACES = 3, 66
UNEXPANDED = ["-U_FORTIFY_SOURCE"] + [f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "memset", "memcmp", "mempcpy", "strcpy", "stpcpy", "strncpy", "strcat", "strcmp",
                                                  "strncmp")]  # as in runtime/meson.build


class Case:
    def __init__(self, file, name, kind, first, text):
        self.file, self.name = file, name
        self.is_racy, self.is_merged, self.is_elsewhere = kind.startswith("racy"), kind.endswith("merged"), kind.endswith("elsewhere")
        self.own_lines = {f"{file}:{number}" for number in range(first, first + len(text))}
        places = {}  # by letter: the line
        for number, line in enumerate(text, first):
            for letter in (re.search(r"// race: ([a-z ]+)", line) or [None, ""])[1].split():
                places[letter] = f"{file}:{number}"
        self.lines = set(places.values())
        self.pairs = [(places[a], places[b]) for a, b in zip("acegikmo", "bdfhjlnp") if a in places and b in places]


def cases():
    for file in sorted(FOLDER.glob("*.cpp")):
        text = file.read_text().splitlines()
        begins = [(i, re.match(r"CASE\((\w+)\) \{ +// (clean|racy, (?:merged|elsewhere)|racy)", line)) for i, line in enumerate(text)]
        begins = [(i, found) for i, found in begins if found]
        for (i, found), (end, _) in zip(begins, begins[1:] + [(len(text), None)]):
            yield Case(file.name, found[1], found[2], i + 1, text[i:end])


def run(program, name, **environment):
    return subprocess.run([program, name], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)


def build(library, compiler, level, folder):
    """Compiles the cases as pkg-config has it: one command a source, which could link, too."""
    def compiled(source):
        thing = folder / f"{source.stem}-{level}.o"
        subprocess.run([*compiler, f"-{level}", "-DFORKJOIN_RACES", "-Wp,-fsanitize=thread", "-g", *UNEXPANDED, "-c", source, "-o", thing], check=True)
        return thing
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        things = list(pool.map(compiled, sorted(FOLDER.glob("*.cpp"))))
    subprocess.run([*compiler, *things, library, "-ldl", "-o", folder / level], check=True)
    return str(folder / level)


def reports(text):
    """Of each report the innermost lines of both accesses, and its last sentence."""
    for report in re.split(r"(?m)^==== ", text):
        stacks = re.findall(r"(?m)^  (?:\S.*)(?:reads|writes|frees).*:\n((?:    #.*\n)+)", report)
        if len(stacks) == 2:
            lines = [[pathlib.Path(place).name for place in re.findall(r" at (\S+:\d+)", stack)] for stack in stacks]
            yield lines, (re.search(r"(?m)^  Nothing orders them: (.*)", report) or [None, ""])[1]


class RacesTest(unittest.TestCase):
    def test_every_case(self):
        every = list(cases())
        self.assertGreaterEqual(len(every), 60)
        for level, program in PROGRAMS.items():
            named = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual(sorted(named), sorted(case.name for case in every))
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for case, done in zip(every, pool.map(lambda case: run(program, case.name), every)):
                    with self.subTest(case.file, case=case.name, level=level):
                        self.check(case, done, case.is_merged and level != "O0")

    def check(self, case, done, is_merged):
        self.assertEqual(done.returncode, RACES if case.is_racy else OWN_STATUS, done.stderr)
        if not case.is_racy:
            self.assertEqual(done.stderr, "")
            return
        if case.is_elsewhere:  # a test of its own tells what is to be found
            return
        found = list(reports(done.stderr))
        self.assertTrue(case.lines and found, done.stderr)
        for (first, second), why in found:
            self.assertTrue(case.own_lines & set(first) and case.own_lines & set(second), done.stderr)
            self.assertTrue(is_merged or case.lines & set(first) or case.lines & set(second), done.stderr)
            self.assertRegex(why, r"may run at the same time", done.stderr)
            self.assertIn(f"{case.file}:", why, done.stderr)
        for a, b in () if is_merged else case.pairs:
            self.assertTrue(any(a in first and b in second or a in second and b in first for (first, second), _ in found),
                            f"{a} and {b} are not told\n{done.stderr}")

    def test_suppressions(self):
        program = next(iter(PROGRAMS.values()))

        def suppressed(name, text):
            with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                return run(program, name, FORKJOIN_RACES_SUPPRESSIONS=file.name)
        for pattern in "loops.cpp", "antidep::\u03bb":  # the name is that of the report
            done = suppressed("antidep", f"# a comment\nrace:{pattern}\n")
            self.assertEqual(done.returncode, OWN_STATUS, done.stderr)
            self.assertIn("0 races, and 1 suppressed", done.stderr)
            self.assertEqual(suppressed("sections", f"race:{pattern}\n").returncode, RACES)
        # Nobody knows whether a race that is counted alone is suppressed.
        self.assertEqual(suppressed("many_variables", "race:variables.cpp\n").returncode, RACES)
        done = run(program, "antidep", FORKJOIN_RACES_SUPPRESSIONS="no/such/file")
        self.assertIn("cannot read no/such/file", done.stderr)

    def test_joins_in_any_order(self):
        for program in PROGRAMS.values():
            done = run(program, "inner_scope_outlives_before")
            self.assertRegex(done.stderr, r"forks.cpp:\d+ joins a scope before a later one of the same strand: .* may be missed")
            done = run(program, "inner_scope_outlives_before", FORKJOIN_RACES_JOINS="any")
            self.assertEqual(done.returncode, RACES, done.stderr)
            self.assertNotIn("may be missed", done.stderr)

    def test_every_variable_is_told(self):
        def told(program, name):
            return re.findall(r"(?m)^==== forkjoin-races: a race on (.*)$", run(program, name).stderr)
        for program in PROGRAMS.values():
            names = [re.sub(r"\(anonymous namespace\)::", "", one) for one in told(program, "one_accessor")]
            self.assertEqual(sorted(names), [f"the variable {one}" for one in ("apples", "baskets", "pears")])
            self.assertRegex(run(program, "one_accessor").stderr,
                             r"  The same on .*baskets\+8, .*baskets\+16, (.+, ){5}.*baskets\+64 and 3 more\.\n")
            self.assertEqual(told(program, "one_accessor_of_locals"), ["a variable of one_accessor_of_locals"] * 2)
            text = run(program, "one_accessor_of_blocks").stderr
            self.assertEqual(told(program, "one_accessor_of_blocks"), ["memory of the heap"] * 2, text)
            for more in "  The same at 9 more addresses.\n", "":
                self.assertRegex(text, r"  The memory was allocated:\n    #0 one_accessor_of_blocks at \S+\n(    #.*\n)*" + more + "  Nothing")
            text = run(program, "many_variables").stderr
            races, more = map(int, re.search(r"(?m)^==== forkjoin-races: (\d+) races and (\d+) more$", text).groups())
            self.assertEqual(text.count("a race on the variable"), races)
            self.assertTrue(990 < races <= 1000 and races + more >= 1100, text[-200:])

    def test_variables_are_named(self):
        for program in PROGRAMS.values():
            self.assertRegex(run(program, "global").stderr, r"a race on the variable .*global_counter")
            self.assertRegex(run(program, "global_of_one_letter").stderr, r"a race on the variable x\n")
            self.assertRegex(run(program, "private_missing").stderr, r"a race on a variable of private_missing\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "--by":
            library, _, *compiler = sys.argv[2:]
            for level in ("O0", "O2"):
                PROGRAMS[level] = build(library, compiler, level, pathlib.Path(folder))
        else:
            PROGRAMS[sys.argv[2]] = str(pathlib.Path(sys.argv[1]).resolve())
        unittest.main(argv=sys.argv[:1])
