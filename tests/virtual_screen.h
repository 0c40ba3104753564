// SPDX-License-Identifier: Apache-2.0
//
// An X server without a screen, for programs with windows.
#ifndef CAIRN_TESTS_VIRTUAL_SCREEN_H_
#define CAIRN_TESTS_VIRTUAL_SCREEN_H_

#include <string>

struct xcb_connection_t;

namespace cairn::testing {

// Xvfb on a display of its own, until this is destroyed or its process ends, however it does.
// To be made before the first Command (harness.h), which takes every orphan for its own.
class VirtualScreen {
 public:
  VirtualScreen();
  ~VirtualScreen();
  VirtualScreen(const VirtualScreen&) = delete;
  VirtualScreen& operator=(const VirtualScreen&) = delete;

  // ":7"; "" if Xvfb is not installed or does not start.
  const std::string& display() const { return display_; }

 private:
  std::string display_;
  xcb_connection_t* connection_ = nullptr;  // the server ends when its last client goes
};

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_VIRTUAL_SCREEN_H_
