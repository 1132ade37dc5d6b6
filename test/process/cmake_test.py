"""A CMake project can use the library: what Meson installed, static and shared, by find_package; and the source folder by
add_subdirectory and FetchContent, static and shared. The project's own folders have the same names as the library's. All but
add_subdirectory compile the library's sources as one, which takes a fraction of the time.

cmake_test.py <source folder> <program> <squares.py> <version of the binary interface> -- <compiler>

What is installed from a build that has the library by add_subdirectory or FetchContent serves another project: the program, a
library that links forkjoin::forkjoin, and forkjoin, whose headers are those that Meson installs. The other project is built for debugging,
which the installed library was not.

Tried: without the compile definitions in forkjoinConfig.cmake the program of find_package does not compile; without
boost_context there the static one does not link. Without SYSTEM in CMakeLists.txt the library's headers break a program that makes
errors of all warnings; without install(EXPORT) there CMake refuses to export the library that links it. With FORKJOIN_DEBUG for programs
that are built for debugging, whatever the installed library is, the next project does not link.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
{way}
add_executable(program program.cpp)
target_include_directories(program PRIVATE .)
target_compile_definitions(program PRIVATE {definitions})
target_link_libraries(program PRIVATE forkjoin::forkjoin)
target_compile_options(program PRIVATE -Werror -Wpadded)
set_target_properties(program PROPERTIES INSTALL_RPATH $ORIGIN/../lib)
add_executable(watched EXCLUDE_FROM_ALL racy.cpp)
target_link_libraries(watched PRIVATE forkjoin::forkjoin-races)
add_library(user STATIC library.cpp)
target_link_libraries(user PUBLIC forkjoin::forkjoin)
install(TARGETS program user EXPORT user RUNTIME DESTINATION bin ARCHIVE DESTINATION lib)
install(EXPORT user DESTINATION lib/cmake/user NAMESPACE user:: FILE userTargets.cmake)
install(FILES userConfig.cmake DESTINATION lib/cmake/user)
"""

LIBRARY = """#include <forkjoin/forkjoin.hpp>
void from_library() { fj::fork_join([] {}, [] {}); }
"""

CONFIG = """include(CMakeFindDependencyMacro)
find_dependency(forkjoin)
include(${CMAKE_CURRENT_LIST_DIR}/userTargets.cmake)
"""

# Of another user, where nothing but the installed files is left.
NEXT_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(next LANGUAGES CXX)
find_package(user REQUIRED)
add_executable(next next.cpp)
target_link_libraries(next PRIVATE user::user)
"""

NEXT = """#include <forkjoin/go.hpp>
#include <forkjoin/with_scope.hpp>
void from_library();
int main() {
  from_library();
  fj::go([] {}).get();
  fj::with_scope([](fj::scope& s) { s.fork([] {}); });
}
"""

# To look for a version that is not there leaves no trace.
FIND = """find_package(forkjoin 9.9 QUIET)
if(forkjoin_FOUND)
  message(FATAL_ERROR "found forkjoin 9.9")
