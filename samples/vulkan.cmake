# SPDX-License-Identifier: Apache-2.0
# What the Vulkan samples share, and one program each, twice: sample-NAME-vulkan says what it does by
# libcairn, sample-NAME-vulkan-plain by labels and object names only, and is not linked with libcairn.
foreach(telling cairn plain)
  add_library(cairn_sample_vulkan_${telling} STATIC
    vulkan_device.cc vulkan_slow_work.cc vulkan_work.cc vulkan_telling_${telling}.cc)
  cairn_precompile(cairn_sample_vulkan_${telling})
  target_include_directories(cairn_sample_vulkan_${telling} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(cairn_sample_vulkan_${telling}
    PUBLIC PkgConfig::VULKAN fmt::fmt
    PRIVATE cairn_sample_common cairn_options)
  cairn_embed_files(cairn_sample_vulkan_${telling}
    FILES shaders/vulkan/fill.comp.spv shaders/vulkan/hang.comp.spv)
endforeach()
target_link_libraries(cairn_sample_vulkan_cairn PUBLIC cairn)

# cairn_vulkan_sample(NAME [PLAIN_ONLY | CAIRN_ONLY] [SHADERS files]): both programs from NAME_vulkan.cc. With
# PLAIN_ONLY there is one, sample-NAME-vulkan, and it is the plain one; with CAIRN_ONLY the other.
function(cairn_vulkan_sample name)
  cmake_parse_arguments(ARG "PLAIN_ONLY;CAIRN_ONLY" "" "SHADERS" ${ARGN})
  list(TRANSFORM ARG_SHADERS PREPEND shaders/vulkan/)
  string(REPLACE - _ source ${name})
  if(ARG_PLAIN_ONLY)
    set(programs sample-${name}-vulkan=plain)
  elseif(ARG_CAIRN_ONLY)
    set(programs sample-${name}-vulkan=cairn)
  else()
    set(programs sample-${name}-vulkan=cairn sample-${name}-vulkan-plain=plain)
  endif()
  foreach(program ${programs})
    string(REPLACE "=" ";" parts ${program})
    list(GET parts 0 target)
    list(GET parts 1 telling)
    cairn_program(${target} SOURCES ${source}_vulkan.cc DEPS cairn_sample_vulkan_${telling})
    cairn_embed_files(${target} FILES ${ARG_SHADERS})
    cairn_beside_vulkan_loader(${target})
  endforeach()
endfunction()

cairn_vulkan_sample(triangle SHADERS triangle.vert.spv triangle.frag.spv)
cairn_vulkan_sample(passes SHADERS solid.vert.spv solid.frag.spv)
cairn_vulkan_sample(hang)
cairn_vulkan_sample(fault SHADERS fault.comp.spv)
cairn_vulkan_sample(killed)
cairn_vulkan_sample(raw-markers CAIRN_ONLY SHADERS triangle.vert.spv wait.frag.spv)
cairn_vulkan_sample(threads PLAIN_ONLY SHADERS solid.vert.spv solid.frag.spv)
