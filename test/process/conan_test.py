"""The recipe of Conan: without Conan itself, its methods run in Conan's order, with stubs in place of Conan's modules. The stubs configure, build
and install the library as Conan does. Then the recipe's test programs are compiled by what package_info() says, and run.

conan_test.py <source folder> -- <compiler>

Tried: without runtime/* in export_sources() the sources lack it. With CMake's FORKJOIN_TOOLS, or without the removal of share/, there are too many
files. Without FORKJOIN_STATIC in package_info() the definitions are refused; without include/forkjoin-tbb, or without libforkjoin among what
forkjoin-tbb requires, a program is not built.
"""

import collections
import importlib.util
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types

source, _, *compiler = sys.argv[1:]
env = dict(os.environ, CXX=shlex.join(compiler))
recipe_folder = pathlib.Path(source, "subprojects/packagefiles/conan")
if not shutil.which("cmake"):
    print("CMake is not installed: the recipe is not checked")
    sys.exit(77)


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options).stdout


class Info:
    """cpp_info, and each of its components."""

    def __init__(self):
        self.properties, self.libs, self.requires, self.system_libs, self.defines = {}, [], [], [], []
        self.includedirs, self.libdirs = ["include"], ["lib"]
        self.components = collections.defaultdict(Info)

    def set_property(self, name, value):
        self.properties[name] = value


class Options(types.SimpleNamespace):
    def get_safe(self, name):
        return getattr(self, name, None)


class Setting(str):
    """A setting with settings below it, as compiler.version."""


class Version(str):
    def __lt__(self, other):
        return int(self.split(".")[0]) < int(other.split(".")[0])


class Refused(Exception):
    pass


class ConanFile:
    ref = "forkjoin"

    def __init__(self, root, shared, version="12", **settings):
        self.recipe_folder, self.export_sources_folder, self.package_folder = str(recipe_folder), str(root), str(root / "package")
        arch = {"aarch64": "armv8"}.get(platform.machine(), platform.machine())
        self.settings = types.SimpleNamespace(**{"os": "Linux", "arch": arch, "build_type": "Release", "compiler": Setting("gcc")} | settings)
        self.settings.compiler.version = version
        self.options = Options(**self.default_options | {"shared": shared})
        self.cpp_info = Info()
        self.dependencies = {}

    def requires(self, reference):
        self.dependencies[reference.partition("/")[0]] = types.SimpleNamespace(options=Options(header_only=False, without_context=False))

    def tool_requires(self, reference):
        pass


class CMakeToolchain:
    def __init__(self, recipe):
        self.cache_variables = recipe.cache_variables = {}

    def generate(self):
        pass


class CMakeDeps:
    def __init__(self, recipe):
        pass

    def generate(self):
        pass


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        recipe = self.recipe
        variables = {"CMAKE_BUILD_TYPE": recipe.settings.build_type, "BUILD_SHARED_LIBS": recipe.options.shared, "CMAKE_INSTALL_LIBDIR": "lib",
                     "CMAKE_INSTALL_PREFIX": recipe.package_folder, "CMAKE_UNITY_BUILD": True, "CMAKE_UNITY_BUILD_BATCH_SIZE": 0,
                     **recipe.cache_variables}
        run("cmake", "-G", "Ninja", "-S", recipe.source_folder, "-B", recipe.build_folder, *(f"-D{name}={value}" for name, value in variables.items()),
            env=env, stdout=subprocess.PIPE)

    def build(self):
        run("cmake", "--build", self.recipe.build_folder, stdout=subprocess.PIPE)

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, stdout=subprocess.PIPE)
        flags = pathlib.Path(self.recipe.package_folder, "lib/pkgconfig/forkjoin.pc").read_text()
        self.recipe.definitions_of_cmake = set(re.findall(r"-D(\S+)", flags))


def cmake_layout(recipe, src_folder):
    recipe.source_folder = os.path.join(recipe.export_sources_folder, src_folder)
    recipe.build_folder = os.path.join(recipe.export_sources_folder, "build")


def copy(recipe, pattern, src, dst):
    """Conan's * stands for a slash, too."""
    for name in pathlib.Path(src).glob(pattern.replace("*", "**/*")):
        if name.is_file():
            to = pathlib.Path(dst, name.relative_to(src))
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, to)


