"""symbol_names_test.py PROGRAM: each reader calls the symbols of symbol_names.txt, of g++ and of clang, by the names there: the trace's, and by
PROGRAM that of the profile and the race detector.

Tried with a reader that leaves the type of a template's result, with one that ends a name at const, and with one that counts clang's closures
from 0: each fails."""

import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/trace/tool"))
sys.dont_write_bytecode = True
PROGRAM = sys.argv.pop()

import symbols  # noqa: E402

TABLE = dict(line.split("\t") for line in (pathlib.Path(__file__).parent / "symbol_names.txt").read_text(encoding="utf-8").splitlines())


class SymbolNames(unittest.TestCase):
    def test_profile_and_races(self):
        told = subprocess.run([PROGRAM], input="\n".join(TABLE), capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        self.assertEqual(dict(zip(TABLE, told, strict=True)), TABLE)

    @unittest.skipUnless(shutil.which("c++filt"), "c++filt is not installed")
    def test_trace(self):
        self.assertEqual({name: symbols.short(told) for name, told in symbols.demangled(TABLE).items()}, TABLE)


if __name__ == "__main__":
    unittest.main()
