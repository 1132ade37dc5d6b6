"""The rules of the house, one at a time: check.py RULE, which the function check_RULE describes.

Prints every breach as file:line: what, and exits with 1 if there is one; exits with 77 when it cannot check.
"""

import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "forkjoin/guide/site"))
sys.dont_write_bytecode = True
import make_site  # noqa: E402: it reads Markdown

# The one order of folders: a file includes files of its own folder and of folders before it, never of one after it. Lowest is what
# programs and the library agree on. That of runtime/ is the table of folders in runtime/README.md, at whose end are the files directly in
# runtime/. A header that is listed has a place of its own: the loops use forks, which are public, so the headers of the fork come before
# the loops, and the other public ones after.
ORDER = [
    "forkjoin/abi/os",
    "forkjoin/abi",
    "runtime/precompiled",
    *("runtime" if folder == "runtime" else f"runtime/{folder}"
      for folder in re.findall(r"(?m)^\| `([\w/]+)/`(?: itself)? \|", (ROOT / "runtime/README.md").read_text())),
    "forkjoin/stop.hpp",
    "forkjoin/loop_options.hpp",
    "forkjoin/detail/refusal.hpp",
    "forkjoin/policies.hpp",
    "forkjoin/detail",
    "forkjoin/races",
    "forkjoin/profile",
    "forkjoin/serial/observer.hpp",
    "forkjoin/serial",
    "forkjoin/run.hpp",
    "forkjoin/go",
    "forkjoin/fork_join.hpp",
    "forkjoin/loops",
    "forkjoin",
    "runtime/c",  # which calls what users call
    "runtime/mpi",  # a library of its own over it
]
# What -Dsteal_rule=FILE and -Djoin_rule=FILE put into the build folder.
RULES_OF_BUILD = ("forkjoin_steal_rule.hpp", "forkjoin_join_rule.hpp")

FOLDERS = {"forkjoin", "runtime", "examples", "bench", "test", "subprojects"}
# Two versions of the library in one program share no name, because all names are in a namespace with the version.
VERSION = "v" + "_".join(re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1].split(".")[:2])
# What Meson and CMake compile.
SOURCES = "runtime/sources.txt"
# What code uses, and the headers that give it by the standard's word. Which headers include others changes between versions of
# a standard library: runtime/os/thread.cpp had a braced list without <initializer_list> and built with g++ 12 alone. (Tried:
# without it there, this check fails with any compiler.)
GIVEN_BY = {
    r"\bfor \([^;(){}]*:\s*\{|\bstd::initializer_list\b": "initializer_list algorithm array deque list map queue random ranges"
    " regex set stack string unordered_map unordered_set utility valarray vector",
    r"\bstd::size_t\b": "cstddef cstdio cstdlib cstring ctime cwchar",
    r"\bstd::(ptrdiff_t|byte|max_align_t|nullptr_t)\b": "cstddef",
    r"\bstd::(u?int(_fast|_least)?\d+|u?intptr|u?intmax)_t\b": "cstdint cinttypes",
    r"\bstd::(mem|str)(c(mp|py|hr)|set|move|len|error)\b": "cstring",
    r"\bstd::(abort|atexit|atoi|exit|_Exit|quick_exit|free|getenv|malloc|strtou?ll?)\b": "cstdlib",
    r"\bstd::(fflush|fprintf|fputs|printf|puts|snprintf|FILE)\b": "cstdio",
    r"\bstd::(copy|fill|is_sorted|max|min|sort|stable_sort)\)?\(": "algorithm",
    r"\bstd::(atomic(_\w+)?|memory_order\w*)\b": "atomic",
    r"\bstd::(current_exception|exception_ptr|rethrow_exception|terminate|uncaught_exceptions)\b": "exception",
    r"\bstd::function\b": "functional",
    r"\bstd::numeric_limits\b": "limits",
    r"\bstd::(addressof|make_shared|make_unique|shared_ptr|unique_ptr)\b": "memory",
    r"\bstd::(call_once|lock_guard|mutex|once_flag|scoped_lock|unique_lock)\b": "mutex",
    r"\bstd::(nullopt|optional)\b": "optional",
    r"\bstd::(invalid_argument|length_error|logic_error|out_of_range|runtime_error)\b": "stdexcept",
    r"\bstd::(string|to_string)\b": "string",
    r"\bstd::string_view\b": "string_view string",
    r"\bstd::thread\b": "thread",
    r"\bstd::tuple\b": "tuple",
    r"\bstd::(as_const|exchange|forward|move|pair|swap)\b": "utility",
    r"\bstd::vector\b": "vector",
}
OTHERS = {"benchmark", "boost", "doctest", "oneapi", "relacy", "sys", "tbb"}  # folders of other projects' headers
CODE = {".hpp", ".cpp", ".S"}
TEXT = CODE | {".cppm", ".py", ".sh", ".md", ".html", ".css", ".build", ".patch", ".txt", ".wrap", ".cmake", ".json", ".yml", ""}


