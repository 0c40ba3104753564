# SPDX-License-Identifier: Apache-2.0
# Sources made from Vulkan's registry: docs/internals/codegen.md.
#
#   cairn_vulkan_functions   the functions of devices, and their loading
#   CAIRN_VULKANGEN_WORK     the intercepts of commands that give work, and the same commands in mode exact;
#                            compiled by src/app/vulkan
#   CAIRN_VULKANGEN_DRIVEN_WORK   the same intercepts for devices that Direct3D drives
pkg_get_variable(vulkan_prefix vulkan prefix)
find_file(CAIRN_VULKAN_REGISTRY vk.xml HINTS ${vulkan_prefix}/share PATHS /usr/share /usr/local/share
  PATH_SUFFIXES vulkan/registry REQUIRED)

set(vulkangen ${CAIRN_D3D12GEN_FOLDER}/vulkangen)
set(CAIRN_VULKANGEN_WORK ${vulkangen}/work.cc ${vulkangen}/exact.cc CACHE INTERNAL "")
set(CAIRN_VULKANGEN_DRIVEN_WORK ${vulkangen}/driven_work.cc CACHE INTERNAL "")
set(vulkan_outputs ${vulkangen}/device_functions.h ${vulkangen}/device_functions.cc ${vulkangen}/work.cc
  ${vulkangen}/driven_work.cc ${vulkangen}/exact.cc ${vulkangen}/noted_calls.inc
  ${vulkangen}/chain_structures.inc)
set(marker_types ${PROJECT_SOURCE_DIR}/include/cairn/marker_types.h)
add_custom_command(OUTPUT ${CAIRN_D3D12GEN_FOLDER}/vulkangen.stamp BYPRODUCTS ${vulkan_outputs}
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/vulkan.py
    --registry ${CAIRN_VULKAN_REGISTRY} --marker-types ${marker_types} --out ${CAIRN_D3D12GEN_FOLDER}
  COMMAND ${CMAKE_COMMAND} -E touch ${CAIRN_D3D12GEN_FOLDER}/vulkangen.stamp
  DEPENDS ${CAIRN_VULKAN_REGISTRY} ${marker_types} ${CMAKE_CURRENT_SOURCE_DIR}/vulkan.py
  COMMENT "Generating vulkangen/ from ${CAIRN_VULKAN_REGISTRY}" VERBATIM)
add_custom_target(cairn_vulkangen_files DEPENDS ${CAIRN_D3D12GEN_FOLDER}/vulkangen.stamp)

cairn_library(cairn_vulkan_functions SOURCES ${vulkangen}/device_functions.cc)
add_dependencies(cairn_vulkan_functions cairn_vulkangen_files)
target_include_directories(cairn_vulkan_functions PUBLIC ${CAIRN_D3D12GEN_FOLDER})

if(BUILD_TESTING AND NOT WIN32)  # the same on every system
  add_test(NAME codegen_vulkan_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/vulkan_test.py
    --registry ${CAIRN_VULKAN_REGISTRY})
  set_tests_properties(codegen_vulkan_test PROPERTIES LABELS tools TIMEOUT 120)
endif()
