# SPDX-License-Identifier: Apache-2.0
# The Vulkan backend and its self-test. Only headers of Vulkan are needed: the application's loader
# brings the functions.
cairn_library(cairn_breadcrumbs_vulkan
  SOURCES vulkan_backend.cc vulkan_functions.cc vulkan_loader.cc vulkan_memory.cc vulkan_selftest.cc
          vulkan_witnesses.cc vulkan_writes.cc
  DEPS cairn_recorder cairn_witness fmt::fmt)

# For `cairn selftest`, the tests and the benchmarks: devices of our own.
cairn_library(cairn_vulkan_probe
  SOURCES vulkan_barriers.cc vulkan_busy_work.cc vulkan_device_setup.cc vulkan_liveness.cc vulkan_probe.cc
          vulkan_witness_probe.cc
  DEPS cairn_breadcrumbs_vulkan cairn_vulkan_functions)
add_dependencies(cairn_vulkan_probe cairn_vulkangen_files)
include(${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
cairn_embed_files(cairn_vulkan_probe
  FILES shaders/busy.comp.spv shaders/busy.frag.spv shaders/busy.vert.spv)

cairn_test(vulkan_witnesses_test
  SOURCES vulkan_witnesses_test.cc
  DEPS cairn_breadcrumbs_vulkan)
cairn_library(cairn_vulkan_testing
  SOURCES testing/vulkan_test_device.cc
  DEPS cairn_vulkan_probe PkgConfig::VULKAN)
target_compile_definitions(cairn_vulkan_testing PRIVATE CAIRN_SOURCE_DIR="${CAIRN_DRIVE}${PROJECT_SOURCE_DIR}")

cairn_test(vulkan_backend_test
  SOURCES vulkan_backend_test.cc
  DEPS cairn_vulkan_testing GPU)

cairn_test(vulkan_probe_test
  SOURCES vulkan_probe_test.cc
  DEPS cairn_vulkan_probe GPU)
cairn_vulkan_tests(vulkan_backend_test vulkan_probe_test)

cairn_bench(vulkan_bench
  SOURCES vulkan_bench.cc
  DEPS cairn_vulkan_testing)
if(TARGET vulkan_bench)
  cairn_embed_files(vulkan_bench FILES ${PROJECT_SOURCE_DIR}/samples/shaders/vulkan/fill.comp.spv)
endif()
