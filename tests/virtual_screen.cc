// SPDX-License-Identifier: Apache-2.0
#include "virtual_screen.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xcb/xcb.h>

#include <array>
#include <string>

namespace cairn::testing {
namespace {

// Writes the number of its display to `ready`. A grandchild, so that it is nobody's child to wait for.
[[noreturn]] void BecomeServer(int ready) {
  if (fork() != 0) _exit(0);
  setsid();
  const int nothing = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  // Xvfb's standard output receives the number: the descriptor that it inherits there.
  dup2(ready, STDOUT_FILENO);
  execlp("Xvfb", "Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp",
         "-terminate", static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

VirtualScreen::VirtualScreen() {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return;
  const pid_t child = fork();
  if (child == 0) BecomeServer(pipe_ends[1]);
  close(pipe_ends[1]);
  waitpid(child, nullptr, 0);
  std::string number;
  // End of file: it could not start.
  for (char c = 0; read(pipe_ends[0], &c, 1) == 1 && c != '\n';) number += c;
  close(pipe_ends[0]);
  if (number.empty()) return;
  display_ = ":" + number;
  connection_ = xcb_connect(display_.c_str(), nullptr);
  if (xcb_connection_has_error(connection_) != 0) display_.clear();
}

VirtualScreen::~VirtualScreen() {
  if (connection_ != nullptr) xcb_disconnect(connection_);
}

}  // namespace cairn::testing
