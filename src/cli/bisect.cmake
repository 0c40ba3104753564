# SPDX-License-Identifier: Apache-2.0
# cairn bisect; what it prints, apart from the program for its test.
cairn_library(cairn_bisect_text SOURCES bisect_text.cc
  DEPS cairn_bisect_trace cairn_report cairn_analysis cairn_snapshot cairn_cairnfile cairn_base fmt::fmt
       nlohmann_json::nlohmann_json)
cairn_test(bisect_text_test SOURCES bisect_text_test.cc DEPS cairn_bisect_text)
target_sources(cairn_command PRIVATE bisect.cc)
target_link_libraries(cairn_command PRIVATE cairn_bisect_text cairn_bisect_trace)
