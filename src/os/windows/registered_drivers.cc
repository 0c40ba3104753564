// SPDX-License-Identifier: Apache-2.0
//
// Two ways of being registered, as in "Loader and Driver Interface" of Khronos's loader: values VulkanDriverName of
// devices and of the software that comes with them, and names of values in a key of Khronos's.
#include "os/registered_drivers.h"

#include <algorithm>

#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr wchar_t kKhronosDrivers[] = L"SOFTWARE\\Khronos\\Vulkan\\Drivers";
constexpr const wchar_t* kDeviceClasses[] = {
    L"SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-"
    L"08002be10318}",  // display adapters
    L"SYSTEM\\CurrentControlSet\\Control\\Class\\{5c4c3332-344d-483c-8739-"
    L"259e934c9cc8}"};  // software components
constexpr size_t kMostNames = 256;
constexpr DWORD kMostCharacters = 16384;  // of a value's name, says the system, with its zero

class Key {
 public:
  Key(HKEY parent, const std::wstring& name) {
    if (RegOpenKeyExW(parent, name.c_str(), 0, KEY_READ | KEY_WOW64_64KEY, &key_) !=
        ERROR_SUCCESS) {
      key_ = nullptr;
    }
  }
  ~Key() {
    if (key_ != nullptr) RegCloseKey(key_);
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  HKEY get() const { return key_; }
  // Returns none for a key that does not exist.
  std::vector<std::wstring> SubkeyNames() const {
    return Names([this](DWORD i, wchar_t* name, DWORD* size) {
      return RegEnumKeyExW(key_, i, name, size, nullptr, nullptr, nullptr, nullptr);
    });
  }
  std::vector<std::wstring> ValueNames() const {
    return Names([this](DWORD i, wchar_t* name, DWORD* size) {
      return RegEnumValueW(key_, i, name, size, nullptr, nullptr, nullptr, nullptr);
    });
  }
  // The first of several texts.
  std::string Text(const wchar_t* name) const {
    wchar_t text[1024] = {};
    DWORD bytes = sizeof(text) - sizeof(wchar_t);
    if (key_ == nullptr || RegGetValueW(key_, nullptr, name, RRF_RT_REG_SZ | RRF_RT_REG_MULTI_SZ,
                                        nullptr, text, &bytes) != ERROR_SUCCESS) {
      return "";
    }
    return Utf8(static_cast<const wchar_t*>(text));
  }

 private:
  template <typename Next>
  std::vector<std::wstring> Names(const Next& next) const {
    std::vector<std::wstring> names;
    std::wstring name(kMostCharacters, 0);
    for (DWORD i = 0; key_ != nullptr && i < kMostNames; ++i) {
      DWORD size = kMostCharacters;
      if (next(i, name.data(), &size) != ERROR_SUCCESS) break;
      names.push_back(name.substr(0, size));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  HKEY key_ = nullptr;
};

}  // namespace

std::vector<VulkanDriver> RegisteredVulkanDrivers() {
  std::vector<VulkanDriver> drivers;
  for (const wchar_t* const name : kDeviceClasses) {
    const Key devices(HKEY_LOCAL_MACHINE, name);
    for (const std::wstring& number : devices.SubkeyNames()) {
      const Key device(devices.get(), number);
      const std::string manifest = device.Text(L"VulkanDriverName");
      if (manifest.empty()) continue;
      drivers.push_back({manifest, device.Text(L"DriverDesc"), device.Text(L"DriverVersion")});
    }
  }
  for (const std::wstring& manifest : Key(HKEY_LOCAL_MACHINE, kKhronosDrivers).ValueNames()) {
    drivers.push_back({.manifest = Utf8(manifest), .device = "", .version = ""});
  }
  return drivers;
}

}  // namespace cairn
