# SPDX-License-Identifier: Apache-2.0
#
# Programs of Windows, made on Linux by mingw-w64; their libraries are those of tools/windows-dependencies. Tests run
# under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# The same default as in tools/windows-dependencies, which says it with --print.
if(NOT CAIRN_WINDOWS_DEPENDENCIES)
  set(CAIRN_WINDOWS_DEPENDENCIES $ENV{CAIRN_WINDOWS_DEPENDENCIES})
endif()
if(NOT CAIRN_WINDOWS_DEPENDENCIES)
  set(cache $ENV{XDG_CACHE_HOME})
  if(NOT cache)
    set(cache $ENV{HOME}/.cache)
  endif()
  set(CAIRN_WINDOWS_DEPENDENCIES ${cache}/cairn/windows-dependencies)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAIRN_WINDOWS_DEPENDENCIES)

set(CMAKE_FIND_ROOT_PATH ${CAIRN_WINDOWS_DEPENDENCIES} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_PREFIX_PATH ${CAIRN_WINDOWS_DEPENDENCIES})
# The compiler's own libraries are inside of each program: nobody has them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(ENV{PKG_CONFIG_LIBDIR} ${CAIRN_WINDOWS_DEPENDENCIES}/lib/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../tools/wine-run)