STUBS = {
    "conan": {"ConanFile": ConanFile},
    "conan.errors": {"ConanInvalidConfiguration": Refused},
    "conan.tools": {},
    "conan.tools.build": {"check_min_cppstd": lambda recipe, standard: None},
    "conan.tools.cmake": {"CMake": CMake, "CMakeDeps": CMakeDeps, "CMakeToolchain": CMakeToolchain, "cmake_layout": cmake_layout},
    "conan.tools.files": {"copy": copy, "load": lambda recipe, name: pathlib.Path(name).read_text(),
                          "rmdir": lambda recipe, name: shutil.rmtree(name, ignore_errors=True)},
    "conan.tools.scm": {"Version": Version},
}
for name, content in STUBS.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("recipe", recipe_folder / "conanfile.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
ForkjoinConan = module.ForkjoinConan


def flags_of(recipe, name):
    """What a program that links this component gives its compiler."""
    info = recipe.cpp_info.components[name]
    flags = [f"-I{recipe.package_folder}/{folder}" for folder in info.includedirs] + [f"-D{name}" for name in info.defines]
    flags += [f"-L{recipe.package_folder}/{folder}" for folder in info.libdirs] + [f"-l{name}" for name in info.libs]
    for other in info.requires:
        flags += ["-lboost_context"] if other == "boost::context" else flags_of(recipe, other)
    return flags + [f"-l{name}" for name in info.system_libs]


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for wrong in {"os": "Windows"}, {"arch": "x86"}, {"version": "11.4"}, {"compiler": Setting("clang"), "version": "15"}:
        recipe = ForkjoinConan(root, False, **wrong)
        recipe.requirements()
        try:
            recipe.validate()
        except Refused as refused:
            print(refused)
        else:
            sys.exit(f"not refused: {wrong}")

    for shared in False, True:
        recipe = ForkjoinConan(root / f"{shared}", shared)
        recipe.set_version()
        version = re.search(r"version: '([\d.]+)'", pathlib.Path(source, "meson.build").read_text())[1]
        if recipe.version != version:
            sys.exit(f"the recipe has the version {recipe.version}, meson.build {version}")
        recipe.export_sources()
        recipe.layout()
        for method in recipe.requirements, recipe.validate, recipe.build_requirements, recipe.generate, recipe.build, recipe.package, recipe.package_info:
            method()

        package = pathlib.Path(recipe.package_folder)
        found = {str(name.relative_to(package)) for name in package.rglob("*") if not name.is_dir()}
        headers = {name for name in found if name.startswith(("include/forkjoin/", "include/forkjoin-tbb/")) and name.endswith((".hpp", ".h", ".cppm"))}
        names = (".so", f".so.{version}", f".so.{version.rpartition('.')[0]}") if shared else (".a",)
        if found - headers != {"licenses/LICENSE", *(f"lib/libforkjoin{name}" for name in names)} or "include/forkjoin/forkjoin.hpp" not in headers:
            sys.exit(f"in the package: {sorted(found - headers)}")
        if shared and (nm := shutil.which("nm")):
            exported = run(nm, "-D", "--defined-only", "--format=posix", package / "lib/libforkjoin.so", stdout=subprocess.PIPE)
            if strange := re.findall(r"(?m)^(?!_Z[A-Z]*2fj|forkjoin_v|fj_)\S+", exported):
                sys.exit(f"the shared library exports {strange[:10]}")
        library = recipe.cpp_info.components["libforkjoin"]
        if set(library.defines) != recipe.definitions_of_cmake:
            sys.exit(f"package_info() defines {library.defines}, CMake {recipe.definitions_of_cmake}")
        targets = re.findall(r"forkjoin::[\w-]+", (recipe_folder / "test_package/CMakeLists.txt").read_text())
        if targets != [info.properties["cmake_target_name"] for info in recipe.cpp_info.components.values()]:
            sys.exit(f"the test package links {targets}")
        for program, name in {"test_package": "libforkjoin", "test_package_tbb": "forkjoin-tbb"}.items():
            run(*compiler, "-std=c++20", recipe_folder / f"test_package/{program}.cpp", "-o", root / program, *flags_of(recipe, name))
            run(root / program, timeout=60, env=env | {"LD_LIBRARY_PATH": str(package / "lib")})
