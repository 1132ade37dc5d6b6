"""symbol_names_test.py PROGRAM: each reader calls the symbols of symbol_names.txt, of g++ and of clang, by the names there: the trace's, gdb's, and by
PROGRAM that of the profile, the race detector and the library's messages; the last three readers also what std::source_location has for a function,
in source_location_names.txt.

Tried with a reader that leaves the type of a template's result, with one that ends a name at const, and with one that counts clang's closures
from 0: each fails."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime/trace/tool"))
sys.dont_write_bytecode = True
PROGRAM = sys.argv.pop()

import symbols  # noqa: E402


def table(name):
    return dict(line.split("\t") for line in (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8").splitlines())


TABLE = table("symbol_names.txt")
OF_PLACES = table("source_location_names.txt")
SCRIPT = ROOT / "runtime/gdb/forkjoin-gdb.py"


class SymbolNames(unittest.TestCase):
    maxDiff = None

    def check(self, told, of):
        self.assertEqual(dict(zip(of, told, strict=True)), of)

    def say_of(self, lines, *arguments):
        return subprocess.run([PROGRAM, *arguments], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()

    def test_files_of_the_library(self):
        """A program's folder may be called forkjoin, too."""
        whose = {"/usr/include/forkjoin/go.hpp": "library", "forkjoin/loops/search.hpp": "library", "../runtime/os/callers.cpp": "library",
                 "/src/forkjoin/main.cpp": "program", "forkjoin/main.cpp": "program", "/src/myforkjoin/go.hpp": "program",
                 "/forkjoin/src/main.hpp": "program", "main.cpp": "program"}
        self.check(self.say_of(whose, "files"), whose)

    def test_closures_that_are_inlined(self):
        """By what calls them, as g++ names it."""
        calls = {"call<main()::<lambda()>::<lambda()> >": "main::λ::λ", "run<main(int, char**)::<lambda(std::pair<int, int>)> >": "main::λ",
                 "std::__invoke_impl<void, app::fold(int, bool (*)(int))::<lambda(int, int)>&, int&, int>": "app::fold::λ",
                 "call<main()::<lambda()>, main()::<lambda()> >": "main::λ", "call<main()::<lambda()>, fib(int)::<lambda()> >": "",
                 "call<fj::v0_4::detail::fork_all<main()::<lambda()> >(lvalue<main()::<lambda()> >)::<lambda()> >": "",
                 "call<std::vector<int> >": "", "call<main()::<lambda()>::result>": "", "main": "", "call<": "", "operator<": ""}
        self.check(self.say_of(calls, "closures"), calls)

    def test_profile_races_and_messages(self):
        for of in TABLE, OF_PLACES:
            self.check(self.say_of(of), of)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb(self):
        for of in TABLE, OF_PLACES:
            with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as script:
                script.write(f"for name in {list(of)!r}:\n    print(name_of(name))\n")
                script.flush()
                done = subprocess.run(["gdb", "-batch", "-nx", "-iex", "set auto-load off", "-ex", f"source {SCRIPT}", "-ex", f"source {script.name}"],
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertEqual(done.stderr, "")
            self.check(done.stdout.splitlines(), of)

    @unittest.skipUnless(shutil.which("c++filt"), "c++filt is not installed")
    def test_trace(self):
        self.assertEqual({name: symbols.short(told) for name, told in symbols.demangled(TABLE).items()}, TABLE)


if __name__ == "__main__":
    unittest.main()
