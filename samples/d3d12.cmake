# SPDX-License-Identifier: Apache-2.0
# What the Direct3D 12 samples share, and one program each, twice: sample-NAME-d3d12 says what it does
# by libcairn, sample-NAME-d3d12-plain by names and PIX events only, and is not linked with libcairn.
foreach(telling cairn plain)
  add_library(cairn_sample_d3d12_${telling} STATIC
    d3d12_device.cc d3d12_device_${CAIRN_SAMPLE_SYSTEM}.cc d3d12_work.cc d3d12_telling_${telling}.cc)
  cairn_precompile(cairn_sample_d3d12_${telling})
  target_include_directories(cairn_sample_d3d12_${telling} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(cairn_sample_d3d12_${telling}
    PUBLIC cairn_d3d12abi cairn_d3d12_system fmt::fmt
    PRIVATE cairn_sample_common cairn_options)
  cairn_embed_files(cairn_sample_d3d12_${telling}
    FILES shaders/d3d12/fill.cs.dxbc shaders/d3d12/hang.cs.dxbc)
endforeach()
target_link_libraries(cairn_sample_d3d12_cairn PUBLIC cairn)

# cairn_d3d12_sample(NAME [PLAIN_ONLY] [SHADERS files]): both programs from NAME_d3d12.cc. With
# PLAIN_ONLY there is one, sample-NAME-d3d12, and it is the plain one.
function(cairn_d3d12_sample name)
  cmake_parse_arguments(ARG "PLAIN_ONLY" "" "SHADERS" ${ARGN})
  string(REPLACE - _ source ${name})
  list(TRANSFORM ARG_SHADERS PREPEND shaders/d3d12/)
  if(ARG_PLAIN_ONLY)
    set(programs sample-${name}-d3d12=plain)
  else()
    set(programs sample-${name}-d3d12=cairn sample-${name}-d3d12-plain=plain)
  endif()
  foreach(program ${programs})
    string(REPLACE "=" ";" parts ${program})
    list(GET parts 0 target)
    list(GET parts 1 telling)
    cairn_program(${target} SOURCES ${source}_d3d12.cc DEPS cairn_sample_d3d12_${telling})
    cairn_embed_files(${target} FILES ${ARG_SHADERS})
  endforeach()
endfunction()

cairn_d3d12_sample(triangle SHADERS triangle.vs.dxbc triangle.ps.dxbc)
cairn_d3d12_sample(passes SHADERS solid.vs.dxbc solid.ps.dxbc)
cairn_d3d12_sample(record-threads SHADERS solid.vs.dxbc solid.ps.dxbc)
cairn_d3d12_sample(scale SHADERS solid.vs.dxbc solid.ps.dxbc)
cairn_d3d12_sample(hang)
cairn_d3d12_sample(fault SHADERS fault.cs.dxbc)
cairn_d3d12_sample(late-fault PLAIN_ONLY SHADERS fault.cs.dxbc)
cairn_d3d12_sample(killed)
cairn_d3d12_sample(annotated-hang PLAIN_ONLY SHADERS
  solid.vs.dxbc solid.ps.dxbc triangle.vs.dxbc hang.ps.dxbc)
