// SPDX-License-Identifier: Apache-2.0
//
// Answers for `cairn triage --serve`: the page of folders, and for each of their files what FileSession answers.
#ifndef CAIRN_READER_SERVE_TRIAGE_SESSION_H_
#define CAIRN_READER_SERVE_TRIAGE_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/serve/page_server.h"

namespace cairn {

struct TriageSessionOptions {
  std::vector<std::string> paths;  // files and folders
  std::string place;               // how the page calls them
  std::string kept;                // KeptDumps
  uint64_t build = 0;              // the same
};

class TriageSession {
 public:
  // Errors: kUnsupported if this build has no page.
  static Result<std::unique_ptr<TriageSession>> Open(TriageSessionOptions options);
  // Calls Stop(). No thread may be in Answer() any more.
  ~TriageSession();
  TriageSession(const TriageSession&) = delete;
  TriageSession& operator=(const TriageSession&) = delete;

  // Reads what is there, so that the first page need not wait for it. `goes_on` is told how many of how many files were
  // read; once it returns false, the answer is kInterrupted. Errors: those of DumpFilesIn.
  Status Look(const std::function<bool(uint64_t done, uint64_t total)>& goes_on);

  // Any thread. Each page looks at the folders anew.
  PageAnswer Answer(const PageQuestion& asked);
  // Any thread: ends what it has started. Answers that are under way, and later ones, are refused.
  void Stop();

  // Files whose sessions stay open; the one that was asked for longest ago makes room.
  static constexpr size_t kMostOpenFiles = 8;

 private:
  struct State;
  explicit TriageSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_TRIAGE_SESSION_H_
