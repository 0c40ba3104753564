# SPDX-License-Identifier: Apache-2.0
#
# Libraries that run in programs of others load on glibc 2.31, though newer headers and archives make them: containers
# have that one (docs/reference/packages.md). injected_libraries_test fails when they need a newer symbol.
#
# Functions that glibc 2.34 moved into libc.so.6 have a new version there, which the linker would take. It finds them
# first in stand-ins of the libraries that had them, with the version of then, which newer ones still know. Functions that
# glibc 2.31 has not are in src/os/linux/newer_glibc.c.

# cairn_glibc_stand_in(NAME VERSION SYMBOL... [VERSION SYMBOL...]...): the target NAME_stand_in, for the linker alone.
function(cairn_glibc_stand_in name)
  set(source "")
  set(versions "")
  foreach(word ${ARGN})
    if(word MATCHES "^GLIBC_")
      list(APPEND versions ${word})
      set(version ${word})
    else()
      string(APPEND source "void ${word}(void) {}\n")
      string(APPEND symbols_of_${version} " ${word};")
    endif()
  endforeach()
  set(map "")
  foreach(version ${versions})
    string(APPEND map "${version} {${symbols_of_${version}} };\n")
  endforeach()
  set(folder ${PROJECT_BINARY_DIR}/older_glibc)
  file(CONFIGURE OUTPUT ${folder}/${name}.c CONTENT "${source}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/${name}.map CONTENT "${map}" @ONLY)
  set(library ${folder}/${name})
  add_custom_command(OUTPUT ${library}
    COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -fno-builtin -Wl,-soname,${name} -Wl,--version-script,${library}.map
      -o ${library} ${library}.c
    DEPENDS ${library}.c ${library}.map VERBATIM)
  set_property(GLOBAL APPEND PROPERTY cairn_glibc_stand_ins ${library})
endfunction()

# cairn_loads_on_older_glibc(TARGET)
function(cairn_loads_on_older_glibc target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    return()
  endif()
  if(NOT TARGET cairn_glibc_stand_ins)
    cairn_glibc_stand_in(libdl.so.2
      GLIBC_2.2.5 dlopen dlclose dlsym dlvsym dlerror dladdr
      GLIBC_2.3.3 dlinfo)
    cairn_glibc_stand_in(libpthread.so.0
      GLIBC_2.2.5 pthread_create pthread_join pthread_detach pthread_once pthread_sigmask
        pthread_mutex_trylock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock
        pthread_key_create __pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific
      GLIBC_2.12 pthread_setname_np
      GLIBC_2.30 pthread_cond_clockwait)
    get_property(stand_ins GLOBAL PROPERTY cairn_glibc_stand_ins)
    add_custom_target(cairn_glibc_stand_ins DEPENDS ${stand_ins})
  endif()
  get_property(stand_ins GLOBAL PROPERTY cairn_glibc_stand_ins)
  add_dependencies(${target} cairn_glibc_stand_ins)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:cairn_newer_glibc>)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${stand_ins})
  list(JOIN stand_ins "," stand_ins)
  target_link_libraries(${target} PRIVATE "-Wl,--no-as-needed,${stand_ins},--as-needed")
endfunction()
