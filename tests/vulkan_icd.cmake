# SPDX-License-Identifier: Apache-2.0
# The Vulkan layer on the driver of icd/, on every system.
cairn_library(cairn_vulkan_icd_report SOURCES ${PROJECT_SOURCE_DIR}/tests/vulkan_icd_report.cc
  DEPS cairn_test_harness cairn_test_json)
target_compile_definitions(cairn_vulkan_icd_report PRIVATE CAIRN_BINARY_DIR="${CAIRN_DRIVE}${PROJECT_BINARY_DIR}")
foreach(test vulkan_pitfalls_test vulkan_layer_icd_test vulkan_witnesses_icd_test)
  cairn_test(${test} SOURCES ${PROJECT_SOURCE_DIR}/tests/${test}.cc DEPS cairn_vulkan_icd_report TIMEOUT 300)
  add_dependencies(${test} cairn_command cairn_layer icd_program cairn_icd)
  # Not with sanitizers, whose libraries other programs cannot preload.
  set_tests_properties(${test} PROPERTIES LABELS programs)
endforeach()
# Replays on machines with several adapters.
if(TARGET cairn_layer AND TARGET sample-scale-d3d12-plain AND NOT CAIRN_SANITIZE)
  cairn_test(replay_adapter_test SOURCES ${PROJECT_SOURCE_DIR}/tests/replay_adapter_test.cc
    DEPS cairn_test_harness cairn_test_json GPU TIMEOUT 300)
  target_compile_definitions(replay_adapter_test PRIVATE CAIRN_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_dependencies(replay_adapter_test cairn_command cairn_layer cairn_icd sample-scale-d3d12-plain)
endif()
