// SPDX-License-Identifier: Apache-2.0
//
// Answers for `cairn view`: the page of a file, and the page's questions. docs/reference/viewer.md has the
// questions. Reads the file itself; a playback, or long work, runs as a verb of its own
// (verb_process.h).
#ifndef CAIRN_READER_SERVE_FILE_SESSION_H_
#define CAIRN_READER_SERVE_FILE_SESSION_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "reader/serve/page_server.h"

namespace cairn {

class FileSession {
 public:
  // `other`: the file that it is compared with, or "". `why`: an answer of cairn why (ReadWhyAnswer), or "". Errors: those of FileReader::Open; kNotFound if it holds neither
  // a report nor a trace; kUnsupported if this build has no page.
  static Result<std::unique_ptr<FileSession>> Open(const std::string& path,
                                                   const std::string& other, std::string why = "");
  // Calls Stop(), and removes the folder. No thread may be in Answer() any more.
  ~FileSession();
  FileSession(const FileSession&) = delete;
  FileSession& operator=(const FileSession&) = delete;

  // Any thread.
  PageAnswer Answer(const PageQuestion& asked);
  // Any thread: ends what it has started. Answers that are under way, and later ones, are refused.
  void Stop();

 private:
  struct State;
  explicit FileSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_FILE_SESSION_H_
