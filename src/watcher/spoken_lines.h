// SPDX-License-Identifier: Apache-2.0
//
// Prints the watcher's lines on stderr, a limited number: a program that dies a thousand times does
// not fill a terminal.
#ifndef CAIRN_WATCHER_SPOKEN_LINES_H_
#define CAIRN_WATCHER_SPOKEN_LINES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace cairn {

// One thread.
class SpokenLines {
 public:
  using Speak = std::function<void(const std::string& line)>;

  // `say`: of what happened; `warn`: of what is missing. After `most` lines of both nothing more is said.
  SpokenLines(Speak say, Speak warn, uint64_t most)
      : say_(std::move(say)), warn_(std::move(warn)), most_(most) {}

  void Say(const std::string& line) { Count(say_, line); }
  void Warn(const std::string& line) { Count(warn_, line); }
  // Prints the number of omitted lines, if there are any.
  void SayLast() const {
    if (count_ > most_)
      warn_("cairn: " + std::to_string(count_ - most_) + " more lines are not shown");
  }

 private:
  void Count(const Speak& speak, const std::string& line) {
    if (++count_ <= most_) speak(line);
  }

  Speak say_;
  Speak warn_;
  uint64_t most_;
  uint64_t count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_SPOKEN_LINES_H_
