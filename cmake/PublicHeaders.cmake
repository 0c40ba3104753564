# SPDX-License-Identifier: Apache-2.0
# Public headers stand alone, and are C11 and C++11 without a compiler's own language: each is compiled as both.
# pix.h is C++ only.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  foreach(language c cc)
    if(language STREQUAL c AND header STREQUAL cairn/pix.h)
      continue()
    endif()
    set(source ${PROJECT_BINARY_DIR}/public_headers/${name}.${language})
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <@header@>\nextern int not_empty;\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
endforeach()
add_library(cairn_public_headers OBJECT ${sources})
set_target_properties(cairn_public_headers PROPERTIES UNITY_BUILD OFF
  C_STANDARD 11 C_EXTENSIONS OFF CXX_STANDARD 11 CXX_EXTENSIONS OFF)
target_compile_options(cairn_public_headers PRIVATE ${CAIRN_QUICK_TO_COMPILE} -pedantic-errors -Wall -Wextra -Werror)
target_include_directories(cairn_public_headers PRIVATE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/cairn/compat)
if(WIN32)
  target_include_directories(cairn_public_headers SYSTEM PRIVATE ${CAIRN_WINDOWS_DEPENDENCIES}/include)
endif()
