# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE driver_half.cc driver_half_commands.cc driver_half_loss.cc
  driver_half_memory.cc ${CAIRN_VULKANGEN_DRIVEN_WORK})
target_link_libraries(cairn_vulkan PUBLIC cairn_driver_half)
# They stand in front of the same Vulkan functions as other sources.
set_source_files_properties(driver_half_loss.cc driver_half_memory.cc ${CAIRN_VULKANGEN_DRIVEN_WORK}
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(WIN32)
  # A vector on the stack of what calls functions of Linux' convention is an internal error of GCC 12's (choose_baseaddr).
  set_source_files_properties(driver_half.cc PROPERTIES COMPILE_OPTIONS -fno-tree-vectorize)
endif()

cairn_test(vulkan_driver_half_test SOURCES driver_half_test.cc driver_half_witnesses_test.cc DEPS cairn_vulkan THREADS)
