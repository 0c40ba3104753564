# SPDX-License-Identifier: Apache-2.0
# Sources made from the headers of Direct3D 11: docs/internals/codegen.md. Windows alone.
#
#   cairn_d3d11gen       the table of methods
#   CAIRN_D3D11GEN_THIN  the functions in front of them; compiled by src/app/d3d11
find_path(CAIRN_D3D11_HEADERS d3d11_4.h PATHS ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES} REQUIRED NO_DEFAULT_PATH
  NO_CMAKE_FIND_ROOT_PATH)
set(d3d11gen ${CAIRN_D3D12GEN_FOLDER}/d3d11gen)
set(CAIRN_D3D11GEN_THIN ${d3d11gen}/thin.cc CACHE INTERNAL "")
set(d3d11_outputs ${d3d11gen}/methods.h ${d3d11gen}/methods.cc ${d3d11gen}/by_hand.h ${d3d11gen}/thin.cc
  ${d3d11gen}/slots.c)
set(d3d11_inputs --headers ${CAIRN_D3D11_HEADERS} --overrides ${CMAKE_CURRENT_SOURCE_DIR}/d3d11.toml
  --marker-types ${PROJECT_SOURCE_DIR}/include/cairn/marker_types.h)
file(GLOB d3d11_headers ${CAIRN_D3D11_HEADERS}/d3d11*.h)
add_custom_command(OUTPUT ${CAIRN_D3D12GEN_FOLDER}/d3d11gen.stamp BYPRODUCTS ${d3d11_outputs}
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/d3d11.py ${d3d11_inputs} --out ${CAIRN_D3D12GEN_FOLDER}
  COMMAND ${CMAKE_COMMAND} -E touch ${CAIRN_D3D12GEN_FOLDER}/d3d11gen.stamp
  DEPENDS ${d3d11_headers} ${PROJECT_SOURCE_DIR}/include/cairn/marker_types.h ${CMAKE_CURRENT_SOURCE_DIR}/d3d11.toml
    ${CMAKE_CURRENT_SOURCE_DIR}/d3d11.py
  COMMENT "Generating d3d11gen/ from ${CAIRN_D3D11_HEADERS}" VERBATIM)
add_custom_target(cairn_d3d11gen_files DEPENDS ${CAIRN_D3D12GEN_FOLDER}/d3d11gen.stamp)

# Compares the places of methods with what the compiler makes of the headers, while it is compiled.
add_library(cairn_d3d11gen_slots OBJECT ${d3d11gen}/slots.c)
target_link_libraries(cairn_d3d11gen_slots PRIVATE cairn_options)
cairn_library(cairn_d3d11gen SOURCES ${d3d11gen}/methods.cc)
add_dependencies(cairn_d3d11gen_slots cairn_d3d11gen_files)
add_dependencies(cairn_d3d11gen cairn_d3d11gen_files cairn_d3d11gen_slots)
target_include_directories(cairn_d3d11gen PUBLIC ${CAIRN_D3D12GEN_FOLDER})
