# SPDX-License-Identifier: Apache-2.0
# libcairn-d3d12.so, which `cairn run` preloads: libcairn, the Direct3D 12 layer for both calling
# conventions, the functions that it stands in front of, and the Vulkan layer, whose manifest names this
# library. Without a version in its name: nobody links with it.
foreach(abi "" _sysv)
  target_sources(cairn_d3d12${abi} PRIVATE entry.cc)
endforeach()
add_library(cairn_layer SHARED entry_points_linux.cc entry_known_linux.cc entry_next_linux.cc exports_linux.cc
  ${PROJECT_SOURCE_DIR}/src/vulkan/entry_point.cc $<TARGET_OBJECTS:cairn_api>)
set_target_properties(cairn_layer PROPERTIES OUTPUT_NAME cairn-d3d12)
target_link_libraries(cairn_layer PRIVATE cairn_d3d12 cairn_d3d12_sysv cairn_vulkan cairn_api
  cairn_options ${CMAKE_DL_LIBS})
cairn_stands_alone(cairn_layer)
cairn_ships(cairn_layer lib)
# The Vulkan loader unloads its layers with the last instance. Crash signals, thread-local state and the
# block are for the whole life of the process.
target_link_options(cairn_layer PRIVATE -Wl,-z,nodelete
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/libcairn-d3d12.map)
set_property(TARGET cairn_layer APPEND PROPERTY LINK_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/libcairn-d3d12.map)
