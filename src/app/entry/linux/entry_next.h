// SPDX-License-Identifier: Apache-2.0
//
// NextFunction: the function behind one that this library defines under the same name, in the
// library that the program meant.
#ifndef CAIRN_APP_ENTRY_LINUX_ENTRY_NEXT_H_
#define CAIRN_APP_ENTRY_LINUX_ENTRY_NEXT_H_

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Returns what `dlsym` returns without this library in between.
void* FindSymbol(void* handle, const char* name);

// Loaded libraries whose file name starts with `prefix`.
std::vector<std::string> LoadedLibraries(std::string_view prefix);

class NextFunction {
 public:
  // `own` is this library's definition. `library` starts the file name of the libraries that have the
  // function, "libvkd3d", for those that are opened without being visible to everybody.
  constexpr NextFunction(const char* name, void* own, const char* library)
      : name_(name), own_(own), library_(library) {}

  // Null while no such library is loaded. Found once, and the library stays loaded from then on: a
  // plugin that is unloaded must not leave a dangling pointer here. Any thread.
  void* Address() {
    void* const address = address_.load(std::memory_order_acquire);
    return address != nullptr ? address : Find();
  }
  template <typename Function>
  Function As() {
    return reinterpret_cast<Function>(Address());
  }

  // For programs that look the function up themselves: `address` is what they found. True if this
  // library's definition can stand in for it.
  bool Adopt(void* address);

  const char* name() const { return name_; }
  void* own() const { return own_; }

 private:
  void* Find();
  void* Keep(void* address);

  const char* name_;
  void* own_;
  const char* library_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_ENTRY_NEXT_H_
