# SPDX-License-Identifier: Apache-2.0
# The few helpers that every folder's CMakeLists.txt uses.

# Warnings are errors everywhere; sanitizers apply to everything or nothing.
add_library(cairn_options INTERFACE)
target_compile_options(cairn_options INTERFACE -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wno-attributes>)
target_include_directories(cairn_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(WIN32)
  # GCC takes for granted there that the copy of an inline function in this object is the one that is linked, and keeps
  # values in registers that it does not change. The linker may take another copy, and that may.
  target_compile_options(cairn_options INTERFACE -fno-ipa-ra)
endif()
if(CAIRN_SANITIZE)
  # Not vptr: Direct3D 12 objects are written in C and have no C++ type information to check.
  target_compile_options(cairn_options INTERFACE -g1 -fsanitize=${CAIRN_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cairn_options INTERFACE -fsanitize=${CAIRN_SANITIZE})
  # For what cannot be done with one, and for loops that would take minutes.
  target_compile_definitions(cairn_options INTERFACE CAIRN_SANITIZED)
endif()
# cairn_takes_any_enumerator(TARGET): programs and traces bring enumerators that only newer headers name. They are
# handed on, and no sanitizer that knows these headers alone judges them.
function(cairn_takes_any_enumerator target)
  if(CAIRN_SANITIZE)
    # A library, whose options come behind those of cairn_options.
    if(NOT TARGET cairn_any_enumerator)
      add_library(cairn_any_enumerator INTERFACE)
      target_compile_options(cairn_any_enumerator INTERFACE -fno-sanitize=enum)
    endif()
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cairn_any_enumerator>)
  endif()
endfunction()
if(CAIRN_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # ThreadSanitizer does not follow fences. Ours order what another process reads, which it cannot see.
  target_compile_options(cairn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
endif()
if(CAIRN_FUZZERS)
  # Coverage feedback from the code under test, not only from the fuzzer's own file. Programs that are no fuzzers take a
  # fifth less time to compile without; their option stays, as precompiled headers want the same.
  set(not_fuzzed $<AND:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,$<NOT:$<BOOL:$<TARGET_PROPERTY:CAIRN_FUZZER>>>>)
  target_compile_options(cairn_options INTERFACE -fsanitize=fuzzer-no-link
    $<${not_fuzzed}:-fno-sanitize-coverage=func,bb,edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table,stack-depth>)
endif()

# Functions and lines are what a stack trace shows. What else a debugger wants takes long to write: preset debug.
if(CAIRN_SANITIZE)
  add_compile_options(-O1)  # takes a little longer to compile than none, and half the time to run
else()
  add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)
endif()

# A third of the time that the usual linker takes.
find_program(CAIRN_LLD ld.lld)
if(CAIRN_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# Eight sources of a target are compiled as one: less than half of the time that a first build takes, as what
# they include is read once. It costs seconds when one of them changes: who works on one folder for long turns it
# off. So no two sources of a target have a name of their own in common, and tools/nightly compiles them one by one.
option(CAIRN_UNITY "Compile several sources of a target as one" ON)
if(CAIRN_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It takes what a source keeps to itself for part of a header.
    target_compile_options(cairn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endif()

# For what runs once and briefly: tests and samples. Compiling it takes half the time, and what it tests or
# calls is optimised, but for templates: of those the linker keeps one copy for the whole program, and that
# of the program's own objects comes first. So it is not for what people wait for.
set(CAIRN_QUICK_TO_COMPILE -O0 -g1)

# Headers that most sources include, read once for all of them: half of the time that a small source takes.
# Whoever forgets an include notices with CAIRN_PRECOMPILE=OFF (tools/nightly).
#   cairn_precompiled        what runs in production
#   cairn_precompiled_quick  samples and other programs that are quick to compile
#   cairn_precompiled_tests  tests
option(CAIRN_PRECOMPILE "Precompile headers" ON)
if(CAIRN_PRECOMPILE)
  # Compilers take such a header only with the very same options: programs are compiled as libraries are.
  set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # False alarms about std::string (GCC bug 105651), seen wherever it comes from a precompiled header.
    target_compile_options(cairn_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
  endif()
endif()
function(cairn_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} Threads::Threads cairn_options)
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()
# Those of this folder and below: set again in folders that are quick to compile.
set(CAIRN_PRECOMPILED cairn_precompiled)
function(cairn_precompile target)
  if(CAIRN_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${CAIRN_PRECOMPILED})
  endif()
endfunction()

# Calling conventions of Direct3D 12 beside that of Windows, as endings of targets: src/d3d12abi.
set(CAIRN_D3D12_ABIS _sysv)
if(WIN32)
  set(CAIRN_D3D12_ABIS "")
endif()

# Programs in bin/, libraries in lib/, whatever the preset.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

macro(cairn_find_dependencies)
  if(WIN32)
    cairn_find_windows_dependencies()
  else()
    cairn_find_linux_dependencies()
  endif()
endmacro()

# As tools/windows-dependencies made them.
macro(cairn_find_windows_dependencies)
  find_package(Threads REQUIRED)
  find_package(PkgConfig REQUIRED)
  find_package(fmt REQUIRED)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  set(ZLIB_USE_STATIC_LIBS ON)  # else programs need a zlib1.dll, which no Windows has
  find_package(PNG REQUIRED)
  find_package(ZLIB REQUIRED)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(VULKAN REQUIRED IMPORTED_TARGET vulkan)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
  # Some of them are headers alone.
  target_include_directories(cairn_options SYSTEM INTERFACE ${CAIRN_WINDOWS_DEPENDENCIES}/include)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  add_library(CLI11::CLI11 INTERFACE IMPORTED)
endmacro()

macro(cairn_find_linux_dependencies)
  find_package(Threads REQUIRED)
  find_package(PkgConfig REQUIRED)
  find_package(fmt REQUIRED)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(PNG REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(VulkanHeaders QUIET)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(VULKAN REQUIRED IMPORTED_TARGET vulkan)
  pkg_check_modules(VKD3D REQUIRED IMPORTED_TARGET libvkd3d)
  pkg_check_modules(VKD3D_UTILS REQUIRED IMPORTED_TARGET libvkd3d-utils)
  pkg_check_modules(XCB REQUIRED IMPORTED_TARGET xcb)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
  find_package(SPIRV-Tools-opt CONFIG REQUIRED)  # and with it SPIRV-Tools
  find_package(Boost CONFIG REQUIRED)  # headers alone
endmacro()

# After cairn_find_dependencies().
macro(cairn_precompile_headers)
  # All know how the formatting library was built, whether they use it or not.
  target_compile_definitions(cairn_options INTERFACE
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  set(headers <algorithm> <array> <atomic> <cstddef> <cstdint> <cstdlib> <cstring> <fmt/format.h> <functional> <map>
    <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>)
  cairn_precompiled_headers(cairn_precompiled HEADERS ${headers} DEPS fmt::fmt)
  cairn_precompiled_headers(cairn_precompiled_quick HEADERS ${headers}
    DEPS fmt::fmt OPTIONS ${CAIRN_QUICK_TO_COMPILE})
  cairn_precompiled_headers(cairn_precompiled_tests
    HEADERS ${headers} <filesystem> <fstream> <gmock/gmock.h> <gtest/gtest.h>
    DEPS fmt::fmt GTest::gtest_main GTest::gmock OPTIONS ${CAIRN_QUICK_TO_COMPILE})
endmacro()

# cairn_library(NAME SOURCES ... [DEPS ...]): one folder under src/, linked statically into what uses it.
function(cairn_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} Threads::Threads PRIVATE $<BUILD_INTERFACE:cairn_options>)
  cairn_precompile(${name})
endfunction()

# cairn_stands_alone(TARGET): for shared libraries that run in programs of others. They need nothing but the
# C library: what else is used is inside of them, and hidden, so that no version of it meets the program's.
# The targets that they are made of still name the shared libraries, which are left out as not needed.
function(cairn_stands_alone target)
  if(CAIRN_SANITIZE)
    return()  # a sanitizer's runtime is another library, or in the program
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:cairn_linked_inside>)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed,--no-undefined)
  cairn_loads_on_older_glibc(${target})
endfunction()

# cairn_ships(TARGET bin | lib): a file that users get. It is stripped; FILE.debug beside it has what debuggers
# want, who find it by its name. The target `released` builds all of them.
include(GNUInstallDirs)
add_custom_target(released)
function(cairn_ships target folder)
  if(CAIRN_SANITIZE)
    return()  # nobody gets it, and its stacks need what it has
  endif()
  add_dependencies(released ${target})
  set(file $<TARGET_FILE:${target}>)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${file} ${file}.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-unneeded --add-gnu-debuglink=${file}.debug ${file}
    VERBATIM)
  string(TOUPPER ${folder} folder)
  install(FILES ${file}.debug DESTINATION ${CMAKE_INSTALL_${folder}DIR} COMPONENT debug)
endfunction()

# cairn_program(NAME [QUICK] SOURCES ... [DEPS ...]): a program in bin/. QUICK: one for which nobody waits.
function(cairn_program name)
  cmake_parse_arguments(ARG "QUICK" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} cairn_options)
  if(ARG_QUICK)
    target_compile_options(${name} PRIVATE ${CAIRN_QUICK_TO_COMPILE})
    set(CAIRN_PRECOMPILED cairn_precompiled_quick)
  endif()
  cairn_precompile(${name})
endfunction()

# What Wine calls the root of this machine, where tests look for files.
set(CAIRN_DRIVE "")
if(WIN32)
  set(CAIRN_DRIVE Z:)
endif()

# cairn_label_sanitized(NAME SOURCE...): the label "sanitized" for a unit test beside its sources that loses nothing when
# it is compiled for AddressSanitizer and UBSan: ./test compiles and runs it there alone.
function(cairn_label_sanitized name)
  if(CAIRN_SANITIZE OR WIN32 OR name MATCHES "_sysv_" OR CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/tests")
    return()
  endif()
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source)
    if(EXISTS ${source})
      file(STRINGS ${source} differs REGEX CAIRN_SANITIZED LIMIT_COUNT 1)
      if(differs)
        return()
      endif()
    endif()
  endforeach()
  set_property(TEST ${name} APPEND PROPERTY LABELS sanitized)
  set_property(GLOBAL APPEND PROPERTY cairn_sanitized_tests ${name})
endfunction()

# cairn_targets_of_all(FOLDER VARIABLE): the targets that `all` makes in this folder and below.
function(cairn_targets_of_all folder variable)
  set(found "")
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(left_out ${target} EXCLUDE_FROM_ALL)
    if(NOT left_out AND NOT type STREQUAL INTERFACE_LIBRARY)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    cairn_targets_of_all(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# Behind all targets: `all_but_sanitized`, without the tests of cairn_label_sanitized.
function(cairn_add_all_but_sanitized)
  cairn_targets_of_all(${PROJECT_SOURCE_DIR} targets)
  get_property(sanitized GLOBAL PROPERTY cairn_sanitized_tests)
  list(REMOVE_ITEM targets ${sanitized})
  add_custom_target(all_but_sanitized)
  add_dependencies(all_but_sanitized ${targets})
endfunction()

# Tests of a device come first: they run one at a time, and all that is beside them ends before they do. In seconds, as
# ctest knows them of its last run; more than any has.
set(CAIRN_DEVICE_COST 10000)

# cairn_test(NAME SOURCES ... [DEPS ...] [GPU | THREADS] [TIMEOUT seconds]): a GoogleTest program, run by
# ctest. THREADS: worth a run with ThreadSanitizer.
# GPU tests run one at a time, beside others: lavapipe is unstable when two heavy processes share the machine.
function(cairn_test name)
  cmake_parse_arguments(ARG "GPU;THREADS" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # One by one: tests of a folder like to give their things the same names.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests UNITY_BUILD OFF)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main GTest::gmock cairn_options)
  target_compile_options(${name} PRIVATE ${CAIRN_QUICK_TO_COMPILE})
  set(CAIRN_PRECOMPILED cairn_precompiled_tests)
  cairn_precompile(${name})
  target_compile_definitions(${name} PRIVATE
    CAIRN_SOURCE_DIR="${CAIRN_DRIVE}${PROJECT_SOURCE_DIR}" CAIRN_BINARY_DIR="${CAIRN_DRIVE}${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(CAIRN_SANITIZE)
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")  # a test of 5 s takes 50 s there
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  if(ARG_GPU)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK device LABELS gpu COST ${CAIRN_DEVICE_COST})
    if(WIN32)  # not every Wine has a device: testing/d3d12_test_gpu.cc
      set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
    endif()
  elseif(CAIRN_SANITIZE AND name MATCHES "_sysv_")
    # The same sources with the platform's calling convention: with a sanitizer once is enough.
    set_tests_properties(${name} PROPERTIES LABELS sysv)
  elseif(ARG_THREADS)
    set_tests_properties(${name} PROPERTIES LABELS "unit;threads")
    cairn_label_sanitized(${name} ${ARG_SOURCES})
  else()
    set_tests_properties(${name} PROPERTIES LABELS unit)
    cairn_label_sanitized(${name} ${ARG_SOURCES})
  endif()
endfunction()

# cairn_beside_vulkan_loader(TARGET...): these programs call Vulkan. On Windows they lie beside Khronos's loader, which
# tools/wine-run lets them take instead of Wine's own: that knows no layers.
function(cairn_beside_vulkan_loader)
  if(WIN32)
    set(folder ${PROJECT_BINARY_DIR}/tests/vulkan)
    configure_file(${CAIRN_WINDOWS_DEPENDENCIES}/bin/vulkan-1.dll ${folder}/vulkan-1.dll COPYONLY)
    set_target_properties(${ARGN} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
  endif()
endfunction()

# cairn_vulkan_tests(TARGET...): these tests, which link cairn_vulkan_probe, need a loader and a device. On Windows they
# are skipped where there is no device.
function(cairn_vulkan_tests)
  cairn_beside_vulkan_loader(${ARGN})
  if(WIN32)
    foreach(target ${ARGN})
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/app/breadcrumbs/testing/vulkan_device_or_skip.cc)
    endforeach()
  endif()
endfunction()

# cairn_test_again(NAME SETTING...): the program of the test NAME once more with each of these variables of
# ours, without their CAIRN_, as the tests NAME:SETTING. For what is read once in a process.
function(cairn_test_again name)
  foreach(setting ${ARGN})
    add_test(NAME ${name}:${setting} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(${name}:${setting} PROPERTIES ENVIRONMENT CAIRN_${setting})
    foreach(property TIMEOUT RESOURCE_LOCK LABELS SKIP_RETURN_CODE COST)
      get_test_property(${name} ${property} value)
      if(value)
        set_tests_properties(${name}:${setting} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
  endforeach()
endfunction()

# cairn_bench(NAME SOURCES ... [DEPS ...]): a Google Benchmark program in bench/ of the build folder. The target
# `benches` builds all; nothing else does.
add_custom_target(benches)
function(cairn_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark cairn_options)
  cairn_precompile(${name})
  add_dependencies(benches ${name})
endfunction()

# cairn_fuzzer(NAME SOURCES ... [DEPS ...]): a libFuzzer program with its corpus in fuzz/corpus/NAME.
function(cairn_fuzzer name)
  if(NOT CAIRN_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz CAIRN_FUZZER ON)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} cairn_options)
  cairn_precompile(${name})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
