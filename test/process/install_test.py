"""The installed library can be used: installs into a temporary folder, compiles a program with nothing but the compiler and
pkg-config, and runs it.

install_test.py <build folder> <folder of forkjoin.pc> <program> -- <compiler>
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


build, pc_folder, program, _, *compiler = sys.argv[1:]
with tempfile.TemporaryDirectory() as root:
    env = dict(os.environ, DESTDIR=root, PKG_CONFIG_SYSROOT_DIR=root, PKG_CONFIG_PATH=root + pc_folder)
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--skip-subprojects", env=env)
    shutil.copy(program, f"{root}/program.cpp")
    # A user's folders may have the same names as the library's. (Tried: with include/forkjoin/runtime as it was, the user's
    # program sees <runtime/sched/worker.hpp>.)
    os.makedirs(f"{root}/runtime/os")
    for name in ("entry", "deque", "options", "os/context"):
        pathlib.Path(root, "runtime", f"{name}.hpp").write_text("#error not the library's\n")
    flags = run("pkg-config", "--cflags", "--libs", "--static", "forkjoin", env=env, stdout=subprocess.PIPE).split()
    run(*compiler, "-std=c++20", "-I.", "program.cpp", "-o", "program", *flags, cwd=root)
    run("./program", cwd=root, timeout=60)
    # One folder holds all, and each of its public headers finds the others and the runtime. oneTBB's names have a folder of their own.
    include = next(flag.removeprefix("-I") for flag in flags if flag.startswith("-I"))
    if set(os.listdir(include)) != {"forkjoin", "forkjoin-tbb"}:
        sys.exit(f"installed beside include/forkjoin: {os.listdir(include)}")
    folder = pathlib.Path(include, "forkjoin")
    names = [name.relative_to(folder) for where in ("", "detail", "loops") for name in (folder / where).glob("*.hpp")]
    headers = "".join(f"#include <forkjoin/{name}>\n" for name in names)
    pathlib.Path(root, "headers.cpp").write_text(headers)
    run(*compiler, "-std=c++20", "-I.", "-fsyntax-only", "headers.cpp", *flags, cwd=root)
    run(*compiler, "-std=c++20", "-I.", "-DFORKJOIN_SERIAL", "program.cpp", "-o", "serial", f"-I{include}", cwd=root)
    run("./serial", cwd=root, timeout=60)
    # oneTBB's names, installed and from the build folder: oneTBB's own headers do not include the library.
    pathlib.Path(root, "names.cpp").write_text("#include <tbb/parallel_for.h>\nusing fj::parallel_for;\n")
    for where in (env, dict(os.environ, PKG_CONFIG_PATH=str(pathlib.Path(build).resolve() / "meson-uninstalled"))):
        names = run("pkg-config", "--cflags", "forkjoin-tbb", env=where, stdout=subprocess.PIPE).split()
        run(*compiler, "-std=c++20", "-fsyntax-only", "names.cpp", *names, cwd=root)
    # The race detector, in one command; and as a Makefile has it, which links with the flags of the compilation.
    find = ["pkg-config", "--cflags", "--libs", "forkjoin-races"]
    if subprocess.run([*find, "--exists"], env=env).returncode == 0:
        shutil.copy(pathlib.Path(program).parent / "racy.cpp", f"{root}/racy.cpp")
        watched = run(*find, env=env, stdout=subprocess.PIPE).split()
        for name, status in {"program": 0, "racy": 66}.items():
            run(*compiler, "-std=c++20", "-I.", f"{name}.cpp", *watched, "-o", name, cwd=root)
            run(*compiler, "-std=c++20", "-I.", f"{name}.cpp", *watched, "-c", "-o", f"{name}.o", cwd=root)
            run(*compiler, f"{name}.o", *watched, "-o", f"{name}_linked", cwd=root)
            for built in (name, f"{name}_linked"):
                done = subprocess.run([f"./{built}"], cwd=root, text=True, capture_output=True, timeout=60)
                if done.returncode != status or ("a race on a variable of main" in done.stderr) != (status == 66):
                    sys.exit(f"{built} ends with {done.returncode}: {done.stderr}")
        without = [flag for flag in watched if "sanitize" not in flag]
        done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", "racy.cpp", *without], cwd=root, text=True, capture_output=True)
        if "FORKJOIN_RACES needs -fsanitize=thread" not in done.stderr:
            sys.exit(f"without -fsanitize=thread: {done.stderr}")
    # A sanitizer in the program alone: the linker says so.
    pathlib.Path(root, "empty.cpp").write_text("int main() {}\n")
    for sanitizer in ("address", "thread"):
        if subprocess.run([*compiler, f"-fsanitize={sanitizer}", "empty.cpp", "-o", "empty"], cwd=root,
                          capture_output=True).returncode != 0:
            continue  # this compiler has none
        mixed = subprocess.run([*compiler, "-std=c++20", f"-fsanitize={sanitizer}", "program.cpp", "-o", "program", *flags],
                               cwd=root, text=True, capture_output=True)
        if f"library_built_with_{sanitizer}_sanitizer" not in mixed.stderr:
            sys.exit(f"-fsanitize={sanitizer} with a library without it: {mixed.stderr or 'links'}")
