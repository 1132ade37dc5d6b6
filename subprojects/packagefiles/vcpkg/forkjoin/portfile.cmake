# An overlay port of vcpkg, which builds the checkout that it lies in:
#
#     vcpkg install forkjoin --overlay-ports=<checkout>/subprojects/packagefiles/vcpkg/forkjoin
#
# or, with a manifest, in vcpkg-configuration.json: "overlay-ports": ["<checkout>/subprojects/packagefiles/vcpkg/forkjoin"].
# vcpkg knows a port by the files in this folder. After other sources of the library have changed, it would take what it built
# before from its cache: add --no-binarycaching, after vcpkg remove forkjoin.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." REALPATH)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/forkjoin)
vcpkg_fixup_pkgconfig()
# vcpkg is for libraries: no commands. gdb looks for its script in the system's folders alone, and the licence lies in share/forkjoin.
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/bin"
    "${CURRENT_PACKAGES_DIR}/debug/bin"
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc"
    "${CURRENT_PACKAGES_DIR}/share/forkjoin/profile"
    "${CURRENT_PACKAGES_DIR}/share/forkjoin/races"
    "${CURRENT_PACKAGES_DIR}/share/forkjoin/trace"
    "${CURRENT_PACKAGES_DIR}/share/gdb"
    "${CURRENT_PACKAGES_DIR}/share/man"
)

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
