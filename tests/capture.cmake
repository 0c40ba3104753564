# SPDX-License-Identifier: Apache-2.0
# Captures of programs that are killed (tests/soak does it 200 times), and of some frames only.
if(TARGET cairn_layer AND TARGET sample-scale-d3d12-plain AND NOT CAIRN_SANITIZE)
  cairn_test(capture_kill_test SOURCES capture_kill_test.cc
    DEPS cairn_test_harness cairn_trace GPU TIMEOUT 300)
  add_dependencies(capture_kill_test cairn_command cairn_layer sample-scale-d3d12-plain)
  cairn_test(trim_test SOURCES trim_test.cc DEPS cairn_test_harness GPU TIMEOUT 300)
  add_dependencies(trim_test cairn_command cairn_layer plain sample-scale-d3d12-plain)
  if(TARGET kept_list)
    add_dependencies(trim_test kept_list)
  endif()
  cairn_test(bad_trace_test SOURCES bad_trace_test.cc
    DEPS cairn_test_harness cairn_trace GPU TIMEOUT 300)
  add_dependencies(bad_trace_test cairn_command cairn_layer sample-scale-d3d12-plain)
  cairn_test(replay_verb_test SOURCES replay_verb_test.cc
    DEPS cairn_test_harness cairn_trace cairn_calls cairn_d3d12abi PkgConfig::XXHASH
      cairn_test_json GPU TIMEOUT 300)
  add_dependencies(replay_verb_test cairn_command cairn_layer sample-scale-d3d12-plain
    sample-hang-d3d12-plain)
  cairn_test(replay_signals_test SOURCES replay_signals_test.cc
    DEPS cairn_test_harness cairn_test_json GPU TIMEOUT 300)
  add_dependencies(replay_signals_test cairn_command cairn_layer sample-scale-d3d12-plain
    sample-fault-d3d12-plain sample-triangle-d3d12-plain)
  foreach(test interrupt_test interrupt_terminal_test)
    cairn_test(${test} SOURCES ${test}.cc DEPS cairn_test_harness cairn_test_block GPU TIMEOUT 300)
    add_dependencies(${test} cairn_command cairn_layer sample-scale-d3d12-plain sample-fault-d3d12-plain)
  endforeach()
  foreach(test view_stops_test view_replay_stops_test)
    cairn_test(${test} SOURCES ${test}.cc
      DEPS cairn_test_harness cairn_test_json cairn_os PkgConfig::HTTPLIB GPU TIMEOUT 300)
    add_dependencies(${test} cairn_command cairn_layer sample-scale-d3d12-plain sample-fault-d3d12-plain)
  endforeach()
endif()
