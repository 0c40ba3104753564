# SPDX-License-Identifier: Apache-2.0
# The strategy alone: no graphics, no processes.
cairn_library(cairn_bisect SOURCES bisect.cc bisect_journal.cc
  DEPS cairn_base fmt::fmt PkgConfig::XXHASH)
cairn_test(bisect_test SOURCES bisect_test.cc bisect_journal_test.cc DEPS cairn_bisect)
cairn_fuzzer(bisect_journal_fuzz SOURCES bisect_journal_fuzz.cc DEPS cairn_bisect)

# Plays in child processes; no graphics either.
cairn_library(cairn_probe_process SOURCES probe_process_linux.cc probe_answer.cc
  DEPS cairn_bisect cairn_watch cairn_base fmt::fmt)
cairn_test(probe_process_test SOURCES probe_process_test.cc DEPS cairn_probe_process)

# Of traces: what can be left out, how that is played, what stays.
cairn_library(cairn_bisect_trace SOURCES bisect_tree.cc list_calls.cc minimal_trace.cc trace_probe.cc
  DEPS cairn_bisect cairn_probe_process cairn_player_any cairn_watch cairn_trace cairn_calls cairn_pix
       cairn_cairnfile cairn_base fmt::fmt)
cairn_test(bisect_trace_test SOURCES bisect_trace_test.cc DEPS cairn_bisect_trace)
cairn_fuzzer(bisect_tree_fuzz SOURCES bisect_tree_fuzz.cc DEPS cairn_bisect_trace)
