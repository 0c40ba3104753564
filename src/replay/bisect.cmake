# SPDX-License-Identifier: Apache-2.0
# The strategy alone: no graphics, no processes.
cairn_library(cairn_bisect SOURCES bisect.cc DEPS cairn_base fmt::fmt)
cairn_test(bisect_test SOURCES bisect_test.cc DEPS cairn_bisect)
