// SPDX-License-Identifier: Apache-2.0
#include "os/library.h"

#include <algorithm>
#include <string>

#include "os/windows/system.h"

namespace cairn {
namespace {

std::string PathOf(HMODULE module) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
    if (length < path.size()) return Utf8({path.data(), length});
    path.resize(path.size() * 2);
  }
}

}  // namespace

Result<Library> Library::Load(const std::string& name) {
  const HMODULE module = LoadLibraryW(Wide(name).c_str());
  if (module != nullptr) return Library(module, /*stays=*/true);
  const std::error_code error = LastError();
  return Status(StatusCode::kNotFound, name + ": " + error.message());
}

Library Library::FindLoaded(const std::string& name) {
  HMODULE module = nullptr;
  GetModuleHandleExW(0, Wide(name).c_str(), &module);
  return {module, /*stays=*/false};
}

Library::~Library() {
  if (handle_ != nullptr && !stays_) FreeLibrary(static_cast<HMODULE>(handle_));
}

void* Library::FindAddress(const char* name) const {
  if (handle_ == nullptr) return nullptr;
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

std::string LibraryPathOf(const void* address) {
  constexpr DWORD kFromAddress =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE module = nullptr;
  if (address == nullptr ||
      GetModuleHandleExW(kFromAddress, static_cast<const wchar_t*>(address), &module) == 0) {
    return {};
  }
  return PathOf(module);
}

std::string LibraryNameOf(const void* address) {
  const std::string path = LibraryPathOf(address);
  return path.substr(path.find_last_of("/\\") + 1);
}

std::string LibraryFile(std::string_view name, int version) {
  return std::string(name) + "-" + std::to_string(version) + ".dll";
}

}  // namespace cairn
