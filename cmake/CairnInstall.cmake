# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: programs, libraries, headers, pkg-config and CMake package.
include(CMakePackageConfigHelpers)

configure_file(${CMAKE_CURRENT_LIST_DIR}/cairnConfig.cmake.in ${PROJECT_BINARY_DIR}/cairnConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)

install(TARGETS cairn EXPORT cairnTargets)
install(TARGETS cairn_command d3dconfig RUNTIME)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn TYPE INCLUDE)
install(EXPORT cairnTargets NAMESPACE cairn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
install(FILES ${PROJECT_BINARY_DIR}/cairnConfig.cmake ${PROJECT_BINARY_DIR}/cairnConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)

if(WIN32)
  # cairn.exe, and whoever is loaded, looks beside itself. Nobody links with these.
  install(FILES $<TARGET_FILE:cairn_layer> $<TARGET_FILE:cairn_vulkan_layer>
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/VkLayer_CAIRN_breadcrumbs.json TYPE BIN)
  # To be copied beside a program, not found by any.
  install(FILES $<TARGET_FILE:cairn_proxy_d3d12> $<TARGET_FILE:cairn_proxy_dxgi>
    DESTINATION ${CMAKE_INSTALL_BINDIR}/proxy)
  # cairn of Linux, in the same prefix, looks for it beside libcairn-d3d12.so: --component wine.
  install(FILES $<TARGET_FILE:cairn_layer>
    DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT wine EXCLUDE_FROM_ALL)
  return()
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(TARGETS cairn_static ARCHIVE)
install(TARGETS cairn_layer LIBRARY)
# Beside the library that it names.
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/VkLayer_CAIRN_breadcrumbs.json
  DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/completions/cairn.bash
  DESTINATION share/bash-completion/completions RENAME cairn)
install(FILES ${PROJECT_SOURCE_DIR}/completions/d3dconfig.bash
  DESTINATION share/bash-completion/completions RENAME d3dconfig)
