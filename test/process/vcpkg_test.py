"""The port of vcpkg: without vcpkg itself, its manifest is checked, and its portfile runs with stubs in place of vcpkg's functions. The
stubs configure, build and install the library as vcpkg does, release and debug; programs use what then lies in the port's folder.

vcpkg_test.py <source folder> <program> -- <compiler>

Tried: with another version in vcpkg.json, or without vcpkg_cmake_config_fixup in the portfile, the manifest is refused. With a wrong
CONFIG_PATH the stub finds no such folder, as vcpkg would. Without the removal of debug/include its headers are refused. Without Boost
in the forkjoinConfig.cmake that CMakeLists.txt writes, the user's project is not configured.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# Which port brings the functions of a portfile.
HELPERS = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_install": "vcpkg-cmake",
           "vcpkg_cmake_config_fixup": "vcpkg-cmake-config", "vcpkg_fixup_pkgconfig": None, "vcpkg_install_copyright": None}

# Options as vcpkg gives them; what it does beyond that is for other systems.
STUBS = r"""
cmake_minimum_required(VERSION 3.16)
set(packages "${CURRENT_PACKAGES_DIR}")
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()
macro(arguments one many)
  message(STATUS "call ${CMAKE_CURRENT_FUNCTION}")
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "${one}" "${many}")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "not known to ${CMAKE_CURRENT_FUNCTION}: ${arg_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(vcpkg_cmake_configure)
  arguments("SOURCE_PATH" "OPTIONS;OPTIONS_RELEASE;OPTIONS_DEBUG")
  foreach(folder IN ITEMS . debug)
    set(type Release)
    if(folder STREQUAL debug)
      set(type Debug)
    endif()
    string(TOUPPER ${type} upper)
    run(${CMAKE_COMMAND} -G Ninja -S "${arg_SOURCE_PATH}" -B "${BUILD}/${folder}" ${arg_OPTIONS} ${arg_OPTIONS_${upper}}
      -DCMAKE_BUILD_TYPE=${type} -DBUILD_SHARED_LIBS=OFF "-DCMAKE_INSTALL_PREFIX=${packages}/${folder}" -DCMAKE_INSTALL_LIBDIR=lib
      -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0)
  endforeach()
endfunction()

function(vcpkg_cmake_install)
  arguments("" "")
  foreach(folder IN ITEMS . debug)
    run(${CMAKE_COMMAND} --build "${BUILD}/${folder}" --target install)
  endforeach()
endfunction()

# Both configurations into share/<port>, from where the prefix is two folders up.
function(vcpkg_cmake_config_fixup)
  arguments("PACKAGE_NAME;CONFIG_PATH" "")
  foreach(folder IN ITEMS . debug)
    if(NOT EXISTS "${packages}/${folder}/${arg_CONFIG_PATH}")
      message(FATAL_ERROR "${packages}/${folder}/${arg_CONFIG_PATH} does not exist")
    endif()
  endforeach()
  file(GLOB debug_targets "${packages}/debug/${arg_CONFIG_PATH}/*-debug.cmake")
  foreach(file IN LISTS debug_targets)
    file(READ "${file}" contents)
    string(REPLACE "{_IMPORT_PREFIX}/lib" "{_IMPORT_PREFIX}/debug/lib" contents "${contents}")
    file(WRITE "${file}" "${contents}")
  endforeach()
  file(GLOB files "${packages}/${arg_CONFIG_PATH}/*")
  file(COPY ${files} ${debug_targets} DESTINATION "${packages}/share/${PORT}")
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  file(READ "${packages}/share/${PORT}/${PORT}Targets.cmake" contents)
  string(REPLACE "${up}${up}${up}" "${up}${up}" contents "${contents}")
  file(WRITE "${packages}/share/${PORT}/${PORT}Targets.cmake" "${contents}")
  foreach(folder IN ITEMS . debug)
    get_filename_component(parent "${packages}/${folder}/${arg_CONFIG_PATH}" DIRECTORY)
    file(REMOVE_RECURSE "${parent}")
  endforeach()
endfunction()

