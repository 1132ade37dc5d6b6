"""A Meson project can have this one as a subproject: with the shared library, and with folders of the same names.

subproject_test.py <source folder> <program> <version of the binary interface> -- <compiler>

Tried with the source folder itself on the include path: the user's program sees <runtime/sched/worker.hpp>, <test/support.hpp>.
Tried without --force-fallback-for where libforkjoin-dev is installed: the user's program is linked with that.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

MESON_BUILD = """project('user', 'cpp', default_options: ['cpp_std=c++20'])
executable('program', 'program.cpp', include_directories: include_directories('.'), dependencies: dependency('forkjoin'))
executable('watched', 'racy.cpp', dependencies: dependency('forkjoin-races'))
"""


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


source, program, interface, _, *compiler = sys.argv[1:]
with tempfile.TemporaryDirectory() as root:
    pathlib.Path(root, "meson.build").write_text(MESON_BUILD)
    shutil.copy(program, f"{root}/program.cpp")
    shutil.copy(pathlib.Path(program).parent / "racy.cpp", f"{root}/racy.cpp")
    for name in ("runtime/entry", "runtime/deque", "runtime/options", "runtime/os/context", "os/context", "base/check"):
        header = pathlib.Path(root, f"{name}.hpp")
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("#error not the library's\n")
    os.mkdir(f"{root}/subprojects")
    os.symlink(source, f"{root}/subprojects/forkjoin")
    run("meson", "setup", "build", "-Dforkjoin:default_library=shared", "-Dbuildtype=plain", "-Dunity=subprojects",
        "-Dunity_size=1000", "--wrap-mode=nodownload", "--force-fallback-for=forkjoin", cwd=root, env=dict(os.environ, CXX=shlex.join(compiler)),
        stdout=subprocess.PIPE)
    run("ninja", "-C", "build", "--quiet", cwd=root)
    if not pathlib.Path(root, "build/subprojects/forkjoin").is_dir():
        sys.exit("the program was linked with an installed library")
    # Tried with a way to runtime/ that is not there as Ninja reads it: then it compiles everything each time.
    if "no work to do" not in (again := run("ninja", "-C", "build", cwd=root, stdout=subprocess.PIPE)):
        sys.exit(f"a second build builds again: {again}")
    run("build/program", cwd=root, timeout=60)
    found = subprocess.run("build/watched", cwd=root, text=True, capture_output=True, timeout=60)
    if found.returncode != 66 or "a race on a variable of main" not in found.stderr:
        sys.exit(f"the race detector ends with {found.returncode}: {found.stderr}")
    # A project that has the library as a part installs the library, but not its tools.
    installed = run("meson", "introspect", "build", "--installed", cwd=root, stdout=subprocess.PIPE)
    if "libforkjoin.so" not in installed or re.search(r"libforkjoin-|bin/forkjoin|/man1/", installed):
        sys.exit(f"the subproject installs {installed}")
    # The name of the library that a program asks for when it starts: not that of another 0.x.
    if readelf := shutil.which("readelf"):
        if f"[libforkjoin.so.{interface}]" not in run(readelf, "-d", f"{root}/build/program", stdout=subprocess.PIPE):
            sys.exit(f"the program does not ask for libforkjoin.so.{interface}")
