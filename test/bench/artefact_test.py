"""./dev artefact: from the checkout's figures it makes the numbers of the pages, their tables and pictures; a step that fails or a number that was
not measured is said."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench/artefact/run.py"
FIGURES = ROOT / "bench/figures"
if not all(map(importlib.util.find_spec, ("matplotlib", "jinja2"))):
    print("left out: matplotlib or jinja2 is not installed")
    sys.exit(77)
sys.path.insert(0, str(PROGRAM.parent))
import run as artefact  # noqa: E402


def make(*arguments, fails=False):
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=300)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


class ArtefactTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.root = pathlib.Path(kept.name)
        self.to = self.root / "artefact"

    def claims(self):
        return re.findall(r"(?m)^\| (\S+\.md) \| (.*) \| (.*?) \| (.*?) \| (.*?) \|$", (self.to / "claims.md").read_text())

    def test_from_the_figures_of_the_pages(self):
        make("--from", FIGURES, "--to", self.to)
        rows = self.claims()
        self.assertGreater(len(rows), 30)
        for page, sentence, there, here, commands in rows:
            self.assertEqual(here.replace(" \\*", ""), there, sentence)
            self.assertRegex(commands, "`(./dev bench|python3 bench/instructions.py|$)")
            self.assertNotIn("<!--", sentence)
        tables = (self.to / "tables.md").read_text()
        self.assertIn("| health", tables.replace("`", ""))
        self.assertNotIn("do not fill", (self.to / "index.md").read_text())
        for name in "fib", "lateness", "late-time", "space", "space-chain":
            ElementTree.parse(self.to / f"pictures/{name}.svg")
            self.assertEqual((self.to / f"pictures/{name}.pdf").read_bytes()[:5], b"%PDF-")
        self.assertTrue((self.to / "STATISTICS.md").exists() and (self.to / "CITATION.cff").exists())

    def test_what_was_not_measured(self):
        given = self.root / "given"
        given.mkdir()
        for name in "instructions", "instructions-bench":
            shutil.copy(FIGURES / f"{name}.json", given)
        make("--from", given, "--to", self.to)
        measured = [there for _, _, there, here, _ in self.claims() if "not measured" not in here]
        self.assertIn("9.6; 13.1", measured)
        self.assertLess(len(measured), 8)
        self.assertIn("- kernels clang (bench/README.md)", (self.to / "index.md").read_text())

    def test_other_figures(self):
        given = self.root / "given"
        shutil.copytree(FIGURES, given)
        trees = json.loads((given / "trees.json").read_text())
        trees["distributions"][0]["median"] = 7.123
        (given / "trees.json").write_text(json.dumps(trees))
        kernels = json.loads((given / "kernels.json").read_text())
        kernels["environment"]["others_during"] = [1.5, 0]
        (given / "kernels.json").write_text(json.dumps(kernels))
        make("--from", given, "--to", self.to)
        self.assertIn("7.123", (self.to / "tables.md").read_text())
        index = (self.to / "index.md").read_text()
        self.assertRegex(index, "The machine was too busy for: kernels\\b")
        self.assertIn(" \\*", (self.to / "claims.md").read_text())

    def test_steps(self):
        for part in "raw", "logs":
            (self.to / part).mkdir(parents=True)
        step = artefact.Step("fails", [], 1)
        told = artefact.run_step(step, [sys.executable, "-c", "print('what went wrong'); exit(3)"], self.to)
        self.assertEqual(told["status"], 3)
        self.assertEqual((self.to / "logs/fails.txt").read_text(), "what went wrong\n")
        self.assertLessEqual(sum(step.quick_minutes for step in artefact.STEPS), 15)
        self.assertEqual(len(make("--list").splitlines()), 1 + len(artefact.STEPS))

    def test_refusals(self):
        self.assertIn("there is no step nothing; there are kernels", make("--only", "nothing", "--to", self.to, fails=True))
        (self.to).mkdir()
        (self.to / "mine.txt").write_text("")
        self.assertIn("is not empty", make("--from", FIGURES, "--to", self.to, fails=True))
        self.assertTrue((self.to / "mine.txt").exists())
        self.assertIn("there are no JSON files", make("--from", self.to, fails=True))


if __name__ == "__main__":
    unittest.main()