def files(*folders, suffixes=CODE):
    """The project's own files, as paths below the root: no build folders, no downloaded subprojects."""
    for folder in folders:
        for where, inner, names in os.walk(ROOT / folder):
            where = pathlib.Path(where).relative_to(ROOT)
            if where == pathlib.Path("."):
                inner[:] = [name for name in inner if name in FOLDERS | {".ci", ".github"}]
            elif where == pathlib.Path("subprojects"):
                inner[:] = [name for name in inner if name == "packagefiles"]
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            yield from (where / name for name in sorted(names) if pathlib.Path(name).suffix in suffixes and name != ".git")


def lines(name):
    return enumerate((ROOT / name).read_text().splitlines(), 1)


def rank_of(name):
    """The index in ORDER of a file, by its own name or else by its folder's; None if neither is there."""
    return next((ORDER.index(place) for place in (str(name), str(name.parent)) if place in ORDER), None)


def may_include(name, target):
    """Why the file may not include this file of the project, or None."""
    if not (ROOT / target).is_file():
        return "no such file; includes are written from the root"
    if str(name.parent) == "runtime/wait" and name.suffix == ".cpp" and str(target.parent) == "forkjoin/go":
        return None  # it implements that header's class
    if name.parts[0] == "forkjoin" and target.parts[0] == "runtime":
        return "forkjoin/ includes nothing of runtime/, which is not installed"
    if rank_of(target) is None or rank_of(target) > rank_of(name):
        return "includes run downwards only, see ORDER"
    return None


def check_layers():
    # Tried with wait/ above sched/ in the table of README, without the row of os/io/, with an include of runtime/sched/worker.hpp in
    # forkjoin/scope.hpp, and with one of forkjoin/stop.hpp in forkjoin/abi/run.hpp.
    for name in files("runtime", "forkjoin"):
        # For programs that have Boost.Asio, senders or an MPI; no other header includes these.
        in_os = str(name).startswith(("runtime/os/", "forkjoin/abi/os/")) or str(name) in (
            "forkjoin/asio.hpp", "forkjoin/execution.hpp", "forkjoin/mpi.hpp", "forkjoin/parallel_scheduler.hpp")
        if rank_of(name) is None:
            yield name, 1, "its folder has no place in ORDER"
            continue
        for number, line in lines(name):
            if include := re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line):
                quote, target = include.groups()
                if quote == '"' or target.split("/")[0] in FOLDERS:
                    if reason := may_include(name, pathlib.Path(target)):
                        yield name, number, f"{target}: {reason}"
                elif re.search(r"[./]", target) and not in_os and target not in RULES_OF_BUILD:
                    yield name, number, f"<{target}>: headers that are not the language's stand in runtime/os/ and forkjoin/abi/os/ alone"
                elif target == "execution" and str(name) != "forkjoin/execution.hpp":
                    yield name, number, "<execution> pulls in oneTBB"
            elif re.match(r"\s*#\s*(el)?if", line) and not in_os:
                language = r"__cplusplus|__cpp_\w+|__has_cpp_attribute"
                for macro in re.findall(r"\b(?:__\w+|_[A-Z]\w*)", line):
                    if not re.fullmatch(language, macro):
                        yield name, number, f"{macro}: #if on platforms stands in runtime/os/ and forkjoin/abi/os/ alone"
            elif re.search(r'\b(__)?asm(__)?\s+\w+\s*\(\s*"[^"]', line) and not in_os:
                yield name, number, "instructions stand in runtime/os/ and forkjoin/abi/os/ alone"


