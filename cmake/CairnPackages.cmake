# SPDX-License-Identifier: Apache-2.0
# What `cpack` makes of the components of CairnInstall.cmake, in packages/ of the build folder: cairn, libcairn0 and
# libcairn-dev for Debian, a .zip for Windows. docs/reference/packages.md is the page.
set(CPACK_PACKAGE_NAME cairn)
set(CPACK_PACKAGE_VENDOR Cairn)
set(CPACK_PACKAGE_CONTACT "Cairn maintainers <maintainers@cairn.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds the draw that killed the GPU")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL programs library development)
set(CPACK_VERBATIM_VARIABLES ON)

if(WIN32)
  set(CPACK_GENERATOR ZIP)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_PACKAGE_FILE_NAME cairn-${PROJECT_VERSION}-windows-x86_64)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION . COMPONENT programs)
  include(CPack)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# Of tools like this one nobody has a source package: the version is Debian's own, without a revision.
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME cairn)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "less, libvulkan1")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "libvkd3d-utils1, mesa-vulkan-drivers")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "Marks what the GPU is doing while it does it, keeps those marks where a crash
cannot reach them, and says afterwards which work was running. For programs
that use Vulkan, or Direct3D 12 with vkd3d or Wine, and know nothing of it;
records, replays and bisects their Direct3D 12 calls.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcairn${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "A program that links libcairn marks its GPU work itself, with names of its
own. The marks survive a crash, and cairn reports them. This package holds the
shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcairn-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libfmt-dev, libzstd-dev, libxxhash-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "A program that links libcairn marks its GPU work itself, with names of its
own. This package holds what it is compiled and linked with.")

# What dpkg takes beside the files: the library's symbols, by which other packages depend on it, and its cache.
set(folder ${PROJECT_BINARY_DIR}/packaging)
file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
file(WRITE ${folder}/shlibs "libcairn ${PROJECT_VERSION_MAJOR} ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (>= ${PROJECT_VERSION})\n")
configure_file(${PROJECT_SOURCE_DIR}/packaging/libcairn0.symbols ${folder}/symbols COPYONLY)
file(CHMOD ${folder}/triggers ${folder}/shlibs ${folder}/symbols
  PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${folder}/triggers ${folder}/shlibs ${folder}/symbols)

# Debian's policy: who may copy it, what changed, and pages compressed.
file(WRITE ${folder}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Cairn

Files: *
Copyright: 2026 the Cairn maintainers
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${folder}/changelog "cairn (${PROJECT_VERSION}) unstable; urgency=medium

  * See the history of the repository.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
foreach(component programs library development)
  string(TOUPPER ${component} name)
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  install(FILES ${folder}/copyright DESTINATION ${documents} COMPONENT ${component})
  install(FILES ${folder}/changelog DESTINATION ${documents} COMPONENT ${component})
  install(CODE "
    file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${documents}/changelog\"
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
    foreach(page \${pages})
      execute_process(COMMAND gzip --best --no-name --force \${page} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT ${component})
endforeach()
include(CPack)
