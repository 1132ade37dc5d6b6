"""A program imports the module forkjoin, which is compiled by hand, as packaging.md shows it. With CMake 3.28 or later also by the target
forkjoin::forkjoin-module: installed, and of a project that has the library as a part.

module_test.py <source folder> <library> <program> -- <flags to link> -- <compiler and flags>

Exits with 77 with a compiler that is too old. Tried: with `export namespace fj {` alone in forkjoin.cppm g++ 14 finds no class; with a lambda
as read_kept in number_reduction.hpp clang refuses the source that includes headers after the import; without FILE_SET in install(TARGETS) of
CMakeLists.txt CMake refuses to export the target; without CXX_STANDARD or CXX_EXTENSIONS in forkjoinConfig.cmake the program of find_package
does not compile.
"""

import itertools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

OLDEST = {"clang": 18, "g++": 14}

# clang takes the headers beside the module, and those that are no part of it.
MIXED = """int main() {
  fj::channel<int> c(1);
  fj::runtime rt;
  rt.run([&] {
    fj::fork_join([&] { c.send(1); }, [] {});
    fj::wait(rt.scheduler().schedule());
  });
}
"""
HEADERS = "#include <forkjoin/forkjoin.hpp>\n#include <forkjoin/execution.hpp>\n"
IMPORT = "import forkjoin;\n"

PROJECT = """cmake_minimum_required(VERSION 3.28)
project(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_EXTENSIONS OFF)
set(FORKJOIN_MODULE ON)
{way}
add_executable(program program.cpp)
target_link_libraries(program PRIVATE forkjoin::forkjoin-module)
"""


# A compiler's cache would give the object, and not what importers read.
os.environ["CCACHE_DISABLE"] = "1"


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


def by_hand(root):
    """The module and the program get the same flags."""
    shutil.copy(program, root / "program.cpp")
    names = ["program"]
    module = f"{source}/forkjoin/forkjoin.cppm"
    if is_clang:
        imports, compiled = ["-fmodule-file=forkjoin=forkjoin.pcm"], "forkjoin.pcm"
        run(*compiler, "--precompile", module, "-o", compiled, cwd=root)
        for name, text in {"before": HEADERS + IMPORT, "after": IMPORT + HEADERS}.items():
            (root / f"{name}.cpp").write_text(text + MIXED)
            names.append(name)
    else:
        imports, compiled = ["-fmodules-ts"], "forkjoin.o"
        run(*compiler, *imports, "-x", "c++", "-c", module, "-o", compiled, cwd=root)
    for name in names:
        run(*compiler, *imports, f"{name}.cpp", compiled, "-o", name, library, *link, cwd=root)
        run(f"./{name}", cwd=root, timeout=120)


def why_not_cmake():
    """What is missing for modules by CMake, or None."""
    if not shutil.which("cmake"):
        return "CMake is not installed"
    version = re.search(r"(\d+)\.(\d+)", run("cmake", "--version", stdout=subprocess.PIPE))
    if (int(version[1]), int(version[2])) < (3, 28):
        return f"CMake is {version[0]}, which knows no modules"
    if is_clang and not shutil.which(f"clang-scan-deps-{release}") and not shutil.which("clang-scan-deps"):
        return "no clang-scan-deps, which CMake asks what a source imports"
    return None


def by_cmake(root):
    by = itertools.takewhile(lambda word: not word.startswith("-"), compiler)
    env = dict(os.environ, CXX=shlex.join(by))

    def build(name, project, *options):
        # The library's sources as one: that takes a fraction of the time.
        run("cmake", "-G", "Ninja", "-S", project, "-B", root / name, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0", *options, env=env, stdout=subprocess.PIPE)
        run("cmake", "--build", root / name, stdout=subprocess.PIPE)

    build("library", source, "-DFORKJOIN_MODULE=ON", "-DFORKJOIN_TOOLS=OFF", f"-DCMAKE_INSTALL_PREFIX={root}/installed")
    run("cmake", "--install", root / "library", stdout=subprocess.PIPE)
    for name, way in {"find": "find_package(forkjoin REQUIRED)", "part": f"add_subdirectory({source} forkjoin)"}.items():
        user = root / f"user_{name}"
        user.mkdir()
        (user / "CMakeLists.txt").write_text(PROJECT.format(way=way))
        shutil.copy(program, user / "program.cpp")
        build(name, user, f"-DCMAKE_PREFIX_PATH={root}/installed")
        run(root / name / "program", timeout=120)


words = sys.argv[1:]
first = words.index("--")
second = words.index("--", first + 1)
source, library, program = map(os.path.abspath, words[:first])
link, compiler = words[first + 1 : second], words[second + 1 :]
is_clang = "clang" in run(*compiler, "--version", stdout=subprocess.PIPE)
release = int(run(*compiler, "-dumpversion", stdout=subprocess.PIPE).split(".")[0])
if release < (least := OLDEST["clang" if is_clang else "g++"]):
    print(f"version {release}: the module needs {least}")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    by_hand(pathlib.Path(folder))
if missing := why_not_cmake():
    print(f"by hand alone: {missing}")
else:
    with tempfile.TemporaryDirectory() as folder:
        by_cmake(pathlib.Path(folder))
