// SPDX-License-Identifier: Apache-2.0
//
// Colours, and a text that changes, on stdout.
#ifndef CAIRN_CLI_TERMINAL_H_
#define CAIRN_CLI_TERMINAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/interrupt.h"

namespace cairn::cli {

// True if stdout is a terminal that shows colours and the user has not declined them (NO_COLOR, see
// no-color.org; TERM=dumb).
bool StdoutShowsColour();

// Returns the text with lines broken at spaces where the terminal is narrower; what goes on is indented to the last
// column of a table, or somewhat. A command to be pasted stays whole. Unchanged where stdout is no terminal. For text
// without escape sequences.
std::string FittedToTerminal(std::string_view text);
// The same at TextColumns(), for sentences, which are wrapped where stdout is no terminal as well.
std::string FittedSentences(std::string_view text);
// The same for this many columns; 0: unchanged.
std::string FittedToColumns(std::string_view text, size_t columns);

// A text that is replaced in place on a terminal; one after the other where stdout is none, or TERM=dumb.
// While one lives, requests to end the program (os/interrupt.h) make the cursor visible first: in Wait(),
// which returns, and at once wherever else the program is, however long that takes. One at a time; not for
// several threads.
class LiveScreen {
 public:
  LiveScreen();
  ~LiveScreen() { Close(); }
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Shows lines that end with '
  // ', as many as the terminal has rows. Returns false if stdout cannot be written; prints the
  // reason, unless the reader just went away.
  bool Show(std::string_view text);

  using Woken = InterruptibleWait::Woken;
  // Waits until the time is up, ^C comes, or the process ends. Another request ends the program as
  // it would have, after Close(); it is returned only if the default action is blocked.
  Woken Wait(const ProcessHandle& process, uint64_t timeout_ns);

  // Leaves the last text where it is, and the cursor below it, visible.
  void Close();

 private:
  bool terminal_ = false;
  bool open_ = true;
  InterruptibleWait interrupts_;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TERMINAL_H_
