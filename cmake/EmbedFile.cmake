# SPDX-License-Identifier: Apache-2.0
# Bytes of files as constants in C++.
#
#   cairn_embed_files(TARGET FILES ...)
#
# makes `#include "embedded/hang.cs.dxbc.h"` work in the sources of TARGET, for a file hang.cs.dxbc;
# it declares
#   alignas(4) inline constexpr unsigned char kHangCsDxbc[];
# The header is made while building, whenever the file changes.
if(CMAKE_SCRIPT_MODE_FILE)
  # Run as a script by the rule below: INPUT, OUTPUT and SYMBOL are given.
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((0x..,){16})" "\\1\n" bytes "${bytes}")
  get_filename_component(name ${INPUT} NAME)
  file(WRITE ${OUTPUT} "// Made from ${name}.\n#pragma once\n\nalignas(4) inline constexpr unsigned char ${SYMBOL}[] = {\n${bytes}};\n")
  return()
endif()

set(CAIRN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(cairn_embed_files target)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/embedded-of-${target})
  set(headers "")
  foreach(file ${ARG_FILES})
    get_filename_component(input ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "[^A-Za-z0-9]" ";" words ${name})
    set(symbol k)
    foreach(word ${words})
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND symbol ${first}${rest})
    endforeach()
    set(output ${folder}/embedded/${name}.h)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${CAIRN_EMBED_SCRIPT}
      DEPENDS ${input} ${CAIRN_EMBED_SCRIPT}
      COMMENT "Embedding ${name}" VERBATIM)
    list(APPEND headers ${output})
  endforeach()
  target_sources(${target} PRIVATE ${headers})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
