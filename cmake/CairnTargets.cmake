# SPDX-License-Identifier: Apache-2.0
# The few helpers that every folder's CMakeLists.txt uses.

# Warnings are errors everywhere; sanitizers apply to everything or nothing.
add_library(cairn_options INTERFACE)
target_compile_options(cairn_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wno-attributes>)
target_include_directories(cairn_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(CAIRN_SANITIZE)
  # Not vptr: Direct3D 12 objects are written in C and have no C++ type information to check.
  # Lines are all that a finding shows: the rest of what a debugger wants takes long to write.
  target_compile_options(cairn_options INTERFACE -g1 -fsanitize=${CAIRN_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cairn_options INTERFACE -fsanitize=${CAIRN_SANITIZE})
endif()
if(CAIRN_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # ThreadSanitizer does not follow fences. Ours order what another process reads, which it cannot see.
  target_compile_options(cairn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
endif()
if(CAIRN_FUZZERS)
  # Coverage feedback from the code under test, not only from the fuzzer's own file.
  target_compile_options(cairn_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# A third of the time that the usual linker takes.
find_program(CAIRN_LLD ld.lld)
if(CAIRN_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# For what runs once and briefly: tests and samples. Compiling it takes half the time, and what it tests or
# calls is optimised, but for templates: of those the linker keeps one copy for the whole program, and that
# of the program's own objects comes first. So it is not for what people wait for.
set(CAIRN_QUICK_TO_COMPILE -O0 -g1)

# Programs in bin/, libraries in lib/, whatever the preset.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

macro(cairn_find_dependencies)
  find_package(Threads REQUIRED)
  find_package(PkgConfig REQUIRED)
  find_package(fmt REQUIRED)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(PNG REQUIRED)
  find_package(VulkanHeaders QUIET)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(VULKAN REQUIRED IMPORTED_TARGET vulkan)
  pkg_check_modules(VKD3D REQUIRED IMPORTED_TARGET libvkd3d)
  pkg_check_modules(VKD3D_UTILS REQUIRED IMPORTED_TARGET libvkd3d-utils)
  pkg_check_modules(XCB REQUIRED IMPORTED_TARGET xcb)
endmacro()

# cairn_library(NAME SOURCES ... [DEPS ...]): one folder under src/, linked statically into what uses it.
function(cairn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} Threads::Threads PRIVATE $<BUILD_INTERFACE:cairn_options>)
endfunction()

# cairn_stands_alone(TARGET): for shared libraries that run in programs of others. They need nothing but the
# C library: what else is used is inside of them, and hidden, so that no version of it meets the program's.
# The targets that they are made of still name the shared libraries, which are left out as not needed.
function(cairn_stands_alone target)
  if(CAIRN_SANITIZE)
    return()  # a sanitizer's runtime is a shared library, and needs others
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:cairn_linked_inside>)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed)
endfunction()

# cairn_program(NAME SOURCES ... [DEPS ...]): a program in bin/.
function(cairn_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} cairn_options)
endfunction()

# cairn_test(NAME SOURCES ... [DEPS ...] [GPU | THREADS] [TIMEOUT seconds]): a GoogleTest program, run by
# ctest. THREADS: worth a run with ThreadSanitizer.
# GPU tests run one at a time: lavapipe is unstable when two heavy processes share the machine.
function(cairn_test name)
  cmake_parse_arguments(ARG "GPU;THREADS" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main GTest::gmock cairn_options)
  target_compile_options(${name} PRIVATE ${CAIRN_QUICK_TO_COMPILE})
  target_compile_definitions(${name} PRIVATE
    CAIRN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CAIRN_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  if(ARG_GPU)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE LABELS gpu)
  elseif(ARG_THREADS)
    set_tests_properties(${name} PROPERTIES LABELS "unit;threads")
  else()
    set_tests_properties(${name} PROPERTIES LABELS unit)
  endif()
endfunction()

# cairn_test_again(NAME SETTING...): the program of the test NAME once more with each of these variables of
# ours, without their CAIRN_, as the tests NAME:SETTING. For what is read once in a process.
function(cairn_test_again name)
  foreach(setting ${ARGN})
    add_test(NAME ${name}:${setting} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(${name}:${setting} PROPERTIES ENVIRONMENT CAIRN_${setting})
    foreach(property TIMEOUT RUN_SERIAL LABELS)
      get_test_property(${name} ${property} value)
      if(value)
        set_tests_properties(${name}:${setting} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
  endforeach()
endfunction()

# cairn_bench(NAME SOURCES ... [DEPS ...]): a Google Benchmark program in bench/ of the build folder.
function(cairn_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark cairn_options)
endfunction()

# cairn_fuzzer(NAME SOURCES ... [DEPS ...]): a libFuzzer program with its corpus in fuzz/corpus/NAME.
function(cairn_fuzzer name)
  if(NOT CAIRN_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} cairn_options)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
