# SPDX-License-Identifier: Apache-2.0
# Verbs about pictures and differences; what compares calls, apart from the program for its test.
cairn_library(cairn_trace_diff SOURCES trace_diff.cc
  DEPS cairn_trace cairn_calls cairn_base fmt::fmt PkgConfig::XXHASH)
cairn_test(trace_diff_test SOURCES trace_diff_test.cc DEPS cairn_trace_diff)
target_sources(cairn_command PRIVATE images.cc diff.cc)
target_link_libraries(cairn_command PRIVATE cairn_trace_diff cairn_player_any cairn_image_file)
