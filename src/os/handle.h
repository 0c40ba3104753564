// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_HANDLE_H_
#define CAIRN_OS_HANDLE_H_

#include <cstdint>
#include <utility>

namespace cairn {

// The system's value for an open object: a descriptor on Linux, a HANDLE on Windows. -1: none.
using RawHandle = intptr_t;

// A handle that closes itself. Programs that are started do not inherit it.
class SystemHandle {
 public:
  SystemHandle() = default;
  explicit SystemHandle(RawHandle value) : value_(value) {}
  ~SystemHandle() { Close(); }
  SystemHandle(SystemHandle&& other) noexcept : value_(other.Release()) {}
  SystemHandle& operator=(SystemHandle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  RawHandle get() const { return value_; }
  bool valid() const { return value_ != kNone; }
  void Close();
  RawHandle Release() { return std::exchange(value_, kNone); }

 private:
  static constexpr RawHandle kNone = -1;
  RawHandle value_ = kNone;
};

// Returns a copy of a handle that another owner may close, with a high number: programs that close
// inherited handles close low ones. Invalid if there is no room for it.
SystemHandle CopyOf(RawHandle handle);

// Keeps programs that are started from now on from inheriting a handle that a library has opened.
// On Windows they inherit named handles only.
void KeepFromPrograms(RawHandle handle);

}  // namespace cairn

#endif  // CAIRN_OS_HANDLE_H_
