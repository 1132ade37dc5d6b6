"""bench/peers/talk.py with made-up programs: ratios within rounds, results that differ, Go left out with a word."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Runs take 0.2 s each, and `go build` copies a program that takes 0.1 s.
PROGRAM = "echo result {result}\ni=0; while [ $i -lt $4 ]; do echo seconds {seconds}; i=$((i + 1)); done\n"
GO = """if [ $1 = version ]; then echo go version go1.99; exit; fi
shift 2; printf '#!/bin/sh\\n%s' '{program}' > "$1/talk"; /bin/chmod +x "$1/talk"
"""


class TalkTest(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.program(self.folder / "build" / "bench" / "talk", PROGRAM.format(result=7, seconds=0.2))
        (self.folder / "build" / "bench" / "peers").mkdir()
        (self.folder / "build" / "bench" / "peers" / "versions.json").write_text('{"compiler": "g++ 99"}')

    def program(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)

    def bring_go(self, result):
        self.program(self.folder / "bin" / "go", GO.format(program=PROGRAM.format(result=result, seconds=0.1)))

    def measure(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "bench" / "peers" / "talk.py", "--build", self.folder / "build", "--rounds", "3",
                               *arguments], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": str(self.folder / "bin")})

    def test_ratios(self):
        self.bring_go(7)
        out = self.folder / "out.json"
        done = self.measure("select", "mutex", "--json", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("go: go version go1.99", done.stdout)
        self.assertEqual(done.stdout.count("0.50 (0.50..0.50)"), 4)  # two cases on one P and two
        self.assertNotIn("sieve", done.stdout)
        report = json.loads(out.read_text())
        figures = report["results"]
        self.assertEqual(report["environment"]["go"], "go version go1.99")
        self.assertEqual(report["environment"]["compiler"], "g++ 99")
        self.assertEqual([(f["case"], f["procs"]) for f in figures], [("select", 1), ("select", 2), ("mutex", 1), ("mutex", 2)])
        self.assertEqual(figures[0]["seconds"], {"build": [0.2] * 3, "go": [0.1] * 3})

    def test_results_that_differ(self):
        self.bring_go(8)
        done = self.measure()
        self.assertEqual(done.returncode, 1)
        self.assertIn("different results", done.stderr)

    def test_go_left_out(self):
        done = self.measure("create")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("go: left out: go is not installed", done.stdout)
        self.assertIn("build", done.stdout)

    def test_misuse(self):
        self.assertIn("no case nonsense", self.measure("nonsense").stderr)
        (self.folder / "build" / "bench" / "talk").unlink()
        done = self.measure()
        self.assertEqual(done.returncode, 1)
        self.assertIn("ninja -C", done.stderr)


if __name__ == "__main__":
    unittest.main()
