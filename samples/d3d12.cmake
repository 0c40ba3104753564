# SPDX-License-Identifier: Apache-2.0
# What the Direct3D 12 samples share, and one program each.
add_library(cairn_sample_d3d12 STATIC d3d12_device.cc d3d12_device_linux.cc d3d12_work.cc)
target_link_libraries(cairn_sample_d3d12
  PUBLIC cairn cairn_d3d12abi CLI11::CLI11 PkgConfig::VKD3D_UTILS fmt::fmt
  PRIVATE cairn_sample_images cairn_options)
cairn_embed_files(cairn_sample_d3d12 FILES shaders/d3d12/fill.cs.dxbc shaders/d3d12/hang.cs.dxbc)

# cairn_d3d12_sample(NAME [SHADERS files]): sample-NAME-d3d12 from NAME_d3d12.cc.
function(cairn_d3d12_sample name)
  cmake_parse_arguments(ARG "" "" "SHADERS" ${ARGN})
  cairn_program(sample-${name}-d3d12 SOURCES ${name}_d3d12.cc DEPS cairn_sample_d3d12)
  list(TRANSFORM ARG_SHADERS PREPEND shaders/d3d12/)
  cairn_embed_files(sample-${name}-d3d12 FILES ${ARG_SHADERS})
endfunction()

cairn_d3d12_sample(triangle SHADERS triangle.vs.dxbc triangle.ps.dxbc)
cairn_d3d12_sample(passes SHADERS solid.vs.dxbc solid.ps.dxbc)
cairn_d3d12_sample(hang)
cairn_d3d12_sample(fault SHADERS fault.cs.dxbc)
cairn_d3d12_sample(killed)
