// SPDX-License-Identifier: Apache-2.0
//
// Functions that glibc 2.31 has not, and that headers and archives of newer ones ask for, for the libraries that run in
// programs of others (cmake/CairnOlderGlibc.cmake). They are hidden there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- Since 2.32 ---------------------------------------------------------------------------------------

// Tells the C++ library that it may count references without atomic operations, if it is not 0.
char __libc_single_threaded = 0;

// ---- Since 2.33: before, they were inline -------------------------------------------------------------

int stat(const char* path, struct stat* out) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0);
}

int lstat(const char* path, struct stat* out) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int fstat(int file, struct stat* out) {
  return (int)syscall(SYS_fstat, file, out);
}

int fstat64(int file, struct stat64* out) {
  return (int)syscall(SYS_fstat, file, out);
}

// ---- Since 2.35: finds the unwinding table of an address ----------------------------------------------

struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int IsObjectOfAddress(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct Search* search = data;
  struct dl_find_object* found = search->found;
  int contains = 0;
  found->dlfo_eh_frame = NULL;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) found->dlfo_eh_frame = (void*)begin;
    if (part->p_type == PT_LOAD && search->address - begin < part->p_memsz) {
      found->dlfo_map_start = (void*)begin;
      found->dlfo_map_end = (void*)(begin + part->p_memsz);
      contains = 1;
    }
  }
  return contains;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  found->dlfo_flags = 0;
  found->dlfo_link_map = NULL;
  return dl_iterate_phdr(IsObjectOfAddress, &search) && found->dlfo_eh_frame != NULL ? 0 : -1;
}

// ---- Since 2.36: std::random_device asks for it -------------------------------------------------------

uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) __builtin_trap();
  return number;
}
