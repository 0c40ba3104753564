# SPDX-License-Identifier: Apache-2.0
# Raw markers of Direct3D 11, on Windows.
include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
cairn_library(cairn_breadcrumbs_d3d11
  SOURCES d3d11_backend.cc d3d11_counter.cc d3d11_labels.cc d3d11_markers.cc d3d11_selftest.cc
  DEPS cairn_breadcrumbs cairn_driver_half cairn_d3d12abi cairn_pix cairn_os fmt::fmt)
cairn_embed_files(cairn_breadcrumbs_d3d11 FILES
  ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/hang.ps.dxbc
  ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/triangle.vs.dxbc)