def reached(name, found=None):
    """The project's headers that a header includes, itself or through others, whatever macros are defined."""
    found = set() if found is None else found
    for _, line in lines(name):
        if include := re.match(r'\s*#\s*include\s*"([^"]+)"', line):
            inner = pathlib.Path(include[1])
            if (ROOT / inner).is_file() and inner not in found:
                found.add(inner)
                reached(inner, found)
    return found


def check_reach():
    """What a program includes for forks, scopes and loops leads neither to the library's own headers nor to those for waits. Prints how many of
    the project's headers each public header includes. (Tried with an include of go/mutex.hpp in forkjoin/loops/chunks.hpp, and with one of
    runtime/trace/tracer.hpp in forkjoin/abi/run.hpp.)"""
    for name in [*sorted((ROOT / "forkjoin").glob("*.hpp")), *sorted((ROOT / "forkjoin/go").glob("*.hpp"))]:
        name = name.relative_to(ROOT)
        found = reached(name)
        print(f"{name}: {len(found)} headers")
        for inner in sorted(found):
            if inner.parts[0] == "runtime":
                yield name, 1, f"leads to {inner}"
        # Groups of tasks and what go.hpp has are waits.
        waits = pathlib.Path("forkjoin/abi/waiter.hpp")
        if waits in found and name.parent.name != "go" and name.name not in ("go.hpp", "task_group.hpp", "asio.hpp", "execution.hpp", "mpi.hpp", "parallel_scheduler.hpp", "forkjoin.hpp"):
            yield name, 1, f"leads to {waits}"


def check_rules():
    """runtime/README.md's table of rules names each file of these folders that the models or the simulator compile, and no other. (Tried
    without a name in it, and with worker.hpp in it: this check fails.)"""
    compiled = set()

    def compile_for_machine(name):
        if name not in compiled:
            compiled.add(name)
            text = re.sub(r"(?ms)^#ifndef FORKJOIN_MACHINE\b.*?^#endif\b", "", (ROOT / name).read_text())
            for inner in re.findall(r'(?m)^#include "([^"]+)"', text):
                if (ROOT / inner).is_file():
                    compile_for_machine(pathlib.Path(inner))

    for name in [*(ROOT / "test/model").glob("*.cpp"), ROOT / "bench/simulate/simulator.cpp", ROOT / "bench/simulate/strand.cpp"]:
        compile_for_machine(name.relative_to(ROOT))
    page = "runtime/README.md"
    rows = re.search(r"(?m)^\| \| rules \|\n\|[-|]+\|\n((?:\|.*\n)+)", (ROOT / page).read_text())
    listed = set()
    for folder, names in re.findall(r"\| in `([\w/]+)/` \| (.*) \|", rows[1]):
        listed |= {pathlib.Path("runtime", folder, name) for name in re.findall(r"`([\w.]+)`", names)}
        # The seam itself: what a machine has of its own, and what must be there.
        listed |= {name for name in compiled if name.parent == pathlib.Path("runtime", folder) and name.stem in ("hooks", "contract", "scheduler")}
    folders = {name.parent for name in listed}
    for name in sorted(listed ^ {name for name in compiled if name.parent in folders}):
        yield page, 1, f"{name}: " + ("a rule, which the table does not name" if name in compiled else "no model compiles it")


def check_folders():
    for path in ROOT.iterdir():
        if path.is_dir() and path.name not in FOLDERS and not path.name.startswith((".", "build")):
            yield path.name, 1, "not a folder of this house"


