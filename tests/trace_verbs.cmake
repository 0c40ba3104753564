# SPDX-License-Identifier: Apache-2.0
cairn_test(trace_verbs_test SOURCES trace_verbs_test.cc DEPS cairn_test_harness nlohmann_json::nlohmann_json)
add_dependencies(trace_verbs_test cairn_command)
