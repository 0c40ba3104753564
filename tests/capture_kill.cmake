# SPDX-License-Identifier: Apache-2.0
# Captured programs that are killed; tests/soak/kill-captures does it 200 times.
if(TARGET cairn_layer AND TARGET sample-scale-d3d12-plain AND NOT CAIRN_SANITIZE)
  cairn_test(capture_kill_test SOURCES capture_kill_test.cc
    DEPS cairn_test_harness cairn_trace GPU TIMEOUT 300)
  add_dependencies(capture_kill_test cairn_command cairn_layer sample-scale-d3d12-plain)
endif()
