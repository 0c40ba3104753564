# SPDX-License-Identifier: Apache-2.0
# amd_ags_x64.dll, for programs that load AMD's: what amd_ags.h declares, in libcairn.dll beside it. It imports that, so that
# under `cairn run` its functions are those of the layer, too.
set(header ${PROJECT_SOURCE_DIR}/include/cairn/compat/amd_ags.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(READ ${header} declared)
string(REGEX MATCHALL "(ags|cairnAgs)[A-Z][A-Za-z0-9_]*\\(" names "${declared}")
list(REMOVE_DUPLICATES names)
set(exports "LIBRARY amd_ags_x64.dll\nEXPORTS\n")
foreach(name ${names})
  string(REPLACE "(" "" name ${name})
  string(APPEND exports "  ${name}\n")
endforeach()
set(definition ${CMAKE_CURRENT_BINARY_DIR}/amd_ags_x64.def)
file(CONFIGURE OUTPUT ${definition} CONTENT "${exports}" @ONLY)

add_library(cairn_amd_ags SHARED ../entry/windows/no_code.c ${definition})
set_target_properties(cairn_amd_ags PROPERTIES PREFIX "" OUTPUT_NAME amd_ags_x64)
target_link_libraries(cairn_amd_ags PRIVATE cairn cairn_options)
cairn_ships(cairn_amd_ags bin)