def check_text():
    for name in files(".", suffixes={".py"}):
        try:  # A later Python prints the warning to whoever runs the file.
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compile((ROOT / name).read_text(), name, "exec")
        except SyntaxError as wrong:
            yield name, wrong.lineno, wrong.msg
    for name in files(".", suffixes=TEXT):
        before = ""
        for number, line in lines(name):
            if found := re.search(r"(?<![\w.])/(work|root|home)/", line):
                yield name, number, f"{found.group()}: a path of one machine"
            if found := re.search(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", line):
                yield name, number, f"{found.group()}: do it or write an issue"
            if name.parts[0] in ("forkjoin", "runtime") and re.match(rf"\s*(?:export )?namespace fj\b(?! {{ inline namespace {VERSION} {{)", line):
                yield name, number, f"not in the namespace of this version, namespace fj {{ inline namespace {VERSION} {{"
            if name.parts[0] in ("forkjoin", "runtime") and name.suffix in CODE and "getenv" in line and name.stem != "variable":
                yield name, number, "read the environment by runtime/os/variable.hpp, which a setuid program's user cannot deceive"
            if before.endswith(" =") and re.match(r"\s+[^\s/][^/]*;\s+//", line):
                yield name, number, "a comment after the value tears it from the name: say it in a line above"
            if len(line) > 120 and name.suffix in CODE and re.match(r"\s*(//|/\*|   \w)|.*[^\"] +//", line) and "// expect:" not in line:
                yield name, number, "a comment ends at column 120"
            before = line
            for version in re.findall(r"forkjoin_(v\d+_\d+)_", line):
                if version != VERSION:
                    yield name, number, f"the version is {VERSION}"


def check_sources():
    """runtime/sources.txt has a row for each source of the library, and no other. A meson.build names every other source, whole or
    without its suffix; and every header of test/, unless a test includes it. A test runs each scenario of a model. (Tried without a row, with one of no file,
    and without a scenario.)"""
    rows = [line.split() for line in (ROOT / SOURCES).read_text().splitlines() if line and line[0] != "#"]
    listed = {f"runtime/{row[0]}" for row in rows}
    if len(rows) != len(listed) or not all(row[1:] for row in rows):
        yield SOURCES, 1, "a row is a source, once, and the libraries that it is part of"
    compiled = {str(name) for name in files("runtime", "forkjoin", suffixes=CODE - {".hpp"})}
    for name in sorted(compiled ^ listed):
        yield SOURCES, 1, f"{name}: " + ("not listed" if name in compiled else "no such file")
    named = set()
    for build in files(*FOLDERS, suffixes={".build"}):
        words = re.findall(r"'([^'\n]*)'", re.sub(r"(?m)(^|\s)#.*", "", (ROOT / build).read_text()))
        for folder in [build.parent, *(p.relative_to(ROOT) for p in (ROOT / build.parent).iterdir() if p.is_dir())]:
            named |= {os.path.normpath(folder / word) for word in words}
    run = (ROOT / "test/model/meson.build").read_text()
    for name in files("test/model", suffixes={".cpp"}):
        for number, line in lines(name):
            if (found := re.match(r'    \{"(\w+)", [\d\']+,', line)) and f"'{found[1]}'" not in run:
                yield name, number, f"no test runs the scenario {found[1]}: list it in test/model/meson.build"
    tests = "\n".join((ROOT / name).read_text() for name in files("test"))
    for name in files("runtime", "forkjoin", "examples", "test", suffixes=CODE | {".patch", ".py"}):
        if name.parts[0] in ("runtime", "forkjoin") and name.suffix in CODE:  # headers are installed as they are
            continue
        is_part = name.parts[0] == "test" and name.suffix == ".hpp"
        if is_part and re.search(rf'#include "[\w/]*{re.escape(name.name)}"', tests):
            continue
        if not named & {str(name), str(name.with_suffix("")), str(name.with_suffix("")).removesuffix("_test")}:
            yield name, 1, "no meson.build names it" + (", and no test includes it" if is_part else "")


def check_cmake():
    """CMakeLists.txt agrees with the files of Meson: version, and flags of the library. So do the versions of vcpkg's
    port and of CITATION.cff. (Tried with another one in each: this check fails.)"""
    cmake = (ROOT / "CMakeLists.txt").read_text()
    meson = (ROOT / "meson.build").read_text()
    runtime = (ROOT / "runtime/meson.build").read_text()
    version = re.search(r"version: '([\d.]+)'", meson)[1]
    if f"VERSION {version} " not in cmake:
        yield "CMakeLists.txt", 1, f"not version {version}"
    port = "subprojects/packagefiles/vcpkg/forkjoin/vcpkg.json"
    if f'"version": "{version}"' not in (ROOT / port).read_text():
        yield port, 1, f"not version {version}"
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        yield "CITATION.cff", 1, f"not version {version}"
    for macro in sorted(set(re.findall(r"'-D(FORKJOIN_\w+)", meson + runtime))):
        if not re.search(rf"target_compile_definitions\([^\n]*\b{macro}\b", cmake):
            yield "CMakeLists.txt", 1, f"{macro}: Meson defines it, CMake never"


@functools.cache
def dev():
    """./dev as a module."""
    loader = importlib.machinery.SourceFileLoader("dev", str(ROOT / "dev"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dev", loader))
    loader.exec_module(module)
    return module


def check_workflows():
    """What the workflows run of this project is there, and they are YAML that has jobs with steps. (Tried with ./dev tests, with a
    part that there is not, without .ci/run, and with a step indented as its neighbour's child: this check fails.)"""
    workflows = list(files(".github", suffixes={".yml"}))
    breaches = []
    for name in workflows:
        for number, line in lines(name):
            for script in re.findall(r"(?:\./|\.ci/)\w+", line):
                if not os.access(ROOT / script, os.X_OK):
                    breaches.append((name, number, f"{script}: no such program"))
            for command in re.findall(r"\./dev (\w+)", line):
                if command not in dev().COMMANDS:
                    breaches.append((name, number, f"./dev has no command {command}"))
            named = re.findall(r"--part (\w+)", line)
            if matrix := re.match(r" *part: \[(.*)\]", line):
                named += matrix[1].split(", ")
            for part in named:
                if part not in dev().PARTS:
                    breaches.append((name, number, f"./dev test has no part {part}"))
    if not workflows:
        breaches.append((".github/workflows", 1, "no workflow"))
    yield from breaches
    try:
        import yaml
    except ImportError:
        if not breaches:
            print("python3-yaml is not installed: not checked in full")
            sys.exit(77)
        return
    for name in workflows:
        try:
            jobs = yaml.safe_load((ROOT / name).read_text())["jobs"]
            broken = [job for job, told in jobs.items()
                      if not told["runs-on"] or not all(("run" in step) != ("uses" in step) for step in told["steps"])]
        except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
            broken = [str(error)]
        for what in broken:
            yield name, 1, f"not a workflow: {what}"


@functools.cache
def system_headers(name):
    """The headers of the language that a file includes, itself or through the project's headers."""
    found = set()
    for quote, target in re.findall(r'(?m)^\s*#\s*include\s*([<"])([^>"\n]+)', (ROOT / name).read_text()):
        beside = pathlib.Path(os.path.normpath(name.parent / target))
        inner = beside if quote == '"' and (ROOT / beside).is_file() else pathlib.Path(target)
        found |= system_headers(inner) if (ROOT / inner).is_file() and inner != name else {target}
    return found


def check_includes():
    for name in files("runtime", "forkjoin", "examples", "bench", "test", suffixes={".hpp", ".cpp"}):
        code = re.sub(r'"(\\.|[^"\\\n])*"|//.*', "", (ROOT / name).read_text())
        for use, headers in GIVEN_BY.items():
            found = re.search(use, code)
            if found and not system_headers(name) & set(headers.split()):
                yield name, code.count("\n", 0, found.start()) + 1, f"includes no <{headers.split()[0]}> for {' '.join(found[0].split())}"


def check_names():
    """`folder/file.hpp` in a page, but for CHANGELOG.md's history: there is such a file. `file: function` in the pages about
    the runtime: there is one such file, and it holds that function. (Tried: with `fork/deque.hpp: steal` in README.md this
    check fails, with `forkjoin/forks.hpp` or <forkjoin/forks.hpp> there, and with `contracts.cpp`.)"""
    every = [f"/{name}" for name in files("runtime", "forkjoin", "examples", "bench", "test")]
    for page in files(".", suffixes={".md"}):
        for number, line in lines(page) if page.name != "CHANGELOG.md" else ():
            of_runtime = page.parts[0] == "runtime"  # there also names of files without a folder
            for target in re.findall(rf"[`<](\w+(?:/\w+){'*' if of_runtime else '+'}\.(?:hpp|cpp))[`>:]", line):
                if target.split("/")[0] not in OTHERS and not any(name.endswith(f"/{target}") for name in every):
                    yield page, number, f"{target}: no such file"
    sources = [str(name) for name in files("runtime", "forkjoin")]
    for page in files("runtime", suffixes={".md"}):
        text = (ROOT / page).read_text()
        for found in re.finditer(r"`([\w/]+\.(?:hpp|cpp)):\s+(\w+(?:::\w+)*)`", text):
            target, function = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            holders = [name for name in sources if f"/{name}".endswith(f"/{target}")]
            if len(holders) != 1:
                yield page, line, f"{target}: {len(holders)} files have that name"
            elif not all(re.search(rf"\b{part}\b", (ROOT / holders[0]).read_text()) for part in function.split("::")):
                yield page, line, f"{target} has no {function}"


def check_links():
    """Each relative link of a page leads to a file, and its anchor to a heading there, as GitHub names it. Each page and
    each header for users is in the site's contents. (Tried with a link to parking.md, one to PARKING.md#proof, and a page
    guide/more.md.)"""
    for page in files(".", suffixes={".md"}):
        text = (ROOT / page).read_text()
        for _, target in make_site.links(text):
            path, _, anchor = target.partition("#")
            other = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
            if re.match(r"\w+:", target):
                continue
            if not (ROOT / other).exists():
                why = "no such file"
            elif anchor and anchor not in make_site.anchors((ROOT / other).read_text()):
                why = f"{other} has no such heading"
            else:
                continue
            yield page, text.count("\n", 0, re.search(rf"(?<!\w){re.escape(target)}", text).start()) + 1, f"{target}: {why}"
    for name in files("forkjoin", suffixes={".md", ".hpp"}):
        is_for_users = str(name.parent) in ("forkjoin", "forkjoin/go", "forkjoin/guide") and name.stem not in ("forkjoin", "go")
        if is_for_users and str(name) not in make_site.all_names():
            yield name, 1, "not in forkjoin/guide/site/contents"


def check_life():
    """The life of a stolen fork can be followed in the sources: each of its steps in runtime/README.md names `file: function`.
    (Tried with a step that names no file: this check fails.)"""
    page = "runtime/README.md"
    life = re.search(r"(?ms)^## The life of a fork\n(.*?)^###? ", (ROOT / page).read_text())
    steps = re.findall(r"(?m)^\d+\. .*(?:\n {3,}.*)*", life[1]) if life else []
    if len(steps) < 12:
        yield page, 1, f"the life of a fork has {len(steps)} steps"
    for step in steps:
        found = re.findall(r"`([\w/]+\.(?:hpp|cpp|S))(: +\w+|:\n +\w+)?", step)
        if not any(function for _, function in found):
            yield page, 1, f"names no file: function: {step.splitlines()[0]}"


def check_figures():
    """bench/FIGURES.md names each page that has a figure of time or a ratio outside of its code, and each command in its tables exists and has
    its minutes and its range. (Tried without the link to races.md, with `./dev bench fob`, `bench/race.py` and `./dev test profile_time`, and
    with an empty cell: this check fails.)"""
    page = pathlib.Path("bench/FIGURES.md")
    named = {os.path.normpath(page.parent / target.partition("#")[0]) for _, target in make_site.links((ROOT / page).read_text())}
    for name in files(".", suffixes={".md"}):
        text = re.sub(r"(?ms)^```.*?^```|^    .*?$|`[^`\n]*`|<!-- code.*?-->|\b(Boost|CMake|Meson|Python)\S* [\d.]+", "", (ROOT / name).read_text())
        found = re.search(r"\d ?(ns|us|ms|%)(?!\w)|(?<![\d.])\d+\.\d\d(?![\d.])", text)
        if found and str(name) not in named | {str(page), "CHANGELOG.md"}:
            yield page, 1, f"does not name {name}, which has the figure {found[0]}"
    builds = {where: "".join((ROOT / name).read_text() for name in files(where, suffixes={".build"})) for where in ("bench", "test", "examples")}
    kernels = {path.name for path in (ROOT / "bench/kernels").iterdir()} | {*dev().TALKS, *dev().NAMED_PROGRAMS}
    for number, line in lines(page):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        command = re.match(r"\| `([^`]+)` \|", line)
        if not command:
            continue
        if len(cells) != 4 or not all(cells):
            yield page, number, "a row has a command, its figures, its minutes and its range"
        words = command[1].split()
        if words[0] == "./dev" and words[1] not in dev().COMMANDS:
            yield page, number, f"./dev has no command {words[1]}"
        if words[:2] == ["./dev", "bench"]:
            for word in words[2:]:
                if word not in kernels | {"both", "FOLDER"} and not (word.startswith("--") and word in dev().cmd_bench.__doc__):
                    yield page, number, f"./dev bench knows no {word}"
        if words[:2] == ["./dev", "test"] and f"'{words[2]}'" not in builds["test"]:
            yield page, number, f"no test {words[2]}"
        for word in words:
            built = re.fullmatch(r"build/(bench|test|examples)/(?:mpi/)?(\w+)", word)
            if built and f"'{built[2]}'" not in builds[built[1]]:
                yield page, number, f"no meson.build makes {word}"
            if re.fullmatch(r"(bench|examples|test|forkjoin)/[\w/.]+", word) and not (ROOT / word).is_file():
                yield page, number, f"{word}: no such file"


def check_optional():
    """Code that asks for a header of another project, by __has_include, is compiled again when the header has come or gone:
    meson.build's headers_found and ./dev name it. (Tried with sys/sdt.h left out of either: this check fails.)"""
    found = re.search(r"(?s)headers_found = .*?headers_found\)", (ROOT / "meson.build").read_text())[0]
    named = {"meson.build": re.findall(r"'([^']+)'", found), "dev": dev().SEEN_HEADERS}
    for name in files("runtime", "forkjoin", "examples", "bench", "test"):
        if str(name) == "test/process/install_test.cpp":  # asks for headers that must not be there
            continue
        for number, line in lines(name):
            for header in re.findall(r"__has_include\(<([^>]+)>\)", line):
                for place, headers in named.items():
                    if header not in headers:
                        yield name, number, f"<{header}>: {place} does not name it where it asks which optional headers there are"


def check_format():
    formatter = shutil.which("clang-format-19")
    if not formatter:
        print("clang-format-19 is not installed: not checked")
        sys.exit(77)
    names = map(str, files("runtime", "forkjoin", "examples", "bench", "test", suffixes={".hpp", ".cpp", ".cppm"}))
    done = subprocess.run([formatter, "--dry-run", *names], cwd=ROOT, check=True, capture_output=True, text=True)
    for where, line in re.findall(r"^(\S+):(\d+):\d+: warning: ", done.stderr, re.MULTILINE):
        yield where, line, "run ./dev format"


breaches = list(globals()["check_" + sys.argv[1]]())
for where, number, what in breaches:
    print(f"{where}:{number}: {what}")
sys.exit(1 if breaches else 0)
