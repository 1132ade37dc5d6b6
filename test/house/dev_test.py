"""./dev sees packages that came after it configured a build folder: dev_test.py <dev> -- <compiler>

./dev runs in a small project of its own, with the real Meson. A stub of apt-get "installs" a package by a header in a folder
that a wrapper of the compiler looks into; the project has one more test when Relacy's header is there, and a program that is
compiled otherwise when that of the probes is there.

Tried with a ./dev that runs `meson setup --reconfigure` after it has installed something: Meson sees none of the packages
below, because it keeps the answer that there is no such header. And tried with a ./dev that does not look for the header of
the probes, and with a meson.build that does not define HEADERS_FOUND: fib stays as it was compiled without the probes.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOOLS = "cat env grep id ln meson mkdir ninja pkg-config python3 rm sed sh touch true uname".split()

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

    def expect_failure(text, *command, **extra):
        """And the command installs nothing, if it may not or is the help."""
        done = subprocess.run(command, cwd=project, env=clean | extra, text=True, capture_output=True)
        print("+", *command, extra or "", "\n" + done.stdout + done.stderr, flush=True)
        if done.returncode == 0 or text not in done.stderr or "Traceback" in done.stderr:
            sys.exit(f"{shlex.join(command)} should say: {text}")
        if "installing:" in done.stdout and (extra.get("FORKJOIN_INSTALL") == "0" or "help" in command):
            sys.exit(f"{shlex.join(command)} should install nothing")

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
    if subprocess.run(project / "build/bench/fib").returncode != 1:
        sys.exit("fib has the probes still, whose header is gone")
    shutil.rmtree(relacy)
    expect(2, "./dev", "test", FORKJOIN_INSTALL="0")
    relacy.mkdir()
    (relacy / "relacy.hpp").touch()
    expect(3, "./dev", "test", FORKJOIN_INSTALL="0")

    # A part by its name, and a test of it, wherever its name stands. (Tried with an unknown part taken for none.)
    expect(3, "./dev", "test", "--part", "main")
    expect(1, "./dev", "test", "--part", "main", "always")
    expect(2, "./dev", "test", "always", "--part", "main", "model")
    expect_failure("dev: no part nonsense; ./dev help test lists the parts", "./dev", "test", "--part", "nonsense")
    expect_failure("see ./dev help test", "./dev", "test", "--fast")

    # The help is one screen, and there is help on each command. (Tried with the text of ./dev help bench in ./dev help.)
    told = run("./dev", "help")
    if len(told.splitlines()) > 24 or max(map(len, told.splitlines())) > 120:
        sys.exit("./dev help is longer than a screen")
    commands = re.findall(r"^\./dev (\w+)", told, re.MULTILINE)
    for command in commands:
        if f"./dev {command}" not in run("./dev", "help", command):
            sys.exit(f"./dev help {command} does not tell of it")
    if not {"test", "bench", "help"} < set(commands):
        sys.exit(f"the help tells of the commands {commands}")
    expect_failure("dev: no command nonsense", "./dev", "help", "nonsense")
    expect_failure("dev: no command nonsense", "./dev", "nonsense")

    # What a command needs is named where it may not be installed. (Tried with a ./dev package that requires no debhelper.)
    expect_failure("missing: debhelper dpkg-dev ", "./dev", "package", FORKJOIN_INSTALL="0")  # and what changes the library
    expect_failure("build takes no arguments, but got: all", "./dev", "build", "all")
    expect_failure("no kernel fob; there are: fib", "./dev", "bench", "fob")
    expect_failure("--peers nowhere: there is no such folder", "./dev", "bench", "--peers", "nowhere")

    # A machine without Python: ./dev installs it, unless it may not, and for the help it does not. (Tried with a ./dev that starts with
    # env python3, and with one that does not look at FORKJOIN_INSTALL.)
    python = os.readlink(tools / "python3")
    (tools / "python3").unlink()
    expect_failure("dev: missing: python3. Please install", "./dev", "test", FORKJOIN_INSTALL="0")
    expect_failure("dev: missing: python3. Please install", "./dev", "help")
    write(tools / "apt-get", APT_GET.format(**words).replace("    *)", f"    python3) ln -s {python} {tools}/python3 ;;\n    *)"), 0o755)
    expect(1, "./dev", "test", "always")

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

    # A whole part is written down, for ./dev tested, and a test by its name is not. (Tried with a note of each run.)
    shutil.rmtree(project / "build-tested", ignore_errors=True)
    expect(1, "./dev", "test", "always", GITHUB_SHA="c0ffee")
    if (project / "build-tested").exists():
        sys.exit("a run of one test counts as one of all")
    expect(4, "./dev", "test", "--part", "main", GITHUB_SHA="c0ffee")
    (record,) = [json.loads(file.read_text()) for file in (project / "build-tested").iterdir()]
    told = {field: record[field] for field in ("part", "passed", "failed", "skipped", "commit")}
    if told != {"part": "main", "passed": 4, "failed": 0, "skipped": 0, "commit": "c0ffee"} or not re.match(r"(g\+\+|clang) \d+$", record["compiler"]):
        sys.exit(f"./dev test wrote down {record}")
