// SPDX-License-Identifier: Apache-2.0
//
// Shows the progress of a long verb, and handles ^C.
#ifndef CAIRN_CLI_PROGRESS_H_
#define CAIRN_CLI_PROGRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "os/interrupt.h"

namespace cairn::cli {

// One line on stderr, if that is a terminal and the verb takes long: "cairn verify: 45 %, 3 s left". While
// it lives, the first request to end the program, such as ^C, is noted and not obeyed, so that the verb can
// end in order; the second ends the program as ever. One at a time; not for several threads.
class TaskProgress {
 public:
  explicit TaskProgress(std::string_view verb);
  ~TaskProgress();  // takes the line away
  TaskProgress(const TaskProgress&) = delete;
  TaskProgress& operator=(const TaskProgress&) = delete;

  // The next task of the same verb, if there is one: takes the line away, and the time that is left is counted
  // from here. A request that came stays noted.
  void Restart();
  // False once a request to end came. Cheap enough to be called thousands of times a second.
  bool Update(uint64_t done, uint64_t total);

 private:
  InterruptNote interrupt_;
  std::string verb_;
  bool terminal_ = false;
  bool shown_ = false;
  uint64_t start_ns_ = 0;
  uint64_t last_ns_ = 0;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_PROGRESS_H_
