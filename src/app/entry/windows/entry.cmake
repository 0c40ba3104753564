# SPDX-License-Identifier: Apache-2.0
# cairn-d3d.dll, which comes into a program before it calls anything: libcairn, the layers of Direct3D 12 and Vulkan, and
# what replaces functions.
set(CAIRN_ENTRY_SOURCES windows/child_functions.cc windows/d3d11_functions.cc windows/d3d12_functions.cc windows/dll_main.cc windows/dxgi_functions.cc
  windows/dxgi_swap_chain.cc windows/functions.cc windows/import_tables.cc
  windows/linux_half.cc windows/loader_functions.cc windows/on12_functions.cc
  ${PROJECT_SOURCE_DIR}/src/app/vulkan/entry_point.cc)
add_library(cairn_layer SHARED ${CAIRN_ENTRY_SOURCES} $<TARGET_OBJECTS:cairn_api> $<TARGET_OBJECTS:cairn_message_callback>)
set_target_properties(cairn_layer PROPERTIES PREFIX "" OUTPUT_NAME cairn-d3d)
target_link_libraries(cairn_layer PRIVATE cairn_d3d11 cairn_d3d12 cairn_replacement cairn_vulkan cairn_api cairn_options psapi)
target_compile_definitions(cairn_layer PRIVATE CAIRN_LIBRARY_VERSION="${PROJECT_VERSION}")
cairn_precompile(cairn_layer)
cairn_stands_alone(cairn_layer)
cairn_ships(cairn_layer bin)
include(windows/proxies.cmake)

# What the manifest of the Vulkan layer names.
add_library(cairn_vulkan_layer SHARED windows/vulkan_layer.cc)
set_target_properties(cairn_vulkan_layer PROPERTIES PREFIX "" OUTPUT_NAME VkLayer_cairn)
target_link_libraries(cairn_vulkan_layer PRIVATE cairn_layer cairn_options)
cairn_ships(cairn_vulkan_layer bin)
