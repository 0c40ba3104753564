// SPDX-License-Identifier: Apache-2.0
//
// Requests to end this process: ^C, and those that come from elsewhere (of signals SIGTERM and
// SIGHUP; on Windows ^Break, a console that is closed, a session that ends). Requests that this
// process was told to ignore, as by nohup, stay ignored. One object of either class at a time; not
// for several threads.
#ifndef CAIRN_OS_INTERRUPT_H_
#define CAIRN_OS_INTERRUPT_H_

#include <cstdint>
#include <string_view>

#include "os/process.h"

namespace cairn {

// While it lives the first request is noted and not obeyed, so that the process can end in order. The
// second of its kind ends it as ever.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  // Returns true if an interrupt came. Costs a load.
  bool came() const;
};

// While it lives, a request ends the process at once, whatever it does, after it wrote some last
// words to stdout; ^C with exit code 0. In Wait() it is only returned.
class InterruptibleWait {
 public:
  // `last_words` must outlive this.
  explicit InterruptibleWait(std::string_view last_words);
  ~InterruptibleWait() { Close(); }
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;

  enum class Woken : uint8_t {
    kByTime,
    kByUser,     // ^C
    kByRequest,  // another: Obey() it
    kByProcess,  // it ended
  };
  Woken Wait(const ProcessHandle& process, uint64_t timeout_ns);

  // After kByRequest and Close(): ends this process the way that was asked for. Returns if the
  // default action is blocked.
  void Obey() const;

  // Requests have the effect again that they had before.
  void Close();

 private:
  bool open_ = true;
  int request_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_OS_INTERRUPT_H_
