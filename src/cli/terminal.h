// SPDX-License-Identifier: Apache-2.0
//
// What stdout is connected to, and a text on it that changes.
#ifndef CAIRN_CLI_TERMINAL_H_
#define CAIRN_CLI_TERMINAL_H_

#include <cstdint>
#include <string_view>

namespace cairn::cli {

// True if stdout is a terminal that shows colours and the user has not declined them (NO_COLOR, see
// no-color.org; TERM=dumb).
bool StdoutShowsColour();

// Columns and rows of the terminal; 0 if stdout is none.
uint32_t StdoutColumns();
uint32_t StdoutRows();

// A text that is replaced in place on a terminal; one after the other where stdout is none, or TERM=dumb.
// While one lives, signals that end the program (^C, SIGTERM, SIGHUP) make the cursor visible first: in Wait(),
// which returns, and at once wherever else the program is, however long that takes. One at a time; not for
// several threads.
class LiveScreen {
 public:
  LiveScreen();
  ~LiveScreen() { Close(); }
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Lines that end with '\n'. Of more than the terminal has rows the first ones. False if stdout cannot
  // be written, with the reason printed, unless the reader just went away.
  bool Show(std::string_view text);

  enum class Woken { kByTime, kByUser, kByProcess };
  // Until the time is up, ^C comes, or `pidfd` is readable. Another signal ends the program as it would
  // have, after Close().
  Woken Wait(int pidfd, uint64_t timeout_ns);

  // Leaves the last text where it is, and the cursor below it, visible.
  void Close();

 private:
  bool terminal_ = false;
  bool open_ = false;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TERMINAL_H_
