# SPDX-License-Identifier: Apache-2.0
# Verbs that read a trace as a whole; what they show, apart from the program for its test.
cairn_library(cairn_trace_views SOURCES trace_views.cc
  DEPS cairn_trace cairn_calls cairn_base fmt::fmt nlohmann_json::nlohmann_json)
cairn_test(trace_views_test SOURCES trace_views_test.cc DEPS cairn_trace_views)
target_sources(cairn_command PRIVATE objects.cc progress_linux.cc repack.cc verify.cc)
target_link_libraries(cairn_command PRIVATE cairn_trace_views)
