# SPDX-License-Identifier: Apache-2.0
# What libvkd3d exports beside Direct3D 12: a libvkd3d of our own with all of it, another one with more than
# anybody knows, and a program that calls them. (Its d3d12/ is src/app/d3d12: only declarations.)
if(TARGET cairn_layer AND NOT CAIRN_SANITIZE)
  foreach(library more newer)
    add_library(vkd3d_${library} SHARED programs/vkd3d_functions_library.cc)
    set_target_properties(vkd3d_${library} PROPERTIES OUTPUT_NAME vkd3d-${library}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
    target_link_libraries(vkd3d_${library} PRIVATE cairn_d3d12_fake cairn_d3d12abi cairn_options
      ${CMAKE_DL_LIBS})
  endforeach()
  target_compile_definitions(vkd3d_newer PRIVATE CAIRN_NEWER)
  cairn_program(vkd3d_functions SOURCES programs/vkd3d_functions.cc DEPS cairn_d3d12abi ${CMAKE_DL_LIBS})
  set_target_properties(vkd3d_functions PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/programs)
  cairn_test(vkd3d_functions_test SOURCES vkd3d_functions_test.cc
    DEPS cairn_test_harness GPU TIMEOUT 300)
  # Its programs load libvkd3d late, which may want an executable stack (os/executable_stack.h).
  set_tests_properties(vkd3d_functions_test PROPERTIES ENVIRONMENT GLIBC_TUNABLES=glibc.rtld.execstack=2)
  add_dependencies(vkd3d_functions_test cairn_command cairn_layer vkd3d_more vkd3d_newer vkd3d_functions)
endif()
