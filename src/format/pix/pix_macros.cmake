# SPDX-License-Identifier: Apache-2.0
# testing/pix_macros_calls.inc, compiled as C++11 once for each way of configuring include/cairn/pix.h.
function(cairn_pix_macros name function)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/pix_macros_${name}.cc)
  file(CONFIGURE OUTPUT ${source}
    CONTENT "#define PIX_MACROS_CALLS @function@\n#include \"format/pix/testing/pix_macros_calls.inc\"\n" @ONLY)
  add_library(pix_macros_${name} OBJECT ${source})
  set_target_properties(pix_macros_${name} PROPERTIES CXX_STANDARD 11)
  target_compile_definitions(pix_macros_${name} PRIVATE ${ARGN})
  target_link_libraries(pix_macros_${name} PRIVATE cairn_options)
endfunction()

cairn_pix_macros(nothing CallWithNothing)
cairn_pix_macros(pix CallWithPix USE_PIX)
cairn_pix_macros(retail CallWithRetail USE_PIX_RETAIL)
cairn_pix_macros(pix_and_retail CallWithPixAndRetail USE_PIX USE_PIX_RETAIL)
cairn_pix_macros(without CallWithoutPix CAIRN_NO_PIX USE_PIX_RETAIL)
cairn_pix_macros(version2 CallWithVersion2 CAIRN_PIX_BLOB_VERSION=2 CAIRN_PIX_TIMESTAMP=1234)
