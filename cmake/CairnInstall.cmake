# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, by components, which CairnPackages.cmake makes packages of:
#   programs     cairn, d3dconfig, the layers, manual pages, completions
#   library      libcairn
#   development  headers, what to link with, pkg-config and CMake package
#   debug        what debuggers want (cairn_ships)
include(CMakePackageConfigHelpers)

configure_file(${CMAKE_CURRENT_LIST_DIR}/cairnConfig.cmake.in ${PROJECT_BINARY_DIR}/cairnConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)

# Programs and what they load find each other by their places.
install(TARGETS cairn_command d3dconfig RUNTIME COMPONENT programs)
install(TARGETS cairn EXPORT cairnTargets
  RUNTIME COMPONENT library
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn TYPE INCLUDE COMPONENT development)
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn
  COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/cairnConfig.cmake ${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn COMPONENT development)

if(WIN32)
  # cairn.exe, and whoever is loaded, looks beside itself. Nobody links with these.
  install(FILES $<TARGET_FILE:cairn_layer> $<TARGET_FILE:cairn_vulkan_layer>
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/VkLayer_CAIRN_breadcrumbs.json TYPE BIN COMPONENT programs)
  # To be copied beside a program, not found by any.
  install(FILES $<TARGET_FILE:cairn_proxy_d3d12> $<TARGET_FILE:cairn_proxy_dxgi>
    DESTINATION ${CMAKE_INSTALL_BINDIR}/proxy COMPONENT programs)
  # cairn of Linux, in the same prefix, looks for it beside libcairn-d3d12.so: --component wine.
  install(FILES $<TARGET_FILE:cairn_layer> DESTINATION lib/cairn COMPONENT wine EXCLUDE_FROM_ALL)
  return()
endif()

# For `cairn run` alone: no program links with it.
install(TARGETS cairn_layer LIBRARY DESTINATION lib/cairn COMPONENT programs)
# Beside the library that it names.
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/VkLayer_CAIRN_breadcrumbs.json
  DESTINATION lib/cairn COMPONENT programs)
# For `cairn watchd --enable`; systemd looks for units of users there in every prefix that it knows.
install(CODE "set(CAIRN_PROGRAM \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/cairn\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/cairn-watchd.service.in\"
    \"${PROJECT_BINARY_DIR}/cairn-watchd.service\" @ONLY)" COMPONENT programs)
install(FILES ${PROJECT_BINARY_DIR}/cairn-watchd.service DESTINATION lib/systemd/user COMPONENT programs)
# Made by the program itself, when it is linked.
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ TYPE DATA COMPONENT programs)
install(FILES ${PROJECT_SOURCE_DIR}/completions/d3dconfig.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME d3dconfig COMPONENT programs)
# It names what this architecture links with. Debian has a folder for each, in every prefix that its pkg-config knows.
set(CAIRN_PC_FOLDER ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(CMAKE_INSTALL_LIBDIR STREQUAL "lib" AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CAIRN_PC_FOLDER lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig)
endif()
file(RELATIVE_PATH CAIRN_PC_PREFIX /prefix/${CAIRN_PC_FOLDER} /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn.pc @ONLY)
install(TARGETS cairn_static ARCHIVE COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/cairn.pc DESTINATION ${CAIRN_PC_FOLDER} COMPONENT development)
