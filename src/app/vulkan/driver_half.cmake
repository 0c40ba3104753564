# SPDX-License-Identifier: Apache-2.0
target_sources(cairn_vulkan PRIVATE driver_half.cc driver_half_commands.cc driver_half_loss.cc
  driver_half_memory.cc ${CAIRN_VULKANGEN_DRIVEN_WORK})
target_link_libraries(cairn_vulkan PUBLIC cairn_driver_half)
# They stand in front of the same Vulkan functions as other sources.
set_source_files_properties(driver_half_loss.cc driver_half_memory.cc ${CAIRN_VULKANGEN_DRIVEN_WORK}
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(WIN32)
  # Of functions of Linux' convention GCC 12 can neither unwind the stack nor keep vectors there.
  set_source_files_properties(driver_half.cc PROPERTIES
    COMPILE_OPTIONS "-fno-exceptions;-fno-tree-vectorize" SKIP_PRECOMPILE_HEADERS ON)
endif()

cairn_test(vulkan_driver_half_test SOURCES driver_half_test.cc driver_half_witnesses_test.cc DEPS cairn_vulkan THREADS)
