"""A library that was built with a steal rule of one's own can be used: by Meson as it was installed and as it lies in its build folder, by
CMake as it was installed. Each program is compiled by what pkg-config prints, as a shell splits it.

built_with_rule_test.py <source folder> <rule> -- <compiler>

The rule's file lies in a folder with a space in its name, and is gone when programs are compiled.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


def pc_folder(root):
    return next(pathlib.Path(root).rglob("forkjoin.pc")).parent


def use(what, folder):
    """Compiles the program and runs it."""
    flags = run("pkg-config", "--cflags", "--libs", "--static", "forkjoin", env=dict(os.environ, PKG_CONFIG_PATH=str(folder)),
                stdout=subprocess.PIPE).split()
    run(*compiler, "-std=c++20", f"{root}/program.cpp", *flags, "-o", f"{root}/program")
    run(f"{root}/program", timeout=60)
    if MARK not in pathlib.Path(root, "program").read_bytes():
        sys.exit(f"{what}: the program is linked with a library that has another rule")
    print(what, "ok")


# Part of the rule, so of the library that was built with it. (Tried with the rule's option left out of one of both builds.)
MARK = b"the steal rule of this test"


PROGRAM = """#include <forkjoin/forkjoin.hpp>
long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}
int main() { return fj::run([] { return fib(20); }) == 6765 ? 0 : 1; }
"""

source, rule, _, *compiler = sys.argv[1:]
quick = ["-Dunity=on", "-Dunity_size=1000", "-Doptimization=0", "-Db_pch=false", "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled",
         "-Dtools=disabled"]
env = dict(os.environ, CXX=shlex.join(compiler))
with tempfile.TemporaryDirectory() as root:
    pathlib.Path(root, "program.cpp").write_text(PROGRAM)
    os.mkdir(f"{root}/my rules")
    mine = f"{root}/my rules/rule.hpp"
    marked = f'{pathlib.Path(rule).read_text()}namespace {{\n[[gnu::used]] const char mark[] = "{MARK.decode()}";\n}}\n'
    pathlib.Path(mine).write_text(marked)
    built = f"{root}/by_meson"
    run("meson", "setup", built, source, f"--prefix={root}/meson", f"-Dsteal_rule={mine}", *quick, env=env, stdout=subprocess.PIPE)
    run("meson", "install", "-C", built, stdout=subprocess.PIPE)
    if shutil.which("cmake"):
        run("cmake", "-G", "Ninja", "-S", source, "-B", f"{root}/by_cmake", f"-DCMAKE_INSTALL_PREFIX={root}/cmake", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0", "-DFORKJOIN_TOOLS=OFF", f"-DFORKJOIN_STEAL_RULE={mine}", env=env, stdout=subprocess.PIPE)
        run("cmake", "--build", f"{root}/by_cmake", stdout=subprocess.PIPE)
        run("cmake", "--install", f"{root}/by_cmake", stdout=subprocess.PIPE)
    shutil.rmtree(f"{root}/my rules")
    use("uninstalled", f"{built}/meson-uninstalled")
    shutil.move(built, f"{root}/elsewhere")  # what is installed needs neither
    use("installed by Meson", pc_folder(f"{root}/meson"))
    if shutil.which("cmake"):
        shutil.rmtree(f"{root}/by_cmake")
        use("installed by CMake", pc_folder(f"{root}/cmake"))
