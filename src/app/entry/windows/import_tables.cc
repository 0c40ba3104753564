// SPDX-License-Identifier: Apache-2.0
#include "app/entry/windows/import_tables.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "app/entry/windows/functions.h"
#include "app/settings/log.h"
#include "os/windows/function_table.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <psapi.h>

namespace cairn {
namespace {

constexpr std::string_view kLibcairn = "libcairn.dll";

// A loaded image. Another one may get its address when it is gone.
struct Image {
  const std::byte* base;
  DWORD made;  // as its maker says
  DWORD size_bytes;
  bool operator==(const Image&) const = default;
};

// Holds the system's loader, so that it changes nothing and calls no other code: loaded images
// stay. Its lock is taken again by the thread that has it, as a DllMain does.
class LoaderLock {
 public:
  LoaderLock() {
    static const auto lock = Find<Lock>("LdrLockLoaderLock");
    if (lock != nullptr) lock(0, nullptr, &cookie_);
  }
  ~LoaderLock() {
    static const auto unlock = Find<Unlock>("LdrUnlockLoaderLock");
    if (unlock != nullptr && cookie_ != 0) unlock(0, cookie_);
  }
  LoaderLock(const LoaderLock&) = delete;
  LoaderLock& operator=(const LoaderLock&) = delete;