# What is installed may be moved: paths begin at the file.
function(vcpkg_fixup_pkgconfig)
  arguments("" "")
  foreach(folder IN ITEMS . debug)
    file(GLOB files "${packages}/${folder}/lib/pkgconfig/*.pc")
    foreach(file IN LISTS files)
      file(READ "${file}" contents)
      string(REGEX REPLACE "(^|\n)prefix=[^\n]*" "\\1prefix=\${pcfiledir}/../.." contents "${contents}")
      foreach(prefix IN ITEMS "${packages}/./" "${packages}/debug/" "${packages}/")
        string(REPLACE "${prefix}" "\${prefix}/" contents "${contents}")
      endforeach()
      if(folder STREQUAL debug)
        string(REPLACE "includedir=\${prefix}/include" "includedir=\${prefix}/../include" contents "${contents}")
      endif()
      file(WRITE "${file}" "${contents}")
    endforeach()
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  arguments("COMMENT" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${packages}/share/${PORT}" RENAME copyright)
endfunction()

include("${CURRENT_PORT_DIR}/portfile.cmake")
"""

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(forkjoin CONFIG REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE forkjoin::forkjoin)
"""


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


source, program, _, *compiler = sys.argv[1:]
port = pathlib.Path(source, "subprojects/packagefiles/vcpkg/forkjoin")

manifest = json.loads((port / "vcpkg.json").read_text())
version = re.search(r"version: '([\d.]+)'", pathlib.Path(source, "meson.build").read_text())[1]
if manifest["version"] != version:
    sys.exit(f"vcpkg.json has the version {manifest['version']}, meson.build {version}")
if manifest["name"] != port.name or manifest["license"] != "MIT" or not manifest["description"]:
    sys.exit(f"vcpkg.json: name, license or description: {manifest}")
unknown = set(manifest) - {"name", "version", "port-version", "description", "homepage", "license", "supports", "dependencies"}
if unknown:
    sys.exit(f"vcpkg.json: {unknown}")
called = re.findall(r"^(vcpkg_\w+)\(", (port / "portfile.cmake").read_text(), re.MULTILINE)
needed = ["boost-context"] + [{"name": name, "host": True} for name in sorted({HELPERS[name] for name in called} - {None})]
if manifest["dependencies"] != needed:
    sys.exit(f"vcpkg.json has the dependencies {manifest['dependencies']}, not {needed}")
if sorted(called) != sorted(HELPERS):
    sys.exit(f"the portfile calls {called}")

if not shutil.which("cmake"):
    print("CMake is not installed: the portfile is not checked")
    sys.exit(77)
env = dict(os.environ, CXX=shlex.join(compiler))
with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    packages = root / "packages"
    (root / "stubs.cmake").write_text(STUBS)
    # In script mode CMake writes what a status says to standard output.
    output = run("cmake", "-DPORT=forkjoin", f"-DCURRENT_PORT_DIR={port}", f"-DCURRENT_PACKAGES_DIR={packages}", f"-DBUILD={root}/build",
                 "-P", root / "stubs.cmake", env=env, stdout=subprocess.PIPE)
    if re.findall(r"^-- call (\w+)", output, re.MULTILINE) != called:
        sys.exit(f"not called as it is written: {output}")

    found = {str(name.relative_to(packages)) for name in packages.rglob("*") if name.is_file()}
    headers = {name for name in found if name.startswith("include/forkjoin/") and name.endswith((".hpp", ".h", ".cppm"))}
    headers |= {name for name in found if name.startswith("include/forkjoin-tbb/") and name.endswith(".h")}
    files = {"share/forkjoin/copyright", "share/forkjoin/usage", "share/forkjoin/forkjoin-gdb.py",
             *(f"{folder}/pkgconfig/forkjoin{name}.pc" for folder in ("lib", "debug/lib") for name in ("", "-profile", "-races", "-tbb")),
             *(f"{folder}/libforkjoin{name}.a" for folder in ("lib", "debug/lib") for name in ("", "-profile", "-races")),
             *(f"share/forkjoin/forkjoin{name}.cmake"
               for name in ("Config", "ConfigVersion", "Targets", "Targets-release", "Targets-debug"))}
    if found - headers != files or not {"include/forkjoin/forkjoin.hpp", "include/forkjoin/abi/fork.hpp"} <= headers:
        sys.exit(f"too much or missing: {sorted((found - headers) ^ files)[:10]}")
    if (packages / "lib/cmake").exists() or (packages / "debug/share").exists():
        sys.exit("left over: lib/cmake or debug/share")
    text = (packages / "share/forkjoin/copyright").read_text()
    if text != pathlib.Path(source, "LICENSE").read_text():
        sys.exit(f"copyright: {text}")

    shutil.copy(program, root / "program.cpp")
    (root / "CMakeLists.txt").write_text(PROJECT)
    moved = packages.rename(root / "installed")
    for configuration, library in {"Release": "lib", "Debug": "debug/lib"}.items():
        build = root / configuration
        run("cmake", "-G", "Ninja", "-S", root, "-B", build, f"-DCMAKE_PREFIX_PATH={moved}", f"-DCMAKE_BUILD_TYPE={configuration}",
            env=env, stdout=subprocess.PIPE)
        if f"{moved}/{library}/libforkjoin.a" not in (build / "build.ninja").read_text():
            sys.exit(f"{configuration} links another library than {library}/libforkjoin.a")
        run("cmake", "--build", build, stdout=subprocess.PIPE)
        run(build / "program", timeout=60)
        flags = run("pkg-config", "--cflags", "--libs", "forkjoin", stdout=subprocess.PIPE,
                    env=dict(env, PKG_CONFIG_PATH=str(moved / library / "pkgconfig"))).split()
        run(*compiler, "-std=c++20", root / "program.cpp", "-o", build / "by_pkg_config", *flags)
        run(build / "by_pkg_config", timeout=60)
