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
    PRIVATE cairn_sample_common cairn_options $<$<BOOL:${WIN32}>:dxgi>)
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
cairn_d3d12_sample(two-devices PLAIN_ONLY SHADERS solid.vs.dxbc solid.ps.dxbc fault.cs.dxbc)
cairn_d3d12_sample(hang)
cairn_d3d12_sample(fault SHADERS fault.cs.dxbc)
cairn_d3d12_sample(late-fault PLAIN_ONLY SHADERS fault.cs.dxbc)
cairn_d3d12_sample(killed)
cairn_d3d12_sample(annotated-hang PLAIN_ONLY SHADERS
  solid.vs.dxbc solid.ps.dxbc triangle.vs.dxbc hang.ps.dxbc)

# What takes DXIL (shaders/dxil), from NAME_d3d12.cc. On Linux these are for a natively built vkd3d-proton, whose methods
# have the platform's calling convention, and which they open; on Windows they are as the plain ones above.
if(WIN32)
  set(CAIRN_SAMPLE_MODERN cairn_sample_d3d12_plain)
  target_sources(cairn_sample_d3d12_plain PRIVATE d3d12_structures.cc)
else()
  set(CAIRN_SAMPLE_MODERN cairn_sample_d3d12_modern)
  add_library(cairn_sample_d3d12_modern STATIC 
    d3d12_device.cc d3d12_device_proton.cc d3d12_structures.cc d3d12_telling_plain.cc)
  cairn_precompile(cairn_sample_d3d12_modern)
  target_include_directories(cairn_sample_d3d12_modern PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(cairn_sample_d3d12_modern
    PUBLIC cairn_d3d12abi_sysv fmt::fmt ${CMAKE_DL_LIBS}
    PRIVATE cairn_sample_common cairn_options)
endif()

# cairn_modern_d3d12_sample(NAME SHADERS files)
function(cairn_modern_d3d12_sample name)
  cmake_parse_arguments(ARG "" "" "SHADERS" ${ARGN})
  list(TRANSFORM ARG_SHADERS PREPEND shaders/dxil/)
  string(REPLACE - _ source ${name})
  cairn_program(sample-${name}-d3d12 SOURCES ${source}_d3d12.cc
    DEPS ${CAIRN_SAMPLE_MODERN} cairn_sample_common)
  cairn_embed_files(sample-${name}-d3d12 FILES ${ARG_SHADERS})
endfunction()

cairn_modern_d3d12_sample(indirect SHADERS
  write_arguments.cs.dxil cell.vs.dxil cell.ps.dxil fill.cs.dxil)
cairn_modern_d3d12_sample(many-addresses SHADERS fill.cs.dxil)
cairn_modern_d3d12_sample(bundles SHADERS cell.vs.dxil cell.ps.dxil fill.cs.dxil)
cairn_modern_d3d12_sample(raytracing SHADERS rays.lib.dxil)
cairn_modern_d3d12_sample(import)
cairn_modern_d3d12_sample(mesh SHADERS cells.as.dxil cells.ms.dxil cells.ps.dxil)
cairn_modern_d3d12_sample(shading-rate SHADERS rate.vs.dxil rate.ps.dxil)
cairn_modern_d3d12_sample(sampler-feedback SHADERS screen.vs.dxil feedback.ps.dxil)
cairn_modern_d3d12_sample(tiled SHADERS fill.cs.dxil)
