// SPDX-License-Identifier: Apache-2.0
#include "os/library.h"

#include <dlfcn.h>

namespace cairn {

Result<Library> Library::Load(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return Library(handle, /*stays=*/true);
  const char* const reason = dlerror();
  return Status(StatusCode::kNotFound, reason == nullptr ? name : reason);
}

Library Library::FindLoaded(const std::string& name) {
  return {dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD), /*stays=*/false};
}

Library::~Library() {
  if (handle_ != nullptr && !stays_) dlclose(handle_);
}

void* Library::FindAddress(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

std::string LibraryPathOf(const void* address) {
  Dl_info info = {};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string LibraryNameOf(const void* address) {
  const std::string path = LibraryPathOf(address);
  return path.substr(path.rfind('/') + 1);
}

std::string LibraryVersionOf(const void*) {
  return {};
}

void* FindSharedFunction(const char* name, const void* own) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  Dl_info there = {}, here = {};
  if (found == nullptr || dladdr(found, &there) == 0 || dladdr(own, &here) == 0) return nullptr;
  return there.dli_fbase == here.dli_fbase ? nullptr : found;
}

bool Library::IsOfWine() const {
  return false;
}

std::string LibraryFile(std::string_view name, int version) {
  return "lib" + std::string(name) + ".so." + std::to_string(version);
}

}  // namespace cairn
