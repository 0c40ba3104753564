// SPDX-License-Identifier: Apache-2.0
#include "os/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

std::string LibraryVersionOf(const void* address) {
  const std::wstring path = Wide(LibraryPathOf(address));
  if (path.empty()) return {};
  DWORD none = 0;
  std::vector<std::byte> bytes(GetFileVersionInfoSizeW(path.c_str(), &none));
  void* found = nullptr;
  UINT found_bytes = 0;
  if (bytes.empty() ||
      GetFileVersionInfoW(path.c_str(), 0, static_cast<DWORD>(bytes.size()), bytes.data()) == 0 ||
      VerQueryValueW(bytes.data(), L"\\", &found, &found_bytes) == 0 ||
      found_bytes < sizeof(VS_FIXEDFILEINFO)) {
    return {};
  }
  const auto* const info = static_cast<const VS_FIXEDFILEINFO*>(found);
  return fmt::format("{}.{}.{}.{}", HIWORD(info->dwFileVersionMS), LOWORD(info->dwFileVersionMS),
                     HIWORD(info->dwFileVersionLS), LOWORD(info->dwFileVersionLS));
}

void* FindSharedFunction(const char*, const void*) {
  return nullptr;
}

// Wine's tools put this behind the first header of what they make.
bool Library::IsOfWine() const {
  constexpr std::string_view kMark = "Wine builtin DLL";
  if (handle_ == nullptr) return false;
  const auto* const image = static_cast<const char*>(handle_);
  return std::string_view(image + sizeof(IMAGE_DOS_HEADER), kMark.size()) == kMark;
}

std::string LibraryFile(std::string_view name, int version) {
  return std::string(name) + "-" + std::to_string(version) + ".dll";
}

}  // namespace cairn
