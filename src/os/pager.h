// SPDX-License-Identifier: Apache-2.0
//
// A program between stdout and the terminal, which shows long texts page by page.
#ifndef CAIRN_OS_PAGER_H_
#define CAIRN_OS_PAGER_H_

#include <string>

namespace cairn {

// The command that the user has chosen for it: CAIRN_PAGER, else PAGER, else less if there is one. Empty: none,
// which is also what an empty CAIRN_PAGER and `cat` mean. One whose program does not exist is passed over.
std::string PagerCommand();

// While it lives, what is printed goes through `command`, which a shell runs. The terminal (os/terminal.h) is what it
// was before. ^C is for the pager; who leaves it early leaves writes without a reader. One at a time, before there are
// threads. Nothing happens where stdout is no terminal that takes escapes, on an empty command, and on Windows, whose terminals scroll.
class Pager {
 public:
  explicit Pager(const std::string& command);
  ~Pager();  // waits until the person has seen enough
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  int process_ = -1;
  int terminal_ = -1;
};

}  // namespace cairn

#endif  // CAIRN_OS_PAGER_H_
