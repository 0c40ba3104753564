# SPDX-License-Identifier: Apache-2.0
# The Direct3D 12 backend and its self-test, against the COM interfaces only: once for each
# calling convention. Headers of Vulkan serve to name the device below libvkd3d.
set(system linux)
if(WIN32)
  set(system windows)
endif()
set(CAIRN_BREADCRUMBS_D3D12_SOURCES
  d3d12_backend.cc d3d12_buffers.cc d3d12_drain.cc d3d12_driver_selftest.cc d3d12_layer_objects.cc
  d3d12_module_${system}.cc d3d12_run_tables.cc d3d12_selftest.cc d3d12_submitter.cc d3d12_value_pool.cc)
cairn_library(cairn_breadcrumbs_d3d12_ms
  SOURCES ${CAIRN_BREADCRUMBS_D3D12_SOURCES}
  DEPS cairn_adapters cairn_driver_half cairn_recorder cairn_d3d12abi fmt::fmt)
if(CAIRN_D3D12_ABIS)
  cairn_library(cairn_breadcrumbs_d3d12_sysv
    SOURCES ${CAIRN_BREADCRUMBS_D3D12_SOURCES}
    DEPS cairn_adapters cairn_driver_half cairn_recorder cairn_d3d12abi_sysv fmt::fmt)
endif()
# Chooses between the two; sees no declaration of Direct3D.
cairn_library(cairn_breadcrumbs_d3d12
  SOURCES d3d12_abi.cc
  DEPS cairn_breadcrumbs)
foreach(abi _ms ${CAIRN_D3D12_ABIS})
  target_link_libraries(cairn_breadcrumbs_d3d12 PUBLIC $<LINK_ONLY:cairn_breadcrumbs_d3d12${abi}>)
endforeach()

# For `cairn selftest`, the tests and the benchmarks: devices of our own. libvkd3d, or d3d12.dll, is loaded, not
# linked.
cairn_library(cairn_d3d12_probe
  SOURCES d3d12_devices_${system}.cc d3d12_probe.cc
  DEPS cairn_breadcrumbs_d3d12 cairn_breadcrumbs_d3d12_ms)
if(NOT WIN32)
  # libvkd3d's own headers, which do not go with DirectX-Headers.
  set_source_files_properties(d3d12_devices_linux.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(cairn_d3d12_probe SYSTEM PRIVATE
    $<TARGET_PROPERTY:PkgConfig::VKD3D_UTILS,INTERFACE_INCLUDE_DIRECTORIES>)
endif()

if(BUILD_TESTING)
  foreach(abi _ms ${CAIRN_D3D12_ABIS})
    string(REPLACE _ms "" suffix ${abi})
    cairn_test(d3d12_abi${suffix}_test SOURCES d3d12_abi_test.cc
      DEPS cairn_breadcrumbs_d3d12 cairn_breadcrumbs_d3d12${abi} cairn_d3d12_fake${suffix})
  endforeach()
endif()
if(BUILD_TESTING)
  include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  # Work of a chosen length, from the samples' shaders.
  cairn_library(cairn_d3d12_test_gpu
    SOURCES testing/d3d12_test_gpu.cc
    DEPS cairn_d3d12_probe cairn_d3d12_system)
  cairn_embed_files(cairn_d3d12_test_gpu FILES
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/hang.cs.dxbc
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/hang.ps.dxbc
    ${PROJECT_SOURCE_DIR}/samples/shaders/d3d12/triangle.vs.dxbc)
  cairn_test(d3d12_value_pool_test SOURCES d3d12_value_pool_test.cc DEPS cairn_d3d12_test_gpu GPU)
  cairn_test(d3d12_backend_test SOURCES d3d12_backend_test.cc DEPS cairn_d3d12_test_gpu GPU)
  cairn_test(d3d12_many_devices_test SOURCES d3d12_many_devices_test.cc DEPS cairn_d3d12_test_gpu GPU)
  cairn_bench(d3d12_bench SOURCES d3d12_bench.cc DEPS cairn_d3d12_test_gpu)
endif()
