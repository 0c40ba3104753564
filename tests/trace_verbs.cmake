# SPDX-License-Identifier: Apache-2.0
cairn_test(trace_verbs_test SOURCES trace_verbs_test.cc DEPS cairn_test_harness cairn_test_json)
add_dependencies(trace_verbs_test cairn_command)
if(NOT CAIRN_SANITIZE)
  # They bound the memory of commands: a sanitizer's own would be measured.
  cairn_test(mcp_verb_test SOURCES mcp_verb_test.cc
    DEPS cairn_test_harness cairn_test_json fmt::fmt GPU TIMEOUT 300)
  add_dependencies(mcp_verb_test cairn_command)
  cairn_test(small_files_test SOURCES small_files_test.cc
    DEPS cairn_test_harness cairn_snapshot cairn_trace cairn_calls cairn_file TIMEOUT 600)
  add_dependencies(small_files_test cairn_command)
endif()

# cairn mcp, asked by the protocol's official client. Its npm packages come by package-lock.json, when it first runs.
if(NOT CAIRN_SANITIZE)
  find_program(CAIRN_NODE node)
  find_program(CAIRN_NPM npm)
  add_test(NAME mcp_client_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/mcp/run)
  set_tests_properties(mcp_client_test PROPERTIES LABELS gpu TIMEOUT 300 RESOURCE_LOCK device COST ${CAIRN_DEVICE_COST} SKIP_RETURN_CODE 77 ENVIRONMENT
    "CAIRN_SOURCE_DIR=${PROJECT_SOURCE_DIR};CAIRN_BINARY_DIR=${PROJECT_BINARY_DIR};CAIRN_NODE=$<$<BOOL:${CAIRN_NODE}>:${CAIRN_NODE}>;CAIRN_NPM=$<$<BOOL:${CAIRN_NPM}>:${CAIRN_NPM}>")
endif()
