// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cerrno>
#include <cstring>

namespace cairn {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kCorrupt: return "corrupt";
    case StatusCode::kIo: return "input/output error";
    case StatusCode::kOutOfMemory: return "out of memory";
    case StatusCode::kDeviceLost: return "device lost";
    case StatusCode::kInterrupted: return "interrupted";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown status";
}

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) error_.reset(new Error{code, false, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string none;
  return ok() ? none : error_->message;
}

Status Status::WithContext(const std::string& context) const {
  Status status = *this;
  if (!ok()) status.error_->message = context + ": " + message();
  return status;
}

Status Status::WithFile(const std::string& file) const {
  return ok() || error_->names_file ? *this : WithContext(file).NamingFile();
}

Status Status::NamingFile() const {
  Status status = *this;
  if (!ok()) status.error_->names_file = true;
  return status;
}

Status StatusFromErrno(int error_number, const std::string& what) {
  StatusCode code = StatusCode::kIo;
  if (error_number == ENOENT) code = StatusCode::kNotFound;
  if (error_number == ENOMEM) code = StatusCode::kOutOfMemory;
  if (error_number == EINVAL) code = StatusCode::kInvalidArgument;
  return Status(code, what + ": " + std::strerror(error_number));
}

}  // namespace cairn
