// SPDX-License-Identifier: Apache-2.0
//
// The edge between Status and the C API: codes, the thread's last message, and no exception beyond.
#ifndef CAIRN_APP_API_ERRORS_H_
#define CAIRN_APP_API_ERRORS_H_

#include <exception>
#include <new>
#include <string_view>

#include "cairn/breadcrumbs.h"

#include "base/status.h"

namespace cairn {

// Keeps the message for cairnGetLastErrorMessage and returns the code.
CairnResult Fail(CairnResult result, std::string_view message);
CairnResult Fail(const Status& status);

// CAIRN_OK, or Fail.
inline CairnResult Finish(const Status& status) {
  return status.ok() ? CAIRN_OK : Fail(status);
}

// Runs the body; what the standard library throws becomes a code.
template <typename Body>
CairnResult Guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(CAIRN_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return Fail(CAIRN_ERROR_OPERATING_SYSTEM, error.what());
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_API_ERRORS_H_
