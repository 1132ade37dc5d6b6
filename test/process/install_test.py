"""What is installed can be used: installs into a temporary folder, compiles a program with nothing but the compiler and
pkg-config, and runs it.

install_test.py <build folder> <folder of forkjoin.pc> <program> -- <compiler>
"""

import os
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
    flags = run("pkg-config", "--cflags", "--libs", "--static", "forkjoin", env=env, stdout=subprocess.PIPE).split()
    run(*compiler, "-std=c++20", "program.cpp", "-o", "program", *flags, cwd=root)
    run("./program", cwd=root, timeout=60)
