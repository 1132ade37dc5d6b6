"""The installed library can be used: installs into a temporary folder, compiles a program with nothing but the compiler and
pkg-config, and runs it. The commands are there, each with a man page, and CMake installs the same files.

install_test.py <build folder> <folder of forkjoin.pc> <program> <source folder, or none: CMake is not compared> -- <compiler>

Tried: without forkjoin-races in commands of runtime/meson.build, without the licence in CMakeLists.txt, with -lboost_context in Libs.private
alone there, with a help text that begins with a dot and without the escape in man.py, with words that forkjoin-races sorts, with files that Python
compiles beside the commands, this test fails.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


def files(root):
    return {str(name.relative_to(root)) for name in pathlib.Path(root).rglob("*") if not name.is_dir()}


# What one of them alone installs, and why: Meson's forkjoinConfig.cmake is written by hand, so that a build by Meson needs no CMake; that of
# CMake reads the targets that CMake exports.
CMAKE_ALONE = {"forkjoinTargets.cmake", "forkjoinTargets-debug.cmake", "forkjoinTargets-release.cmake"}


def compare_with_cmake(root, pc_folder, source, modules, env):
    """CMake installs the files of Meson, and its modules of pkg-config say the same. The libraries themselves are Meson's: which files there
    are does not depend on what is in them, and to compile them again would take a minute."""
    prefix, libdir = re.findall(r"(?m)^(?:prefix|libdir)=(.*)$", pathlib.Path(root + pc_folder, "forkjoin.pc").read_text())
    libdir = libdir.replace("${prefix}/", "")
    here = pathlib.Path(root + prefix, libdir)
    flags = run("pkg-config", "--cflags", "forkjoin", env=env, stdout=subprocess.PIPE).split()
    with tempfile.TemporaryDirectory() as folder:
        def install(name, tools):
            made, to = f"{folder}/build_{name}", f"{folder}/{name}"
            run("cmake", "-G", "Ninja", "-S", source, "-B", made, f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DCMAKE_INSTALL_LIBDIR={libdir}",
                f"-DCMAKE_BUILD_TYPE={'Debug' if '-DFORKJOIN_DEBUG' in flags else 'Release'}",
                f"-DBUILD_SHARED_LIBS={'OFF' if '-DFORKJOIN_STATIC' in flags else 'ON'}",
                f"-DFORKJOIN_BOOST_CONTEXT={'ON' if '-DFORKJOIN_BOOST_CONTEXT' in flags else 'OFF'}",
                f"-DFORKJOIN_TOOLS={'ON' if tools else 'OFF'}", env=dict(env, CXX=shlex.join(compiler)), stdout=subprocess.PIPE)
            if tools:
                run("cmake", "--build", made, "--target", "forkjoin-man", stdout=subprocess.PIPE)
            for library in here.glob("lib*"):
                shutil.copy(library, made, follow_symlinks=False)
            run("cmake", "--install", made, env=dict(env, DESTDIR=to), stdout=subprocess.PIPE)
            return to

        def compare(meson, cmake):
            differ = {name for name in meson ^ files(cmake + prefix) if pathlib.Path(name).name not in CMAKE_ALONE}
            if differ:
                sys.exit(f"Meson or CMake alone installs {sorted(differ)}")

        installed = files(root + prefix)
        other = install("other", "forkjoin-profile" in modules)
        compare(installed, other)
        compare({name for name in installed if not re.search(r"forkjoin[-/](profile|races|trace)\b", name) or "include" in name},
                install("library", tools=False))
        for module in modules:
            for asked in ["--cflags"], ["--libs"], ["--libs", "--static"], ["--modversion"]:
                told = [sorted(set(run("pkg-config", *asked, module, stdout=subprocess.PIPE, env=dict(
                    env, PKG_CONFIG_SYSROOT_DIR=where, PKG_CONFIG_PATH=where + pc_folder)).replace(where, "").split())) for where in (root, other)]
                if told[0] != told[1]:
                    sys.exit(f"pkg-config {shlex.join(asked)} {module}: of Meson {told[0]}, of CMake {told[1]}")


def check_commands(root, prefix):
    """Each command runs, and has a man page that tells of each of its options. man finds nothing to complain of. Python leaves no files beside
    the installed ones."""
    before = files(root)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    commands = sorted(pathlib.Path(root + prefix, "bin").glob("forkjoin-*"))
    for command in commands:
        text = run(command, "--help", env=env, stdout=subprocess.PIPE)
        page = pathlib.Path(root + prefix, "share/man/man1", f"{command.name}.1")
        shown = re.sub(r"\\(f[BIR]|&)|\\(?=-)", "", page.read_text())
        for option in re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", text):
            if option not in shown:
                sys.exit(f"{page.name} says nothing of {option}:\n{shown}")
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", page], text=True, capture_output=True,
                                  env=dict(os.environ, MANPAGER="cat", LC_ALL="C.UTF-8"))
            if done.returncode != 0 or done.stderr or "SYNOPSIS" not in done.stdout:
                sys.exit(f"man {page.name}: {done.stderr}")
    if files(root) != before:
        sys.exit(f"the commands wrote {sorted(files(root) - before)}")
    return {command.name for command in commands}


def check_races(root, command, env):
    """Sources and options in their order, several of them, and the program's arguments; its own status, and that of a race."""
    def ends(status, said, *words):
        done = subprocess.run([command, "--cxx", shlex.join(compiler), *words], cwd=root, text=True, capture_output=True, timeout=120, env=env)
        if done.returncode != status or said not in done.stderr:
            sys.exit(f"forkjoin-races {shlex.join(words)} ends with {done.returncode}: {done.stderr}")

    pathlib.Path(root, "main.cpp").write_text("extern int told; int main(int, char** words) { return told + words[1][0] - 'a'; }\n")
    pathlib.Path(root, "told.cpp").write_text("int told = TOLD;\n")
    ends(66, "a race on a variable of main", "racy.cpp")
    ends(7, "", "main.cpp", "-DTOLD=4", "told.cpp", "--", "d", "more.cpp")
    run(*compiler, "-c", "-DTOLD=0", "told.cpp", cwd=root)
    run("ar", "rcs", "libtold.a", "told.o", cwd=root)
    ends(0, "", "main.cpp", "-L.", "-ltold", "--", "a")
    ends(1, "the program does not compile", "main.cpp", "--", "a")
    ends(1, "there is no file none.cpp", "none.cpp")
    ends(1, "forkjoin-races: takes the sources of a program")


build, pc_folder, program, source, _, *compiler = sys.argv[1:]
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
    names = [name.relative_to(folder) for where in ("", "detail", "loops") for name in (folder / where).glob("*.hpp")
             if name.name not in ("mpi.hpp", "execution.hpp", "parallel_scheduler.hpp")]  # which need an MPI, or senders
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
    modules = [module for module in ("forkjoin", "forkjoin-tbb", "forkjoin-profile", "forkjoin-races")
               if subprocess.run(["pkg-config", "--exists", module], env=env).returncode == 0]
    prefix = re.search(r"(?m)^prefix=(.*)$", pathlib.Path(root + pc_folder, "forkjoin.pc").read_text())[1]
    wanted = {module for module in modules if module in ("forkjoin-profile", "forkjoin-races")}
    if (commands := check_commands(root, prefix)) != wanted | ({"forkjoin-trace"} if wanted else set()):
        sys.exit(f"the commands are {commands}, the modules of pkg-config {modules}")
    if "forkjoin-races" in commands:
        check_races(root, f"{root}{prefix}/bin/forkjoin-races", env)
    if source != "none" and shutil.which("cmake"):
        compare_with_cmake(root, pc_folder, source, modules, env)
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
