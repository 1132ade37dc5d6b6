"""What the pages for users show is compiled and run: the code and the commands of README.md and forkjoin/guide/*.md.

pages.py code <page> [<header>.gch] -- <library and what it links> -- <compiler with the flags of users>
pages.py words <dev> <page>...
pages.py ways <build folder> <folder of forkjoin.pc> <prefix> <program> <page>... -- <compiler>

How to write a block:

```cpp with `int main(`        a whole program: it is compiled, and run for at most 20 s; it exits with 0
```text directly below it     all that the program prints to its standard output
<!-- error output -->         directly above a ```text: all that the program above prints to its standard error
```cpp without                a fragment: it is compiled in a function, below all public headers, the usual standard ones and
                              `using namespace std::chrono_literals;`
<!-- code                     C++ that readers do not see, for all fragments below it in the page: the types, variables and
...                           functions that the fragments take for granted
-->
<!-- at namespace scope -->   directly above a fragment: it is no function's body, and the fragments below see its names. What
                              hides an earlier name may have the same one
<!-- at namespace scope until the empty line -->  likewise, but what comes after the empty line is a function's body
<!-- races -->                directly above a program, whose first line is a comment with the name of its file: it is compiled for the
                              race detector, and a ```text directly below is what that prints
<!-- run -->                  directly above a fragment: it is also run, as the body of main; it may have a ```text
<!-- from FILE -->            directly above a fragment: it is compiled there, where these lines follow one another, however indented.
                              A fragment of several pieces has an empty line between them
```cmake, ```meson            configured in an empty project, where this checkout is the folder forkjoin or the subproject, and an
                              installed library is there, too
```sh, or indented            ./dev, its commands and options are there; so are options of Meson; a line `g++ ... pkg-config ...`
                              compiles a program
```c, ```python               a fragment from a file
Each fence says what it holds: cpp, c, python, text, cmake, meson, ini, sh. All fragments of a page are one source, and only parsed.

Tried: with a line less in the text below a program with races this test fails. With a call of fj::spawn, a program that prints something else, loops or exits with 1, a fence that says cmak, ./dev try,
./dev test --fast, --part min, FORKJOIN_PROC, fj::option, -Dtest=disabled, the target forkjoin::fj, dependency('forkjoins'), version
0.2, pkg-config without --libs, a changed line of a fragment from a file, a recipe in no page and one of 41 lines, this test fails.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "forkjoin/guide/site"))
sys.dont_write_bytecode = True
import make_site  # noqa: E402: it reads Markdown

KINDS = {"cpp", "c", "python", "text", "cmake", "meson", "ini", "sh"}
HEADERS = "".join(re.findall(r"(?m)^#include .*\n", (ROOT / "test/precompiled/pages.hpp").read_text()))
# As strict as a careful user is, but fragments leave things unused.
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
OF_FRAGMENTS = WARNINGS + ["-Wno-unused", "-Wunused-result", "-Wno-unused-parameter", "-Wno-shadow"]

failures = []


def fail(where, what):
    failures.append(f"{where}: {what}")


class block:
    """A fence or a comment of a page: its kind ("cpp", "code", "run", ...), its text, and the line where the text begins."""

    def __init__(self, page, found):
        kind, text = ("fence", "text") if found["note"] is None else ("note", "hidden")
        self.kind = found[kind].split("\n")[0].strip()
        self.text = re.sub(rf"(?m)^ {{0,{len(found['indent'] or '')}}}", "", found[text] or "")
        self.line = page.count("\n", 0, found.start(text)) + 1


def blocks(name):
    """The blocks of a page, each with the one directly above it, or None: (block, above)."""
    page = (ROOT / name).read_text()
    fence = r"^(?P<indent> *)```(?P<fence>[^\n`]*)\n(?P<text>.*?)^ *```[ \t]*$"
    comment = r"^<!-- (?P<note>code\n(?P<hidden>.*?)|run|races|error output|from [\w/.]+|at namespace scope(?: until the empty line)?) *-->"
    last, end = None, 0
    for found in re.finditer(f"(?ms){fence}|{comment}", page):
        above = last if not page[end:found.start()].strip() else None
        last, end = block(page, found), found.end()
        if found["note"] is None and last.kind not in KINDS:
            fail(f"{name}:{last.line - 1}", f"```{last.kind}: one of {', '.join(sorted(KINDS))}")
        yield last, above


# --- code ---


class source:
    """A C++ source made of a page's fragments. Includes come first; each piece at namespace scope begins a namespace in the
    one before, so that it may use the names again."""

    def __init__(self, page):
        self.page, self.includes, self.body, self.opened = page, HEADERS, "", []

    def place(self, text, line):
        for include in re.findall(r"(?m)^ *#include.*", text):
            self.includes += include + "\n"
        return f'#line {line} "{self.page}"\n' + re.sub(r"(?m)^ *#include.*", "", text) + "\n"

    def add_names(self, text, line):
        self.opened.append(f"page_{len(self.opened)}")
        self.body += f"namespace {self.opened[-1]} {{\n{self.place(text, line)}"

    def add_function(self, text, line):
        self.body += f"[[maybe_unused]] static auto fragment_{line}() {{\n{self.place(text, line)}}}\n"

    def text(self, main=None):
        text = f"{self.includes}using namespace std::chrono_literals;\n{self.body}{'}' * len(self.opened)}\n"
        if main is not None:
            text += f"int main() {{ {'::'.join(['', *self.opened])}::fragment_{main}(); }}\n"
        return text


def check_from(where, text, file):
    """Each piece of the text is a piece of the file."""
    def stripped(text):
        return "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"

    whole = "\n" + stripped((ROOT / file).read_text())
    for piece in re.split(r"\n\n+", text):
        if f"\n{stripped(piece)}" not in whole:
            fail(where, f"not in {file}:\n{piece}")


def compile_source(text, output, compiler, *more):
    output.with_suffix(".cpp").write_text(text)
    done = subprocess.run([*compiler, output.with_suffix(".cpp"), *more], text=True, stderr=subprocess.PIPE)
    return done.stderr if done.returncode != 0 else None


def run_program(where, program, expected, errors):
    try:
        done = subprocess.run([program], text=True, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return fail(where, "runs for more than 20 s")
    print(done.stderr, file=sys.stderr, end="", flush=True)  # for lost_runs.py
    if done.returncode != 0:
        fail(where, f"exits with {done.returncode}:\n{done.stdout}{done.stderr}")
    elif expected is not None and done.stdout != expected:
        fail(where, f"prints\n{done.stdout}and not\n{expected}")
    elif errors is not None and done.stderr != errors:
        fail(where, f"prints to its standard error\n{done.stderr}and not\n{errors}")


def check_races(where, text, expected, compiler):
    """The program has the races that the text tells of. How a stack is told depends on what a compiler inlines: in full for g++."""
    library = os.environ.get("FORKJOIN_RACES_LIBRARY")
    if not library:
        return print(f"{where}: this build has no race detector: not checked")
    name = re.match(r"// (\S+\.cpp)\n", text)[1]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text(text)
        flags = ["-O1", "-DFORKJOIN_RACES", "-Wp,-fsanitize=thread", "-g", *(f"-fno-builtin-{name}" for name in (
            "memcpy", "memmove", "memset", "memcmp", "mempcpy", "strcpy", "stpcpy", "strncpy", "strcat", "strcmp", "strncmp"))]
        subprocess.run([*compiler, *flags, *WARNINGS, name, library, "-ldl", "-o", "program"], cwd=folder, check=True)
        done = subprocess.run(["./program"], cwd=folder, text=True, capture_output=True, timeout=60)
    is_gnu = "clang" not in subprocess.run([*compiler, "--version"], text=True, capture_output=True).stdout
    told = [text if is_gnu else sorted(set(re.findall(r" at (\S+:\d+)", text))) for text in (done.stderr, expected)]
    if done.returncode != 66 or told[0] != told[1]:
        fail(where, f"exits with {done.returncode}, and prints\n{done.stderr}and not\n{expected}")


def needs_other_headers(text, compiler):
    """Whether it uses Boost.Asio, and this machine has none."""
    ask = [*compiler, "-E", "-x", "c++", "-"]
    return "asio" in text and subprocess.run(ask, input="#include <boost/asio.hpp>", text=True, capture_output=True).returncode


def check_code(page, header, library, compiler):
    fragments = source(page)
    programs = {}  # by line: the text, and what it prints to standard output and error
    races = {}  # likewise
    last = None
    for each, above in blocks(page):
        note = above.kind if above else ""
        if needs_other_headers(each.text, compiler):
            print(f"{page}:{each.line}: no Boost.Asio is installed: not checked")
        elif note.startswith("from "):
            check_from(f"{page}:{each.line}", each.text, note.removeprefix("from "))
        elif each.kind in ("c", "python"):
            fail(f"{page}:{each.line}", f"a fragment in {each.kind} is from a file: <!-- from FILE --> above it")
        elif each.kind == "code":
            fragments.add_names(each.text, each.line)
        elif each.kind == "cpp" and note == "races":
            races[each.line] = [each.text, None]
            last = each
        elif each.kind == "cpp" and "int main(" in each.text:
            programs[each.line] = [f'#line {each.line} "{page}"\n{each.text}', None, None]
            last = each
        elif each.kind == "cpp":
            body, start = each.text, each.line
            if note.startswith("at namespace scope"):
                names, empty, body = body.partition("\n\n") if note.endswith("line") else (body, "", "")
                fragments.add_names(names + empty, start)
                start += names.count("\n") + 2
            if body:
                fragments.add_function(body, start)
            if note == "run":
                programs[each.line] = [fragments.text(main=start), None, None]
                last = each
        elif each.kind == "text" and note == "error output":
            programs[last.line][2] = each.text
        elif each.kind == "text" and above is last is not None:
            (races if last.line in races else programs)[last.line][1] = each.text
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        if errors := compile_source(fragments.text(), root / "fragments", compiler, *OF_FRAGMENTS, *header, "-fsyntax-only"):
            fail(page, f"its fragments do not compile:\n{errors}")
        for line, (text, expected, printed_errors) in programs.items():
            warnings = WARNINGS if "int main(" in text.split("\n", 1)[1] and HEADERS not in text else OF_FRAGMENTS
            program = root / f"program_{line}"
            if errors := compile_source(text, program, compiler, "-O1", *warnings, "-o", program, *library):
                fail(f"{page}:{line}", f"the program does not compile:\n{errors}")
            else:
                run_program(f"{page}:{line}", program, expected, printed_errors)
    for line, (text, expected) in races.items():
        check_races(f"{page}:{line}", text, expected, compiler)
    print(f"{page}: {fragments.body.count('static auto fragment_')} fragments, {len(programs)} programs")


# --- commands and names ---


def commands(name):
    """The lines of a page that a reader types: (where, line)."""
    page = (ROOT / name).read_text()
    for found in re.finditer(make_site.BLOCK, page):
        if not found["fence"] or found[0].lstrip().startswith(found["fence"] + "sh"):
            start = page.count("\n", 0, found.start()) + 1
            for number, line in enumerate(found[0].splitlines(), start):
                yield f"{name}:{number}", line.strip()
    prose = re.sub(make_site.BLOCK, lambda found: "\n" * found[0].count("\n"), page)
    for found in re.finditer(make_site.SPAN, prose):
        yield f"{name}:{prose.count(chr(10), 0, found.start()) + 1}", " ".join(found[0].strip("`").split())


def check_words(dev, pages):
    """Commands, options, environment variables and names in the pages are there."""
    def help_on(*command):
        return subprocess.run([dev, "help", *command], text=True, stdout=subprocess.PIPE, check=True).stdout

    known = re.findall(r"(?m)^\./dev (\w+)", help_on())
    told = "".join(map(help_on, known))
    parts = set(re.findall(r"(?m)^(\w+) +\d+ {3}", told))
    asked = "".join(file.read_text() for file in (ROOT / "bench").rglob("*.py")) + (ROOT / "dev").read_text()
    options = {"bench": asked, "report": asked}
    for name in "profile", "races":
        options[name] = "".join(file.read_text() for file in (ROOT / "runtime" / name / "tool").glob("*.py"))
    meson = set(re.findall(r"option\('(\w+)'", (ROOT / "meson_options.txt").read_text()))
    meson |= {"buildtype", "default_library", "debug", "optimization", "prefix", "unity", "werror"}
    folders = [ROOT / name for name in ("forkjoin", "runtime", "examples", "bench", "test")]
    sources = "".join(file.read_text() for folder in folders for file in folder.rglob("*.?pp"))
    sources += "".join((ROOT / name).read_text() for name in ("dev", "meson.build", "runtime/meson.build", "CMakeLists.txt"))
    public = "".join((ROOT / name).read_text() for name in make_site.all_names() if name.endswith(".hpp"))
    public = re.sub("//.*", "", public)
    for name in pages:
        for where, line in commands(name):
            for command, rest in re.findall(r"\./dev (\w+)((?: [^#|&;`]*)?)", line):
                rest = rest.split("  ")[0]
                if command not in known:
                    fail(where, f"./dev {command}: no such command")
                for option in re.findall(r"(?<!\S)--\w[\w-]*", rest):
                    if option not in options.get(command, told):
                        fail(where, f"./dev {command} {option}: no such option")
                for part in re.findall(r"--part (\w+)", rest) if command == "test" else ():
                    if part not in parts | {"PART"}:
                        fail(where, f"./dev test --part {part}: no such part")
            for option in re.findall(r"(?<!\S)-D(?:forkjoin:)?(\w+)=", line) if "cmake" not in line else ():
                if option not in meson and not re.match("(b|cpp)_|[A-Z]", option):
                    fail(where, f"-D{option}: no such option of Meson")
            for example in re.findall(r"build/examples/([\w/]+)", line):
                if not any((ROOT / f"examples/{file}.cpp").exists() for file in (example, f"cookbook/{example}", example.replace("_", "/", 1))):
                    fail(where, f"{example}: no such example")
        text = (ROOT / name).read_text()
        for word in sorted(set(re.findall(r"\bFORKJOIN_[A-Z_]*[A-Z]", text))):
            if not re.search(rf"\b{word}\b", sources):
                fail(name, f"{word}: in no source")
        for word in sorted(set(re.findall(r"\bfj::(\w+)", text)) - {"detail"}):
            if not re.search(rf"\b{word}\b", public):
                fail(name, f"fj::{word}: in no public header")


def check_recipes(pages):
    """Each program of the cookbook is short and in a page."""
    shown = {note for name in pages for note in re.findall(r"(?m)^<!-- from ([\w/.]+) -->", (ROOT / name).read_text())}
    for file in sorted((ROOT / "examples/cookbook").glob("*.cpp")):
        name = str(file.relative_to(ROOT))
        if name not in shown:
            fail(name, "no page shows lines of this recipe")
        if (count := len(file.read_text().splitlines())) > 40:
            fail(name, f"{count} lines: a recipe has at most 40")


# --- ways to build ---


def check_ways(build, pc_folder, prefix, program, pages, compiler):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        installed = root / "installed"
        env = dict(os.environ, CXX=shlex.join(compiler), DESTDIR=str(installed), PKG_CONFIG_SYSROOT_DIR=str(installed),
                   PKG_CONFIG_PATH=f"{installed}{pc_folder}")
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--skip-subprojects"], env=env, check=True)
        del env["DESTDIR"]

        def attempt(where, command, cwd):
            done = subprocess.run(command, text=True, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print("+", *command, f"  # {where}", flush=True)
            if done.returncode != 0:
                fail(where, f"{shlex.join(map(str, command))}:\n{done.stdout}")

        def project(text):
            """An empty project with the sources that a block names."""
            where = pathlib.Path(tempfile.mkdtemp(dir=root))
            for name in {"program.cpp", *re.findall(r"[\w/]+\.cpp\b", text)}:
                (where / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(program, where / name)
            return where

        def cmake(where, text):
            if not shutil.which("cmake"):
                return print("CMake is not installed: not checked")
            user = project(text)
            (user / "forkjoin").symlink_to(ROOT)
            if "project(" not in text:
                target = re.search(r"target_link_libraries\((\w+)", text)
                text = (f"add_executable({target[1]} program.cpp)\n" if target and "add_executable(" not in text else "") + text
                text = f"cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES CXX)\n{text}"
            (user / "CMakeLists.txt").write_text(text)
            attempt(where, ["cmake", "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={installed}{prefix}",
                            f"-DFETCHCONTENT_SOURCE_DIR_FORKJOIN={ROOT}"], user)

        def meson(where, text):
            user = project(text)
            (user / "subprojects").mkdir()
            (user / "subprojects/forkjoin").symlink_to(ROOT)
            if "project(" not in text:
                text = f"project('user', 'cpp', default_options: ['cpp_std=c++20'])\n{text}"
            (user / "meson.build").write_text(text)
            attempt(where, ["meson", "setup", "build", "--wrap-mode=nodownload"], user)

        for name in pages:
            for each, _ in blocks(name):
                if each.kind in ("cmake", "meson"):
                    {"cmake": cmake, "meson": meson}[each.kind](f"{name}:{each.line}", each.text)
            for where, line in commands(name):
                if re.match(r"(g|clang)\+\+ .*pkg-config", line) and "-fsanitize" not in line:
                    rest, user = line.split(" ", 1)[1].split(" #")[0], project(line)
                    for part in re.findall(r"[\w/]+\.o\b", rest.split(" -o ")[0]):
                        compile_it = f"{shlex.join(compiler)} -std=c++20 -c program.cpp -o {part} $(pkg-config --cflags forkjoin)"
                        attempt(where, ["sh", "-c", compile_it], user)
                    attempt(where, ["sh", "-c", f"{shlex.join(compiler)} {rest}"], user)


mode, *rest = sys.argv[1:]
if mode == "code":
    page, *header = rest[:rest.index("--")]
    rest = rest[len(header) + 2:]
    cut = rest.index("--")
    check_code(page, ["-include", header[0].removesuffix(".gch")] if header else [], rest[:cut], rest[cut + 1:])
elif mode == "words":
    check_words(rest[0], rest[1:])
    check_recipes(rest[1:])
else:
    cut = rest.index("--")
    check_ways(*rest[:4], rest[4:cut], rest[cut + 1:])
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