 private:
  using Lock = LONG(NTAPI*)(ULONG flags, ULONG* result, ULONG_PTR* cookie);
  using Unlock = LONG(NTAPI*)(ULONG flags, ULONG_PTR cookie);
  template <typename Function>
  static Function Find(const char* name) {
    return reinterpret_cast<Function>(
        reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
  }
  ULONG_PTR cookie_ = 0;
};

// Guarded by the loader lock.
std::vector<Image>& Seen() {
  static std::vector<Image>& seen = *new std::vector<Image>;
  return seen;
}

const IMAGE_NT_HEADERS* HeadersOf(const std::byte* base) {
  const auto* const dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  if (dos->e_magic != IMAGE_DOS_SIGNATURE) return nullptr;
  const auto* const headers = reinterpret_cast<const IMAGE_NT_HEADERS*>(base + dos->e_lfanew);
  const bool known = headers->Signature == IMAGE_NT_SIGNATURE &&
                     headers->OptionalHeader.Magic == IMAGE_NT_OPTIONAL_HDR_MAGIC;
  return known ? headers : nullptr;
}

HMODULE OwnModule() {
  HMODULE module = nullptr;
  GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<const wchar_t*>(&OwnModule), &module);
  return module;
}

// Returns true for images whose tables must stay: the loader's functions are forwarded through
// them; and for this library.
bool StaysAsItIs(const std::byte* base) {
  if (base == reinterpret_cast<const std::byte*>(OwnModule())) return true;
  for (const wchar_t* const name : {L"ntdll.dll", L"kernel32.dll", L"kernelbase.dll"}) {
    if (base == reinterpret_cast<const std::byte*>(GetModuleHandleW(name))) return true;
  }
  return false;
}

std::string_view TextAt(const std::byte* base, DWORD offset) {
  return reinterpret_cast<const char*>(base + offset);
}

// Returns true if the import is this function. An import by number is recognised by its address.
bool Means(const ReplacedFunction& function, std::string_view library, const std::byte* base,
           const IMAGE_THUNK_DATA* name, void* address) {
  if (!IsLibraryOf(function, library)) return false;
  if (name != nullptr && !IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) {
    return TextAt(base, static_cast<DWORD>(name->u1.AddressOfData) +
                            offsetof(IMAGE_IMPORT_BY_NAME, Name)) == function.name;
  }
  const HMODULE exporter = GetModuleHandleA(library.data());
  return exporter != nullptr &&
         reinterpret_cast<void*>(GetProcAddress(exporter, function.name)) == address;
}

void ReplaceIn(const std::byte* base, std::string_view library, const IMAGE_THUNK_DATA* name,
               void** place) {
  for (const ReplacedFunction& function : ReplacedFunctions()) {
    if (!Means(function, library, base, name, *place)) continue;
    void* const ours = function.over(*place);
    if (ours == nullptr) {
      LogOnce(LogLevel::kWarning, function.name,
              std::string(function.name) +
                  " has been replaced in this program too often: one "
                  "more way to it is not seen");
    } else if (ours != *place) {
      WriteFunction(place, ours);
    }
    return;
  }
}

// A program that uses libcairn gets what is in this library: explicit marks and the layer's own share contexts.
bool ReplaceByOwn(const std::byte* base, std::string_view library, const IMAGE_THUNK_DATA* name,
                  void** place) {
  if (library != kLibcairn) return false;
  if (name == nullptr || IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) return true;
  const char* const wanted = TextAt(base, static_cast<DWORD>(name->u1.AddressOfData) +
                                              offsetof(IMAGE_IMPORT_BY_NAME, Name))
                                 .data();
  const auto own = reinterpret_cast<void*>(GetProcAddress(OwnModule(), wanted));
  if (own != nullptr) WriteFunction(place, own);
  return true;
}

void ReplaceImportsOf(const std::byte* base, const IMAGE_NT_HEADERS& headers) {
  const IMAGE_DATA_DIRECTORY& table =
      headers.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  if (table.VirtualAddress == 0 || table.Size == 0) return;
  const auto* library =
      reinterpret_cast<const IMAGE_IMPORT_DESCRIPTOR*>(base + table.VirtualAddress);
  for (; library->Name != 0 && library->FirstThunk != 0; ++library) {
    const std::string_view name = TextAt(base, library->Name);
    const auto functions = ReplacedFunctions();
    const bool concerns = name == kLibcairn ||
                          std::any_of(functions.begin(), functions.end(),
                                      [name](const auto& each) { return IsLibraryOf(each, name); });
    if (!concerns) continue;
    const IMAGE_THUNK_DATA* names =
        library->OriginalFirstThunk == 0
            ? nullptr
            : reinterpret_cast<const IMAGE_THUNK_DATA*>(base + library->OriginalFirstThunk);
    auto* place = reinterpret_cast<void**>(const_cast<std::byte*>(base) + library->FirstThunk);
    for (; *place != nullptr; ++place) {
      if (names != nullptr && names->u1.AddressOfData == 0) break;
      if (!ReplaceByOwn(base, name, names, place)) ReplaceIn(base, name, names, place);
      if (names != nullptr) ++names;
    }
  }
}

std::vector<HMODULE> LoadedModules() {
  std::vector<HMODULE> modules(256);
  for (;;) {
    DWORD bytes = 0;
    const auto room = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
    if (EnumProcessModules(GetCurrentProcess(), modules.data(), room, &bytes) == 0) return {};
    const size_t count = bytes / sizeof(HMODULE);
    const bool all = count <= modules.size();
    modules.resize(count);
    if (all) return modules;
  }
}

}  // namespace

bool AnotherIsHere() try {
  const std::vector<HMODULE> modules = LoadedModules();
  return std::any_of(modules.begin(), modules.end(), [own = OwnModule()](HMODULE module) {
    return module != own && GetProcAddress(module, "CairnMeetLinux") != nullptr;
  });
} catch (const std::bad_alloc&) {
  return false;
}

void ReplaceImports() try {
  const LoaderLock lock;
  std::vector<Image>& seen = Seen();
  std::vector<Image> loaded;
  for (const HMODULE module : LoadedModules()) {
    const auto* const base = reinterpret_cast<const std::byte*>(module);
    const IMAGE_NT_HEADERS* const headers = HeadersOf(base);
    if (headers == nullptr) continue;
    loaded.push_back(
        {base, headers->FileHeader.TimeDateStamp, headers->OptionalHeader.SizeOfImage});
    // Replace once: a library that replaced our functions later still reaches them.
    if (std::find(seen.begin(), seen.end(), loaded.back()) != seen.end()) continue;
    if (!StaysAsItIs(base)) ReplaceImportsOf(base, *headers);
  }
  seen = std::move(loaded);
} catch (const std::bad_alloc&) {
  LogOnce(LogLevel::kWarning, "imports",
          "no memory to look at a new library: its calls may be missed");
}

}  // namespace cairn
