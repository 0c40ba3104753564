// SPDX-License-Identifier: Apache-2.0
//
// Serves one page to this user's browsers on this machine, and answers what the page asks. Nobody else is let in:
//
// - a connection of another user is closed, where the system tells whose it is;
// - an address is good once: it leads to the page, whose own address holds another secret, so that one which stands in a
//   command line, a log or on a screen is worth nothing soon;
// - a request that names another host, or comes from a page of another origin, is refused.
//
// A client without the address can cost only so much (docs/reference/bounds.md): connections that have not asked, and those that
// were answered, give way to new ones.
#ifndef CAIRN_READER_SERVE_PAGE_SERVER_H_
#define CAIRN_READER_SERVE_PAGE_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn {

struct PageQuestion {
  // The part of the address behind the secret, escaped: "" for the page, "calls?first=0". "open" and what ends with "/open" is not
  // asked: a page says by it that it is there.
  std::string target;
  bool is_order = false;  // something is to happen (POST)
};

struct PageServerOptions {
  uint16_t port = 0;      // 0: any that is free
  bool any_user = false;  // answers connections of other users, too
  // Until the client has read all of an answer, from its first byte on; then the connection is closed.
  std::chrono::milliseconds most_reading = std::chrono::seconds(60);
  // Told, by any thread, what people should know: that another user was refused, once; that the system does not tell
  // users.
  std::function<void(const std::string& line)> warn;
};

struct PageAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};
// `why`, as visible text.
PageAnswer Refused(int status, std::string_view why);
// 400 for kInvalidArgument, else 500.
PageAnswer Refused(const Status& status);

class PageServer {
 public:
  // Called by several threads at once, and not after the server is destroyed.
  using Answerer = std::function<PageAnswer(const PageQuestion&)>;

  // Errors: kIo, if the port is taken as well.
  static Result<std::unique_ptr<PageServer>> Open(PageServerOptions options, Answerer answerer);
  // Waits for answers that are being made, but not for slow clients.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // Another address, which leads to the page once: "http://127.0.0.1:41234/5f0c…/". Any thread.
  std::string NewAddress();
  // Serves until no page has been open for kLinger, once one was, or until `is_stopped` returns
  // true, which is called now and then.
  void Serve(const std::function<bool()>& is_stopped);

 private:
  struct State;
  explicit PageServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_PAGE_SERVER_H_
