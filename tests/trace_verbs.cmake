# SPDX-License-Identifier: Apache-2.0
cairn_test(trace_verbs_test SOURCES trace_verbs_test.cc DEPS cairn_test_harness cairn_test_json)
add_dependencies(trace_verbs_test cairn_command)
if(NOT CAIRN_SANITIZE)
  # It bounds the memory of commands: a sanitizer's own would be measured.
  cairn_test(small_files_test SOURCES small_files_test.cc
    DEPS cairn_test_harness cairn_snapshot cairn_trace cairn_calls cairn_file TIMEOUT 600)
  add_dependencies(small_files_test cairn_command)
endif()
