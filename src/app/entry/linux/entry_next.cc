// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/entry_next.h"

#include <dlfcn.h>
#include <link.h>

#include "os/library.h"

namespace cairn {
namespace {

using DlsymFunction = void* (*)(void* handle, const char* name);

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void* FindSymbol(void* handle, const char* name) {
  // Look up by version, because this library defines the plain name. Programs built before glibc
  // 2.34 and after it ask for different versions; both are the same function.
  static const auto real = [] {
    void* function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (function == nullptr) function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return reinterpret_cast<DlsymFunction>(function);
  }();
  return real == nullptr ? nullptr : real(handle, name);
}

std::vector<std::string> LoadedLibraries(std::string_view prefix) {
  // Only collected while the loader's lock is held: dlopen would take it again.
  struct Search {
    std::string_view prefix;
    std::vector<std::string> found;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        if (info->dlpi_name != nullptr && FileName(info->dlpi_name).starts_with(search.prefix)) {
          search.found.emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &search);
  return search.found;
}

void* NextFunction::Find() {
  if (void* const next = FindSymbol(RTLD_NEXT, name_); next != nullptr && next != own_) {
    return Keep(next);
  }
  for (const std::string& path : LoadedLibraries(library_)) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = FindSymbol(library, name_);
    void* const kept = found != nullptr && found != own_ ? Keep(found) : nullptr;
    dlclose(library);
    if (kept != nullptr) return kept;
  }
  return nullptr;
}

bool NextFunction::Adopt(void* address) {
  if (address == own_) return true;
  if (!FileName(LibraryPathOf(address)).starts_with(library_)) return false;
  void* const known = address_.load(std::memory_order_acquire);
  return (known != nullptr ? known : Keep(address)) == address;
}

void* NextFunction::Keep(void* address) {
  void* known = nullptr;
  if (!address_.compare_exchange_strong(known, address, std::memory_order_acq_rel)) return known;
  // The handle is never closed.
  dlopen(LibraryPathOf(address).c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return address;
}

}  // namespace cairn
