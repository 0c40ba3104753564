// SPDX-License-Identifier: Apache-2.0
//
// Serves one page to this machine's browsers, and answers what the page asks. Nobody else is let in: the address holds
// a secret, and a request that names another host or comes from a page of another origin is refused.
#ifndef CAIRN_READER_SERVE_PAGE_SERVER_H_
#define CAIRN_READER_SERVE_PAGE_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"

namespace cairn {

struct PageQuestion {
  std::string target;  // what stands behind the secret, escaped: "" for the page, "calls?first=0"
  bool is_order = false;  // something is to happen (POST)
};

struct PageAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

class PageServer {
 public:
  // Called by several threads at once, and not after the server is destroyed.
  using Answerer = std::function<PageAnswer(const PageQuestion&)>;

  // `port` 0: any that is free. Errors: kIo, if the port is taken as well.
  static Result<std::unique_ptr<PageServer>> Open(uint16_t port, Answerer answerer);
  // Waits for answers that are being made, but for nobody who is slow to ask or to read.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // "http://127.0.0.1:41234/5f0c…/"
  const std::string& address() const;
  // Until no page has been open for kLinger, once one was, or `is_stopped` says so, which is asked now and then.
  void Serve(const std::function<bool()>& is_stopped);

 private:
  struct State;
  explicit PageServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_PAGE_SERVER_H_
