# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE driver_half.cc driver_half_commands.cc driver_half_loss.cc
  driver_half_memory.cc ${CAIRN_VULKANGEN_DRIVEN_WORK})
target_link_libraries(cairn_vulkan PUBLIC cairn_driver_half)

cairn_test(vulkan_driver_half_test SOURCES driver_half_test.cc driver_half_witnesses_test.cc DEPS cairn_vulkan THREADS)
