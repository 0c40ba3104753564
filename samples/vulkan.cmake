# SPDX-License-Identifier: Apache-2.0
# What the Vulkan samples share, and one program each.
add_library(cairn_sample_vulkan STATIC vulkan_device.cc vulkan_slow_work.cc vulkan_work.cc)
target_link_libraries(cairn_sample_vulkan
  PUBLIC cairn CLI11::CLI11 PkgConfig::VULKAN fmt::fmt
  PRIVATE cairn_sample_images cairn_options)
cairn_embed_files(cairn_sample_vulkan FILES shaders/vulkan/fill.comp.spv shaders/vulkan/hang.comp.spv)

# cairn_vulkan_sample(NAME [SHADERS files]): sample-NAME-vulkan from NAME_vulkan.cc.
function(cairn_vulkan_sample name)
  cmake_parse_arguments(ARG "" "" "SHADERS" ${ARGN})
  cairn_program(sample-${name}-vulkan SOURCES ${name}_vulkan.cc DEPS cairn_sample_vulkan)
  list(TRANSFORM ARG_SHADERS PREPEND shaders/vulkan/)
  cairn_embed_files(sample-${name}-vulkan FILES ${ARG_SHADERS})
endfunction()

cairn_vulkan_sample(triangle SHADERS triangle.vert.spv triangle.frag.spv)
cairn_vulkan_sample(passes SHADERS solid.vert.spv solid.frag.spv)
cairn_vulkan_sample(hang)
cairn_vulkan_sample(fault SHADERS fault.comp.spv)
cairn_vulkan_sample(killed)
