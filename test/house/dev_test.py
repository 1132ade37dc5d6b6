"""./dev sees packages that came after it configured a build folder: dev_test.py <dev> -- <compiler>

./dev runs in a small project of its own, with the real Meson. A stub of apt-get "installs" a package by a header in a folder
that a wrapper of the compiler looks into; the project has one more test when Relacy's header is there, and a program that is
compiled otherwise when that of the probes is there.

Tried with a ./dev that runs `meson setup --reconfigure` after it has installed something: Meson sees none of the packages
below, because it keeps the answer that there is no such header. And tried with a ./dev that does not look for the header of
the probes, and with a meson.build that does not define HEADERS_FOUND: fib stays as it was compiled without the probes.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOOLS = """bash cat cmp cp cut dirname env grep head id ln ls meson mkdir mktemp mv ninja pkg-config python3 rm sed sh sort tail
touch tr true uname uniq wc""".split()

# Names of headers that no machine has stand for those of Relacy, Google Benchmark and the probes.
WRAPPER = """#!/bin/sh
PATH={path}
for last; do :; done
if [ "$last" = - ]; then
  sed 's,<relacy/,<stub-relacy/,; s,<benchmark/,<stub-benchmark/,; s,<sys/,<stub-sys/,' | {compiler} -isystem {root}/include "$@"
else
  exec {compiler} -isystem {root}/include "$@"
fi
"""

APT_GET = """#!/bin/sh
for package; do
  case $package in
    relacy-dev) mkdir -p {root}/include/stub-relacy && touch {root}/include/stub-relacy/relacy.hpp ;;
    libbenchmark-dev) mkdir -p {root}/include/stub-benchmark && touch {root}/include/stub-benchmark/benchmark.h ;;
    systemtap-sdt-dev) mkdir -p {root}/include/stub-sys && touch {root}/include/stub-sys/sdt.h ;;
    update | install | -*) ;;
    *) exit 1 ;;
  esac
done
"""

MESON_BUILD = """project('small', 'cpp', default_options: 'cpp_std=c++20')
benchmarks = get_option('benchmarks')
cpp = meson.get_compiler('cpp')
@HEADERS_FOUND@
main = files('main.cpp')
test('always', executable('always', main))
if cpp.has_header('stub-relacy/relacy.hpp')
  test('model', executable('model', main))
endif
if get_option('wished')
  test('wished', executable('wished', main))
  test('needs_nothing', find_program('true'))
endif
if benchmarks.enabled()
  subdir('bench')
