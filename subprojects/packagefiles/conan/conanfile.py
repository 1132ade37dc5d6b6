# A recipe of Conan 2, which builds the checkout that it lies in:
#
#     conan create <checkout>/subprojects/packagefiles/conan --build=missing
#
# A recipe for an index of released versions has conandata.yml and source() in place of set_version() and export_sources().
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.1"


class ForkjoinConan(ConanFile):
    name = "forkjoin"
    description = "Fork/join with continuation stealing, and fibers, for C++20"
    license = "MIT"
    topics = ("fork-join", "continuation-stealing", "fibers", "scheduler", "parallelism", "multithreading")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        self.version = re.search(r"version: '([\d.]+)'", load(self, os.path.join(self._checkout, "meson.build")))[1]

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "forkjoin/*", "runtime/*":
            copy(self, pattern, self._checkout, os.path.join(self.export_sources_folder, "src"))

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        self.requires("boost/[>=1.74.0 <2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.16]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} runs on Linux alone")
        if self.settings.arch in ("x86", "armv7", "armv7hf"):
            raise ConanInvalidConfiguration(f"{self.ref} needs a 64-bit processor")
        oldest = {"gcc": "12", "clang": "16"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"{self.ref} needs {self.settings.compiler} {oldest} or later")
        boost = self.dependencies["boost"].options
        if boost.get_safe("header_only") or boost.get_safe("without_context"):
            raise ConanInvalidConfiguration(f"{self.ref} needs Boost.Context, as a compiled library")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FORKJOIN_TOOLS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes such files of its own, from package_info(). gdb looks for scripts in the system's folders alone.
        for folder in os.path.join("lib", "cmake"), os.path.join("lib", "pkgconfig"), "share":
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        # The names of CMakeLists.txt. Conan wants one for all components together, too, which no program needs.
        self.cpp_info.set_property("cmake_target_name", "forkjoin::all-do-not-use")
        self.cpp_info.set_property("pkg_config_name", "forkjoin-all-do-not-use")

        library = self.cpp_info.components["libforkjoin"]
        library.set_property("cmake_target_name", "forkjoin::forkjoin")
        library.set_property("pkg_config_name", "forkjoin")
        library.libs = ["forkjoin"]
        library.requires = ["boost::context"]
        library.system_libs = ["pthread"]
        # What programs that link this library have to define: CMakeLists.txt says the same.
        if not self.options.shared:
            library.defines.append("FORKJOIN_STATIC")
        if self.settings.build_type == "Debug":
            library.defines.append("FORKJOIN_DEBUG")
        if self.settings.arch not in ("x86_64", "armv8"):
            library.defines.append("FORKJOIN_BOOST_CONTEXT")

        names_of_tbb = self.cpp_info.components["forkjoin-tbb"]
        names_of_tbb.set_property("cmake_target_name", "forkjoin::forkjoin-tbb")
        names_of_tbb.set_property("pkg_config_name", "forkjoin-tbb")
        names_of_tbb.includedirs.append(os.path.join("include", "forkjoin-tbb"))
        names_of_tbb.libdirs = []
        names_of_tbb.requires = ["libforkjoin"]
