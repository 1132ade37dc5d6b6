"""dag_test.py SIMULATE PROGRAM: the graph of forks that the profile writes, and the simulator that reads it.

PROGRAM is profile_program.cpp, built as a profile. Tried with strands that are recorded where they begin, with the children of a scope that end
before what follows them, and with a reader that believes the numbers of nodes: each fails."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SIMULATE = (str(pathlib.Path(sys.argv.pop()).resolve()) for _ in range(2))
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = {"forkjoin-dag": 1, "nodes": [{"work_ns": 1000}, {"series": [{"work_ns": 10}, {"parallel": [0, 0, 0]}, 0]},
                                     {"scope": [0, 1, {"work_ns": 5}, 1, {"loop": [0, 0, 1]}]}]}


def profile(case, folder, runs=1):
    """What the profile says, and the file of the graph."""
    out, dag = folder / "out.json", folder / "dag.json"
    for run in range(runs):
        environment = {"FORKJOIN_PROFILE_OUT": str(out), "FORKJOIN_PROFILE_RUNS": str(folder / "runs")}
        if run == runs - 1:
            environment["FORKJOIN_PROFILE_DAG"] = str(dag)
        done = subprocess.run([PROGRAM, case], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(out.read_text()), dag, done.stderr


def simulate(dag, folder, *options):
    out = folder / "simulated.json"
    done = subprocess.run([SIMULATE, "--dag", dag, "--json", out, *(options or ("--procs", "1", "--policy", "continuations"))],
                          capture_output=True, text=True, timeout=120)
    return done, json.loads(out.read_text()) if done.returncode == 0 else None


class DagTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def compare(self, case, forks=None, runs=1, within=1e-4, span_within=1e-4):
        told, dag, errors = profile(case, self.folder, runs)
        self.assertEqual(errors, "")
        done, found = simulate(dag, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Strands are rounded to a picosecond.
        self.assertAlmostEqual(found["work_ns"] / told["work_ns"], 1, delta=within)
        self.assertAlmostEqual(found["span_ns"] / told["span_ns"], 1, delta=span_within)
        self.assertEqual(found["forks"], sum(site["forks"] for site in told["sites"]))
        if forks:
            self.assertEqual(found["forks"], forks)
        return json.loads(dag.read_text())

    def test_fib(self):
        """All its calls of one size are alike when the lengths are known."""
        dag = self.compare("fib", 40 * 75024, runs=3, within=1e-3, span_within=1e-3)
        self.assertLess(len(dag["nodes"]), 2000)

    def test_skewed(self):
        self.compare("skewed", 2583)

    def test_scopes(self):
        self.compare("scopes")

    def test_iterations_and_loops(self):
        self.compare("iterations")
        self.compare("short loops")

    def test_exceptions(self):
        told, dag, _ = profile("throws", self.folder)
        done, found = simulate(dag, self.folder)
        self.assertAlmostEqual(found["work_ns"] / told["work_ns"], 1, delta=1e-4)

    def test_folds(self):
        """A value is folded where its branch ends, not after all before it."""
        self.compare("folds", span_within=0.3)

    def test_no_graph(self):
        for case, why in (("ancestors", "a branch forks into a scope of "), ("crossing scopes", "a scope is joined while another one")):
            _, dag, errors = profile(case, self.folder)
            self.assertFalse(dag.exists())
            self.assertRegex(errors, f"^forkjoin-profile: FORKJOIN_PROFILE_DAG: no graph is written: {why}.*\n$")

    def test_all_policies(self):
        """The sum of all work is done by each policy, on any number of P; and greedy ones are within the bound."""
        dag = self.folder / "dag.json"
        dag.write_text(json.dumps(GOOD))
        done, found = simulate(dag, self.folder, "--procs", "1,3,64", "--policy", "all", "--start", "awake")
        self.assertEqual(done.returncode, 0, done.stderr)
        # 1: 10 + 3000 + 1000, two of them in the scope, beside 1000 before, 5 between, and a loop of 1000, 1000 and one more of them.
        self.assertEqual(found["work_ns"], 1000 + 2 * 4010 + 5 + 2000 + 4010)
        self.assertEqual(found["span_ns"], 1000 + 2010 + 5)
        self.assertEqual(found["forks"], 2 + 2 + 3 * 2)
        self.assertEqual(len({run["policy"] for run in found["runs"]}), 6)
        for run in found["runs"]:
            self.assertGreaterEqual(run["time_ns"], max(found["span_ns"], found["work_ns"] / run["procs"]))

    def test_scope_has_one_join(self):
        """What a scope's function does between forks may fork, too; with many P nobody but its strand waits for the children."""
        dag = self.folder / "dag.json"
        dag.write_text(json.dumps({"forkjoin-dag": 1, "nodes": [{"work_ns": 100000}, {"parallel": [0, 0]},
                                                                {"scope": [0, 0, 1, 0, 1, 0, 1, 0, 1]}]}))
        done, found = simulate(dag, self.folder, "--procs", "8", "--policy", "continuations", "--start", "awake")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(found["forks"], 8)
        self.assertLess(found["runs"][0]["time_ns"], 600_000 + 100_000)

    def test_table_says_what_the_file_says(self):
        """Of thefts, on four nodes. Tried without the column of far thefts."""
        dag = self.folder / "dag.json"
        nodes = [{"work_ns": 100000}] + [{"parallel": [i, i]} for i in range(5)]
        dag.write_text(json.dumps({"forkjoin-dag": 1, "nodes": nodes}))
        done, found = simulate(dag, self.folder, "--procs", "8", "--policy", "continuations", "--start", "awake", "--nodes", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        head, row = (line.replace("over 1 P", "over").split() for line in done.stdout.splitlines()[1:3])
        run, = found["runs"]
        self.assertEqual([row[head.index(column)] for column in ("steals", "far")], [str(run["steals"]), str(run["far_steals"])])
        self.assertGreater(run["far_steals"], 0)

    def refused(self, text, why):
        dag = self.folder / "dag.json"
        dag.write_bytes(text if isinstance(text, bytes) else text.encode())
        done, _ = simulate(dag, self.folder)
        self.assertEqual(done.returncode, 1, (text[:200], done.stdout))
        self.assertRegex(done.stderr, rf"^simulate: [^\n]*(?:{why})[^\n]*\n$")

    def test_damaged(self):
        def nodes(*all_nodes):
            return json.dumps({"forkjoin-dag": 1, "nodes": all_nodes})

        self.refused("", "is no DAG")
        self.refused("[]", 'no "forkjoin-dag": 1')
        self.refused('{"forkjoin-dag": 2, "nodes": []}', 'no "forkjoin-dag": 1')
        self.refused('{"forkjoin-dag": 1}', 'no "nodes"')
        self.refused(nodes(), 'no "nodes"')
        self.refused(nodes({"series": [0]}), "node 0: it has the node 0, which is none of those before it")
        self.refused(nodes({"work_ns": 1}, {"parallel": [0, 18446744073709551615]}), "node 1: it has the node 18446744073709551615")
        self.refused(nodes({"work_ns": 1}, {"parallel": [0, -1]}), "node 1: a node is")
        for work in "-1", "1e16", '"1"', "null", "1e999":
            self.refused('{"forkjoin-dag": 1, "nodes": [{"work_ns": %s}]}' % work, "work_ns|out_of_range")
        self.refused(nodes({"work_ns": 1, "series": []}), "a node is")
        self.refused(nodes({"fork": [0]}), 'not "fork"')
        self.refused(nodes({"parallel": []}), "its parallel is no list of nodes")
        self.refused(nodes({"work_ns": 1}, {"scope": [0, 0]}), "its scope has")
        self.refused('{"forkjoin-dag": 1, "nodes": [%s{"work_ns": 1}%s]}' % ('{"series": [' * 5000, "]}" * 5000), "1,000 nodes within one another")
        # Few bytes may stand for more than any machine can do.
        self.refused(nodes({"work_ns": 1}, *({"parallel": [i, i]} for i in range(70))), "node 30: it has over 1,000,000,000 forks")
        self.refused(nodes({"work_ns": 1e14}, *({"series": [i, i]} for i in range(70))), "node 4: its work takes")
        self.assertIn("cannot read the DAG in nothing.json", simulate("nothing.json", self.folder)[0].stderr)

    def test_any_damage(self):
        """Some bytes of a good file changed or cut off: it is simulated, or refused in one sentence."""
        dice, good = random.Random(72), json.dumps(GOOD).encode()
        dag = self.folder / "dag.json"
        for _ in range(100):
            text = bytearray(good)
            for _ in range(dice.randint(1, 3)):
                text[dice.randrange(len(text))] = dice.choice(b'0123456789[]{}",:.-e\x00\xff')
            dag.write_bytes(bytes(text[:dice.choice((len(text), dice.randrange(len(text))))]))
            done, _ = simulate(dag, self.folder)
            self.assertIn(done.returncode, (0, 1), (text, done.stderr))
            if done.returncode:
                self.assertRegex(done.stderr, r"^simulate: [^\n]+\n$", text)

    def test_command(self):
        dag = self.folder / "dag.json"
        dag.write_text(json.dumps(GOOD))
        command = [sys.executable, ROOT / "bench/simulate/run.py", "--build", pathlib.Path(SIMULATE).parents[1]]
        done = subprocess.run([*command, dag], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall(r"(?m)^ +(?:continuations|tasks|first_\w+|last_\w+|adaptive) +(?:1|8|64) +\S+ [un]s ", done.stdout)), 21, done.stdout)
        dag.write_text("{}")
        done = subprocess.run([*command, dag], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("is no DAG", done.stderr)


if __name__ == "__main__":
    unittest.main()
