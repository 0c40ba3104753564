# SPDX-License-Identifier: Apache-2.0
# The requirements of user-defined annotations, each a test Annotations.ID_WhatItShows. One program for
# each driver, because a program chooses its driver once.
cairn_test(annotations_runtime_test SOURCES annotations_runtime_test.cc
  DEPS cairn_annotations cairn_snapshot THREADS)
target_compile_definitions(annotations_runtime_test PRIVATE
  CAIRN_NO_DRIVER_LIBRARY="$<TARGET_FILE:cairn>")
# Drivers that answer what nobody offered.
foreach(what feature_version ddi_required)
  add_library(cairn_driver_${what} MODULE programs/mismatched_driver.c)
  string(TOUPPER ${what} name)
  target_compile_definitions(cairn_driver_${what} PRIVATE MISMATCH_${name})
  target_link_libraries(cairn_driver_${what} PRIVATE cairn_options)
  set_target_properties(cairn_driver_${what} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
endforeach()
add_dependencies(annotations_runtime_test cairn_sample_driver cairn cairn_driver_feature_version
  cairn_driver_ddi_required)

# What the documentation prints, in a function: it compiles and links as it stands.
if(NOT WIN32)
  set(page ${PROJECT_SOURCE_DIR}/docs/reference/annotations.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  string(REGEX MATCH "```cpp\n[^`]*```" text "${text}")
  string(REGEX REPLACE "```(cpp)?\n?" "" text "${text}")
  string(REGEX REPLACE "\n\n" "\n\nvoid Snippet(ID3D12Device* device) {\n" text "${text}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/annotations_snippet.inc CONTENT "${text}}\n" @ONLY)
  cairn_test(annotations_snippet_test SOURCES annotations_snippet_test.cc DEPS cairn_d3d12abi)
  target_include_directories(annotations_snippet_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endif()

if(TARGET cairn_d3d12)
  include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  cairn_library(cairn_annotations_device
    SOURCES annotations_device.cc
    DEPS cairn_d3d12 cairn_snapshot GTest::gtest PkgConfig::VKD3D_UTILS)
  target_include_directories(cairn_annotations_device PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  cairn_test(annotations_test SOURCES annotations_test.cc
    DEPS cairn_annotations_device GPU)
  cairn_embed_files(annotations_test FILES ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/fill.cs.dxbc)
  cairn_test(annotations_video_test SOURCES annotations_video_test.cc
    DEPS cairn_annotations_device GPU)
  cairn_test(annotations_runtime_only_test SOURCES annotations_runtime_only_test.cc
    DEPS cairn_annotations_device GPU)
  cairn_test(annotations_none_test SOURCES annotations_none_test.cc
    DEPS cairn_annotations_device GPU)
  cairn_test(annotations_breadcrumb_test SOURCES annotations_breadcrumb_test.cc
    DEPS cairn_annotations_device GPU)
  cairn_test(annotations_library_test SOURCES annotations_library_test.cc
    DEPS cairn_annotations_device GPU)
  add_dependencies(annotations_library_test cairn_sample_driver)
  cairn_test(annotations_pix_test
    SOURCES annotations_pix_test.cc annotations_pix_development.cc annotations_pix_retail.cc
    DEPS cairn_annotations_device cairn_pix GPU)
endif()
if(TARGET cairn_d3d12 AND TARGET d3dconfig)
  cairn_test(annotations_d3dconfig_test SOURCES annotations_d3dconfig_test.cc
    DEPS cairn_annotations_device cairn_test_harness GPU)
  add_dependencies(annotations_d3dconfig_test d3dconfig)
endif()