endif()
find_package(forkjoin {interface} REQUIRED)
find_package(forkjoin REQUIRED)"""

# Fails if the library's compile definitions do not reach the program.
AS_BUILT = """
#if defined(WANT_AS_BUILT) && (!defined(FORKJOIN_DEBUG) || !defined(FORKJOIN_BOOST_CONTEXT))
#error "the library's compile definitions did not come with it"
#endif
"""


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


TOGETHER = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"]

source, program, squares, interface, _, *compiler = sys.argv[1:]
if not shutil.which("cmake"):
    print("CMake is not installed: not checked")
    sys.exit(77)
env = dict(os.environ, CXX=shlex.join(compiler))

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    user = root / "user"
    for name in ("runtime/entry", "runtime/deque", "runtime/options", "runtime/os/context", "os/context", "base/check"):
        header = user / f"{name}.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("#error not the library's\n")
    (user / "program.cpp").write_text(pathlib.Path(program).read_text() + AS_BUILT)
    (user / "library.cpp").write_text(LIBRARY)
    shutil.copy(pathlib.Path(program).parent / "racy.cpp", user / "racy.cpp")
    (user / "userConfig.cmake").write_text(CONFIG)
    next_user = root / "next"
    next_user.mkdir()
    (next_user / "CMakeLists.txt").write_text(NEXT_PROJECT)
    (next_user / "next.cpp").write_text(NEXT)

    def build(name, way, shared, *options, definitions=""):
        """Builds the user's program and runs it."""
        (user / "CMakeLists.txt").write_text(PROJECT.format(way=way, definitions=definitions))
        run("cmake", "-G", "Ninja", "-S", user, "-B", root / name, f"-DBUILD_SHARED_LIBS={'ON' if shared else 'OFF'}",
            *options, env=env, stdout=subprocess.PIPE)
        run("cmake", "--build", root / name, stdout=subprocess.PIPE)
        if "no work to do" not in (again := run("cmake", "--build", root / name, stdout=subprocess.PIPE)):
            sys.exit(f"{name}: a second build builds again: {again}")
        run(root / name / "program", timeout=60)
        run("cmake", "--build", root / name, "--target", "watched", stdout=subprocess.PIPE)
        found = subprocess.run([root / name / "watched"], text=True, capture_output=True, timeout=60)
        if found.returncode != 66 or "a race on a variable of main" not in found.stderr:
            sys.exit(f"{name}: the race detector ends with {found.returncode}: {found.stderr}")
        if readelf := shutil.which("readelf"):
            needed = run(readelf, "-d", root / name / "program", stdout=subprocess.PIPE)
            if (f"[libforkjoin.so.{interface}]" in needed) != shared:
                sys.exit(f"{name}: " + ("does not ask" if shared else "asks") + f" for libforkjoin.so.{interface}")

    def install(name):
        """Installs what was built with the library as a part, and builds a program with that alone."""
        run("cmake", "--install", root / name, "--prefix", root / "first", stdout=subprocess.PIPE)
        shutil.rmtree(root / name)
        prefix = (root / "first").rename(root / f"{name}_installed")
        run(prefix / "bin/program", timeout=60)
        headers = [{str(file.relative_to(where)) for file in (where / "include").rglob("*.*")}
                   for where in (prefix, root / "installed/opt/forkjoin")]
        if headers[0] != headers[1]:
            sys.exit(f"{name}: headers that only CMake or only Meson installs: {headers[0] ^ headers[1]}")
        run("cmake", "-G", "Ninja", "-S", next_user, "-B", root / f"{name}_next", f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_BUILD_TYPE=Debug", env=env, stdout=subprocess.PIPE)
        run("cmake", "--build", root / f"{name}_next", stdout=subprocess.PIPE)
        run(root / f"{name}_next/next", timeout=60)

    # Moved after it was installed. Not every CMake looks into lib64, which may be Meson's choice.
    run("meson", "setup", root / "meson", source, "-Ddefault_library=both", "-Dbuildtype=plain", "-Dunity=on",
        "-Dunity_size=1000", "-Dassertions=enabled", "-Dcontext=boost", "-Dtests=disabled", "-Dexamples=disabled",
        "-Dbenchmarks=disabled", "--prefix=/opt/forkjoin", "--libdir=lib", env=env, stdout=subprocess.PIPE)
    run("meson", "install", "-C", root / "meson", "--quiet", env=dict(env, DESTDIR=str(root / "installed")))
    for shared in False, True:
        build(f"find_{'shared' if shared else 'static'}", FIND.format(interface=interface), shared,
              f"-DCMAKE_PREFIX_PATH={root}/installed/opt/forkjoin", definitions="WANT_AS_BUILT")
    # The shared library from another language, by its C header's functions alone.
    for procs in "1", "2", "8":
        told = run(sys.executable, squares, root / "installed/opt/forkjoin/lib/libforkjoin.so", timeout=60,
                   env=dict(env, FORKJOIN_PROCS=procs), stdout=subprocess.PIPE)
        if told != "sum 332833500\n":
            sys.exit(f"squares.py with {procs} P prints {told}")

    # A compiler in two words, such as "ccache g++". (Tried with the first word alone for assembly: that does not build.)
    env["CXX"] = f"env {env['CXX']}"
    build("add_static", f"add_subdirectory({source} forkjoin)", False, "-DCMAKE_INSTALL_LIBDIR=lib")
    install("add_static")
    build("fetch_shared", f"include(FetchContent)\nFetchContent_Declare(forkjoin SOURCE_DIR {source})\n"
          "FetchContent_MakeAvailable(forkjoin)", True, "-DCMAKE_INSTALL_LIBDIR=lib", *TOGETHER)
    install("fetch_shared")