endif
"""

FILES = {
    "meson.build": MESON_BUILD,
    "meson_options.txt": "option('benchmarks', type: 'feature', value: 'auto')\noption('wished', type: 'boolean', value: false)\n"
                         "option('policies', type: 'string')\n",
    "main.cpp": "int main() {}\n",
    # The program fails if it was compiled without the probes.
    "bench/fib.cpp": "#if __has_include(<stub-sys/sdt.h>)\nint main() {}\n#else\nint main() { return 1; }\n#endif\n",
    "bench/meson.build": "fib = executable('fib', 'fib.cpp')\nexecutable('fib_once', main)\n"
                         "test('probes', fib, should_fail: not cpp.has_header('stub-sys/sdt.h'))\n",
    "bench/run.py": "open('build/bench/report.json', 'w').write('figures')\n",
}

dev, _, *compiler = sys.argv[1:]
# As the project's own meson.build tells compilers which headers there are.
headers_found = re.search(r"(?ms)^headers_found = .*?^add_project_arguments\(.*?$", pathlib.Path(dev).with_name("meson.build").read_text())[0]


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    project = root / "project"
    for name, text in FILES.items():
        write(project / name, text.replace("@HEADERS_FOUND@", headers_found.replace("sys/", "stub-sys/")))
    shutil.copy(dev, project / "dev")
    tools = root / "bin"
    words = {"path": shlex.quote(os.environ["PATH"]), "root": root, "compiler": shlex.join(compiler)}
    write(tools / "g++", WRAPPER.format(**words), 0o755)
    write(tools / "apt-get", APT_GET.format(**words), 0o755)
    write(tools / "sudo", '#!/bin/sh\nexec "$@"\n', 0o755)
    for tool in TOOLS:
        # Not the first python3 of the path: a shim such as pyenv's does not work with a path of one folder.
        if found := sys.executable if tool == "python3" else shutil.which(tool):
            (tools / tool).symlink_to(found)
    if ar := shutil.which("ar"):
        (tools / "ar").symlink_to(ar)
    write(root / "include/boost/context/fiber.hpp", "")
    write(root / "include/doctest/doctest.h", "")
    clean = {k: v for k, v in os.environ.items() if not re.match(r"(FORKJOIN_|MESON|CC$|CXX|CPPFLAGS|LDFLAGS|CI$)", k)}
    clean["PATH"] = str(tools)

    def run(*command, **extra):
        """Runs the command in the small project and returns its output."""
        done = subprocess.run(command, cwd=project, env=clean | extra, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        print("+", *command, extra or "", "\n" + done.stdout, flush=True)
        if done.returncode != 0 or "Traceback" in done.stdout:
            sys.exit(f"{shlex.join(command)} ended with {done.returncode}")
        return done.stdout

    def expect(passed, *command, **extra):
        if not re.search(rf"^{passed} passed, 0 failed", run(*command, **extra), re.MULTILINE):
            sys.exit(f"{shlex.join(command)} did not run {passed} tests")

    relacy = root / "include/stub-relacy"
    figures = project / "build/bench/report.json"

    # README's two commands in README's order: the second installs Relacy, and the probes, with which fib is compiled again.
    # Options and figures of the first stay.
    run("./dev", "bench", "fib")
    expect(3, "./dev", "test")
    if figures.read_text() != "figures" or not (project / "build/bench/fib").exists():
        sys.exit("what was measured is lost")

    # Nothing changed, nothing is configured.
    before = (project / "build/build.ninja").stat().st_mtime_ns
    expect(3, "./dev", "test")
    if (project / "build/build.ninja").stat().st_mtime_ns != before:
        sys.exit("configured again though nothing had changed")

    # A package is removed and installed by hand, or by a command that configured another folder.
    shutil.rmtree(root / "include/stub-sys")
    expect(3, "./dev", "test", FORKJOIN_INSTALL="0")
    shutil.rmtree(relacy)
    expect(2, "./dev", "test", FORKJOIN_INSTALL="0")
    relacy.mkdir()
    (relacy / "relacy.hpp").touch()
    expect(3, "./dev", "test", FORKJOIN_INSTALL="0")

    # A part by its name, and a test of it; the help lists each part with its time. (Tried with a part left out of the
    # help, and with an unknown part taken for none.)
    expect(3, "./dev", "test", "--part", "main")
    expect(1, "./dev", "test", "--part", "main", "always")
    wrong = subprocess.run(["./dev", "test", "--part", "nonsense"], cwd=project, env=clean, text=True, capture_output=True)
    if wrong.returncode == 0 or "no part nonsense; ./dev help lists the parts" not in wrong.stderr:
        sys.exit(f"a part that there is not: {wrong}")
    told = re.findall(r"^ +(\w+) +\d+ {3}", run("./dev", "help"), re.MULTILINE)
    parts = re.findall(r"^part_(\w+)\(\)", pathlib.Path(dev).read_text(), re.MULTILINE)
    if sorted(told) != sorted(parts) or len(parts) < 9:
        sys.exit(f"the help tells of the parts {told}, there are {parts}")

    # The help lists each command. (Tried with docs left out of the help.)
    told = set(re.findall(r"^\./dev (\w+)", run("./dev", "help"), re.MULTILINE)) - {"help"}
    commands = set(re.findall(r"^cmd_(\w+)\(\)", pathlib.Path(dev).read_text(), re.MULTILINE))
    if told != commands:
        sys.exit(f"the help tells of the commands {told}, there are {commands}")

    # What a command needs is named where it may not be installed. (Tried with a ./dev package that requires no debhelper.)
    lack = subprocess.run(["./dev", "package"], cwd=project, env=clean | {"FORKJOIN_INSTALL": "0"}, text=True, capture_output=True)
    if lack.returncode == 0 or "missing: debhelper dpkg-dev. Please install" not in lack.stderr:
        sys.exit(f"without debhelper: {lack}")

    # A folder that was set up by hand keeps its options.
    shutil.rmtree(project / "build")
    shutil.rmtree(relacy)
    run("meson", "setup", "build", "-Dwished=true", CXX="g++")

    # A test by its name builds what that test needs, which may be nothing. (Tried without --no-rebuild: builds all.)
    expect(1, "./dev", "test", "needs_nothing")
    if (project / "build/always").exists():
        sys.exit("built for a test that needs nothing")
    expect(1, "./dev", "test", "wished")
    if (project / "build/always").exists() or not (project / "build/wished").exists():
        sys.exit("not built what the test needs, or more")

    expect(4, "./dev", "test")
