// SPDX-License-Identifier: Apache-2.0
//
// Shared libraries of this process.
#ifndef CAIRN_OS_LIBRARY_H_
#define CAIRN_OS_LIBRARY_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace cairn {

// Any thread; each function waits for the system's loader.
class Library {
 public:
  // `name` is a path, or a name that the system looks for. The library stays for the life of the
  // process, also when this object is gone: objects that it made may use its code. kNotFound: the
  // message is the system's reason.
  static Result<Library> Load(const std::string& name);

  // Finds a library that is loaded already; empty if it is not. It stays loaded at least as long as
  // this object.
  static Library FindLoaded(const std::string& name);

  Library() = default;
  ~Library();
  Library(Library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), stays_(other.stays_) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(stays_, other.stays_);
    return *this;
  }

  // Null where the library exports no such name, or this is empty.
  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(FindAddress(name));
  }

  // Returns true for Wine's own library, which stands for a library of Windows and was made with
  // Wine.
  bool IsOfWine() const;

 private:
  Library(void* handle, bool stays) : handle_(handle), stays_(stays) {}
  void* FindAddress(const char* name) const;

  void* handle_ = nullptr;
  bool stays_ = false;
};

// The path, as it was loaded, of the library or program that this code or data lies in; "" if there is none.
std::string LibraryPathOf(const void* address);
// The last part of that path.
std::string LibraryNameOf(const void* address);
// Returns the version in the library's file: "10.0.19041.1". "" on Linux, where the file's name
// holds it.
std::string LibraryVersionOf(const void* address);

// The function of this name that the whole process sees, such as that of a preloaded library. Null if it lies in the
// library of `own`, and on Windows, where libraries have no names in common.
void* FindSharedFunction(const char* name, const void* own);

// The file of a library as the system names it: "libvulkan.so.1", "vulkan-1.dll". Both are names that Load() takes.
std::string LibraryFile(std::string_view name, int version);

}  // namespace cairn

#endif  // CAIRN_OS_LIBRARY_H_
