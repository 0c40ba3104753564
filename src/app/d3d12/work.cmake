# SPDX-License-Identifier: Apache-2.0
# Command lists and queues. The sources are part of cairn_d3d12 and cairn_d3d12_sysv.
set(CAIRN_D3D12_WORK_SOURCES
  bindings.cc command_queue.cc graphics_command_list.cc graphics_command_list_bindings.cc
  capture/graphics_command_list_capture.cc work.cc work_list.cc)

if(BUILD_TESTING)
  # What is noted, without any wrapper: on a simulated GPU.
  cairn_test(d3d12_work_test
    SOURCES bindings.cc bindings_test.cc work.cc work_test.cc
    DEPS cairn_breadcrumbs cairn_capture cairn_d3d12abi THREADS)
endif()

# After cairn_d3d12 has been defined.
function(cairn_d3d12_work_tests)
  include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  cairn_library(cairn_d3d12_work_scene
    SOURCES testing/work_scene.cc
    DEPS cairn_d3d12_test_gpu)
  cairn_embed_files(cairn_d3d12_work_scene FILES
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/fill.cs.dxbc
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/triangle.ps.dxbc
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/triangle.vs.dxbc)
  cairn_test(d3d12_work_gpu_test
    SOURCES work_gpu_test.cc
    DEPS cairn_d3d12 cairn_d3d12_work_scene cairn_d3d12_test_gpu GPU)
  cairn_test_again(d3d12_work_gpu_test BREADCRUMBS=off BREADCRUMBS=pass BREADCRUMBS=full)
  cairn_bench(d3d12_work_bench
    SOURCES work_bench.cc
    DEPS cairn_d3d12 cairn_d3d12_test_gpu)
endfunction()
