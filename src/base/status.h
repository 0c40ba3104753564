// SPDX-License-Identifier: Apache-2.0
//
// Status and Result<T>: how every fallible function in Cairn answers. No exceptions cross a folder
// boundary. A message gives the values, the reason and, where the user can act, the next step.
#ifndef CAIRN_BASE_STATUS_H_
#define CAIRN_BASE_STATUS_H_

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace cairn {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,  // The caller passed something outside the documented range.
  kNotFound,         // A file, program, device or library is not there.
  kUnsupported,      // It is there, but cannot do what was asked.
  kCorrupt,          // Bytes from outside contradict their format.
  kIo,               // The operating system refused a read, write, map or spawn.
  kOutOfMemory,
  kDeviceLost,   // The graphics device stopped answering.
  kInterrupted,  // Somebody ended it before it was done, as with ^C.
  kInternal,     // A defect in Cairn.
};

// "ok", "invalid argument", ... in lower case, for messages.
const char* StatusCodeName(StatusCode code);

// Cost of an Ok: a null pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;  // Ok.
  Status(StatusCode code, std::string message);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  Status(const Status& other) : error_(other.Copy()) {}
  Status& operator=(const Status& other) {
    if (this != &other) error_ = other.Copy();
    return *this;
  }

  bool ok() const { return error_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::kOk : error_->code; }
  const std::string& message() const;  // "" if Ok

  // The same status with "context: " before the message; Ok stays Ok.
  Status WithContext(const std::string& context) const;
  // The same status with "file: " before the message, unless the message names its file already; Ok stays Ok.
  Status WithFile(const std::string& file) const;
  // The same status, whose message names its file.
  Status NamingFile() const;

 private:
  struct Error {
    StatusCode code;
    bool names_file;
    std::string message;
  };
  std::unique_ptr<Error> Copy() const { return ok() ? nullptr : std::make_unique<Error>(*error_); }

  std::unique_ptr<Error> error_;  // null: Ok
};

// A Status built from errno: "`what`: strerror". The code follows from `error_number`.
Status StatusFromErrno(int error_number, const std::string& what);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  // Ok when a value is held.
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace cairn

// Leaves the function with the status of `expression` unless it is Ok.
#define CAIRN_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (::cairn::Status cairn_status_ = (expression); !cairn_status_.ok()) return cairn_status_; \
  } while (false)

#endif  // CAIRN_BASE_STATUS_H_
