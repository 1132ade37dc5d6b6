"""./dev package: the Debian packages hold what a program needs and nothing else, and named after the version in meson.build.

package_test.py <source folder> <program> <version of the binary interface> -- <compiler>

The packages are built from a copy of the sources, unpacked into a folder, and used there: by pkg-config, static and shared, and by
CMake's find_package. Lintian checks them where it is installed, to its last remark.

Tried: without usr/lib/*/libforkjoin.a in libforkjoin-dev.install the package does not build; without -Ddefault_library=both, too.
Without libboost-context-dev in control its Depends are refused here. Without runtime/exported.map the package does not build. Without the overrides
or the year in copyright, lintian refuses it. With another version in meson.build all names follow.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(forkjoin {interface} REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE forkjoin::forkjoin)
"""


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


source, program, interface, _, *compiler = sys.argv[1:]
for tool in "dpkg-buildpackage", "dh", "pkg-config":
    if not shutil.which(tool):
        print(f"{tool} is not installed: not checked")
        sys.exit(77)
version = re.search(r"version: '([\d.]+)'", pathlib.Path(source, "meson.build").read_text())[1]

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    shutil.copytree(source, root / "checkout", ignore=lambda where, names: [
        name for name in names if name == ".git" or where == source and name.startswith("build")])
    env = dict(os.environ, CXX=shlex.join(compiler), FORKJOIN_INSTALL="0", DEB_BUILD_OPTIONS="nocheck parallel=2", LC_ALL="C.UTF-8")
    run("./dev", "package", cwd=root / "checkout", env=env)
    packages = root / "checkout/build/package"
    triplet = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH", stdout=subprocess.PIPE).strip()
    system = root / "system"

    def unpack(name, *, depends):
        """Unpacks a package, and returns the files in it, other than headers and documents, below its library folder."""
        (package,) = packages.glob(f"{name}_{version}-1_*.deb")
        fields = run("dpkg-deb", "-f", package, stdout=subprocess.PIPE)
        for other in depends:
            if not re.search(rf"^Depends:.*\b{other}", fields, re.MULTILINE):
                sys.exit(f"{name} does not depend on {other}: {fields}")
        run("dpkg-deb", "-x", package, system)
        listed = run("dpkg-deb", "-c", package, stdout=subprocess.PIPE)
        paths = re.findall(r" \./(usr/\S*[^/\s])(?= ->|$)", listed, re.MULTILINE)
        shared = re.escape(f"usr/share/doc/{name}/")
        documents = {path for path in paths if re.match(shared, path)}
        if f"usr/share/doc/{name}/copyright" not in documents:
            sys.exit(f"{name} has no copyright: {listed}")
        return set(paths) - documents

    so = f"usr/lib/{triplet}/libforkjoin.so"
    found = unpack(f"libforkjoin{interface}", depends=["libc6", r"libstdc\+\+6"])
    if found != {f"{so}.{interface}", f"{so}.{version}"}:
        sys.exit(f"in libforkjoin{interface}: {sorted(found)}")

    # Programs that are linked with it depend on the version that has these symbols; a name of another library would be in its interface.
    run("dpkg-deb", "-e", next(packages.glob(f"libforkjoin{interface}_*.deb")), root / "control")
    head, *lines = (root / "control/symbols").read_text().splitlines()
    listed = {line for line in lines if line.startswith(" ")}
    strange = [line for line in listed if not re.fullmatch(rf" (_Z[A-Z]*2fj\d+v[\d_]+\w*|forkjoin_v\w+|fj_\w+)@Base {version}", line)]
    if head != f"libforkjoin.so.{interface} libforkjoin{interface} #MINVER#" or strange or f" fj_run@Base {version}" not in listed:
        sys.exit(f"symbols of libforkjoin{interface}: {head}, {strange[:10]}")

    found = unpack("libforkjoin-dev", depends=[rf"libforkjoin{interface} \(= {version}-1\)", "libboost-context-dev"])
    headers = {path for path in found if re.match(r"usr/include/forkjoin/.*[.](h|hpp|cppm)$", path)}
    names = {path for path in found if path.startswith("usr/include/forkjoin-tbb/")}
    folder = pathlib.Path(source, "forkjoin/tbb")
    if names != {f"usr/include/forkjoin-tbb/{name.relative_to(folder)}" for name in folder.rglob("*.h")}:
        sys.exit(f"oneTBB's names in libforkjoin-dev: {sorted(names)}")
    wanted = {f"usr/include/{name.relative_to(source)}" for of in ("**/*.hpp", "*.h", "*.cppm") for name in pathlib.Path(source, "forkjoin").glob(of)}
    if headers != wanted:
        sys.exit(f"headers in libforkjoin-dev, or not there: {sorted(headers ^ wanted)}")
    cmake = f"usr/lib/{triplet}/cmake/forkjoin"
    tools = {f"usr/share/forkjoin/{tool}/{file.name}" for tool in ("trace", "profile", "races")
             for file in pathlib.Path(source, "runtime", tool, "tool").glob("*.*")}
    tools |= {f"usr/{where}" for tool in ("trace", "profile", "races")
              for where in (f"bin/forkjoin-{tool}", f"share/man/man1/forkjoin-{tool}.1.gz")}
    tools.add("usr/share/forkjoin/trace/format.hpp")  # the command reads it
    tools |= {"usr/share/forkjoin/forkjoin-gdb.py", f"usr/share/gdb/auto-load/{so}.{version}-gdb.py"}
    tools.add("usr/share/lintian/overrides/libforkjoin-dev")
    libraries = {f"usr/lib/{triplet}/libforkjoin{name}.a" for name in ("", "-profile", "-races")}
    libraries |= {f"usr/lib/{triplet}/pkgconfig/forkjoin{name}.pc" for name in ("", "-profile", "-races", "-tbb")}
    if found - headers - names != tools | libraries | {so,
                           f"{cmake}/forkjoinConfig.cmake", f"{cmake}/forkjoinConfigVersion.cmake"}:
        sys.exit(f"in libforkjoin-dev: {sorted(found - headers - names)}")

    said = subprocess.run([system / "usr/bin/forkjoin-trace", "summary", "none"], capture_output=True, text=True)
    if "forkjoin-trace: cannot read none" not in said.stderr:
        sys.exit(f"the installed forkjoin-trace does not run: {said.stderr}")

    def works(name, shared):
        run(root / name, timeout=60, env=dict(env, LD_LIBRARY_PATH=str(system / "usr/lib" / triplet)))
        if readelf := shutil.which("readelf"):
            needed = run(readelf, "-d", root / name, stdout=subprocess.PIPE)
            if (f"[libforkjoin.so.{interface}]" in needed) != shared:
                sys.exit(f"{name}: " + ("does not ask" if shared else "asks") + f" for libforkjoin.so.{interface}")

    shutil.copy(program, root / "program.cpp")
    find = dict(env, PKG_CONFIG_SYSROOT_DIR=str(system), PKG_CONFIG_PATH=str(system / "usr/lib" / triplet / "pkgconfig"),
                PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1", PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    if run("pkg-config", "--modversion", "forkjoin", env=find, stdout=subprocess.PIPE).strip() != version:
        sys.exit("forkjoin.pc has another version")
    for name, options in {"shared": [], "static": ["--static"]}.items():
        flags = run("pkg-config", "--cflags", "--libs", *options, "forkjoin", env=find, stdout=subprocess.PIPE).split()
        run(*compiler, "-std=c++20", *[f"-{option[2:]}" for option in options], "program.cpp", "-o", name, *flags, cwd=root)
        works(name, name == "shared")
    if shutil.which("cmake"):
        (root / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(interface=interface))
        for name in "cmake_shared", "cmake_static":
            run("cmake", "-G", "Ninja", "-S", root, "-B", root / f"build_{name}", f"-DCMAKE_PREFIX_PATH={system}/usr",
                f"-DBUILD_SHARED_LIBS={name == 'cmake_shared'}", env=env, stdout=subprocess.PIPE)
            run("cmake", "--build", root / f"build_{name}", stdout=subprocess.PIPE)
            (root / f"build_{name}/program").rename(root / name)
            works(name, name == "cmake_shared")

    # Debian's packages are g++'s; clang's calls of functions that _FORTIFY_SOURCE checks are too few for lintian.
    if (lintian := shutil.which("lintian")) and "clang" not in "".join(compiler):
        # Left: the authors have no address of their own, and nobody has announced the package to Debian. The other tags that are
        # wrong here have their reasons in debian/libforkjoin-dev.lintian-overrides.
        run(lintian, "--allow-root", "-EI", "--pedantic", "--fail-on", "error,warning,info,pedantic", "--suppress-tags",
            "bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs", *packages.glob("*.changes"))
